"""Objective perturbation on one-hot rows: weights that minimise loss, penalty and noise, private in finite arithmetic.

Every row has one value in each of p columns. J(w) = sum of losses + sum_j penalty_j |w_j|^2 / 2 + b w, with Laplace
noise of rate r_j on every weight of column j. For a given minimiser w the noise must have been b = -(gradient of the
rest): a row x moves it by at most one in one weight of each column, which changes its density by at most exp(sum of
r_j); and it multiplies the Jacobian by 1 + curvature x'H^-1x, at most 1 + curvature sum_j 1/penalty_j (Chaudhuri,
Monteleoni and Sarwate 2011, for sums and added rows). The loss says which rates this leaves.

Computers find no exact minimiser of real noise. The noise is drawn on a lattice, each point the middle of a cell of the
ideal noise; the solver stops only where the gradient, its error included, is provably below `TOLERANCE`; so its point
lies within a known distance of the ideal minimiser, by strong convexity, whatever the rows. Discrete Laplace noise in
proportion to that distance on the rounded weights hides it, for a sliver of epsilon.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from .losses import ROUNDING, Loss, Numbers
from .noise import Integers, Noise

TOLERANCE = 2.0**-14  # of the norm of the gradient
LATTICE = Fraction(1, 2**20)  # of the noise in the objective
UNIT = 1 << 30  # released weights are whole numbers of 1 / UNIT
SLIVER = Fraction(1, 50)  # of epsilon, for hiding where the solver stopped
STEPS = 12  # at least, so that their number says little


@dataclass(frozen=True)
class Blocks:
    """Codes of every column, their sizes, and which rows are positive; `sign` is 1 or -1."""

    codes: Sequence[npt.NDArray[Any]]
    sizes: Sequence[int]
    sign: Numbers

    def margins(self, weights: Numbers, offset: float) -> Numbers:
        """The sum of each row's weights, times its sign."""
        total = np.full(len(self.sign), offset)
        for codes, part in zip(self.codes, self.parts(weights), strict=True):
            total += part[codes]
        return total * self.sign

    def parts(self, weights: Numbers) -> list[Numbers]:
        return np.split(weights, np.cumsum(self.sizes)[:-1])

    def sums(self, values: Numbers) -> Numbers:
        """For every weight, the sum over the rows that have it, of values rounded to 2^-48: exact in two halves."""
        high, low = np.divmod(np.floor(values * 2.0**48 + 0.5), 2.0**24)
        pairs = list(zip(self.codes, self.sizes, strict=True))
        halves = [np.concatenate([np.bincount(codes, half, size) for codes, size in pairs]) for half in (high, low)]
        return np.asarray(halves[0] * 2.0**-24 + halves[1] * 2.0**-48)

    def products(self, values: Numbers) -> Numbers:
        """For every two weights, the sum over the rows that have both."""
        ends = np.cumsum([0, *self.sizes])
        table = np.empty((ends[-1], ends[-1]))
        for i, (one, rows) in enumerate(zip(self.codes, self.sizes, strict=True)):
            for k in range(i + 1):
                joined = one.astype(np.intp) * self.sizes[k] + self.codes[k]
                block = np.bincount(joined, values, rows * self.sizes[k]).reshape(rows, -1)
                table[ends[i] : ends[i + 1], ends[k] : ends[k + 1]] = block
                table[ends[k] : ends[k + 1], ends[i] : ends[i + 1]] = block.T
        return table


def noise_rates(loss: Loss, parts: Sequence[Fraction], ratio: Fraction) -> tuple[list[Fraction], Numbers, Fraction]:
    """The rate of each column's noise, the penalty of its weights, and what is left to hide where the solver stopped.

    With penalty_j = ratio / part_j, the sum of 1/penalty_j is epsilon / ratio.
    """
    sliver = sum(parts, Fraction(0)) * SLIVER
    parts = [part * (1 - SLIVER) for part in parts]
    left = loss.noise_rate(sum(parts, Fraction(0)), sum(parts, Fraction(0)) / ratio)
    rates = [left * part / sum(parts, Fraction(0)) for part in parts]
    penalties = np.array([float(np.nextafter(float(ratio / part), np.inf)) for part in parts])
    return rates, penalties, sliver


