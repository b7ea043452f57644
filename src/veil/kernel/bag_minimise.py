"""Objective perturbation on bags of words: as `minimise`, for rows that have at most k words of one vocabulary.

A row has one weight in each of p columns there, and at most k weights of one set here. Its slopes move the noise in k
coordinates instead of p, and its curvature meets k penalties: with k equal parts of epsilon for k columns, rates and
penalties are those that `minimise` has, word by word, and so is the argument. What differs is the solver, and the bound
on its arithmetic: a row's score adds up to k of the largest weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from .losses import ROUNDING, Loss, Numbers
from .minimise import LARGEST, STEPS, TOLERANCE, WEIGHT_UNIT, Amounts, amounts, lattice_laplace, line_end
from .noise import Integers, Noise

CHUNK = 1 << 18  # words at a time
CONJUGATE = 300  # steps towards one Newton step
SLACK = 1e-3  # of its slope, by how much a step may have turned at its end


@dataclass(frozen=True)
class WordRows:
    """The words of rows as places among `size` weights, sorted by row, the truth of every row (1 or -1), and k."""

    places: npt.NDArray[Any]
    rows: Integers
    truth: Numbers
    size: int
    most: int

    def scores(self, weights: Numbers) -> Numbers:
        """The sum of each row's weights, its words one after the other."""
        return np.asarray(np.bincount(self.rows, weights[self.places], len(self.truth)), np.float64)

    def sums(self, values: Numbers) -> Numbers:
        """For every weight the sum of what its rows have, each rounded to 2^-48; the sum is exact (see `minimise`)."""
        whole = np.rint(values * 2.0**48)
        high = np.floor(whole * 2.0**-24)
        halves = np.zeros((2, self.size), np.int64)
        for part in self._chunks():
            for half, numbers in zip(halves, (high, whole - high * 2.0**24), strict=True):
                half += np.bincount(self.places[part], numbers[self.rows[part]], self.size).astype(np.int64)
        return np.asarray(halves[0] * 2.0**-24 + halves[1] * 2.0**-48)

    def _chunks(self) -> Iterator[slice]:
        return (slice(start, start + CHUNK) for start in range(0, len(self.rows), CHUNK))


def bag_amounts(loss: Loss, epsilon: Fraction, ratio: Fraction, size: int, most: int) -> Amounts:
    """What epsilon allows for rows of at most `most` of `size` words: that of as many columns in equal parts."""
    pieces = [len(piece) for piece in np.array_split(np.arange(size), most)]
    return amounts(loss, [epsilon / most] * most, [ratio] * most, [[piece] for piece in pieces], 2)


def bag_minimiser(rows: WordRows, loss: Loss, offset: float, given: Amounts, noise: Noise) -> Integers:
    """Weights in whole numbers of 1 / WEIGHT_UNIT: the minimiser with lattice noise, rounded, with noise again."""
    shift = lattice_laplace(given.rates[0], given.lattices[0], rows.size, noise)
    within = np.clip(_solve(_Problem(rows, loss, given.penalties, offset, shift)), -LARGEST, LARGEST)
    rounded = np.rint(within * WEIGHT_UNIT).astype(np.int64)
    return np.asarray(rounded + noise.discrete_laplace(given.last, rows.size))


@dataclass(frozen=True)
class _Problem:
    rows: WordRows
    loss: Loss
    penalties: Numbers
    offset: float
    shift: Numbers

    def gradient(self, weights: Numbers) -> Numbers:
        scores = self.rows.scores(weights) + self.offset
        slopes = self.loss.slopes(scores[None], self.rows.truth[None])[0]
        return np.asarray(self.rows.sums(slopes) + self.penalties * weights + self.shift)

    def curves(self, weights: Numbers) -> Numbers:
        """About the second derivatives; none where a slope is at its end, or steps would stay short there."""
        given = (self.rows.scores(weights) + self.offset)[None], self.rows.truth[None]
        size = np.abs(self.loss.slopes(*given)[0])
        return np.where((size > 0) & (size < 1), self.loss.curves(*given)[0], 0)

    def is_short(self, weights: Numbers, gradient: Numbers) -> bool:
        """Whether the exact gradient is certainly shorter than the tolerance: `error_bound` of `minimise`, with k
        columns of which each may have the largest weight."""
        k, largest = self.rows.most, abs(self.offset) + self.rows.most * float(np.abs(weights).max())
        slopes = ROUNDING + 2.0**-48 + 2.0**-51 + self.loss.bend * (k + 4) * 2.0**-53 * largest
        rest = 2.0**-49 * sqrt(((self.penalties * weights) ** 2 + self.shift**2).sum())
        error = sqrt(k) * len(self.rows.truth) * slopes + rest
        return bool(1.01 * (sqrt((gradient**2).sum()) + error) < TOLERANCE)


def _solve(problem: _Problem) -> Numbers:
    """A point whose gradient is certainly shorter than the tolerance: Newton's steps, none much beyond the least point
    of its line, and none before the slope has fallen by half, so they converge from anywhere."""
    weights, step = np.zeros(problem.rows.size), 0
    gradient = problem.gradient(weights)
    while step < STEPS or not problem.is_short(weights, gradient):
        way = _newton(problem, problem.curves(weights), gradient)
        weights = weights - line_end(partial(_slope, problem, weights, way), SLACK) * way
        gradient, step = problem.gradient(weights), step + 1
    return weights


def _slope(problem: _Problem, weights: Numbers, way: Numbers, at: float) -> float:
    return float(problem.gradient(weights - at * way) @ way)


def _newton(problem: _Problem, curves: Numbers, gradient: Numbers) -> Numbers:
    """About the inverse curvature times the gradient, by conjugate gradients."""
    rows = problem.rows
    scale = 1 / (problem.penalties + np.bincount(rows.places, curves[rows.rows], rows.size))
    found, rest = np.zeros(rows.size), gradient
    way = scale * rest
    size = float(rest @ way)
    goal = size * 1e-12
    for _ in range(CONJUGATE):
        if not size > goal:
            break
        bent = np.bincount(rows.places, (curves * rows.scores(way))[rows.rows], rows.size) + problem.penalties * way
        length = size / float(way @ bent)
        found, rest = found + length * way, rest - length * bent
        steep = scale * rest
        size, before = float(rest @ steep), size
        way = steep + size / before * way
    return found if float(gradient @ found) > 0 else scale * gradient
