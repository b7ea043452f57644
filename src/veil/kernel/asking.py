"""Asking: what all questions to private rows share. They check, charge, compute, perturb and wrap, in this order."""

from fractions import Fraction
from typing import Any, Self

from .. import wording
from ..progress import advance
from ..schema import Schema
from ..schema.fine import check_finer
from ..schema.refusing import Sealed, refuse
from ..views import Receipt, Record, ShownSource
from .budget import Budget
from .ledger import Account
from .noise import SMALLEST_EPSILON, Noise
from .recoding import owned, replaced
from .release import Release
from .table import Table


class Asking(ShownSource, Sealed):
    """Private rows behind their account; base class of the verbs, which are in the folder of that name."""

    def __init__(
        self, table: Table, own: Schema, shown: Schema, account: Account, noise: Noise, record: "Record | None" = None
    ) -> None:
        self._table, self._own, self._account, self._noise = table, own, account, noise
        self._shown, self._record = shown, record or Record([], [])  # to look at: no answer goes by them

    def recode(self, *columns: Any) -> Self:
        """A source of the same rows and account in which each given column replaces the one of the same name: with
        other bins, whose edges must be fine cuts, or with values pooled."""
        own = [*map(owned, columns)]
        check_finer(own, self._own, self._table.columns.columns)
        refuse(self._own.label in [column.name for column in own], wording.RECODED)
        table, schemas = self._table.recoded(own), (replaced(self._own, own), replaced(self._shown, columns))
        return type(self)(table, *schemas, self._account, self._noise, self._record)

    def _per_row(self, budget: Budget, parts: int = 1) -> Fraction:
        """The epsilon of one row in each of `parts` equal parts; refuses one too small for the samplers."""
        refuse((epsilon := budget.per_row(self._own.rows_per_person * parts)) < SMALLEST_EPSILON, wording.FOUR_BILLION)
        return epsilon

    def _charge(self, verb: str, question: str, budget: Budget) -> Receipt:
        protects = f"one person, at most {self._own.rows_per_person} rows" if self._own.person else "one row"
        noise = {"noise": self._noise.name, "private": self._noise.private and not self._own.public}
        advance(f"asking: {verb}")
        receipt = self._account.charge(budget, verb=verb, question=question, protects=protects, **noise)
        self._record.receipts.append(receipt)
        return receipt

    def _wrap(self, value: Any, scale: float | None, receipt: Receipt, *question: Any) -> Release[Any]:
        release = Release(value, scale, receipt, *question)
        self._record.releases.append(release)
        return release
