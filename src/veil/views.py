"""Receipts, and how they, ledgers and releases are shown.

This only reads what is published or on record: no charge and no answer depends on it.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from math import ceil, exp, log
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from . import wording
from .addresses import is_address
from .display import (
    Run,
    amount,
    html_table,
    ledger_html,
    ledger_line,
    ledger_text,
    receipt_rows,
    release_html,
    release_text,
    runs_of,
)
from .errors import BadInput, LedgerProblem
from .questions import Grid
from .schema import Schema

COUNTS = ("count", "count_gradually", "count_sparse", "count_words", "count_words_sparse")  # two of earlier versions
SQLITE = b"SQLite format 3\0"  # the first bytes of ledgers of earlier versions
MOST_WORDS = 500  # letters of a note
Entry = tuple[int, dict[str, Any], str]


@dataclass(frozen=True, repr=False)
class Receipt:
    """What was asked, of which data set, and what it cost; `number` and `hash` name the ledger's entry.

    All receipts of one opening of the rows have the same `run`; `purpose`, `note` and `file` say what it was for,
    `store` where the ledger is kept, if not in a file, and `engine` what encoded the rows, if not this process.
    """

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
    run: str = ""
    purpose: str = ""
    note: str = ""
    file: str = ""
    store: str = ""
    engine: str = ""

    def __post_init__(self) -> None:
        words = [value for name, value in vars(self).items() if name not in ("number", "epsilon", "private")]
        if type(self.private) is not bool or type(self.number) is not int or {*map(type, words)} != {str}:
            raise TypeError("a receipt from elsewhere may hold anything")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; epsilon as an exact fraction in text."""
        return {**self.__dict__, "epsilon": str(self.epsilon)}

    def __repr__(self) -> str:
        return "Receipt\n" + "\n".join(f"  {name:8} {value}" for name, value in receipt_rows(self))

    def _repr_html_(self) -> str:
        return html_table("Receipt", ["", ""], receipt_rows(self))


class Record(NamedTuple):
    """Releases and receipts, each in order."""

    releases: list[Any]
    receipts: list[Receipt]


class ShownSource:
    """What a source shows: what is public about the rows, and what was released so far."""

    _shown: Schema
    _record: Record
    _own: Schema

    @property
    def schema(self) -> Schema:
        """What is public about the rows, to look at: whoever has it may change it, so no answer goes by it."""
        return self._shown

    @property
    def record(self) -> Record:
        """The releases and receipts of this source and its parts so far, each in order."""
        return Record([*self._record.releases], [*self._record.receipts])

    def per_row(self, budget: Any) -> Fraction:
        """The epsilon of one row, where the budget protects a person with several rows."""
        return Fraction(budget.per_row(self._own.rows_per_person))

    def __repr__(self) -> str:
        return f"<private rows of {self._shown.name!r}>"


class ShownBudget(ABC):
    """How a budget looks, and its equal shares: each is charged as it is, whatever they add up to."""

    epsilon: Fraction

    @abstractmethod
    def split(self, *shares: Any) -> tuple[Any, ...]:
        """Shares in these proportions."""

    def each(self, count: int) -> tuple[Any, ...]:
        """`count` equal shares."""
        if not isinstance(count, Integral) or count < 1:
            raise BadInput("the number of parts must be a whole number, at least one")
        return self.split(*[1] * int(count))

    def __repr__(self) -> str:
        return f"Budget('{amount(self.epsilon)}')"


