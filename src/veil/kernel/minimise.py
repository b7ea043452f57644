"""Objective perturbation on one-hot rows: weights that minimise loss, penalty and noise, private in finite arithmetic.

Every row has one value in each of p columns. J(w) = sum of losses + sum_j penalty_j |w_j|^2 / 2 + b w, with Laplace
noise of rate r_j on every weight of column j. For a given minimiser w the noise must have been b = -(gradient of the
rest): a row moves it by its slopes in one place of each column, and multiplies the Jacobian by no more than its
curvature and the sum of 1/penalty_j allow (Chaudhuri, Monteleoni and Sarwate 2011, for sums and added rows). The loss
says which rates this leaves.

Computers find no exact minimiser of real noise. The noise is drawn on a lattice, each point the middle of a cell of the
ideal noise; the solver stops only where the gradient, its error included, is provably below `TOLERANCE`; so its point
lies within a known distance of the ideal minimiser, by strong convexity, whatever the rows. Discrete Laplace noise in
proportion to that distance on the rounded weights hides it, for a sliver of epsilon.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import ceil, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from .losses import ROUNDING, Loss, Numbers
from .noise import SMALLEST_EPSILON, Integers, Noise

TOLERANCE = 2.0**-14  # of the norm of the gradient
LATTICE = Fraction(1, 2**20)  # of the noise in the objective, where the sampler allows it
UNIT = 1 << 30  # released weights are whole numbers of 1 / UNIT
LARGEST = 2.0**30  # weight
SLIVER = Fraction(1, 50)  # of epsilon, for hiding where the solver stopped
LEAST_PENALTY = Fraction(1, 64)  # below it the solver's arithmetic would get coarse
STEPS = 8  # at least, so that their number says little
SAMPLE = 1 << 11  # rows for the first guess of the curvature
CHUNK = 1 << 15  # rows at a time: temporaries stay in the cache


@dataclass(frozen=True)
class Blocks:
    """Codes of every column, their sizes, and the truth: classes x rows, or 1 x rows with 1 for the class, else -1."""

    codes: Sequence[npt.NDArray[Any]]
    sizes: Sequence[int]
    truth: Numbers

    def _chunks(self) -> Iterator[slice]:
        rows = self.truth.shape[1]
        return (slice(start, min(start + CHUNK, rows)) for start in range(0, rows, CHUNK))

    def scores(self, weights: Numbers) -> Numbers:
        """The sum of each row's weights, for each class."""
        total, parts = np.zeros(self.truth.shape), np.split(weights, np.cumsum(self.sizes)[:-1], axis=1)
        for rows in self._chunks():
            for codes, part in zip(self.codes, parts, strict=True):
                total[:, rows] += np.take(part, codes[rows], axis=1)
        return total

    def sums(self, values: Numbers) -> Numbers:
        """For every class and weight, the sum over the rows that have it, of values rounded to 2^-48.

        Exact: doubles hold whole numbers of a chunk, integers those of all chunks, high and low halves apart.
        """
        ends = np.cumsum([0, *self.sizes])
        halves = np.zeros((2, len(values), ends[-1]), np.int64)
        for rows in self._chunks():
            whole = np.rint(values[:, rows] * 2.0**48)
            high = np.floor(whole * 2.0**-24)
            split = np.stack([high, whole - high * 2.0**24])
            for codes, size, end in zip(self.codes, self.sizes, ends[1:], strict=True):
                index = codes[rows].astype(np.intp)
                for half, row in np.ndindex(2, len(values)):
                    found = np.bincount(index, split[half, row], size)
                    halves[half, row, end - size : end] += found.astype(np.int64)
        return np.asarray(halves[0] * 2.0**-24 + halves[1] * 2.0**-48)

    def products(self, values: Numbers) -> Numbers:
        """For every class and two weights, the sum over the rows that have both."""
        ends = np.cumsum([0, *self.sizes])
        table = np.empty((len(values), ends[-1], ends[-1]))
        wide = [codes.astype(np.intp) for codes in self.codes]
        for i, k in combinations_with_replacement(range(len(wide)), 2):
            shape = self.sizes[i], self.sizes[k]
            joined = wide[i] * shape[1] + wide[k]
            for place, weight in zip(table, values, strict=True):
                block = np.bincount(joined, weight, shape[0] * shape[1]).reshape(shape)
                place[ends[i] : ends[i + 1], ends[k] : ends[k + 1]] = block
                place[ends[k] : ends[k + 1], ends[i] : ends[i + 1]] = block.T
        return table

    def sample(self, most: int) -> "Blocks":
        """These rows, or about so many of them, spread over the table."""
        rows = self.truth.shape[1]
        if rows <= most:
            return self
        chosen = (np.arange(most) * 0.6180339887498949 % 1 * rows).astype(np.intp)
        return Blocks([codes[chosen] for codes in self.codes], self.sizes, self.truth[:, chosen])


