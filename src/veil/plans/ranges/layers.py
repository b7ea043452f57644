"""Layers: noisy counts of groups of cells, every layer within the groups of the one before, made consistent.

What most of the published algorithms have in common: they differ in which groups they count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernel import Budget, Release, Source
from .domain import Domain, Integers
from .measured import Numbers, variance_of
from .spread import Spread


@dataclass(frozen=True, eq=False)
class Layer:
    """The group of each cell, from 0; the noisy counts of the groups; and the variance of their noise."""

    groups: Integers
    counts: Numbers
    variance: float


class Layers:
    """The layers that were counted so far, the coarsest first, and the rows that lie in no cell."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.layers: list[Layer] = []
        self.missing, self.missing_precision = 0.0, 0.0

    def count(
        self, source: Source, budget: Budget, groupings: Sequence[Integers], shares: Sequence[Any] | None = None
    ) -> None:
        """Count these groupings, each within the one before, in these shares of the budget (equal without any)."""
        questions = [self.domain.groups(groups) for groups in groupings]
        for groups, release in zip(
            groupings, source.count_each(questions, budget, shares=shares, by_class=False), strict=True
        ):
            self._take(groups, release)

    def _take(self, groups: Integers, release: Release[Integers]) -> None:
        *counts, missing = release.value[:, 0].astype(np.float64)
        variance = variance_of(release)
        self.layers.append(Layer(groups, np.array(counts), variance))
        known, more = self.missing_precision, 1 / variance
        self.missing = (self.missing * known + missing * more) / (known + more)
        self.missing_precision = known + more

    def spread(self) -> Spread:
        """The consistent counts of the finest groups, each spread evenly over its cells."""
        groups, rows = self.layers[-1].groups, self.settled()
        return Spread((rows / np.bincount(groups))[groups], float(self.missing))

    def settled(self) -> Numbers:
        """The best linear unbiased estimates of the finest groups (Hay, Rastogi, Miklau and Suciu 2010).

        Upwards, each group takes the inverse-variance mean of its own count and of the sum of its parts; downwards,
        parts share what is left to their whole, by their variances.
        """
        up = [(self.layers[-1].counts, np.full(len(self.layers[-1].counts), self.layers[-1].variance))]
        parents = [_parents(coarse, fine) for coarse, fine in zip(self.layers, self.layers[1:], strict=False)]
        for layer, parent in zip(self.layers[-2::-1], parents[::-1], strict=True):
            sums, spread = (np.bincount(parent, of) for of in up[-1])
            trust = 1 / (1 + layer.variance / spread)  # in the layer's own count
            up.append((sums + trust * (layer.counts - sums), trust * layer.variance))
        rows = up.pop()[0]
        for parent in parents:
            counts, variance = up.pop()
            sums, spread = np.bincount(parent, counts), np.bincount(parent, variance)
            rows = counts + ((rows - sums) / spread)[parent] * variance
        return rows


def _parents(coarse: Layer, fine: Layer) -> Integers:
    """The group of the coarser layer that each group of the finer one lies in."""
    parents = np.zeros(len(fine.counts), np.int64)
    parents[fine.groups] = coarse.groups
    return parents


def noisy_rows(source: Source, budget: Budget, domain: Domain) -> float:
    """The noisy number of rows that lie in a cell, at least zero."""
    everything = domain.groups(np.zeros(domain.size, np.int64))
    return max(float(source.count(everything, budget, by_class=False).value[0, 0]), 0.0)
