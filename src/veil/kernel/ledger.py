"""Ledger, Account, Receipt: what may be spent, what was spent, and on what.

A ledger is charged *before* an answer is computed, by a line that is on the disk when the charge returns; nothing is
ever refunded. Amounts are exact fractions. Entries form a hash chain.
"""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from .. import wording
from ..display import amount
from ..errors import BudgetRefused, LedgerProblem
from ..schema.refusing import refuse
from ..views import Receipt, ShownLedger, check_file
from . import marks
from .budget import CHARGED, Budget, fits
from .entries import PATH as PATH
from .entries import ROOT, Entries, Entry, first_line, unit_of
from .store import Place, Store, Turn, store_at

VERSION = version("veil")


@dataclass
class _Kept:
    """Where a ledger is stored, its state as last read, and the newest entry ever seen."""

    store: Store
    known: Entries | None = None
    newest: marks.Mark | None = None


class Ledger(ShownLedger):
    """The limit of one data set, what is spent of it, and the receipts.

    `Ledger(1, "survey")` lives in memory, for one process. `Ledger.create(path, 1, "survey")` and `Ledger.open(path)`
    keep it in a file that any number of processes may charge at once; in a database, which many machines share, if the
    path is an address such as "postgresql://user@host/database?ledger=survey".
    """

    def __init__(self, limit: "float | str | Fraction | Budget", name: str = "") -> None:
        line = first_line(limit, name)
        self._kept, self._words = _Kept(Store(None)), dict[str, str]()
        with self._kept.store.turn(write=True) as turn:
            turn.append(line, Place())
        self._know(self._now())

    @classmethod
    def create(cls, path: str | os.PathLike[str], limit: "float | str | Fraction | Budget", name: str) -> "Ledger":
        """A new ledger in a file or a database; one that exists is left alone and refused."""
        store_at(path).create(first_line(limit, name))
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, patience: float = 30) -> "Ledger":
        """The ledger at this place, checked from its first entry to its last; waits `patience` seconds for a lock."""
        check_file(path)
        self = cls.__new__(cls)
        self._kept, self._words = _Kept(store_at(path, patience)), {}
        self._know(self._now())
        return self

    @contextmanager
    def turn(self, write: bool = False) -> Iterator[tuple[Turn, Entries]]:
        """A turn at the store, to read or to append one entry, and the checked entries up to now.

        An entry that was known once, here or to the mark on this machine, must still be there. Marks are written
        after entries, so one that is read before the lines is among them. A ledger that is closed can only be read.
        """
        with self._kept.store.turn(write) as turn:
            known = self._catch_up(turn)
            refuse(write and known.moved, wording.CLOSED.format(self._kept.store, known.moved), LedgerProblem)
            mark = marks.read(known.id) if self._kept.store.path and not known.moved else None
            if mark and not known.has(mark) and not (known := self._catch_up(turn)).has(mark):
                raise LedgerProblem(wording.OLD.format(self._kept.store, mark[0], marks.place(known.id)))
            yield turn, known

    def _catch_up(self, turn: Turn) -> Entries:
        kept, known = self._kept, self._kept.known or Entries()
        lines, place = turn.after(known.place)
        kept.known = None  # if interrupted in the middle, all is read again
        for line in lines:
            known.add(line)
        known.place = place
        refuse(not known.hashes, wording.NOT_A_LEDGER.format(kept.store), LedgerProblem)
        refuse(not known.has(kept.newest), wording.CHANGED_MEANWHILE.format(kept.store), LedgerProblem)
        kept.newest, kept.known = (len(known.hashes), known.hashes[-1]), known
        return known

    def _now(self) -> Entries:
        with self.turn() as (_, known):
            return known

    def run(self, purpose: str = "", engine: str = "") -> "Account":
        """The account of the whole table, for one run, with this purpose unless the ledger was given one."""
        words = {"purpose": purpose, **self._words, "store": self._kept.store.kind, "engine": engine}
        return Account(self, ROOT, words=words)

    def append(self, turn: Turn, known: Entries, body: dict[str, Any]) -> Entry:
        """Append one entry. The state changes only when its line is read back, as by any other process."""
        line, entry = known.next(body)
        turn.append(line, known.place)
        if self._kept.store.path:
            marks.write(known.id, (entry[0], entry[2]))
        return entry

    def __deepcopy__(self, memo: Any = None) -> "Ledger":
        return self  # a copy that spent on its own account would spend twice

    __copy__ = __deepcopy__

    def __reduce__(self) -> Any:
        if self.path is None:
            raise TypeError("a ledger in memory cannot be pickled: keep it in a file with Ledger.create(path, ...)")
        return _reopen, (str(self.path), self._words)


def _reopen(path: str, words: dict[str, str]) -> Ledger:
    return Ledger.open(path).noted(**words)


@dataclass(frozen=True)
class Account:
    """Whom to charge: the whole table, or one of its disjoint parts, in one run.

    A part asks its parent only for what raises the dearest of its siblings; why that is enough for any interleaving
    is in the kernel page. The amounts follow from the ledger's entries, so a fork or a second process cannot spend a
    part twice. All receipts bear the time at which the rows were opened: the time between two charges would tell how
    long an answer took, and that depends on the rows.
    """

    ledger: Ledger
    path: str
    time: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    words: Mapping[str, str] = field(default_factory=dict)  # purpose, note, file, store and engine

    def charge(self, budget: Budget, **body: Any) -> Receipt:
        """Reserve the budget, or refuse; the receipt is on the disk before this returns."""
        ledger, epsilon = self.ledger, budget.epsilon
        refuse(not fits(epsilon, CHARGED), wording.LONG_EPSILON)
        body |= {"version": VERSION, "time": self.time, "run": self.run}
        body |= {key: text for key in ("purpose", "note", "file", "store", "engine") if (text := self.words.get(key))}
        with ledger.turn(write=True) as (turn, known):
            total = known.price(self.path, epsilon).get(ROOT, known.spent)
            if total > max(known.limit, known.spent):
                amounts = amount(total), amount(known.limit), amount(known.limit - known.spent)
                raise BudgetRefused(wording.OVER_LIMIT.format(*amounts))
            others = known.units - {unit := unit_of(body)}
            refuse(others, wording.UNITS.format(unit, "".join(others)), LedgerProblem)
            body |= {"kind": "charge", "account": self.path, "epsilon": str(epsilon)}
            receipt = ledger.receipt_of(*known.next(body)[1])  # what would make no receipt is not charged
            ledger.append(turn, known, body)
            return receipt

    def split(self, **body: Any) -> str:
        """Open disjoint parts; costs nothing until one of them is charged."""
        with self.ledger.turn(write=True) as (turn, known):
            number = self.ledger.append(turn, known, {**body, "kind": "split", "account": self.path})[0]
        return f"{self.path.rstrip('/')}/{number}"

    def part(self, group: str, index: int) -> "Account":
        return replace(self, path=f"{group}.{index}")
