"""Spread: how the rows are estimated to spread over the cells of a domain; from noisy counts alone."""

from dataclasses import dataclass

import numpy as np

from .measured import Measured, Numbers


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
    counts, variances = measured.upwards()
    rows = np.maximum(counts[0], 0)
    for level in range(measured.domain.depth):
        left, right = counts[level + 1].reshape(-1, 2).T
        a, b = variances[level + 1].reshape(-1, 2).T
        unknown = np.isinf(a) | np.isinf(b)
        with np.errstate(invalid="ignore"):
            first = np.where(unknown, rows / 2, (left * b + (rows - right) * a) / (a + b))
        first = np.clip(first, 0, rows)
        rows = np.stack([first, rows - first], axis=1).ravel()
    return Spread(rows[measured.domain.places], measured.missing)
