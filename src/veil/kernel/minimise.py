"""Objective perturbation on one-hot rows: weights that minimise loss, penalty and noise, private in finite arithmetic.

Every row has one value in each of p columns. J(w) = sum of losses + sum_j penalty_j |w_j|^2 / 2 + b w, with noise b
of rate r on every group of columns: Laplace for a column alone, shaped to their common sum for several. For a given
minimiser w the noise must have been b = -(gradient of the rest): a row moves it by its slopes in one place of each
column, and multiplies the Jacobian by no more than its curvature and the sum of 1/penalty_j allow (Chaudhuri,
Monteleoni and Sarwate 2011, for sums and added rows). The loss says which rates this leaves.

Computers find no exact minimiser of real noise. The noise is drawn on a lattice, each point the middle of a cell of the
ideal noise; the solver stops only where the gradient, its error included, is provably below `TOLERANCE`; so its point
lies within a known distance of the ideal minimiser, by strong convexity, whatever the rows. Discrete Laplace noise in
proportion to that distance on the rounded weights hides it, for a sliver of epsilon.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate, combinations_with_replacement, count, pairwise, product
from math import ceil, floor, isqrt, prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from .losses import ROUNDING, Loss, Numbers
from .noise import SMALLEST_EPSILON, Integers, Noise
from .shaped import equal_sums

TOLERANCE = 2.0**-14  # of the norm of the gradient
WEIGHT_UNIT = 1 << 30  # released weights are whole numbers of 1 / WEIGHT_UNIT
LARGEST = 2.0**30  # weight
LOUDEST = 2.0**33  # length of the noise: its roundings stay below the tolerance, or no gradient could be proved short
SLIVER = Fraction(1, 50)  # of epsilon, for hiding where the solver stopped
LEAST_PENALTY = Fraction(1, 64)  # below it the solver's arithmetic would get coarse
STEPS = 8  # at least, so that their number says little
LATE = 24  # steps from which on each is one of Newton's: where rows are at a corner of the loss, others are many
SAMPLE = 1 << 11  # rows for the first guess of the curvature
CHUNK = 1 << 15  # rows at a time: temporaries stay in the cache
NEAREST = 1 / 16  # of a stretch of a line: the next guess comes no closer to its ends
MOST_PACKED = 30  # columns taken as one: an array has 64 axes at most
PACK, PAIRED = 1 << 11, 1 << 8  # values of several columns taken as one: where they are looked up, or met in pairs


@dataclass(frozen=True)
class Blocks:
    """Codes of every column, their sizes, and the truth: classes x rows, or 1 x rows with 1 for the class, else -1."""

    codes: Sequence[npt.NDArray[Any]]
    sizes: Sequence[int]
    truth: Numbers

    def _chunks(self) -> Iterator[slice]:
        rows = self.truth.shape[1]
        return (slice(start, min(start + CHUNK, rows)) for start in range(0, rows, CHUNK))

    @cached_property
    def packs(self) -> list[tuple[npt.NDArray[Any], slice]]:
        return self._packed(PACK)

    def _packed(self, most: int) -> list[tuple[npt.NDArray[Any], slice]]:
        """Neighbouring columns as one, of no more than `most` values: the value of each row, and which they are."""
        packs: list[tuple[npt.NDArray[Any], slice]] = []
        for place, (codes, size) in enumerate(zip(self.codes, self.sizes, strict=True)):
            if packs and prod(self.sizes[packs[-1][1]]) * size <= most and place - packs[-1][1].start < MOST_PACKED:
                before, columns = packs.pop()
                packs.append((before * np.int64(size) + codes, slice(columns.start, place + 1)))
            else:
                packs.append((codes.astype(np.int64), slice(place, place + 1)))
        return packs

    def scores(self, weights: Numbers) -> Numbers:
        """The sum of each row's weights, for each class."""
        total, parts = np.zeros(self.truth.shape), np.split(weights, np.cumsum(self.sizes)[:-1], axis=1)
        tables = [reduce(_add_outer, parts[columns]) for _, columns in self.packs]
        for rows in self._chunks():
            for (codes, _), table in zip(self.packs, tables, strict=True):
                total[:, rows] += np.take(table, codes[rows], axis=1)
        return total

    def sums(self, values: Numbers) -> Numbers:
        """For every class and weight, the sum over the rows that have it, of values rounded to 2^-48.

        Exact: doubles hold whole numbers of a chunk, integers those of all chunks, high and low halves apart.
        """
        halves = np.zeros((2, len(values), sum(self.sizes)), np.int64)
        for rows in self._chunks():
            whole = np.rint(values[:, rows] * 2.0**48)
            high = np.floor(whole * 2.0**-24)
            for half, part in enumerate((high, whole - high * 2.0**24)):
                halves[half] += self._added(part, rows).astype(np.int64)
        return np.asarray(halves[0] * 2.0**-24 + halves[1] * 2.0**-48)

    def about_sums(self, values: Numbers) -> Numbers:
        """The same sums, rounded as doubles are."""
        return self._added(values, slice(None))

    def _added(self, values: Numbers, rows: slice) -> Numbers:
        """For every class and weight, the sum of values over those of these rows that have it, in doubles."""
        found = []
        for codes, columns in self.packs:
            shape, index = self.sizes[columns], codes[rows]
            table = np.array([np.bincount(index, row, prod(shape)) for row in values]).reshape(len(values), *shape)
            axes = range(1, len(shape) + 1)
            found += [table.sum(axis=tuple({*axes} - {axis})) for axis in axes]
        return np.hstack(found)

    def products(self, values: Numbers) -> Numbers:
        """For every class and two weights, the sum over the rows that have both."""
        ends = [0, *accumulate(self.sizes)]
        places = [slice(start, end) for start, end in pairwise(ends)]
        table = np.empty((len(values), ends[-1], ends[-1]))
        few = min(PAIRED, isqrt(values.shape[1]))  # tables of two packs stay in the cache, and no larger than the rows
        for (first, left), (second, right) in combinations_with_replacement(self._packed(few), 2):
            shape = (*self.sizes[left], *self.sizes[right])
            joined, axes = first * prod(self.sizes[right]) + second, [*enumerate((*places[left], *places[right]))]
            for found, weight in zip(table, values, strict=True):
                block = np.bincount(joined, weight, prod(shape)).reshape(shape)
                for (i, one), (k, other) in product(axes[: len(places[left])], axes[len(places[left]) :]):
                    found[one, other] = block.sum(axis=tuple({*range(len(shape))} - {i, k}))
                    found[other, one] = found[one, other].T
        return table

    def sample(self, most: int) -> "Blocks":
        """These rows, or about so many of them, spread over the table."""
        rows = self.truth.shape[1]
        if rows <= most:
            return self
        chosen = (np.arange(most) * 0.6180339887498949 % 1 * rows).astype(np.intp)
        return Blocks([codes[chosen] for codes in self.codes], self.sizes, self.truth[:, chosen])


