"""Measured: the noisy counts of the nodes of a dyadic tree, level by level, each with the variance of its noise."""

from collections.abc import Mapping
from math import exp, expm1
from typing import Any

import numpy as np
import numpy.typing as npt

from ...kernel import Budget, Release, Source
from .domain import Domain, Nodes

Numbers = npt.NDArray[np.float64]
LEAST_VARIANCE = 1e-12  # of noise that is almost surely zero, so that inverses stay finite


def variance_of(release: Release[Any]) -> float:
    """The variance of discrete Laplace noise: 2 a / (1 - a)^2 with a = exp(-1 / scale)."""
    scale = release.noise_scale
    return max(2 * exp(-1 / scale) / expm1(-1 / scale) ** 2 if scale else 0.0, LEAST_VARIANCE)


class Measured:
    """For each level of the tree, the inverse-variance mean of all counts of a node, and its precision (0: never).

    `missing` is the same of the rows that lie in no cell, since one of their values is missing; `together` says whether
    they are still among those that are counted next.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.counts: list[Numbers] = [np.zeros(1 << level) for level in range(domain.depth + 1)]
        self.precision: list[Numbers] = [np.zeros(1 << level) for level in range(domain.depth + 1)]
        self.missing, self.missing_precision, self.together = 0.0, 0.0, True

    def count(self, source: Source, budget: Budget, nodes: Mapping[int, Nodes]) -> None:
        """Count disjoint nodes, given by level, and take the counts in."""
        release = source.count(self.domain.nodes(nodes), budget, by_class=False)
        *counts, missing = release.value[:, 0].astype(np.float64)
        more, start = 1 / variance_of(release), 0
        for level, some in nodes.items():
            found = np.array(counts[start : start + len(some)])
            self._take(level, some, found, more)
            start += len(some)
        if self.together:
            known = self.missing * self.missing_precision
            self.missing = float((known + missing * more) / (self.missing_precision + more))
            self.missing_precision += more

    def _take(self, level: int, nodes: Nodes, counts: Numbers, more: float) -> None:
        known = self.precision[level][nodes]
        self.counts[level][nodes] = (self.counts[level][nodes] * known + counts * more) / (known + more)
        self.precision[level][nodes] = known + more

    def settled(self, level: int, nodes: Nodes, below: int, children: Nodes) -> Numbers:
        """The counts of the children of some nodes, moved evenly to add up to what is known of their parents: the
        inverse-variance mean of the parent's own count and of the sum of its children."""
        counts, precision = self.counts[below][children], self.precision[below][children]
        parents = children >> (below - level)
        sums, many, spread = (
            np.bincount(parents, of, 1 << level)[nodes] for of in (counts, np.ones(len(counts)), 1 / precision)
        )
        own, trust = self.counts[level][nodes], self.precision[level][nodes]
        shift = np.zeros(1 << level)
        shift[nodes] = trust * (own - sums) / (trust + 1 / spread) / many
        return np.asarray(counts + shift[parents])

    def upwards(self) -> tuple[list[Numbers], list[Numbers]]:
        """For each level the best estimate of every node from itself and what is below it, and the variance of that.

        The inverse-variance mean of the node's own counts and of the sum of its halves (Hay et al. 2010); the variance
        is infinite where nothing was counted. Nodes without cells are empty for certain.
        """
        counts, variances = list[Numbers](), list[Numbers]()
        for level in reversed(range(self.domain.depth + 1)):
            mean, precision = self.counts[level], self.precision[level]
            if counts:
                sums, spread = counts[-1].reshape(-1, 2).sum(axis=1), variances[-1].reshape(-1, 2).sum(axis=1)
                both = precision + 1 / spread
                mean = (mean * precision + sums / spread) / np.where(both > 0, both, 1)
                precision = both
            held = self.domain.held[level] > 0
            counts.append(np.where(held, mean, 0))
            variances.append(np.where(held, 1 / np.where(precision > 0, precision, 1), LEAST_VARIANCE))
            variances[-1][held & (precision == 0)] = np.inf
        return counts[::-1], variances[::-1]
