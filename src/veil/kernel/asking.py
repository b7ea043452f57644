"""Asking: what all questions to private rows share. They check, charge, compute, perturb and wrap, in this order."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..errors import BadInput
from ..progress import advance
from ..schema import Schema
from .budget import Budget
from .checks import together
from .ledger import Account, Receipt
from .noise import SMALLEST_EPSILON, Integers, Noise
from .release import Release
from .scores import Discernibility, Score
from .table import Table


class Record(NamedTuple):
    releases: list[Release[Any]]
    receipts: list[Receipt]


class Asking:
    """Private rows behind their account; the verbs are in `selecting` and `source`."""

    def __init__(
        self, table: Table, schema: Schema, account: Account, noise: Noise, record: "Record | None" = None
    ) -> None:
        self._table, self._account, self._noise, self._schema = table, account, noise, schema
        self._record = record or Record([], [])

    @property
    def schema(self) -> Schema:
        """What is public about the rows."""
        return self._schema

    @property
    def record(self) -> Record:
        """What this source and its parts answered so far and were charged for it, each in order."""
        return Record([*self._record.releases], [*self._record.receipts])

    def _scores(self, candidates: Sequence[Any], score: Score) -> Integers:
        """The exact score of each candidate; grids, which may be many, are counted together."""
        many = self._rows_of(score) >= 2**31  # pairs of so many rows need Python's integers
        scores = np.empty(len(candidates), object if many else np.int64)
        apart = ((place, self._table.tabulate(candidate)) for place, candidate in enumerate(candidates))
        found = self._table.tabulate_each(candidates) if together(candidates, score) else apart
        for done, (place, counts) in enumerate(found):
            scores[place] = score(counts)
            advance("scoring candidates", done + 1, len(candidates))
        return scores

    def _rows_of(self, score: Score) -> int:
        """What the units of a score are divided by: the number of rows for pairs of rows. It stays in here."""
        return max(len(self._table), 1) if type(score) is Discernibility else 1

    def _wrap(self, value: Any, scale: float | None, receipt: Receipt, *question: Any) -> Release[Any]:
        release = Release(value, scale, receipt, *question)
        self._record.releases.append(release)
        return release

    def per_row(self, budget: Budget) -> Fraction:
        """The epsilon of one row, where the budget is for a person."""
        return budget.per_row(self.schema.rows_per_person)

    def _per_row(self, budget: Budget, parts: int = 1) -> Fraction:
        """The epsilon of one row in each of so many parts, if noise can be drawn for it."""
        if (epsilon := budget.per_row(self.schema.rows_per_person * parts)) < SMALLEST_EPSILON:
            raise BadInput("epsilon is too small: noise of more than four billion rows would be the only answer")
        return epsilon

    def _charge(self, verb: str, question: str, budget: Budget) -> Receipt:
        protects = f"one person, at most {self.schema.rows_per_person} rows" if self.schema.person else "one row"
        noise = {"noise": self._noise.name, "private": self._noise.private and not self.schema.public}
        advance(f"asking: {verb}")
        receipt = self._account.charge(budget, verb=verb, question=question, protects=protects, **noise)
        self._record.receipts.append(receipt)
        return receipt

    def __reduce__(self) -> NoReturn:
        raise TypeError("private rows cannot be copied or pickled: open the source again where you need it")

    def __repr__(self) -> str:
        return f"<private rows of {self.schema.name!r}>"
