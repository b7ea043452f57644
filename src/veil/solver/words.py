"""Newton's method on sparse rows of words, each step by conjugate gradients.

No step goes much beyond the minimum along its line, and none ends before the slope has fallen by half, so they converge
from anywhere.
"""

from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from .lines import STEPS, Numbers, curves, line_end

CONJUGATE = 300  # most steps of conjugate gradients for one Newton step
SLACK = 1e-3  # slope at the end of a step, relative to the start and of opposite sign, at most


def points(objective: Any, shift: Numbers) -> Iterator[Numbers]:
    """Points whose gradient is certainly short enough, one after the other."""
    rows = _joined([*objective.blocks()])
    others = objective.count, objective.loss, objective.penalties, objective.offsets, objective.margin
    objective = type(objective)(lambda: [rows], *others)
    weights, step = np.zeros(rows.size), 0
    gradient = _gradient(objective, shift, weights)
    while True:
        if step >= STEPS and objective.certainly_short(weights[None], gradient[None], shift):
            yield weights[None]
        way = _newton(rows, objective.penalties, _curves(objective, rows, weights), gradient)
        slope = partial(_slope, objective, shift, weights, way)
        weights = weights - line_end(slope, float(gradient @ way), SLACK) * way
        gradient, step = _gradient(objective, shift, weights), step + 1


def _joined(blocks: list[Any]) -> Any:
    """The rows of all blocks."""
    starts = accumulate([len(rows.truth[0]) for rows in blocks], initial=0)
    owners = [rows.rows + start for rows, start in zip(blocks, starts, strict=False)]
    places = np.concatenate([rows.places for rows in blocks])
    truth = np.concatenate([rows.truth for rows in blocks], axis=1)
    return type(blocks[0])(places, np.concatenate(owners), truth, blocks[0].size, blocks[0].most)


def _gradient(objective: Any, shift: Numbers, weights: Numbers) -> Numbers:
    found: Numbers = objective.gradient(weights[None], shift)[0]
    return found


def _slope(objective: Any, shift: Numbers, weights: Numbers, way: Numbers, at: float) -> float:
    return float(_gradient(objective, shift, weights - at * way) @ way)


def _curves(objective: Any, rows: Any, weights: Numbers) -> Numbers:
    """Approximate second derivatives; 0 where the slope is at a limit (0 or 1), else steps would stay short."""
    given = objective.scores(weights[None], rows), rows.truth
    size = np.abs(objective.loss.slopes(*given)[0])
    return np.where((size > 0) & (size < 1), curves(objective.loss, *given)[0], 0)


def _newton(rows: Any, penalties: Numbers, bends: Numbers, gradient: Numbers) -> Numbers:
    """An approximate Newton step (inverse Hessian times gradient), by conjugate gradients."""
    scale = 1 / (penalties + np.bincount(rows.places, bends[rows.rows], rows.size))
    found, rest = np.zeros(rows.size), gradient
    way = scale * rest
    size = float(rest @ way)
    goal = size * 1e-12
    for _ in range(CONJUGATE):
        if not size > goal:
            break
        bent = np.bincount(rows.places, (bends * rows.scores(way[None])[0])[rows.rows], rows.size) + penalties * way
        length = size / float(way @ bent)
        found, rest = found + length * way, rest - length * bent
        steep = scale * rest
        size, before = float(rest @ steep), size
        way = steep + size / before * way
    return found if float(gradient @ found) > 0 else scale * gradient