class ShownLedger(ABC):
    """Reading and checking the records of a ledger, and how it looks."""

    id: str
    name: str
    _kept: Any
    _words: dict[str, str]
    _limit: Fraction

    def _know(self, known: Any) -> None:
        """Take the id, name and limit from the entries, to show them."""
        self.id, self.name, self._limit = known.id, known.name, known.limit

    def noted(self, note: str = "", *, purpose: str = "", file: str | os.PathLike[str] = "") -> Self:
        """The same ledger, whose receipts from here on say what for: a note, a purpose, and the file that is made."""
        words = {"note": note, "purpose": purpose, "file": os.fspath(file)}
        if not all(isinstance(text, str) and len(text) <= MOST_WORDS for text in words.values()):
            raise BadInput(f"note, purpose and file must be texts of at most {MOST_WORDS} letters")
        view = type(self).__new__(type(self))
        view.__dict__ |= {**self.__dict__, "_words": self._words | {key: text for key, text in words.items() if text}}
        return view

    @abstractmethod
    def _now(self) -> Any:
        """The entries of the ledger up to now, checked, with the totals that follow from them."""

    @abstractmethod
    def run(self, purpose: str = "") -> Any:
        """The account of the whole table, for one run."""

    @property
    def account(self) -> Any:
        """The account of the whole table, for one run."""
        return self.run()

    @property
    def path(self) -> Path | str | None:
        """The path of its file, or the address of its database without the password; None in memory."""
        found: Path | str | None = self._kept.store.path
        return found

    @property
    def limit(self) -> Fraction:
        """The most that may be spent in total; set once, when the ledger is made."""
        return self._limit

    @property
    def moved(self) -> str:
        """The address that it was copied to, whereby it was closed; "" if it is open."""
        return str(self._now().moved)

    @property
    def spent(self) -> Fraction:
        """The epsilon that all answers so far cost together."""
        return Fraction(self._now().spent)

    @abstractmethod
    def turn(self, write: bool = False) -> Any:
        """A turn at the store, to read or to append one entry, and the checked entries up to now."""

    def entries(self) -> list[tuple[Entry, Fraction]]:
        """All entries, checked from the first to the last, each with the total after it."""
        with self.turn() as (turn, known):
            lines, again = turn.after(type(known.place)())[0], type(known)()
        return [(again.add(line), again.spent) for line in lines]

    @property
    def left(self) -> Fraction:
        """The epsilon that may still be spent."""
        return self.limit - self.spent

    def receipts(self) -> list[Receipt]:
        """All receipts, oldest first."""
        return [receipt for receipt, _ in self.charges()]

    def charges(self) -> list[tuple[Receipt, Fraction]]:
        """All receipts, oldest first, each with the total after it."""
        return self._charges(self.entries())

    def _charges(self, entries: list[tuple[Entry, Fraction]]) -> list[tuple[Receipt, Fraction]]:
        charges = [(entry, total) for entry, total in entries if entry[1].get("kind") == "charge"]
        return [(self.receipt_of(*entry), total) for entry, total in charges]

    def receipt_of(self, number: int, body: dict[str, Any], hash: str) -> Receipt:
        """The receipt of a charge, from its entry."""
        try:
            fields = {**{name: body[name] for name in Receipt.__dataclass_fields__ if name in body}, "data": self.name}
            fields["epsilon"] = Fraction(body["epsilon"].replace(" ", ""))
            return Receipt(**{**fields, "ledger": self.id, "number": number, "hash": hash})
        except (AttributeError, TypeError, KeyError, ValueError):
            raise LedgerProblem(f"entry {number} is damaged: restore the ledger from a backup") from None

    def runs(self) -> list[Run]:
        """The runs on record, oldest first, one for each opening of the rows: what was asked and what it cost."""
        entries = self.entries()
        return runs_of(self._charges(entries), [body for (_, body, _), _ in entries if body.get("kind") == "ex-post"])

    def verify(self, witnesses: Iterable[Mapping[str, Any]] = ()) -> int:
        """Check all entries and return their number; raises LedgerProblem at the first that is not sound.

        The chain shows an edited, removed or reordered entry. A file cut short, restored from a backup or rewritten
        from scratch is a sound chain too: a mark shows that on the machine that charged it, and everywhere a witness
        (a receipt kept elsewhere).
        """
        entries = [entry for entry, _ in self.entries()]
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

    def __repr__(self) -> str:  # one line, since a model shows its ledger among its settings
        return ledger_line(self)

    def __str__(self) -> str:
        return ledger_text(self)

    def _repr_html_(self) -> str:
        return ledger_html(self)


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise LedgerProblem, saying what to do, if this is no file that may be a ledger of this version."""
    if is_address(path):
        return
    if not os.path.isfile(path):
        raise LedgerProblem(f"there is no ledger at {path}: make one with `veil ledger create`")
    if find_spec("fcntl") is None:
        raise LedgerProblem(wording.NO_LOCKS)
    with suppress(OSError), open(path, "rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            raise LedgerProblem(wording.EARLIER.format(path, path))


class ShownSparse:
    """Where the entries of sparse counts are."""

    codes: Any
    classes: int

    def cells(self) -> tuple[Any, Any]:
        """The cell and the class of each entry."""
        return self.codes // self.classes, self.codes % self.classes


class ShownRelease:
    """How a release looks as text and as a table, and its error."""

    value: Any
    scale: float | None
    receipt: Any
    question: Any
    classes: tuple[str, ...]

    @property
    def noise_scale(self) -> float:
        """The scale of the noise, 0 where it is not public."""
        return self.scale or 0.0

    @property
    def deviation(self) -> float:
        """About the standard deviation of the noise, that of Laplace noise of this scale; 0 where it is not public."""
        return self.noise_scale * 2**0.5

    def error(self, confidence: float = 0.95) -> int:
        """The half-width of a count's confidence interval, from the noise scale alone."""
        if self.scale is None or self.receipt.verb not in COUNTS:
            raise TypeError("only counts have an error in rows")
        a = exp(-1 / self.scale) if self.scale else 0.0
        return max(ceil(-log((1 - confidence) * (1 + a) / 2) * self.scale) - 1, 0)

    def columns(self) -> dict[str, list[Any]]:
        """Counts as named columns, one row for each cell and class: `pandas.DataFrame(release.columns())`."""
        if not isinstance(self.question, Grid):
            raise TypeError("only counts over a grid have named cells")
        if hasattr(self.value, "threshold"):
            (cells, labels), counts = self.value.cells(), self.value.counts
        else:
            table = np.asarray(self.value)
            (cells, labels), counts = map(np.ravel, np.indices(table.shape)), table.ravel()
        names = [self.question.names(int(cell)) for cell in cells]
        columns: dict[str, list[Any]] = {
            axis: [name[i] for name in names] for i, axis in enumerate(self.question.columns)
        }
        if len(self.classes) > 1:
            columns["class"] = [self.classes[label] for label in labels]
        return {**columns, "count": [int(count) for count in counts]}

    def __repr__(self) -> str:
        return release_text(self)

    def _repr_html_(self) -> str:
        return release_html(self)
