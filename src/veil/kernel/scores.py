"""The closed list of scores, each a whole number computed from one table of exact counts (cells x classes).

Higher is better. `low` and `high` say how far one added row can move the score, whatever the table; the selection's
exponent is epsilon / (high - low) for each unit of the score. A row raises one count of one cell by one, so each
argument is about a single cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import floor
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import wording
from ..questions.scorers import UNIT
from ..schema.refusing import refuse
from .release import frozen

Counts = npt.NDArray[np.int64]


class Score(Protocol):
    """A whole number from a count table; one added row moves it by `low` to `high`."""

    low: int
    high: int
    unit: int
    numbered: bool = False  # whether cells count by their numbers; to all other scores, an empty cell adds nothing

    def each(self, counts: Counts) -> Counts:
        """The score of each of many tables; the last two axes are the cells and the classes."""

    def __call__(self, counts: Counts) -> int:
        return int(self.each(counts))

    def of(self, tables: Sequence[Counts]) -> Any:
        """The score of each of several tables, of any sizes."""
        return [self(counts) for counts in tables]


class Cellwise(Score, Protocol):
    """A score that is a sum over cells, each term from the counts of its own cell."""

    def cells(self, counts: Counts) -> Counts:
        """The term of each cell, for counts of any shape whose last axis is the class."""

    def each(self, counts: Counts) -> Counts:
        return np.asarray(self.cells(counts).sum(axis=-1))

    def of(self, tables: Sequence[Counts]) -> Any:
        sums = np.append(0, np.cumsum(self.cells(np.concatenate(tables))))
        return np.diff(sums[np.cumsum([0, *map(len, tables)])])


@dataclass(frozen=True)
class Rows(Score):
    """The rows in one cell, of one class or of all. A row adds one if it lies in the cell and nothing otherwise."""

    cell: int = 0
    label: int | None = None
    low, high, unit = 0, 1, 1
    numbered = True

    def each(self, counts: Counts) -> Counts:
        cell = counts[..., self.cell, :]
        return np.asarray(cell.sum(axis=-1) if self.label is None else cell[..., self.label])


@dataclass(frozen=True)
class Difference(Score):
    """The count of the largest class of one cell minus that of its smallest. A row raises one count of the cell by one
    or none, so each of the two rises by zero or one."""

    cell: int = 0
    low, high, unit = -1, 1, 1
    numbered = True

    def each(self, counts: Counts) -> Counts:
        return np.asarray(np.ptp(counts[..., self.cell, :], axis=-1))


@dataclass(frozen=True)
class Purity(Score):
    """The purity index: the largest such difference of any cell. A row changes the difference of its own cell by one at
    most, so the largest of them by no more."""

    low, high, unit = -1, 1, 1

    def each(self, counts: Counts) -> Counts:
        return np.asarray(np.ptp(counts, axis=-1).max(axis=-1, initial=0))


@dataclass(frozen=True)
class Majority(Cellwise):
    """The rows that agree with the most frequent class of their cell. A row raises one count by one, so its cell's
    maximum rises by zero or one and no other changes."""

    low, high, unit = 0, 1, 1

    def cells(self, counts: Counts) -> Counts:
        return np.asarray(counts.max(axis=-1))


@dataclass(frozen=True)
class Correct(Score):
    """The rows whose class is the number of their cell; for the cells of `Predicted`, the right predictions. A row adds
    one if its cell has its class's number and nothing otherwise."""

    low, high, unit = 0, 1, 1
    numbered = True

    def each(self, counts: Counts) -> Counts:
        return np.asarray(np.trace(counts, axis1=-2, axis2=-1))


