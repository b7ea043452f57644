"""What plans do with noisy counts once they are out: totals, smoothing, logarithms, probabilities; all of it is free.

Counts are codes x classes. They may be negative, and their noise has a public scale.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..questions import UNIT

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[Any]
PSEUDO_ROWS = 0.7  # rows that a class is given in every cell, in units of the noise scale
OF_PARENT = 0.7  # of these, the part shared out as in the group around the cell; the rest as in the whole table
LEAST_SHARE = 1e-9  # no class is impossible, so that logarithms stay finite


def column_shares(sizes: Sequence[int]) -> list[float]:
    """Shares of a budget for columns of these sizes.

    A cell holds about rows / size, so its relative error goes with size / share; the sum of squares over the columns
    is least for shares that grow as size^(2/3).
    """
    return [round(size ** (2 / 3), 2) for size in sizes]


def class_totals(tables: Sequence[Counts], scales: Sequence[float]) -> tuple[Numbers, float]:
    """The rows of each class by all tables together, and the standard deviation of their noise.

    Every table adds up to the class totals; the variance of its sum is 2 scale^2 for each of its codes, and the
    average weights each table by the inverse of that.
    """
    least = min(scales)  # relative to the least, so that squares of tiny scales do not vanish
    trust = np.array([(least / scale) ** 2 / len(table) for table, scale in zip(tables, scales, strict=True)])
    sums = np.array([table.sum(axis=0) for table in tables], np.float64)
    return trust @ sums / trust.sum(), float(least * np.sqrt(2 / trust.sum()))


def class_prior(totals: Numbers, deviation: float) -> Numbers:
    """The share of each class, above zero; without a signal, all are equal."""
    rows = np.maximum(totals, 0) + PSEUDO_ROWS * deviation
    prior = np.maximum(rows / rows.sum(), LEAST_SHARE)
    return np.asarray(prior / prior.sum())


def smooth(counts: Counts, scale: float, levels: Sequence[Sequence[int]], prior: Numbers) -> Numbers:
    """Counts above zero: a cell within the noise has nearly the class shares of its neighbours, others keep theirs.

    From the top of the column's hierarchy down, every group gets pseudo-rows in proportion to its noise, shared out
    between the classes mostly as in the group around it. At the top that is halfway between the prior, right for a
    column that tells little, and equal shares, right for one that tells the classes apart.
    """
    top = (prior + 1 / len(prior)) / 2
    shares = np.tile(top, (len(counts), 1))
    for groups in levels[1:] or levels:
        index = np.asarray(groups)
        codes = np.bincount(index)[:, None]
        pseudo = PSEUDO_ROWS * scale * np.sqrt(codes) * len(prior)
        around = merge(shares, index) / codes  # the codes of a group all carry its parent's shares
        rows = np.maximum(merge(counts, index), 0) + pseudo * (OF_PARENT * around + (1 - OF_PARENT) * top)
        shares = (rows / rows.sum(axis=1, keepdims=True))[index]
    return np.asarray(rows[index])


def merge(counts: Counts, groups: Sequence[int] | npt.NDArray[Any]) -> Counts:
    """The counts of groups of codes."""
    index = np.asarray(groups)
    merged = np.zeros((int(index.max()) + 1, counts.shape[1]), counts.dtype)
    np.add.at(merged, index, counts)
    return merged


def log_likelihoods(counts: Counts, smoothed: Numbers, smoothing: float) -> Numbers:
    """log P(code | class), finite.

    The probabilities add up to one over the codes whose released count is above zero: the noise and pseudo-rows of
    empty codes would take more from small classes than from large ones.
    """
    rows = smoothed + smoothing
    occupied = counts.sum(axis=1) > 0
    kept = np.where(occupied[:, None], rows, smoothing) if occupied.any() else rows
    return np.asarray(np.log(rows / kept.sum(axis=0)))


def probabilities(scores: npt.NDArray[np.int64]) -> Numbers:
    """The probability of each class, from a scorer's logarithms in units of 1 / UNIT."""
    logs = (scores - scores.max(axis=1, keepdims=True)) / UNIT
    odds = np.exp(logs)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
