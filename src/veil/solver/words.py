"""Newton's steps on rows of few words of many, each by conjugate gradients.

No step goes much beyond the least point of its line, and none ends before the slope has fallen by half, so they
converge from anywhere.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .lines import STEPS, Numbers, curves, line_end

CONJUGATE = 300  # steps towards one Newton step
SLACK = 1e-3  # of its slope, by how much a step may have turned at its end


def points(objective: Any, shift: Numbers) -> Iterator[Numbers]:
    """Points whose gradient seems to be short enough."""
    weights, step = np.zeros(objective.rows.size), 0
    gradient = _gradient(objective, shift, weights)
    while True:
        if step >= STEPS and objective.certainly_short(weights[None], gradient[None], shift):
            yield weights[None]
        way = _newton(objective, _curves(objective, weights), gradient)
        weights = weights - line_end(partial(_slope, objective, shift, weights, way), SLACK) * way
        gradient, step = _gradient(objective, shift, weights), step + 1


def _gradient(objective: Any, shift: Numbers, weights: Numbers) -> Numbers:
    found: Numbers = objective.gradient(weights[None], objective.scores(weights[None]), shift)[0]
    return found


def _slope(objective: Any, shift: Numbers, weights: Numbers, way: Numbers, at: float) -> float:
    return float(_gradient(objective, shift, weights - at * way) @ way)


def _curves(objective: Any, weights: Numbers) -> Numbers:
    """About the second derivatives; none where a slope is at its end, or steps would stay short there."""
    given = objective.scores(weights[None]), objective.rows.truth
    size = np.abs(objective.loss.slopes(*given)[0])
    return np.where((size > 0) & (size < 1), curves(objective.loss, *given)[0], 0)


def _newton(objective: Any, bends: Numbers, gradient: Numbers) -> Numbers:
    """About the inverse curvature times the gradient, by conjugate gradients."""
    rows, penalties = objective.rows, objective.penalties
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