@dataclass(frozen=True)
class Objective:
    """What is minimised, but for the noise: rows, a loss, penalties for every weight, and offsets of the scores."""

    blocks: Blocks
    loss: Loss
    penalties: Numbers
    offsets: Numbers

    def gradient(self, weights: Numbers, scores: Numbers, shift: Numbers) -> Numbers:
        slopes = self.loss.slopes(scores, self.blocks.truth)
        return self.blocks.sums(slopes) + self.penalties * weights + shift

    def inverse_curvature(self, weights: Numbers, most: int) -> Numbers:
        """About the inverse of the matrix of second derivatives, within each class, from a sample of rows."""
        part = self.blocks.sample(most)
        scores = part.scores(weights) + self.offsets
        hessian = part.products(self.loss.curves(scores, part.truth))
        hessian *= self.blocks.truth.shape[1] / max(part.truth.shape[1], 1)
        hessian[:, range(len(self.penalties)), range(len(self.penalties))] += self.penalties
        return np.asarray(np.linalg.inv(hessian), np.float64)

    def length(self, scores: Numbers, weights: Numbers, shift: Numbers, way: Numbers, slack: float) -> float:
        """How far to go against `way`: until the slope has fallen by half, but not turned by more than the slack."""
        moved, length = self.blocks.scores(way), 1.0

        def slope(at: float) -> float:
            slopes = self.loss.slopes(scores - at * moved, self.blocks.truth)
            return float((slopes * moved).sum() + ((self.penalties * (weights - at * way) + shift) * way).sum())

        start = max(slope(0), 0.0)  # below zero by rounding only
        while 0 < start / 2 < slope(length) and length < 2**20:
            length *= 2
        for _ in range(40):
            if not (end := slope(length)) < -slack * start:
                break
            length *= start / (start - end)  # where a straight line from the slope at the start would vanish
        return length


@dataclass(frozen=True)
class Amounts:
    """What the budget allows: the rate and the lattice of each column's noise, the penalty of each weight, and the rate
    of the noise that hides where the solver stopped."""

    rates: Sequence[Fraction]
    lattice: Fraction
    penalties: Numbers
    last: Fraction


def amounts(loss: Loss, parts: Sequence[Fraction], ratio: Fraction, sizes: Sequence[int], classes: int) -> Amounts:
    """What these parts of epsilon, one for each column, allow.

    No penalty is below ratio / part, so the sum of 1/penalty is at most epsilon / ratio; what counts is the exact sum
    of those that are used.
    """
    whole = sum(parts, Fraction(0))
    least = [max(ratio / (part * (1 - SLIVER)), LEAST_PENALTY) for part in parts]
    used = [float(np.nextafter(float(one), np.inf)) for one in least]
    left = loss.noise_budget(whole * (1 - SLIVER), sum((1 / Fraction(one) for one in used), Fraction(0)), classes)
    rates = [left * part / whole / loss.spread for part in parts]
    if min(rates) * loss.spread * 2 < min(parts):
        raise BadInput("half of the budget or more would pay for the penalty: use a larger one")
    step, penalties = lattice(min(rates)), np.repeat(used, sizes)
    last = whole * SLIVER / distance(penalties, classes if loss.joint else 1, step)
    if last < SMALLEST_EPSILON:
        raise BadInput("epsilon is too small for so many weights: use more of it, or coarser or fewer columns")
    return Amounts(rates, step, penalties, last)


def lattice(rate: Fraction) -> Fraction:
    """The step of the lattice for noise of this rate: as fine as the sampler is exact, a power of two."""
    return LATTICE * (1 << (ceil(SMALLEST_EPSILON / (rate * LATTICE)) - 1).bit_length())


