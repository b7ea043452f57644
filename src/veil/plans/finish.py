"""Post-processing of released counts, which costs no budget: class totals, smoothing, log-likelihoods, probabilities.

Counts are arrays of codes x classes. They may be negative, and the scale of their noise is public.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..questions.scorers import UNIT

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[Any]
PSEUDO_ROWS = 0.7  # rows that a class is given in every cell, in units of the noise scale
OF_PARENT = 0.7  # of these, the part shared out as in the group around the cell; the rest as in the whole table
DOUBT = 1.5  # the power of the reliability of a sum over columns
MOST_SHARE = 0.25  # of a budget, that one of many columns may have
LEAST_SHARE = 1e-9  # no class is impossible, so that logarithms stay finite


def column_shares(sizes: Sequence[int]) -> list[int]:
    """How to divide a budget between columns with these numbers of codes: relative shares, one for each column.

    A cell holds about rows / size, so its relative error goes with size / share; the sum of squares over the columns
    is least for shares that grow as size^(2/3). No column has more than a quarter of all (with fewer than eight of
    them, twice an equal part): one of many values would starve the others, and is rarely worth it.
    """
    shares = np.array([size ** (2 / 3) for size in sizes])
    most = max(MOST_SHARE, 2 / len(sizes)) if sizes else 1.0
    for _ in range(3):  # what one has less of raises the parts of all others: a few rounds settle it
        large = shares > most * shares.sum()
        rest, many = shares[~large].sum(), int(large.sum())
        if most * many < 1 and many:
            shares[large] = rest * most / (1 - most * many)
    return [max(round(100 * share), 1) for share in shares]


def class_totals(tables: Sequence[Counts], scales: Sequence[float]) -> tuple[Numbers, float]:
    """The rows of each class, averaged over all tables, and the standard deviation of the noise in that average.

    Every table adds up to the class totals; the variance of its sum is 2 scale^2 for each of its codes, and the
    average weights each table by the inverse of that.
    """
    least = min(scales)  # relative to the least, so that squares of tiny scales do not vanish
    trust = np.array([(least / scale) ** 2 / len(table) for table, scale in zip(tables, scales, strict=True)])
    sums = np.array([table.sum(axis=0) for table in tables], np.float64)
    return trust @ sums / trust.sum(), float(least * np.sqrt(2 / trust.sum()))


def class_prior(totals: Numbers, deviation: float) -> Numbers:
    """The share of each class, all above zero and adding up to one.

    The totals are drawn to their mean by as much as their noise explains how they differ (James-Stein): classes
    that differ by no more than noise have equal shares.
    """
    middle = totals.mean()
    noise = max(len(totals) - 1, 1) * deviation**2  # what noise adds to the sum of squares, on average
    keep = 1 - noise / max(((totals - middle) ** 2).sum(), noise)
    rows = np.maximum(max(middle, 0) + keep * (totals - middle), 0) + PSEUDO_ROWS * deviation
    prior = np.maximum(rows / rows.sum(), LEAST_SHARE)
    return np.asarray(prior / prior.sum())


def smooth(counts: Counts, scale: float | Numbers, levels: Sequence[Any], prior: Numbers) -> Numbers:
    """Smoothed counts, all above zero: a noisy cell has about the class shares of its neighbours, a large one its own.

    From the top of the column's hierarchy down, every group gets pseudo-rows in proportion to its noise, shared out
    between the classes mostly as in the group around it. At the top that is halfway between the prior, right for a
    column that tells little, and equal shares, right for one that tells the classes apart. Several tables of one
    column, codes x tables x classes, are done at once, and several columns `side_by_side`, with a scale for each code.
    """
    top = (prior + 1 / len(prior)) / 2
    per_code = (-1, *[1] * (counts.ndim - 1))
    pseudo = PSEUDO_ROWS * np.reshape(scale, per_code) * len(prior)
    shares = top
    for groups in levels[1:] if len(levels) > 1 else levels:
        index = np.asarray(groups) + 1
        merged, codes = merge(counts, index), np.bincount(index)[index].reshape(per_code)
        merged[0] = 0  # codes whose column is not divided yet: without rows they keep the shares of the top
        rows = np.maximum(merged[index], 0) + pseudo * np.sqrt(codes) * (OF_PARENT * shares + (1 - OF_PARENT) * top)
        shares = rows / rows.sum(axis=-1, keepdims=True)
    return np.asarray(rows)


def side_by_side(hierarchies: Sequence[Sequence[Sequence[int]]]) -> list[npt.NDArray[Any]]:
    """Stack the hierarchies of several columns into one, over all their codes side by side: an array of group numbers
    for each level. A shallow hierarchy is padded at the top with group -1."""
    starts = np.cumsum([0, *(len(levels[-1]) for levels in hierarchies)])
    joined = np.full((max(map(len, hierarchies)), starts[-1]), -1)
    for start, end, levels in zip(starts, starts[1:], hierarchies, strict=False):
        below = levels[1:] or levels
        joined[-len(below) :, start:end] = start + np.array(below)
    return list(joined)


def merge(counts: Counts, groups: Sequence[int] | npt.NDArray[Any]) -> Counts:
    """The counts added up over groups of codes, groups x classes; `groups` has the group of each code."""
    index = np.asarray(groups)
    merged = np.zeros((int(index.max()) + 1, *counts.shape[1:]), counts.dtype)
    np.add.at(merged, index, counts)
    return merged


def log_likelihoods(counts: Counts, smoothed: Numbers, smoothing: float, sizes: Sequence[int] | None = None) -> Numbers:
    """log P(code | class), codes x classes, all finite, from smoothed counts; `sizes` are those of stacked columns.

    Every code keeps the weight it has in the released counts: pseudo-rows would put weight on empty codes, and that
    takes more from small classes than from large ones, in every column again.
    """
    sizes = [len(counts)] if sizes is None else sizes
    rows = smoothed + smoothing
    weights = np.maximum(counts.sum(axis=1), 0) + smoothing * counts.shape[1]
    joint = rows * (weights / rows.sum(axis=1))[:, None]
    totals = np.add.reduceat(joint, np.cumsum([0, *sizes[:-1]]))
    return np.asarray(np.log(joint / np.repeat(totals, sizes, axis=0)))


def smooth_with_errors(
    counts: Counts, scale: float | Numbers, levels: Sequence[Any], prior: Numbers, smoothing: float
) -> tuple[Numbers, Numbers]:
    """The smoothed counts, and the standard errors of their logarithms: half the change in the logarithm between counts
    one standard deviation of noise higher and lower."""
    shifts = np.sqrt(2) * np.reshape(scale, (-1, 1, 1)) * np.array([[0], [1], [-1]])
    table, up, down = np.moveaxis(smooth(counts[:, None, :] + shifts, scale, levels, prior), 1, 0)
    return table, np.asarray(np.log((up + smoothing) / (down + smoothing)) / 2)


def reliability(logs: Sequence[Numbers], errors: Sequence[Numbers], prior: Numbers) -> float:
    """The factor by which to shrink the log-likelihood ratios of all columns: 1 without noise, down to about 1/3.

    Noise makes ratios larger, so that their sum over many columns is sure of what nobody knows. Measured squares hold
    signal and noise, and smoothing has taken some noise out, so the rule is measured / (measured + noise), to a power
    that says how much surer a sum is than its parts (log loss on ten tables). One factor for all columns: with two
    classes, it leaves the order of the rows alone.
    """
    table, error = np.concatenate(logs), np.concatenate(errors)
    rows = np.outer(np.exp(table) @ prior, prior)  # as if column and class were independent
    measured = float((rows * (table - (table @ prior)[:, None]) ** 2).sum())
    noise = float((rows * error**2 * (1 - prior)).sum())
    return (measured / (measured + noise)) ** DOUBT if noise > 0 else 1.0


def cell_logs(counts: Counts, shape: Sequence[int], scale: float, prior: Numbers) -> Numbers:
    """The logarithms of the class shares in every cell of a grid, cells x classes; cells within the noise are shrunk to
    a fit of main effects.

    The one-way table of an axis adds up the cells; its logarithms, the class shares of the table with pseudo-rows in
    proportion to its noise, add up over the axes to a fit of every cell. A cell gets pseudo-rows shared out as in it.
    """
    pseudo, table = scale * len(prior), counts.reshape(*shape, len(prior))
    fit = np.broadcast_to(np.log(prior), table.shape)
    for place, size in enumerate(shape):
        others = tuple(axis for axis in range(len(shape)) if axis != place)
        one_way = np.maximum(table.sum(axis=others), 0) + pseudo * np.sqrt(len(counts) / size) * prior
        ratios = np.log(one_way / one_way.sum(axis=0))
        ratios -= ratios.mean(axis=1, keepdims=True)
        fit = fit + ratios.reshape(*(size if axis == place else 1 for axis in range(len(shape))), -1)
    shares = np.exp(fit - fit.max(axis=-1, keepdims=True)).reshape(counts.shape)
    rows = np.maximum(counts, 0) + pseudo * shares / shares.sum(axis=1, keepdims=True)
    return np.asarray(np.log(np.maximum(rows / rows.sum(axis=1, keepdims=True), LEAST_SHARE)))


def probabilities(scores: npt.NDArray[np.int64]) -> Numbers:
    """Class probabilities, rows x classes: the softmax of integer scores, logarithms in units of 1 / UNIT."""
    odds = np.exp(_logs(scores))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def log_probabilities(scores: npt.NDArray[np.int64]) -> Numbers:
    """The logarithms of `probabilities`, finite also where a probability is too small for a float."""
    logs = _logs(scores)
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))


def _logs(scores: npt.NDArray[np.int64]) -> Numbers:
    return np.asarray((scores - scores.max(axis=1, keepdims=True)) / UNIT)


def nonnegative(counts: Counts) -> Numbers:
    """Counts projected on those that are not negative and keep the sum of their class, or 1 if that is less.

    All counts of a class are lowered by one number and cut off at zero (the projection on a simplex), so that their
    prefix sums never fall.
    """
    table = np.asarray(counts, np.float64)
    totals = np.maximum(table.sum(axis=0), 1)
    falling = -np.sort(-table, axis=0)
    lowered = (np.cumsum(falling, axis=0) - totals) / np.arange(1, len(table) + 1)[:, None]
    last = len(table) - 1 - np.argmax((falling > lowered)[::-1], axis=0)
    rest = np.maximum(table - np.take_along_axis(lowered, last[None], axis=0), 0)
    return np.asarray(rest * (totals / rest.sum(axis=0)))
