"""A quasi-Newton method on rows of one value in each column. Each step reads all rows once, block by block, and keeps
nothing of them; the curvature it begins with is that of a sample, of all rows in the end.

A step goes on until the slope along its line has fallen by half, ends beyond the least point by a slack that vanishes,
and every eighth forgets the steps before: the objective is strongly convex and smooth, so they converge from anywhere.
"""

from collections.abc import Iterator
from itertools import accumulate, combinations_with_replacement, count, pairwise, product
from math import ceil, isqrt, prod
from typing import Any

import numpy as np

from .lines import STEPS, Numbers, curves, line_end
from .packed import Packs, looked_up

LATE = 24  # from this step on all are Newton's: at a corner of the loss, others would be many
SAMPLE, LEAST, MOST = 1 << 11, 1 / 64, 1 << 18  # rows for the first guess of the curvature, at least and at most
HELD = 1 << 17  # rows in memory: of a sample at a time, or all
PAIRED = 1 << 8  # values of a merged column, where pairs of them are counted
SPREAD = 0.6180339887498949  # multiples of it, without their whole parts, are spread evenly


def points(objective: Any, shift: Numbers) -> Iterator[Numbers]:
    """Points whose gradient is certainly short enough, one after the other."""
    objective = _held(objective) if objective.count <= HELD else objective
    common = shift - _centred(objective.loss, shift)
    weights = -common / objective.penalties  # no row has a say in what all classes have in common
    gradient, steps, short = gradient_at(objective, weights, shift), list[tuple[Numbers, Numbers]](), 0
    for step in count():
        short += step >= STEPS - 1 and objective.certainly_short(weights, gradient, shift)
        if short > 1:  # one step more than needed: it comes far nearer
            yield weights
        newton = step >= LATE and not objective.loss.joint  # of several classes, the curvature is only about right
        if step in (0, 1, 3) or step % 8 == 7 and not short or newton:
            rows = objective.count if newton else min(max(SAMPLE << min(step, 40), objective.count * LEAST), MOST)
            inverse = inverse_curvature(objective, weights, rows, newton)
            steps = [] if step % 8 == 7 or newton else steps
        way = _centred(objective.loss, _way(inverse, steps, gradient))
        if not (gradient * way).sum() > 0:
            way = _centred(objective.loss, _times(inverse, gradient))
        moved, found = _moved(objective, weights, shift, gradient, way, 0.5 ** max(1, step - LATE))
        steps.append((moved - weights, found - gradient))
        weights, gradient = moved, found


def _held(objective: Any) -> Any:
    """The same objective with blocks that are made but once."""
    blocks = [*objective.blocks()]
    others = objective.loss, objective.penalties, objective.offsets, objective.margin
    return type(objective)(lambda: blocks, objective.count, *others)


def gradient_at(objective: Any, weights: Numbers, shift: Numbers) -> Numbers:
    """The gradient with noise, in plain doubles."""
    sums = list[Numbers]()
    for rows in objective.blocks():
        if not sums:
            packs = Packs(rows.sizes)
            tables = packs.tables(weights)
            sums = [np.zeros_like(table) for table in tables]
        merged = packs.merged(rows.codes)
        scores = looked_up(tables, merged) + (objective.offsets - objective.margin * rows.truth)
        slopes = objective.loss.slopes(scores, rows.truth)
        for codes, table in zip(merged, sums, strict=True):
            for total, values in zip(table, slopes, strict=True):
                total += np.bincount(codes, values, len(total))
    return np.asarray(packs.apart(sums) + objective.penalties * weights + shift)


def _moved(
    objective: Any, weights: Numbers, shift: Numbers, gradient: Numbers, way: Numbers, slack: float
) -> tuple[Numbers, Numbers]:
    """The point at the end of a step against the direction `way`, by line search, and the gradient there."""
    found = dict[float, Numbers]()

    def slope(at: float) -> float:
        found[at] = gradient_at(objective, weights - at * way, shift)
        return float((found[at] * way).sum())

    length = line_end(slope, float((gradient * way).sum()), slack)
    return weights - length * way, found[length]