def _add_outer(first: Numbers, second: Numbers) -> Numbers:
    """All sums of a weight of the first and one of the second, for each class."""
    return (first[:, :, None] + second[:, None, :]).reshape(len(first), -1)


@dataclass(frozen=True)
class Objective:
    """What is minimised, but for the noise: rows, a loss, penalties for every weight, offsets of the scores, and the
    margin by which the true class has to lead for the loss that it would have without one."""

    blocks: Blocks
    loss: Loss
    penalties: Numbers
    offsets: Numbers
    margin: float = 0.0

    def scores(self, weights: Numbers, rows: Blocks) -> Numbers:
        """What the loss gets of these rows: the sums of their weights, with offsets and margin."""
        return rows.scores(weights) + (self.offsets - self.margin * rows.truth)

    def gradient(self, weights: Numbers, scores: Numbers, shift: Numbers) -> Numbers:
        slopes = self.loss.slopes(scores, self.blocks.truth)
        return self.blocks.sums(slopes) + self.penalties * weights + shift

    def about_gradient(self, weights: Numbers, scores: Numbers, shift: Numbers) -> Numbers:
        slopes = self.loss.slopes(scores, self.blocks.truth)
        return self.blocks.about_sums(slopes) + self.penalties * weights + shift

    def inverse_curvature(self, weights: Numbers, most: int, sharp: bool) -> Numbers:
        """About the inverse of the matrix of second derivatives, within each class, from a sample of rows."""
        part = self.blocks.sample(most)
        scores = self.scores(weights, part)
        hessian = part.products((self.loss.sharp if sharp else self.loss.curves)(scores, part.truth))
        hessian *= self.blocks.truth.shape[1] / max(part.truth.shape[1], 1)
        hessian[:, range(len(self.penalties)), range(len(self.penalties))] += self.penalties
        return np.asarray(np.linalg.inv(hessian), np.float64)

    def length(self, scores: Numbers, weights: Numbers, shift: Numbers, way: Numbers, slack: float) -> float:
        """How far to go against `way`."""
        moved = self.blocks.scores(way)

        def slope(at: float) -> float:
            slopes = self.loss.slopes(scores - at * moved, self.blocks.truth)
            return float((slopes * moved).sum() + ((self.penalties * (weights - at * way) + shift) * way).sum())

        return line_end(slope, slack)


