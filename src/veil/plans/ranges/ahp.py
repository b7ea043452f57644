"""AHP: gather cells whose noisy counts are alike, wherever they lie, and count the gathered (Zhang, Chen, Xu, Meng and
Xie 2014)."""

from math import log

import numpy as np

from ...kernel import Budget, Source
from .domain import Domain, Integers
from .layers import Layers
from .measured import Numbers
from .spread import Spread

SMALL = 0.35  # eta: counts below eta log(cells) / epsilon are taken as zero


def ahp(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count every cell, gather those with counts alike, and count what was gathered.

    Budget: half for the cells, which decide what is gathered, half for the groups.
    """
    to_gather, to_count = budget.each(2)
    cells = source.count(domain.groups(np.arange(domain.size)), to_gather, by_class=False).value[:-1, 0]
    small = SMALL * log(domain.size) / float(source.per_row(to_gather)) if domain.size > 1 else 0.0
    alike = gathered(np.where(cells < small, 0.0, cells), 1 / float(source.per_row(to_count)))
    layers = Layers(domain)
    layers.count(source, to_count, [alike])
    return layers.spread()


def gathered(counts: Numbers, noise: float) -> Integers:
    """The group of each cell: from the largest count down, a cell joins the group before it as long as it is nearer to
    its mean than noise would move a group of its own."""
    order = np.argsort(-counts, kind="stable")
    groups, number, total, many = np.zeros(len(counts), np.int64), 0, 0.0, 0
    for cell, count in zip(order.tolist(), counts[order].tolist(), strict=True):
        if many and abs(total / many - count) > noise:
            number, total, many = number + 1, 0.0, 0
        groups[cell], total, many = number, total + count, many + 1
    return groups
