"""Spread: how the rows are estimated to spread over the cells of a domain; from noisy counts alone."""

from dataclasses import dataclass

import numpy as np

from .measured import Measured
from .shares import MANY, Numbers, before_counting, learned, posterior, shapes
from .slopes import expected_shares

HEARD = 0.3  # standard deviations of noise, below which a node's rows teach nothing about shapes


@dataclass(frozen=True, eq=False)
class Spread:
    """Estimated rows of each cell, in the order of the axes, last fastest; and of those with a missing value.

    `doubt` has the variance of each node's left share, by heap number (the root is 1), and `total_variance` that of
    the number of all rows; None where the method has no model of its error.
    """

    cells: Numbers
    missing: float
    total_variance: float | None = None
    doubt: Numbers | None = None


def spread_of(measured: Measured) -> Spread:
    """The cells that follow from the counts of nodes: from the root down, rows are divided by the posterior mean of
    the left half's share. They are not negative and add up to the estimate of all rows."""
    domain, (counts, variances) = measured.domain, measured.upwards()
    rows, weights = np.maximum(counts[0], 0), np.full(MANY, 1 / MANY)
    doubt = np.zeros(1 << domain.depth)
    for level in range(domain.depth):
        share, spread, weights = _divided(measured, level, rows, weights, counts[level + 1], variances[level + 1])
        doubt[1 << level : 2 << level] = spread
        rows = np.stack([rows * share, rows * (1 - share)], axis=1).ravel()
    return Spread(rows[domain.places], measured.missing, float(variances[0][0]), doubt)


def _divided(
    measured: Measured, level: int, rows: Numbers, weights: Numbers, counts: Numbers, variances: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """The mean and variance of the left share of all nodes of a level, and the weights of the shapes that it taught.

    The measured left half is the inverse-variance mean of its own estimate and of what the right half leaves. A node
    without counts below is divided as its cells and its neighbours are, and a node with cells in one half only is
    known.
    """
    left, right = measured.domain.held[level + 1].reshape(-1, 2).T
    expected = expected_shares(measured.domain, level, rows)
    share, prior = before_counting(left / np.maximum(left + right, 1), expected, weights)
    spread = np.where((left > 0) & (right > 0), prior + (0.25 - prior) / np.maximum(rows, 1), 0)  # few rows: by chance
    trust, other = 1 / variances.reshape(-1, 2).T
    seen = np.flatnonzero((trust + other > 0) & (left > 0) & (right > 0) & (rows > 0))
    if not len(seen):
        return share, spread, weights
    first, second = counts.reshape(-1, 2)[seen].T
    trust, other, total = trust[seen], other[seen], rows[seen]
    half = (first * trust + (total - second) * other) / (trust + other)
    deviation = 2 / np.sqrt(trust + other)
    found = shapes(2 * half - total, total, deviation, expected[seen])
    heard = total > HEARD * deviation
    if heard.any():
        weights = learned(type(found)(*(part[heard] for part in found)), weights)
    share[seen], spread[seen] = posterior(found, weights)
    return share, spread, weights
