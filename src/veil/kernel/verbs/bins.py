"""choose_bins: one of many public ways to cut a numeric column into bins, or several columns alike.

The score of a way is the sum over its bins of min(rows in the bin, cap): the more, the fewer bins hold more than `cap`
rows, which is public. A row lies in one bin at most, so it raises one count by one, and the score by 0 or 1, whatever
the other rows are; summed over g columns, by 0 to g. Permute-and-flip with exponent epsilon / g per unit then costs
epsilon (see `flip`). Public handicaps are subtracted, which a row does not change.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import wording
from ...progress import advance
from ...schema.encoding import quiet
from ...schema.fine import Fine
from ...schema.refusing import refuse
from ..asking import Asking
from ..budget import Budget
from ..flip import own_handicaps, permute_and_flip
from ..noise import Integers
from ..owning import MOST_COUNTS, own_integers, whole
from ..release import Release
from ..table import Table

MOST_COLUMNS = 1 << 12


class Binning(Asking):
    """The verb that chooses bins."""

    def choose_bins(
        self, columns: Sequence[str], ways: Any, cap: int, budget: Budget, *, handicaps: Any = None
    ) -> Release[int]:
        """The index of the winning way alone. Each of the `ways` is a list of ascending places among the fine cuts:
        a bin holds the cells from one to the next. Missing values, and cells before the first place or after the last,
        are in no bin."""
        names, cap, budget = [*columns], whole(cap, "the cap", 1, 2**40), Budget(budget)
        cuts = own_ways(ways, size := self._fine_cells(names))
        marks, epsilon = own_handicaps(handicaps, len(cuts)), self._per_row(budget, len(names))
        about = f"one of {len(cuts)} ways to cut {', '.join(names[:3])}{' and others' * (len(names) > 3)}"
        receipt = self._charge("choose_bins", about, budget)
        with quiet():
            scores = np.zeros(len(cuts), np.int64)
            for done, name in enumerate(names):
                scores += capped_rows(fine_counts(self._table, name, size), cuts, cap)
                advance("finding bins", done + 1, len(names))
            winner = permute_and_flip(scores - marks, epsilon, self._noise)
        return self._wrap(winner, float(1 / epsilon), receipt)

    def _fine_cells(self, names: Sequence[Any]) -> int:
        """The number of fine cells of these columns, which must have equally many."""
        whole(len(names), "the number of columns", 1, MOST_COLUMNS)
        known = [self._table.columns.columns.get(self._own.get(name).name) for name in names]
        fitting = {*map(type, names)} == {str} and {*map(type, known)} == {Fine}
        refuse(not fitting or len({*names}) < len(names), wording.BINS_FOR)
        sizes = {len(column.cuts) - 1 for column in known if column is not None}
        refuse(len(sizes) > 1, "columns can only be cut alike if they have the same bounds")
        return sizes.pop()


def own_ways(ways: Any, cells: int) -> Integers:
    """A copy of the places, ways x cuts, if they are whole numbers that ascend within the fine cuts."""
    given = own_integers(ways, (None, None), 0, cells, wording.WAYS)
    refuse(given.shape[1] < 2 or given.size > MOST_COUNTS or (np.diff(given, axis=1) < 0).any(), wording.WAYS)
    return given


def fine_counts(table: Table, name: str, cells: int) -> Integers:
    """The number of rows in each fine cell of a column, without those whose value is missing."""
    counts = np.zeros(cells + 1, np.int64)
    for block in table.blocks():
        counts += np.bincount(table.column(name, block, finest=True), minlength=cells + 1)
    return counts[:cells]


def capped_rows(counts: Integers, cuts: Integers, cap: int) -> Integers:
    """For each way to cut, the sum over its bins of min(rows, cap)."""
    before = np.append(0, np.cumsum(counts))
    return np.asarray(np.minimum(np.diff(before[cuts], axis=1), cap).sum(axis=1))
