"""DAWA: cut the cells into runs within which rows are even, then count the runs (Li, Hay and Miklau 2014).

The scales of the code in use lose more than epsilon; here they are twice as large, on single cells too, and the noise
is one-sided: see the kernel's verb `segments`. The second stage is a hierarchy over the runs.
"""

import numpy as np

from ...kernel import MOST_SEGMENTED, Budget, Source
from .domain import Domain, Integers
from .hierarchy import branches, levels
from .layers import Layers
from .orders import order_of
from .spread import Spread

TYPICAL = 3.5  # kappa: how many scales the noise of a cheap run takes off its cost


def dawa(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Choose runs of cells, count them, and spread the counts evenly within each.

    Budget: a quarter to choose the runs, the rest to count a tree above them.
    """
    domain.insist_on(MOST_SEGMENTED, "dawa")
    to_cut, to_count = budget.split(1, 3)
    order = order_of(domain)
    paid = prices(domain.size, float(source.per_row(to_cut)), float(source.per_row(to_count)))
    starts = source.segments(domain.groups(order), domain.size, to_cut, prices=paid).value
    runs = np.searchsorted(starts, order, side="right") - 1
    layers = Layers(domain)
    layers.count(source, to_count, tree_above(runs))
    return layers.spread()


def prices(cells: int, to_cut: float, to_count: float) -> list[float]:
    """The price in rows of a run of 1, 2, 4, ... cells: the noise of its count, and as much as the noise of its cost
    takes off where many runs are compared. Without the latter, noise would be fitted."""
    longest = 1 << (cells.bit_length() - 1)
    lengths = [1 << power for power in range(cells.bit_length())]
    return [1 / to_count + TYPICAL * 2 * (2 - 1 / length - 1 / longest) / to_cut for length in lengths]


def tree_above(runs: Integers) -> list[Integers]:
    """The groups of runs to count: those of each level of a tree with the best number of branches."""
    many = int(runs.max()) + 1
    return levels([runs], (many,), branches(many))
