"""Ledger, Account, Receipt: what may be spent, what was spent, and on what.

A ledger is charged *before* an answer is computed, in a transaction that is on the disk when it returns; nothing is
ever refunded. Amounts are exact fractions. Entries form a hash chain.
"""

import hashlib
import json
import os
import re
import secrets
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..display import amount, html_table, ledger_html, ledger_text, receipt_rows
from ..errors import BadInput, BudgetRefused, LedgerProblem
from .budget import Budget, fits
from .store import INSERT, Store, create_file

FORMAT = 1
VERSION = version("veil")
ROOT = "/"  # the account of the whole table; "/12.3" is part 3 of the split in entry 12, "/12" the dearest of its parts
PATH = re.compile(r"/|(/[0-9]+\.[0-9]+)+")
Entry = tuple[int, dict[str, Any], str]


@dataclass(frozen=True)
class Receipt:
    """What was asked, of which data set, and what it cost; `number` and `hash` name the ledger's entry."""

    ledger: str
    number: int
    hash: str
    data: str
    account: str
    verb: str
    question: str
    epsilon: Fraction
    noise: str
    private: bool
    version: str
    time: str
    protects: str = "one row"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; epsilon as an exact fraction in text."""
        return {**self.__dict__, "epsilon": str(self.epsilon)}

    def __repr__(self) -> str:
        return "Receipt\n" + "\n".join(f"  {name:8} {value}" for name, value in receipt_rows(self))

    def _repr_html_(self) -> str:
        return html_table("Receipt", ["", ""], receipt_rows(self))


class Ledger:
    """The limit of one data set, what is spent of it, and the receipts.

    `Ledger(1, "survey")` lives in memory, for one process. `Ledger.create(path, 1, "survey")` and `Ledger.open(path)`
    keep it in a file that any number of processes may charge at once.
    """

    def __init__(self, limit: "float | str | Fraction | Budget", name: str) -> None:
        first = _first(Budget(limit, "the limit"), name)
        self._store = Store(None)
        with self._store.write() as store:
            store.execute(INSERT, first)
        self._read_first()

    @classmethod
    def create(cls, path: str | os.PathLike[str], limit: "float | str | Fraction | Budget", name: str) -> "Ledger":
        """A new ledger file; an existing file is left alone and refused."""
        create_file(Path(path), _first(Budget(limit, "the limit"), name))
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, patience: float = 30) -> "Ledger":
        """The ledger in this file, checked from its first entry to its last; waits `patience` seconds for a lock."""
        if not os.path.isfile(path):
            raise LedgerProblem(f"there is no ledger at {path}: make one with `veil ledger create`")
        self = cls.__new__(cls)
        self._store = Store(Path(path), patience)
        self.verify()
        return self

    def _read_first(self) -> None:
        with self._store.read() as store:
            row = store.execute("SELECT number, body, hash FROM entries ORDER BY number LIMIT 1").fetchone()
        first = _parse(row, "") if row else {}
        if row is None or first.get("kind") != "create" or row[0] != 1:
            raise LedgerProblem("the ledger has lost its first entry: restore it from a backup")
        if first.get("format") != FORMAT:
            raise LedgerProblem("this ledger was made by a newer version of Veil: upgrade with `pip install -U veil`")
        self.id, self.name, self._limit = str(first.get("id")), str(first.get("name")), _amount(first.get("limit"))

    @property
    def path(self) -> Path | None:
        """Where it is kept; None in memory."""
        return self._store.path

    @property
    def limit(self) -> Fraction:
        """What may be spent in all; set once, when the ledger is made."""
        return self._limit

    @property
    def spent(self) -> Fraction:
        """What the answers so far cost together."""
        with self._store.read() as store:
            return _Kept(store)[ROOT]

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.limit - self.spent

    @property
    def account(self) -> "Account":
        """The account of the whole table."""
        return Account(self, ROOT)

    def receipts(self) -> list[Receipt]:
        """All receipts, oldest first."""
        return [self._receipt(*entry) for entry in self._read()[0] if entry[1].get("kind") == "charge"]

    def _read(self) -> tuple[list[Entry], dict[str, Fraction]]:
        """All entries, their chain checked, and the amounts kept beside them, as of one moment."""
        with self._store.read() as store:
            rows = store.execute("SELECT number, body, hash FROM entries ORDER BY number").fetchall()
            amounts = store.execute("SELECT path, spent FROM accounts").fetchall()
        before, entries = "", []
        for expected, row in enumerate(rows, 1):
            if row[0] != expected:
                raise LedgerProblem(f"entry {expected} is missing: the ledger was edited; restore it from a backup")
            entries.append((expected, _parse(row, before), before := str(row[2])))
        return entries, {str(path): _amount(spent) for path, spent in amounts}

    def verify(self, witnesses: Iterable[Mapping[str, Any]] = ()) -> int:
        """The number of entries, all of them sound; raises LedgerProblem at the first that is not.

        The chain shows an edited, removed or reordered entry. A file cut short, restored from a backup or rewritten
        from scratch is a sound chain too: only a witness (a receipt kept elsewhere) shows that.
        """
        self._store.check()
        self._read_first()
        entries, kept = self._read()
        amounts: dict[str, Fraction] = defaultdict(Fraction)
        for _, body, _ in entries:
            if body.get("kind") == "charge":
                _spend(amounts, str(body.get("account")), _amount(body.get("epsilon")))
        if kept != amounts:
            raise LedgerProblem(
                "the totals do not follow from the entries: the ledger was edited; restore it from a backup"
            )
        if amounts[ROOT] > self.limit:
            raise LedgerProblem("the entries pass the limit: the ledger was edited; restore it from a backup")
        for witness in witnesses:
            self._check_witness(witness, entries)
        return len(entries)

    def _check_witness(self, witness: Mapping[str, Any], entries: list[Entry]) -> None:
        if not isinstance(witness, Mapping):
            raise BadInput("witnesses must be a list of receipts, each as receipt.to_dict() gives it")
        number = witness.get("number")
        if witness.get("ledger") != self.id:
            raise LedgerProblem("the receipt belongs to another ledger: check both paths")
        if not isinstance(number, int) or not 1 <= number <= len(entries):
            raise LedgerProblem(
                f"entry {number} of the receipt is missing, the ledger was cut short or is old: restore the newest copy"
            )
        if entries[number - 1][2] != witness.get("hash"):
            raise LedgerProblem(
                f"entry {number} is not the receipt's, the ledger was rewritten: restore the copy the receipt came from"
            )

    def _charge(self, path: str, epsilon: Fraction, body: dict[str, Any]) -> Receipt:
        fixed = {"kind": "charge", "account": path, "epsilon": str(epsilon)}
        with self._store.write() as store:
            rise = _spend(kept := _Kept(store), path, epsilon)
            if rise and (total := kept[ROOT]) > self.limit:
                raise BudgetRefused(
                    f"this would bring the total to epsilon {amount(total)}, over the limit of {amount(self.limit)}: "
                    f"ask for less ({amount(self.limit - total + rise)} is left) or stop here; nothing was charged"
                )
            return self._receipt(*_append(store, {**body, **fixed}))

    def _split(self, path: str, body: dict[str, Any]) -> int:
        with self._store.write() as store:
            return _append(store, {**body, "kind": "split", "account": path})[0]

    def _receipt(self, number: int, body: dict[str, Any], hash: str) -> Receipt:
        try:
            fields = {**{name: body[name] for name in Receipt.__dataclass_fields__ if name in body}, "data": self.name}
            return Receipt(**{**fields, "epsilon": _amount(body["epsilon"])}, ledger=self.id, number=number, hash=hash)
        except (TypeError, KeyError):
            raise LedgerProblem(f"entry {number} is damaged: restore the ledger from a backup") from None

    def __copy__(self) -> "Ledger":
        return self  # a copy that spent on its own account would spend twice

    def __deepcopy__(self, memo: Any) -> "Ledger":
        return self

    def __reduce__(self) -> Any:
        if self.path is None:
            raise TypeError("a ledger in memory cannot be pickled: keep it in a file with Ledger.create(path, ...)")
        return Ledger.open, (str(self.path),)

    def __repr__(self) -> str:
        return ledger_text(self)

    def _repr_html_(self) -> str:
        return ledger_html(self)


@dataclass(frozen=True)
class Account:
    """Whom to charge: the whole table, or one of its disjoint parts.

    A part asks its parent only for what raises the dearest of its siblings; why that is enough for any interleaving
    is in the kernel page. The amounts live in the ledger, in the parent's transaction, so a fork or a second process
    cannot spend a part twice. All receipts bear the time at which the rows were opened: the time between two charges
    would tell how long an answer took, and that depends on the rows.
    """

    ledger: Ledger
    path: str
    time: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def charge(self, budget: Budget, **body: Any) -> Receipt:
        """Reserve the budget, or refuse; the receipt is on the disk before this returns."""
        return self.ledger._charge(self.path, budget.epsilon, {**body, "version": VERSION, "time": self.time})

    def split(self, **body: Any) -> str:
        """Open disjoint parts; costs nothing until one of them is charged."""
        return f"{self.path.rstrip('/')}/{self.ledger._split(self.path, body)}"

    def part(self, group: str, index: int) -> "Account":
        return Account(self.ledger, f"{group}.{index}", self.time)


class _Kept(dict[str, Fraction]):
    """The amounts of a ledger, read and written inside one transaction."""

    def __init__(self, store: sqlite3.Connection) -> None:
        self.store = store

    def __missing__(self, path: str) -> Fraction:
        row = self.store.execute("SELECT spent FROM accounts WHERE path = ?", (path,)).fetchone()
        return _amount(row[0]) if row else Fraction(0)

    def __setitem__(self, path: str, spent: Fraction) -> None:
        if not fits(spent):
            raise BadInput("the exact total would not fit in the ledger: use an epsilon of fewer digits")
        self.store.execute("INSERT OR REPLACE INTO accounts VALUES (?, ?)", (path, str(spent)))
        super().__setitem__(path, spent)


def _spend(amounts: dict[str, Fraction], path: str, cost: Fraction) -> Fraction:
    """Add the cost to an account, the rise of the dearest sibling to its parent, and so on; the rise of the total."""
    if not PATH.fullmatch(path):
        raise LedgerProblem(
            f"there is no account {path[:40]!r}: charge the whole table, or a part of one of its splits"
        )
    while True:
        spent = amounts[path] = amounts[path] + cost
        if path == ROOT:
            return cost
        group, path = path.rpartition(".")[0], path.rpartition("/")[0] or ROOT
        if (cost := spent - amounts[group]) <= 0:
            return Fraction(0)
        amounts[group] = spent


def _amount(text: Any) -> Fraction:
    try:
        numerator, _, denominator = text.partition("/")
        value = Fraction(int(numerator), int(denominator or 1))
    except (AttributeError, TypeError, ValueError, ZeroDivisionError):
        value = Fraction(0)
    if value <= 0:
        raise LedgerProblem("an amount in the ledger is damaged: restore it from a backup")
    return value


def _digest(before: str, number: int, body: str) -> str:
    return hashlib.sha256(f"{before}\n{number}\n{body}".encode()).hexdigest()


def _first(limit: Budget, name: str) -> tuple[int, str, str]:
    if not isinstance(name, str) or not name:
        raise BadInput("a ledger needs the name of its data set, the one in the schema")
    fields = {"kind": "create", "format": FORMAT, "id": secrets.token_hex(16), "name": name}
    body = json.dumps({**fields, "limit": str(limit.epsilon)}, sort_keys=True)
    return 1, body, _digest("", 1, body)


def _append(store: sqlite3.Connection, fields: dict[str, Any]) -> tuple[int, dict[str, Any], str]:
    last, before = store.execute("SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1").fetchone()
    body = json.dumps(fields, sort_keys=True)
    entry = (last + 1, body, _digest(before, last + 1, body))
    store.execute(INSERT, entry)
    return entry[0], fields, entry[2]


def _parse(row: tuple[Any, Any, Any], before: str) -> dict[str, Any]:
    number, body, hash = row
    try:
        fields = json.loads(body)
    except (TypeError, ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or hash != _digest(before, number, body):
        raise LedgerProblem(f"entry {number} does not match its hash: the ledger was edited; restore it from a backup")
    return fields
