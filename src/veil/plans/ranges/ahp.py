"""AHP: gather cells whose noisy counts are alike, wherever they lie, and count the gathered (Zhang, Chen, Xu, Meng and
Xie 2014)."""

from math import log

import numpy as np

from ...kernel import Budget, Source
from .domain import Domain, Integers
from .layers import Layers
from .measured import Numbers
from .spread import Spread

SHARES = (85, 15)  # per cent of the budget: for the cells, which decide what is gathered, and for the groups
SMALL = 0.35  # eta: counts below eta log(cells) / epsilon are taken as zero; this and the shares are DPBench's


def ahp(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count every cell, gather those with counts alike, and count what was gathered.

    Budget: 85 % for the cells, which decide what is gathered, the rest for the groups.
    """
    to_gather, to_count = budget.split(*SHARES)
    cells = source.count(domain.groups(np.arange(domain.size)), to_gather, by_class=False).value[:-1, 0]
    small = SMALL * log(domain.size) / float(source.per_row(to_gather)) if domain.size > 1 else 0.0
    alike = gathered(np.where(cells < small, 0.0, cells), 2 / float(source.per_row(to_count)) ** 2)
    layers = Layers(domain)
    layers.count(source, to_count, [alike])
    return layers.spread()


def gathered(counts: Numbers, noise: float) -> Integers:
    """The group of each cell, by the paper's greedy rule; `noise` is the variance of a group's count.

    The error of a group is the sum of its squared differences from the mean, and its noise over its size. From the
    smallest count up, a cell joins the group before it, unless that group's error would grow by as much as the cell
    would have in the best group that begins with it.
    """
    order = np.argsort(counts, kind="stable")
    alone, groups = least_errors(counts[order], noise), np.zeros(len(counts), np.int64)
    group, many, mean, uneven = 0, 0, 0.0, 0.0
    for cell, count, least in zip(order.tolist(), counts[order].tolist(), alone.tolist(), strict=True):
        more = uneven + (count - mean) ** 2 * many / (many + 1)
        if many and more + noise / (many + 1) >= uneven + noise / many + least:
            group, many, mean, more = group + 1, 0, 0.0, 0.0
        groups[cell], many, mean, uneven = group, many + 1, (mean * many + count) / (many + 1), more
    return groups


def least_errors(ascending: Numbers, noise: float) -> Numbers:
    """For each cell its least error in a group that begins with it: its squared difference from the mean, and its share
    of the noise. The sizes tried are 1, 2, 3, 4, 6, 8, 12, ..., which is close to all of them."""
    sums, cells = np.append(0.0, np.cumsum(ascending)), len(ascending)
    best = np.full(cells, noise)
    for size in sorted({step << power for power in range(cells.bit_length()) for step in (2, 3)}):
        if size <= cells:
            means = (sums[size:] - sums[:-size]) / size
            part = best[: len(means)]
            np.minimum(part, (ascending[: len(means)] - means) ** 2 + noise / size**2, out=part)
    return best