def _way(inverse: Numbers, steps: list[tuple[Numbers, Numbers]], gradient: Numbers) -> Numbers:
    """The inverse curvature times the gradient, corrected by what the last steps showed of it (Nocedal 1980)."""
    shown = [(moved, bent, 1 / size) for moved, bent in steps if (size := float((moved * bent).sum())) > 0]
    shares = []
    for moved, bent, scale in reversed(shown):
        shares.append(scale * (moved * gradient).sum())
        gradient = gradient - shares[-1] * bent
    way = _times(inverse, gradient)
    if shown:
        moved, bent, scale = shown[-1]
        way = way / (scale * float((bent * _times(inverse, bent)).sum()))
    for (moved, bent, scale), share in zip(shown, reversed(shares), strict=True):
        way = way + (share - scale * (bent * way).sum()) * moved
    return way


def _times(inverse: Numbers, gradient: Numbers) -> Numbers:
    return np.asarray((inverse @ gradient[:, :, None])[:, :, 0])


def _centred(loss: Any, values: Numbers) -> Numbers:
    """Values minus their mean over the classes, if only differences of classes matter (softmax); else unchanged."""
    return np.asarray(values - values.mean(axis=0)) if loss.joint else values


def inverse_curvature(objective: Any, weights: Numbers, most: float, sharp: bool) -> Numbers:
    """An approximate inverse Hessian for each class, classes x weights x weights, from a sample of rows."""
    size, penalties, number = weights.shape[1], objective.penalties, 0
    hessian = np.zeros((len(weights), size, size))
    for rows in samples(objective, most):
        bends = curves(objective.loss, objective.scores(weights, rows), rows.truth, sharp)
        add_products(hessian, rows, bends)
        number += bends.shape[1]
    hessian *= objective.count / max(number, 1)
    hessian[:, range(size), range(size)] += penalties
    apart = 1 - 1 / len(weights) if objective.loss.joint else 1  # classes move against each other
    return np.asarray(np.linalg.inv(hessian) * apart, np.float64)


def add_products(table: Numbers, rows: Any, values: Numbers) -> None:
    """Add, for every class and pair of weights, the sum of values over the rows with both: classes x weights x
    weights."""
    ends = [0, *accumulate(rows.sizes)]
    places = [slice(start, end) for start, end in pairwise(ends)]
    packs = Packs(
        rows.sizes, min(PAIRED, isqrt(values.shape[1]))
    )  # tables of two stay in the cache, and below the rows
    pairs = zip(packs.merged(rows.codes), packs.columns, strict=True)
    for (first, left), (second, right) in combinations_with_replacement(pairs, 2):
        shape = (*rows.sizes[left], *rows.sizes[right])
        joined, axes = first * prod(rows.sizes[right]) + second, [*enumerate((*places[left], *places[right]))]
        for found, weight in zip(table, values, strict=True):
            block = np.bincount(joined, weight, prod(shape)).reshape(shape)
            for (i, one), (k, other) in product(axes[: len(places[left])], axes[len(places[left]) :]):
                sums = block.sum(axis=tuple({*range(len(shape))} - {i, k}))
                found[one, other] += sums
                if left != right:
                    found[other, one] += sums.T


def samples(objective: Any, most: float) -> Iterator[Any]:
    """About `most` of the rows, spread over the table, or all; so many at a time that they need little memory."""
    share, parts = min(most / max(objective.count, 1), 1), list[tuple[Any, Numbers]]()
    for rows in objective.blocks():
        number = rows.truth.shape[1]
        size = ceil(number * share)
        chosen = np.arange(size) if size == number else (np.arange(1, size + 1) * SPREAD % 1 * number).astype(np.intp)
        parts.append((np.array([codes[chosen] for codes in rows.codes]), rows.truth[:, chosen]))
        if sum(len(truth[0]) for _, truth in parts) >= HELD:
            yield _joined(rows, parts)
            parts.clear()
    if parts:
        yield _joined(rows, parts)


def _joined(rows: Any, parts: list[tuple[Any, Numbers]]) -> Any:
    """Rows like these, of several parts."""
    codes, truth = (np.concatenate(some, axis=1) for some in zip(*parts, strict=True))
    return type(rows)([*codes], rows.sizes, truth)