def minimiser(objective: Objective, given: Amounts, noise: Noise) -> Integers:
    """Weights x classes in whole numbers of 1 / UNIT: the minimiser with lattice noise, rounded, with noise again."""
    blocks = objective.blocks
    classes = len(blocks.truth)
    pairs = zip(given.rates, blocks.sizes, strict=True)
    drawn = [lattice_laplace(rate, given.lattice, size * classes, noise) for rate, size in pairs]
    shift = np.hstack([part.reshape(classes, -1) for part in drawn])
    within = np.clip(solve(objective, shift).T, -LARGEST, LARGEST)  # which brings no two points further apart
    rounded = np.rint(within * UNIT).astype(np.int64)
    return rounded + noise.discrete_laplace(given.last, rounded.size).reshape(rounded.shape)


def lattice_laplace(rate: Fraction, step: Fraction, size: int, noise: Noise) -> Numbers:
    """Midpoints of the lattice cells in which ideal Laplace noise of this rate falls."""
    middles = (noise.geometric(rate * step, size) + 0.5) * float(step)
    return np.asarray(np.where(noise.below(2, size), middles, -middles))


def distance(penalties: Numbers, classes: int, step: Fraction) -> int:
    """How many units two tables' rounded weights can lie apart in all, for one and the same ideal minimiser.

    Each is within (tolerance + what the lattice moves the gradient by) / least penalty of it; rounding adds one each.
    """
    size = len(penalties) * classes
    radius = (TOLERANCE + float(step) * sqrt(size) / 2) / float(penalties.min())
    return ceil(2 * radius * sqrt(size) * UNIT * (1 + 1e-9)) + size


def solve(objective: Objective, shift: Numbers) -> Numbers:
    """A point whose gradient is certainly shorter than the tolerance.

    Conjugate gradients, scaled by the curvature of a sample of rows that grows until it is all of them. No step ends
    beyond the least point of its line by more than a vanishing slack, and every fourth starts afresh: the objective is
    strongly convex and smooth, so they converge from anywhere.
    """
    common = shift - _centred(objective.loss, shift)
    weights = -common / objective.penalties  # no row has a say in what all classes have in common
    way, before, scale, step = weights, shift, 1.0, 0
    while True:
        scores = objective.blocks.scores(weights) + objective.offsets
        gradient = objective.gradient(weights, scores, shift)
        if step >= STEPS and certainly_short(objective, weights, gradient, shift):
            return weights
        fresh = step < 2 or step % 4 == 3
        if fresh:
            inverse = objective.inverse_curvature(weights, SAMPLE << min(step, 40))
        steep = _centred(objective.loss, (inverse @ gradient[:, :, None])[:, :, 0])
        keep = 0.0 if fresh or not scale > 0 else max(0.0, float((steep * (gradient - before)).sum()) / scale)
        way = steep + keep * way
        before, scale = gradient, float((gradient * steep).sum())
        if fresh or not (gradient * way).sum() > 0:
            way = steep
        weights = weights - objective.length(scores, weights, shift, way, 2.0**-step) * way
        step += 1


def _centred(loss: Loss, values: Numbers) -> Numbers:
    """Without what all classes have in common, if their scores count only beside each other."""
    return np.asarray(values - values.mean(axis=0)) if loss.joint else values


def certainly_short(objective: Objective, weights: Numbers, gradient: Numbers, shift: Numbers) -> bool:
    """Whether the exact gradient is shorter than the tolerance, however the computed one was rounded.

    The hundredth covers the arithmetic of the norm and of the bound.
    """
    found = sqrt((gradient**2).sum()) + error_bound(objective, weights, shift)
    return bool(1.01 * found < TOLERANCE)


def error_bound(objective: Objective, weights: Numbers, shift: Numbers) -> float:
    """How far the computed gradient can be from the exact one, in norm.

    A score is off by (p + 4) 2^-53 times the sum of the largest weights, a slope by what that bends it and `ROUNDING`,
    and is rounded to 2^-48; sums are exact but for three last roundings. Every row is in one sum of each class and
    column, so over all sums the norm is at most sqrt(classes columns) times the rows. The other terms are off by a few
    roundings.
    """
    blocks = objective.blocks
    (classes, rows), columns = blocks.truth.shape, len(blocks.sizes)
    starts = np.cumsum([0, *blocks.sizes[:-1]])
    largest = np.abs(objective.offsets).max() + np.maximum.reduceat(np.abs(weights).max(axis=0), starts).sum()
    slopes = ROUNDING + 2.0**-48 + 2.0**-51 + objective.loss.bend * (columns + 4) * 2.0**-53 * float(largest)
    rest = 2.0**-49 * sqrt(((objective.penalties * weights) ** 2 + shift**2).sum())
    return float(sqrt(classes * columns) * rows * slopes + rest)
