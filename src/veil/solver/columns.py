"""Conjugate gradients on rows of one value in each column, scaled by the curvature of a sample of rows that grows until
it is all of them.

No step ends beyond the least point of its line by more than a vanishing slack, and every fourth starts afresh: the
objective is strongly convex and smooth, so they converge from anywhere.
"""

from collections.abc import Iterator
from itertools import accumulate, combinations_with_replacement, count, pairwise, product
from math import isqrt, prod
from typing import Any

import numpy as np

from .lines import STEPS, Numbers, curves, line_end
from .packed import Packed

LATE = 24  # from this step on all are Newton's: at a corner of the loss, others would be many
SAMPLE = 1 << 11  # rows for the first guess of the curvature
PAIRED = 1 << 8  # values of a merged column, where pairs of them are counted


def points(objective: Any, shift: Numbers) -> Iterator[Numbers]:
    """Points whose gradient is certainly short enough, one after the other."""
    rows, others = objective.rows, (objective.loss, objective.penalties, objective.offsets, objective.margin)
    objective = type(objective)(Packed(rows.codes, rows.sizes, rows.truth), *others)
    common = shift - _centred(objective.loss, shift)
    weights = -common / objective.penalties  # no row has a say in what all classes have in common
    way, before, scale = weights, shift, 1.0
    for step in count():
        scores = objective.scores(weights)
        gradient = _gradient(objective, weights, scores, shift)
        if step >= STEPS and objective.certainly_short(weights, gradient, shift):
            yield weights
        newton = step >= LATE and not objective.loss.joint  # of several classes, the curvature is only about right
        fresh = step < 2 or step % 4 == 3 or newton
        if fresh:
            inverse = inverse_curvature(objective, weights, SAMPLE << min(step, 40), newton)
        steep = _centred(objective.loss, (inverse @ gradient[:, :, None])[:, :, 0])
        keep = 0.0 if fresh or not scale > 0 else max(0.0, float((steep * (gradient - before)).sum()) / scale)
        way = steep + keep * way
        before, scale = gradient, float((gradient * steep).sum())
        if fresh or not (gradient * way).sum() > 0:
            way = steep
        weights = weights - _length(objective, scores, weights, shift, way, 2.0**-step) * way


def _gradient(objective: Any, weights: Numbers, scores: Numbers, shift: Numbers) -> Numbers:
    """The gradient with noise, in plain doubles."""
    slopes = objective.loss.slopes(scores, objective.rows.truth)
    return np.asarray(objective.rows.added(slopes) + objective.penalties * weights + shift)


def _centred(loss: Any, values: Numbers) -> Numbers:
    """Values minus their mean over the classes, if only differences of classes matter (softmax); else unchanged."""
    return np.asarray(values - values.mean(axis=0)) if loss.joint else values


def inverse_curvature(objective: Any, weights: Numbers, most: int, sharp: bool) -> Numbers:
    """An approximate inverse Hessian for each class, classes x weights x weights, from a sample of rows."""
    rows, penalties = objective.rows, objective.penalties
    part = sample(rows, most)
    hessian = products(part, curves(objective.loss, objective.scores(weights, part), part.truth, sharp))
    hessian *= rows.truth.shape[1] / max(part.truth.shape[1], 1)
    hessian[:, range(len(penalties)), range(len(penalties))] += penalties
    return np.asarray(np.linalg.inv(hessian), np.float64)


def _length(objective: Any, scores: Numbers, weights: Numbers, shift: Numbers, way: Numbers, slack: float) -> float:
    """The step length against the direction `way`, by line search."""
    moved = objective.rows.scores(way)

    def slope(at: float) -> float:
        slopes = objective.loss.slopes(scores - at * moved, objective.rows.truth)
        return float((slopes * moved).sum() + ((objective.penalties * (weights - at * way) + shift) * way).sum())

    return line_end(slope, slack)


def products(rows: Any, values: Numbers) -> Numbers:
    """For every class and pair of weights, the sum of values over the rows with both: classes x weights x weights."""
    ends = [0, *accumulate(rows.sizes)]
    places = [slice(start, end) for start, end in pairwise(ends)]
    table = np.empty((len(values), ends[-1], ends[-1]))
    few = min(PAIRED, isqrt(values.shape[1]))  # tables of two packs stay in the cache, and no larger than the rows
    for (first, left), (second, right) in combinations_with_replacement(rows.packed(few), 2):
        shape = (*rows.sizes[left], *rows.sizes[right])
        joined, axes = first * prod(rows.sizes[right]) + second, [*enumerate((*places[left], *places[right]))]
        for found, weight in zip(table, values, strict=True):
            block = np.bincount(joined, weight, prod(shape)).reshape(shape)
            for (i, one), (k, other) in product(axes[: len(places[left])], axes[len(places[left]) :]):
                found[one, other] = block.sum(axis=tuple({*range(len(shape))} - {i, k}))
                found[other, one] = found[one, other].T
    return table


def sample(rows: Any, most: int) -> Any:
    """All rows, or about `most` of them, spread over the table."""
    number = rows.truth.shape[1]
    if number <= most:
        return rows
    chosen = (np.arange(most) * 0.6180339887498949 % 1 * number).astype(np.intp)
    return type(rows)([codes[chosen] for codes in rows.codes], rows.sizes, rows.truth[:, chosen])