def minimiser(
    blocks: Blocks,
    loss: Loss,
    penalties: Numbers,
    offset: float,
    rates: Sequence[Fraction],
    sliver: Fraction,
    noise: Noise,
) -> Integers:
    """Weights in whole numbers of 1 / UNIT: the minimiser with lattice noise at these rates, rounded, with noise at
    `sliver`."""
    shift = np.concatenate([lattice_laplace(r, s, noise) for r, s in zip(rates, blocks.sizes, strict=True)])
    weights = solve(blocks, loss, penalties, offset, shift)
    rounded = np.floor(weights * UNIT + 0.5).astype(np.int64)
    return rounded + noise.discrete_laplace(sliver / distance(penalties, len(weights)), len(weights))


def lattice_laplace(rate: Fraction, size: int, noise: Noise) -> Numbers:
    """Midpoints of the lattice cells in which ideal Laplace noise of this rate falls."""
    middles = (noise.geometric(rate * LATTICE, size) + 0.5) * float(LATTICE)
    return np.asarray(np.where(noise.below(2, size), middles, -middles))


def distance(penalties: Numbers, size: int) -> int:
    """How many units two tables' rounded weights can lie apart in all, for one and the same ideal minimiser.

    Each is within (tolerance + what the lattice moves the gradient by) / least penalty of it; rounding adds one each.
    """
    radius = (TOLERANCE + float(LATTICE) * sqrt(size) / 2) / float(penalties.min())
    return ceil(2 * radius * sqrt(size) * UNIT * (1 + 1e-9)) + size


def solve(blocks: Blocks, loss: Loss, penalties: Numbers, offset: float, shift: Numbers) -> Numbers:
    """A point whose gradient is certainly shorter than the tolerance: damped Newton steps until it is."""
    weights, step = np.zeros(len(shift)), 0
    while True:
        margins = blocks.margins(weights, offset)
        gradient = blocks.sums(loss.slope(margins) * blocks.sign) + penalties * weights + shift
        step += 1
        if (
            step > STEPS
            and np.sqrt((gradient**2).sum()) + error_bound(blocks, weights, offset, penalties, shift) < TOLERANCE
        ):
            return weights
        hessian = blocks.products(loss.curve(margins))
        hessian[np.diag_indices_from(hessian)] += penalties
        direction = np.linalg.solve(hessian, gradient)
        weights = weights - _length(blocks, loss, penalties, offset, shift, weights, gradient, direction) * direction


def _length(
    blocks: Blocks,
    loss: Loss,
    penalties: Numbers,
    offset: float,
    shift: Numbers,
    weights: Numbers,
    gradient: Numbers,
    direction: Numbers,
) -> float:
    """A step along the direction that lowers the objective enough; a whole one near the minimum."""

    def objective(at: Numbers) -> float:
        losses = loss.value(blocks.margins(at, offset)).sum()
        return float(losses + (penalties * at**2).sum() / 2 + shift @ at)

    start, slope, length = objective(weights), float(gradient @ direction), 1.0
    while slope > 1e-6 and objective(weights - length * direction) > start - length * slope / 4 and length > 1e-6:
        length /= 2
    return length


def error_bound(blocks: Blocks, weights: Numbers, offset: float, penalties: Numbers, shift: Numbers) -> float:
    """How far the computed gradient can be from the exact one, in norm.

    A margin is off by (p + 2) 2^-52 times the sum of the largest weights, a slope by no more than that and `ROUNDING`, and
    is rounded to 2^-48; sums are exact but for their last rounding. Every row is in one sum of each column, so over all
    sums the norm is at most sqrt(p) times the rows. The other terms are off by a few roundings.
    """
    rows, columns = len(blocks.sign), len(blocks.sizes)
    largest = abs(offset) + sum(float(np.abs(part).max()) for part in blocks.parts(weights))
    slopes = ROUNDING + 2.0**-48 + 2.0**-51 + (columns + 2) * 2.0**-52 * largest
    rest = 2.0**-50 * float(np.sqrt(((np.abs(penalties * weights) + np.abs(shift)) ** 2).sum()))
    return 1.01 * (sqrt(columns) * rows * slopes + rest)