@dataclass(frozen=True)
class Gini(Cellwise):
    """Minus the Gini impurity, sum over cells of n (1 - sum_c (n_c/n)^2), n the rows of the cell.

    A row of class c in a cell of A rows changes the cell's impurity by 1 - ((2a+1)A - S)/(A(A+1)), a = n_c, S = sum
    of squares: zero in a pure cell, largest (2A/(A+1) < 2) at a = 0, S = A^2, and never negative. Rounding each cell
    up to units keeps a change of [0, 2) within [0, 2] units of 1. The quotient is split before scaling, so that
    nothing overflows below 2^31 rows.
    """

    low, high, unit = -2 * UNIT, 0, UNIT

    def cells(self, counts: Counts) -> Counts:
        rows = (counts := _squarable(counts)).sum(axis=-1)
        pairs, rows = rows * rows - (counts * counts).sum(axis=-1), np.maximum(rows, 1)
        return np.asarray((-(pairs % rows) * UNIT) // rows - pairs // rows * UNIT)


def _squarable(counts: Counts) -> Counts:
    """The counts, as Python's integers if squares of others would overflow."""
    return counts.astype(object if counts.sum() >= 2**31 else np.int64, copy=False)


@dataclass(frozen=True)
class Entropy(Cellwise):
    """Minus the class entropy in bits, sum over cells of W(n) - sum_c W(n_c), W(x) = x log2 x.

    A row of class c changes a cell by w(A) - w(a), w(x) = W(x+1) - W(x) increasing and 0 <= a <= A: never negative.
    To bound it for every number of rows, W continues in a straight line beyond `most` + 1 rows, so w stops at
    w(most). The table of W is rounded so that its steps increase, and `low` is read off that table.
    """

    most: int = 1 << 16
    high, unit = 0, UNIT

    def __post_init__(self) -> None:
        refuse(not isinstance(self.most, int) or not 1 <= self.most <= 1 << 24, wording.ENTROPY_MOST)

    @cached_property
    def low(self) -> int:  # type: ignore[override]
        steps = np.diff(_entropy_table(self.most))
        return -int(steps.max() - steps.min())

    def cells(self, counts: Counts) -> Counts:
        table = _entropy_table(self.most)

        def continued(x: Any) -> Any:
            beyond = np.maximum(x - self.most - 1, 0)
            return table[np.minimum(x, self.most + 1)] + beyond * (table[-1] - table[-2])

        return np.asarray(continued(counts).sum(axis=-1) - continued(counts.sum(axis=-1)))


@lru_cache(maxsize=4)
def _entropy_table(most: int) -> Counts:
    """W(0), ..., W(most + 1) in units: the sum of steps that are rounded once and never decrease."""
    x = np.arange(most + 2, dtype=np.float64)
    exact = x * np.log2(np.maximum(x, 1)) * UNIT
    steps = np.maximum.accumulate(np.floor(np.diff(exact) + 0.5).astype(np.int64))
    return frozen(np.concatenate([[0], np.cumsum(steps)]))


@dataclass(frozen=True)
class ExpectedCorrect(Cellwise):
    """The rows that their cell's label would get right on average, if it were the majority of noisy counts (Su, Cao,
    Li and Lyu 2018), counts being published with noise of scale 1/epsilon.

    With the largest and the second largest class of a cell D rows apart, noise swaps them with probability P(D) = (1 +
    epsilon D/2) exp(-epsilon D)/2, so the cell counts for its largest class less D P(D). A row of class c counts
    `weights[c]` sixteenths of a row (a whole one without weights). Adding one sixteenth to a class raises the largest
    or the second largest by it, or neither, whoever holds these places: the score rises by 1/16 - t or by t, t being
    one step of D P(D). So a row moves it by at most sixteen times what one step can; steps are read off the table.
    """

    epsilon: float
    weights: tuple[int, ...] = ()
    unit = UNIT

    def __post_init__(self) -> None:
        refuse(type(self.epsilon) not in (int, float) or not 1e-3 <= self.epsilon <= 1e6, wording.EXPECTED_EPSILON)
        fitting = type(self.weights) is tuple and all(type(w) is int and 1 <= w <= PARTS for w in self.weights)
        refuse(not fitting, f"weights must be a tuple of whole numbers of sixteenths, from 1 to {PARTS}")

    @cached_property
    def low(self) -> int:  # type: ignore[override]
        return PARTS * min(int(np.diff(self._losses).min()), 0)

    @cached_property
    def high(self) -> int:  # type: ignore[override]
        return PARTS * int(max((UNIT // PARTS - np.diff(self._losses)).max(), np.diff(self._losses).max()))

    @cached_property
    def _losses(self) -> Counts:
        return _expected_losses(float(self.epsilon))

    def cells(self, counts: Counts) -> Counts:
        classes, step = range(counts.shape[-1]), 1 if self.weights else PARTS  # without weights, rows are whole
        first, *others = [counts[..., c] * self.weights[c] if self.weights else counts[..., c] for c in classes]
        second: Any = 0
        for parts in others:
            second, first = np.maximum(second, np.minimum(first, parts)), np.maximum(first, parts)
        losses = np.take(self._losses[::step], first - second, mode="clip")
        return np.asarray(first * (UNIT // PARTS * step) - losses)


PARTS = 16  # a class weight is a number of sixteenths


@lru_cache(maxsize=64)
def _expected_losses(epsilon: float) -> Counts:
    """D P(D) in units, for D = 0, 1, 2, ... sixteenths of a row up to where it is less than one unit."""
    x = np.arange(floor(PARTS * (40 / epsilon + 1)) + 2, dtype=np.float64) / PARTS
    return frozen(np.floor(x * (1 + epsilon * x / 2) * np.exp(-epsilon * x) / 2 * UNIT))


@dataclass(frozen=True)
class Discernibility(Score):
    """Minus the ordered pairs of rows that are of different classes but share a cell (Vinterbo 2012). `choose` divides
    it by the number of rows n, and what counts is how far one added row moves candidates apart: by less than 2.

    F = pairs of different classes in different cells, over n. A row x of class c moves F by (2g - p) n/(n+1), g the
    share of rows of other classes outside x's cell and p = F/n. Let t be the share of other classes, and i_c, i_o, o_c,
    o_o those of c and of others inside and outside the cell: g = o_o <= t and p <= 2 i_c o_o + 2 i_o (o_c + o_o) + 2
    o_c o_o + o_o^2; since they add up to 1, 2g - p >= o_o^2 - 2 i_o o_c >= -2t(1-t). So the moves of any two candidates
    differ by at most 2t + 2t(1-t) <= 2, times n/(n+1). It holds for every n; with another denominator it would not.
    """

    low, high, unit = 0, 2, 1

    def each(self, counts: Counts) -> Counts:
        rows = (counts := _squarable(counts)).sum(axis=-1)
        return np.asarray(-(rows * rows - (counts * counts).sum(axis=-1)).sum(axis=-1))


@dataclass(frozen=True)
class Dependence(Score):
    """How far cells and classes are from independent: R = sum of |n_xy - n_x n_y / n| / 2 (Zhang et al. 2014), n_x the
    rows of a cell, n_y those of a class. Without classes the last axis of a grid takes their place.

    With p and q the shares of cells and of classes, a row in (x, y) adds n / (n+1) (e_x - p)(e_y - q)' to the matrix of
    n_xy - n_x n_y / n. The absolute values of this product add up to 4 (1 - p_x)(1 - q_y) <= 4, so R moves by at most
    2, for every n. All of it is one division of whole numbers, rounded down once.
    """

    low, high, unit = -2 * UNIT, 2 * UNIT, UNIT
    numbered = True

    def each(self, counts: Counts) -> Counts:
        counts = _squarable(counts)
        cells, classes = counts.sum(axis=-1, keepdims=True), counts.sum(axis=-2, keepdims=True)
        rows = counts.sum(axis=(-2, -1))
        twice = np.abs(np.expand_dims(rows, (-2, -1)) * counts - cells * classes).sum(axis=(-2, -1))
        whole = 2 * rows + (rows == 0)
        return np.asarray(twice // whole * UNIT + twice % whole * UNIT // whole)


CELLWISE = (Entropy, ExpectedCorrect, Gini, Majority)
OF_WORDS = (Difference, Purity, Rows, *CELLWISE)  # by the counts of the rows with a word and of those without it
OF_ROWS = (Correct, *OF_WORDS)  # one row moves each by a public amount
SCORES = (*OF_ROWS, Dependence, Discernibility)  # the closed list
