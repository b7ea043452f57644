"""segments: cells in an order, cut into runs within which they hold about equally many rows.

Buckets are all runs of 1, 2, 4, ... cells, up to the longest length L that fits, at every place. A bucket b of |b|
cells costs L dev(b) + price(|b|) - G(b): dev is the sum over its cells of |rows - mean|, the price is public, and G(b)
is geometric, P(G(b) >= k) = exp(-k epsilon / t(b)) with t(b) = 2 (2 L - L/|b| - 1). The segments are the buckets of the
partition that costs least; of several, the one whose last bucket is shortest, then the one before it, and so on. All
costs are whole numbers, since |b| dev(b) is one and |b| divides L.

This costs epsilon. A row added to a cell of b moves the cell's |rows - mean| by at most 1 - 1/|b|, and those of the
|b| - 1 others by 1/|b| each: L dev(b) by at most d(b) = 2 (L - L/|b|), and no other bucket's. Take a partition P, its
bucket b that holds the row's cell, and all noise but G(b) as given. P comes out if it beats every other partition Q, by
cost or at equal cost by the order. If b is in Q, it cancels, and no other bucket of the two holds the row's cell: who
wins depends neither on the row nor on G(b). If b is not in Q, then P wins if G(b) is at least a whole number, which the
row moves by at most d(b) on P's side, and on Q's by d of the bucket that holds its cell there, at most 2 (L - 1). So P
comes out if G(b) >= T, the largest of these numbers (or always, or never), and the row moves T by at most d(b) + 2 (L -
1) = t(b): P(G(b) >= T) = min(1, exp(-T epsilon / t(b))) moves by a factor of at most exp(epsilon), up or down. That
holds whatever the other noise is, so for the partition. Noise on one side suffices, as in permute-and-flip; but buckets
of one cell need it too. (After Li, Hay and Miklau 2014; the code in use has half of the noise, none on single cells.)
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ... import wording
from ...questions import Partition
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ..asking import Asking
from ..budget import Budget, exact
from ..noise import BLOCK, SMALLEST_EPSILON, Integers
from ..owning import Owner, whole
from ..release import Release, frozen

MOST_CELLS = 1 << 14  # the time grows with the square of their number
DEAREST = 1 << 40  # price, in rows


class Cutting(Asking):
    """The verb that cuts cells in an order into runs."""

    def segments(
        self, partition: Partition, cells: int, budget: Budget, *, prices: Sequence[float]
    ) -> Release[Integers]:
        """The first cell of each run, ascending from 0. The first `cells` cells of the partition are cut, in their
        order; all others are in no run. `prices` has the price in rows of a bucket of 1, 2, 4, ... cells."""
        partition, budget = Owner(self._own).partition(partition), Budget(budget)
        cells = whole(cells, "the number of cells to cut", 1, min(partition.size, MOST_CELLS))
        lengths = lengths_of(cells)
        marks, moves = own_prices(prices, lengths), moves_of(lengths)
        rates = [self._per_row(budget) / move for move in moves]
        refuse(min(rates) < SMALLEST_EPSILON, wording.MANY_CELLS)
        receipt = self._charge("segments", f"runs of {cells} cells of {partition.describe()}", budget)
        with quiet():
            counts = self._table.tabulate(partition, by_class=False)[:cells, 0]
            sizes = [cells - length + 1 for length in lengths]
            drawn = np.split(self._noise.geometric_each(rates, sizes), np.cumsum(sizes)[:-1])
            parts = zip(lengths, marks, drawn, strict=True)
            costs = [deviations(counts, length, lengths[-1]) + mark - noise for length, mark, noise in parts]
            starts = cheapest([cost.tolist() for cost in costs], lengths, cells)
        return self._wrap(frozen(np.array(starts)), float(1 / (rates[-1] * lengths[-1])), receipt)  # of the longest


def lengths_of(cells: int) -> list[int]:
    """1, 2, 4, ... up to the number of cells."""
    return [1 << power for power in range(cells.bit_length())]


def moves_of(lengths: list[int]) -> list[int]:
    """t(b) for each length: how far a row can move what G(b) is compared with. (1 where nothing can be chosen.)"""
    longest = lengths[-1]
    return [max(2 * (2 * longest - longest // length - 1), 1) for length in lengths]


def own_prices(prices: Any, lengths: list[int]) -> list[int]:
    """The prices in units of 1 / the longest length, rounded down."""
    found = [exact(price, "a price") for price in prices]
    refuse(len(found) != len(lengths) or not all(0 <= price <= DEAREST for price in found), wording.PRICES)
    return [int(price * lengths[-1]) for price in found]


def deviations(counts: Integers, length: int, longest: int) -> Integers:
    """For each run of `length` cells, the sum of |rows - mean| times the longest length."""
    windows = np.lib.stride_tricks.sliding_window_view(counts, length)
    found, step = np.zeros(len(windows), np.int64), max(BLOCK // length, 1)
    for start in range(0, len(windows) if length > 1 else 0, step):
        some = windows[start : start + step]
        found[start : start + step] = np.abs(some * length - some.sum(axis=1, keepdims=True)).sum(axis=1)
    return found * (longest // length)


def cheapest(costs: list[list[int]], lengths: list[int], cells: int) -> list[int]:
    """The first cells of the runs of the partition that costs least; at equal cost, shorter last runs win.

    The best partition of the first k cells is the best one of some fewer cells and one bucket, the shortest of those
    that cost equally little: so it is the first in that order.
    """
    least, last, kinds = [0], [0], [*zip(lengths, costs, strict=True)]
    for end in range(1, cells + 1):
        best, length = min((least[end - size] + cost[end - size], size) for size, cost in kinds if size <= end)
        least.append(best)
        last.append(length)
    return [*_backwards(last, cells)][::-1]


def _backwards(last: list[int], cells: int) -> Iterator[int]:
    while cells > 0:
        cells -= last[cells]
        yield cells
