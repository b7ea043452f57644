"""AG, the adaptive grid: a coarse grid, and within each of its blocks one as fine as its rows allow (Qardaji, Yang and
Li 2013)."""

from math import ceil

import numpy as np

from ...kernel import Budget, Source
from .domain import Domain, Integers, numbered
from .layers import Layers, noisy_rows
from .measured import Numbers
from .spread import Spread
from .uniform_grid import TO_ROWS, UNEVEN, blocks, parts_of_an_axis

FEWEST = 10  # parts of an axis at the first level
COARSER = 4  # than a uniform grid


def adaptive_grid(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count the blocks of a coarse grid, then those of a finer grid within each; reconcile the two (constrained
    inference).

    Budget: 2 % for the number of rows, half of the rest for each level. A row lies in one block of each level, so the
    two levels cost the sum: with all of epsilon for both, which looks like counts of disjoint blocks, it would be twice
    the promise.
    """
    to_rows, to_coarse, to_fine = budget.split(TO_ROWS, "0.49", "0.49")
    signal = noisy_rows(source, to_rows, domain) * float(source.per_row(budget))
    coarse = blocks(domain, max(ceil(parts_of_an_axis(signal, domain, UNEVEN) / COARSER), FEWEST))
    layers = Layers(domain)
    layers.count(source, to_coarse, [coarse])
    signals = np.maximum(layers.layers[0].counts, 0) * float(source.per_row(to_fine))
    layers.count(source, to_fine, [finer(domain, coarse, signals)])
    return layers.spread()


def finer(domain: Domain, coarse: Integers, signals: Numbers) -> Integers:
    """The number of each cell's block at the second level, by the noisy rows x epsilon of the blocks at the first."""
    parts = np.array([parts_of_an_axis(signal, domain, UNEVEN / 2) for signal in signals.tolist()])
    within = [coarse]
    for place in domain.along:
        first, last = _ends(coarse, place)
        lengths = np.maximum((last - first + 1) // np.minimum(parts, len(place)), 1)
        within.append((place - first[coarse]) // lengths[coarse])
    return numbered(within)


def _ends(groups: Integers, place: Integers) -> tuple[Integers, Integers]:
    """The first and the last place of the cells of each group along an axis."""
    first, last = np.full((2, int(groups.max()) + 1), place.max())
    np.minimum.at(first, groups, place)
    last[:] = 0
    np.maximum.at(last, groups, place)
    return first, last