def line_end(slope: Callable[[float], float], slack: float) -> float:
    """How far to go down a line: until the slope has fallen by half, but not turned by more than the slack.

    Between a length that is too short and one that is too long: at a corner of the loss the slope turns at once, and a
    straight line through both ends would stop far before the corner, again and again.
    """
    start, length = max(slope(0), 0.0), 1.0  # below zero by rounding only
    low, high = (0.0, start), (np.inf, 0.0)  # where they are, and the slope there
    for _ in range(60):
        if -slack * start <= (end := slope(length)) <= start / 2:
            break
        low, high = ((length, end), high) if end > 0 else (low, (length, end))
        part = min(max(low[1] / max(low[1] - high[1], 1e-300), NEAREST), 1 - NEAREST)
        length = low[0] + part * (high[0] - low[0]) if high[0] < np.inf else 2 * length
    return length


@dataclass(frozen=True)
class Amounts:
    """What the budget allows: the sizes of the columns of each group, the rate and the lattice of its noise, the
    penalty of each weight, and the rate of the noise that hides where the solver stopped."""

    groups: Sequence[Sequence[int]]
    rates: Sequence[Fraction]
    lattices: Sequence[Fraction]
    penalties: Numbers
    last: Fraction


def amounts(
    loss: Loss, parts: Sequence[Fraction], ratios: Sequence[Fraction], groups: Sequence[Sequence[int]], classes: int
) -> Amounts:
    """What these parts of epsilon allow, one for each group of columns, which are given by their sizes.

    No penalty is below its column's ratio / part; what counts is the exact sum of 1/penalty of those that are used.
    """
    whole, sizes = sum(parts, Fraction(0)), [size for group in groups for size in group]
    each = [part * (1 - SLIVER) for part, group in zip(parts, groups, strict=True) for _ in group]
    least = [max(ratio / part, LEAST_PENALTY) for ratio, part in zip(ratios, each, strict=True)]
    used = [float(np.nextafter(float(one), np.inf)) for one in least]
    steps = [lattice(part / (2 * loss.spread)) for part in parts]
    copies = classes if loss.joint else 1
    budget = whole * (1 - SLIVER) / (1 + max(map(slack, groups, steps)) * copies / loss.spread)
    left = loss.noise_budget(budget, sum((1 / Fraction(one) for one in used), Fraction(0)), classes)
    if left * 2 < whole:
        raise BadInput("less than half of the budget would be left for the noise: use a larger penalty or budget")
    rates = [left * part / whole / loss.spread for part in parts]
    penalties, moved = np.repeat(used, sizes), sqrt(sum(map(movement, groups, steps)))
    last = whole * SLIVER / distance(penalties, copies, moved)
    loudest = (len(penalties) + 64) * sqrt(len(rates) * copies) / float(min(rates))  # of the noise, or exp(-64)
    if last < SMALLEST_EPSILON or loudest > LOUDEST:
        raise BadInput("epsilon is too small for so many weights: use more of it, or coarser or fewer columns")
    return Amounts(groups, rates, steps, penalties, last)


def lattice(rate: Fraction) -> Fraction:
    """The step of the lattice for noise of at least this rate: as fine as the sampler is exact, a power of two."""
    step = SMALLEST_EPSILON / rate
    return Fraction(1 << (ceil(step) - 1).bit_length(), 1 << max(floor(1 / step).bit_length() - 1, 0))


def slack(group: Sequence[int], step: Fraction) -> Fraction:
    """What the cells of the lattice can add to how far a row moves the noise of a group, for each class; nothing to a
    lone column."""
    return (2 * max(group) - 1) * step if len(group) > 1 else Fraction(0)


def movement(group: Sequence[int], step: Fraction) -> float:
    """The square of how far ideal noise can be from the middle of its cell."""
    size = sum(one**2 + one for one in group) if len(group) > 1 else group[0]
    return size * float(step) ** 2 / 4


def minimiser(objective: Objective, given: Amounts, noise: Noise) -> Integers:
    """Weights x classes in units: the minimiser with lattice noise, rounded, with noise again."""
    several = range(len(objective.blocks.truth))
    drawn = [
        [group_noise(group, rate, step, noise) for _ in several]
        for group, rate, step in zip(given.groups, given.rates, given.lattices, strict=True)
    ]
    within = np.clip(solve(objective, np.hstack(drawn)).T, -LARGEST, LARGEST)  # brings no two points further apart
    rounded = np.rint(within * WEIGHT_UNIT).astype(np.int64)
    return rounded + noise.discrete_laplace(given.last, rounded.size).reshape(rounded.shape)


