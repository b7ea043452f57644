"""quantile, quantiles, misordered: answers about the order of rows by a numeric column or a score, from counts between
neighbouring cut points."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ... import wording
from ...questions import Scorer
from ...questions.making import intervals
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ..asking import Asking
from ..budget import Budget, exact
from ..flip import permute_and_flip
from ..noise import SMALLEST_EPSILON, Integers, Noise
from ..owning import Owner, whole
from ..release import Release

Of = str | Scorer
Cuts = Sequence[float] | None
Ends = tuple[float, ...]
MOST_HALVINGS, HALF = 16, Fraction(1, 2)
PARTS_OF_A_ROW = 1 << 8  # misordered rows are whole numbers of 1 / PARTS_OF_A_ROW


class Ordering(Asking):
    """The verbs about the order of rows."""

    def quantile(self, of: Of, q: Any, budget: Budget, *, grid: Cuts = None, label: int = -1) -> Release[float]:
        """A cut point near the q-quantile of a numeric column or of a scorer's values, one of a public grid (see
        `quantile_place`). For a column the grid is its bin edges, and rows with a missing value are left out."""
        share = exact(q, "q").limit_denominator(10**6)
        refuse(not 0 < share < 1, "q must lie between 0 and 1")
        (asked, cuts), budget = self._ordered(of, grid, label), Budget(budget)
        epsilon = self._per_row(budget)
        receipt = self._charge("quantile", f"{share} of {asked.describe()}", budget)
        with quiet():
            counts = self._table.tabulate(asked, by_class=False).ravel()[: len(cuts) + 1]
            place = quantile_place(counts, share, epsilon, self._noise)
        return self._wrap(float(cuts[place - 1]), None, receipt)

    def quantiles(self, of: Of, depth: int, budget: Budget, *, grid: Cuts = None, label: int = -1) -> Release[Ends]:
        """Up to 2^depth - 1 cut points of a public grid, ascending, that divide the rows about evenly. Medians of
        medians, each level of them at epsilon / depth (see `even_cuts`). What is cut is as for `quantile`."""
        (asked, cuts), budget = self._ordered(of, grid, label), Budget(budget)
        depth, epsilon = whole(depth, "depth", 1, MOST_HALVINGS), self._per_row(budget)
        receipt = self._charge("quantiles", f"{2**depth} parts of {asked.describe()}", budget)
        with quiet():
            counts = self._table.tabulate(asked, by_class=False).ravel()[: len(cuts) + 1]
            places = even_cuts(counts, depth, epsilon, self._noise)
        return self._wrap(tuple(float(cuts[place - 1]) for place in places), None, receipt)

    def misordered(
        self, of: Of, positive: int, budget: Budget, *, grid: Cuts = None, label: int = -1
    ) -> Release[float]:
        """min(n1, n0) (1 - AUC) with noise: how many rows of a class fail to lie above those of the others.

        One row moves this by one at most, unlike the AUC itself (see `misordered_rows`), so discrete Laplace noise of
        scale 1/epsilon suffices. What is ordered is as for `quantile`; values between two cut points are tied.
        """
        (asked, cuts), budget = self._ordered(of, grid, label), Budget(budget)
        positive = whole(positive, "the positive class", 0, len(self._own.classes) - 1)
        epsilon = self._per_row(budget)
        refuse(epsilon / PARTS_OF_A_ROW < SMALLEST_EPSILON, wording.SIXTEEN_MILLION)
        receipt = self._charge("misordered", f"rows of class {positive} by {asked.describe()}", budget)
        with quiet():
            counts = self._table.tabulate(asked)[: len(cuts) + 1]
            rows = misordered_rows(counts[:, positive], counts.sum(axis=1) - counts[:, positive])
            noisy = rows + int(self._noise.discrete_laplace(epsilon / PARTS_OF_A_ROW, 1)[0])
        return self._wrap(noisy / PARTS_OF_A_ROW, float(1 / epsilon), receipt)

    def _ordered(self, of: Any, grid: Cuts, label: int) -> tuple[Any, Sequence[float]]:
        """A partition into intervals, lowest first, and the cut points between them."""
        asked, cuts = intervals(self._own, of, grid, label)
        return Owner(self._own).partition(asked), cuts


def even_cuts(counts: Integers, depth: int, epsilon: Fraction, noise: Noise) -> list[int]:
    """Up to 2^depth - 1 indices at which to cut the counts into parts with about equally many rows, ascending.

    A median, then a median on either side of it, and so on (Kaplan, Schnapp and Stemmer 2022). The parts of a level
    are disjoint, their ends were drawn before, and a row moves the scores of one part: a level costs what one median
    costs, epsilon / depth. A part of a single value has no place to cut, which follows from its ends.
    """
    ends = [0, len(counts)]
    for _ in range(depth):
        parts = [(low, high) for low, high in zip(ends, ends[1:], strict=False) if high - low > 1]
        medians = [low + quantile_place(counts[low:high], HALF, epsilon / depth, noise) for low, high in parts]
        ends = sorted([*ends, *medians])
    return ends[1:-1]


def quantile_place(counts: Integers, share: Fraction, epsilon: Fraction, noise: Noise) -> int:
    """A number of counts, from 1 to less than all, that together hold about this share of the rows.

    Permute-and-flip on -|b L - a n|, a/b the share, L the rows in the first counts, n all rows. A row moves b L - a n
    by b - a where it is among these and by -a elsewhere; L grows with their number, so the changes of |.| spread by at
    most 2 max(a, b - a).
    """
    a, b, below = share.numerator, share.denominator, np.cumsum(counts)
    return 1 + permute_and_flip(-abs(b * below[:-1] - a * below[-1]), epsilon / (2 * max(a, b - a)), noise)


def misordered_rows(positives: Integers, negatives: Integers) -> int:
    """Pairs in which the positive has the lower score, ties counting half, divided by the rows of the larger class; in
    units of 1 / PARTS_OF_A_ROW, rounded down.

    One row more moves this by a row at most. Let there be a positives, b negatives and u such pairs, and let a
    positive come that is below g <= b negatives. If a < b, u / b rises by g / b, at most 1. If a >= b, it becomes (u +
    g) / (a + 1), which differs from u / a by g / (a + 1) - u / (a (a + 1)), and u <= a b: between -b / (a + 1) and b
    / (a + 1). Negatives likewise. A whole number of parts is the bound, so rounding down keeps it.
    """
    above = 2 * np.cumsum(negatives[::-1])[::-1] - negatives
    twice = int((positives.astype(object) * above).sum())  # pairs of billions of rows need Python's integers
    return PARTS_OF_A_ROW * twice // (2 * max(int(positives.sum()), int(negatives.sum()), 1))
