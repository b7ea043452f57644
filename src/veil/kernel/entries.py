"""Entries of a ledger, each a line of its file, and what follows from them: the chain and the amounts.

Nothing that follows from entries is ever stored beside them. An entry's hash covers the one before it.
"""

import hashlib
import json
import re
import secrets
from fractions import Fraction
from typing import Any

from .. import wording
from ..errors import LedgerProblem
from ..schema.refusing import refuse
from .budget import Budget
from .marks import Mark
from .store import Place

FORMAT = 1
ROOT = "/"  # the account of the whole table; "/12.3" is part 3 of the split in entry 12, "/12" the dearest of its parts
PATH = re.compile(r"/|(/[0-9]+\.[0-9]+)+")
LINE = re.compile(r'\{"number": ([0-9]{1,18}), "hash": "([0-9a-f]{64})", "body": (\{.*\})\}\n')
AMOUNT = re.compile(r"[1-9][0-9]{0,3999}(/[1-9][0-9]{0,3999})?")
ROW = "one row"
Entry = tuple[int, dict[str, Any], str]


class Entries:
    """The state of a ledger after reading its lines up to a place, every one of them checked."""

    def __init__(self) -> None:
        self.place, self.hashes, self.units = Place(), list[str](), set[str]()
        self.amounts: dict[str, Fraction] = {}
        self.id, self.name, self.limit, self.moved = "", "", Fraction(0), ""  # where it went, if it is closed

    @property
    def spent(self) -> Fraction:
        return self.amounts.get(ROOT, Fraction(0))

    def has(self, mark: Mark | None) -> bool:
        """Whether the marked entry, a number and its hash, is among the entries; true without a mark."""
        return mark is None or (0 < mark[0] <= len(self.hashes) and self.hashes[mark[0] - 1] == mark[1])

    def next(self, body: dict[str, Any]) -> tuple[bytes, Entry]:
        """The line of the next entry, and the entry."""
        number, text = len(self.hashes) + 1, json.dumps(body, sort_keys=True)
        hash = _digest("".join(self.hashes[-1:]), number, text)
        return line_of(number, hash, text), (number, body, hash)

    def add(self, line: bytes) -> Entry:
        """The next entry, checked and accounted for; raises LedgerProblem if it cannot be the next."""
        expected, found = len(self.hashes) + 1, LINE.fullmatch(line.decode("ascii", "replace"))
        refuse(not found and expected == 1, wording.NO_LEDGER, LedgerProblem)
        refuse(found and int(found[1]) != expected, wording.MISSING_ENTRY.format(expected), LedgerProblem)
        body = _parse(found[3]) if found else None
        if not found or body is None or found[2] != _digest("".join(self.hashes[-1:]), expected, found[3]):
            raise LedgerProblem(wording.EDITED_ENTRY.format(expected))
        self._account(expected, body)
        self.hashes.append(found[2])
        return expected, body, found[2]

    def _account(self, number: int, body: dict[str, Any]) -> None:
        refuse((number == 1) != (body.get("kind") == "create"), wording.LOST_FIRST, LedgerProblem)
        refuse(number == 1 and body.get("format") != FORMAT, wording.NEWER, LedgerProblem)
        refuse(self.moved and body.get("kind") != "open", wording.AFTER_CLOSING, LedgerProblem)
        self.moved = str(body.get("to")) if body.get("kind") == "close" else ""
        if number == 1:
            self.id, self.name, self.limit = str(body.get("id")), str(body.get("name")), read_amount(body.get("limit"))
        if body.get("kind") == "charge":
            self.amounts |= self.price(str(body.get("account")), read_amount(body.get("epsilon")))
            self.units.add(unit_of(body))
        refuse(self.spent > self.limit, wording.PAST_LIMIT, LedgerProblem)

    def price(self, path: str, cost: Fraction) -> dict[str, Fraction]:
        """The new totals if a charge is made: its account rises by the cost, the parent by the rise of its dearest
        part, and so on up to the root."""
        refuse(not PATH.fullmatch(path), wording.NO_ACCOUNT.format(path[:40]), LedgerProblem)
        changed: dict[str, Fraction] = {}
        while True:
            spent = changed[path] = self.amounts.get(path, Fraction(0)) + cost
            if path == ROOT:
                return changed
            group, path = path.rpartition(".")[0], path.rpartition("/")[0] or ROOT
            if (cost := spent - self.amounts.get(group, Fraction(0))) <= 0:
                return changed
            changed[group] = spent


def line_of(number: int, hash: str, body: str) -> bytes:
    """An entry as a line of the file."""
    return f'{{"number": {number}, "hash": "{hash}", "body": {body}}}\n'.encode()


def first_line(limit: "float | str | Fraction | Budget", name: str) -> bytes:
    """The line that begins a new ledger."""
    refuse(not isinstance(name, str) or not name, wording.LEDGER_NAMELESS)
    fields = {"kind": "create", "format": FORMAT, "id": secrets.token_hex(16), "name": name}
    return Entries().next({**fields, "limit": str(Budget(limit, "the limit").epsilon)})[0]


def unit_of(body: dict[str, Any]) -> str:
    """Whom a charge protects, "one row" or "one person". The number of rows per person does not matter, since epsilon
    is always that of the whole person, and epsilons of one person add up."""
    return str(body.get("protects", ROW)).partition(",")[0]


def read_amount(text: Any) -> Fraction:
    """An amount from its text in an entry."""
    sound = isinstance(text, str) and AMOUNT.fullmatch(text)
    refuse(not sound, "an amount in the ledger is damaged: restore it from a backup", LedgerProblem)
    return Fraction(text)


def _digest(before: str, number: int, body: str) -> str:
    return hashlib.sha256(f"{before}\n{number}\n{body}".encode()).hexdigest()


def _parse(text: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None