def group_noise(group: Sequence[int], rate: Fraction, step: Fraction, noise: Noise) -> Numbers:
    """Middles of the lattice cells of ideal noise, for columns of these sizes together; Laplace noise for one alone."""
    if len(group) == 1:
        return lattice_laplace(rate, step, group[0], noise)
    return np.asarray(equal_sums(group, rate * step, noise) * float(step))


def lattice_laplace(rate: Fraction, step: Fraction, size: int, noise: Noise) -> Numbers:
    """Midpoints of the lattice cells in which ideal Laplace noise of this rate falls."""
    middles = (noise.geometric(rate * step, size) + 0.5) * float(step)
    return np.asarray(np.where(noise.below(2, size), middles, -middles))


def distance(penalties: Numbers, classes: int, moved: float) -> int:
    """How many units two tables' rounded weights can lie apart in all, for one and the same ideal minimiser.

    Each is within (tolerance + what the lattice moves the gradient of a class by) / least penalty of it; rounding adds
    one each.
    """
    size = len(penalties) * classes
    radius = (TOLERANCE + sqrt(classes) * moved) / float(penalties.min())
    return ceil(2 * radius * sqrt(size) * WEIGHT_UNIT * (1 + 1e-9)) + size


def solve(objective: Objective, shift: Numbers) -> Numbers:
    """A point whose gradient is certainly shorter than the tolerance.

    Conjugate gradients, scaled by the curvature of a sample of rows that grows until it is all of them. No step ends
    beyond the least point of its line by more than a vanishing slack, and every fourth starts afresh: the objective is
    strongly convex and smooth, so they converge from anywhere.
    """
    common = shift - _centred(objective.loss, shift)
    weights = -common / objective.penalties  # no row has a say in what all classes have in common
    way, before, scale = weights, shift, 1.0
    for step in count():
        scores = objective.scores(weights, objective.blocks)
        gradient = objective.about_gradient(weights, scores, shift)
        if step >= STEPS and certainly_short(objective, weights, gradient, shift):
            if certainly_short(objective, weights, objective.gradient(weights, scores, shift), shift):
                break
        newton = step >= LATE and not objective.loss.joint  # of several classes, the curvature is only about right
        fresh = step < 2 or step % 4 == 3 or newton
        if fresh:
            inverse = objective.inverse_curvature(weights, SAMPLE << min(step, 40), newton)
        steep = _centred(objective.loss, (inverse @ gradient[:, :, None])[:, :, 0])
        keep = 0.0 if fresh or not scale > 0 else max(0.0, float((steep * (gradient - before)).sum()) / scale)
        way = steep + keep * way
        before, scale = gradient, float((gradient * steep).sum())
        if fresh or not (gradient * way).sum() > 0:
            way = steep
        weights = weights - objective.length(scores, weights, shift, way, 2.0**-step) * way
    return weights


def _norm(values: Numbers) -> float:
    return sqrt((values**2).sum())


def _centred(loss: Loss, values: Numbers) -> Numbers:
    """Without what all classes have in common, if their scores count only beside each other."""
    return np.asarray(values - values.mean(axis=0)) if loss.joint else values


def certainly_short(objective: Objective, weights: Numbers, gradient: Numbers, shift: Numbers) -> bool:
    """Whether the exact gradient is shorter than the tolerance, however the computed one was rounded.

    The hundredth covers the arithmetic of the norm and of the bound.
    """
    found = _norm(gradient) + error_bound(objective, weights, shift)
    return bool(1.01 * found < TOLERANCE)


def error_bound(objective: Objective, weights: Numbers, shift: Numbers) -> float:
    """How far the computed gradient can be from the exact one, in norm.

    A score is off by (p + 4) 2^-53 times the sum of the largest weights, the offset and the margin, a slope by what
    that bends it and `ROUNDING`, and is rounded to 2^-48; sums are exact but for three last roundings. Every row is in
    one sum of each class and column, so over all sums the norm is at most sqrt(classes columns) times the rows. The
    other terms are off by a few roundings.
    """
    blocks = objective.blocks
    (classes, rows), columns = blocks.truth.shape, len(blocks.sizes)
    starts = np.cumsum([0, *blocks.sizes[:-1]])
    largest = np.abs(objective.offsets).max() + objective.margin
    largest += np.maximum.reduceat(np.abs(weights).max(axis=0), starts).sum()
    slopes = ROUNDING + 2.0**-48 + 2.0**-51 + objective.loss.bend * (columns + 4) * 2.0**-53 * float(largest)
    rest = 2.0**-49 * sqrt(((objective.penalties * weights) ** 2 + shift**2).sum())
    return float(sqrt(classes * columns) * rows * slopes + rest)
