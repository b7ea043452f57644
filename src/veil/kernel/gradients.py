"""Gradients of a sum of losses over rows, and a bound on the error with which they are computed.

Rows come in blocks. They have p weights each: of one value in each of p columns (`OneHot`), or of words (`WordRows`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from .losses import ROUNDING, Loss, Numbers
from .noise import Integers

TOLERANCE = 2.0**-14  # for the norm of the gradient
CHUNK = 1 << 15  # rows of a block: temporaries stay in the cache


@dataclass(frozen=True)
class OneHot:
    """At most `CHUNK` one-hot rows: codes and sizes of all columns, true classes (classes x rows, or 1 x +1 and -1)."""

    codes: Sequence[npt.NDArray[Any]]
    sizes: Sequence[int]
    truth: Numbers

    @property
    def most(self) -> int:
        """The number of weights that a row has: one for each column."""
        return len(self.sizes)

    def scores(self, weights: Numbers) -> Numbers:
        """The sum of each row's weights, classes x rows."""
        total, starts = np.zeros(self.truth.shape), np.cumsum([0, *self.sizes[:-1]])
        for codes, start in zip(self.codes, starts, strict=True):
            total += np.take(weights, codes + start, axis=1)
        return total

    def sums(self, values: Numbers) -> Integers:
        """For every class and weight, the sum of values over the rows that have the weight, in units of 2^-48: high and
        low halves, apart. Exact: doubles hold the integers of a block."""
        pairs = [*zip(self.codes, self.sizes, strict=True)]
        found = [np.bincount(codes, row, size) for half in _halves(values) for row in half for codes, size in pairs]
        return np.concatenate(found).reshape(2, len(values), -1).astype(np.int64)

    def largest(self, weights: Numbers) -> float:
        """An upper bound on a row's score in absolute value: the sum of each column's largest weight."""
        starts = np.cumsum([0, *self.sizes[:-1]])
        return float(np.maximum.reduceat(np.abs(weights).max(axis=0), starts).sum())


@dataclass(frozen=True)
class WordRows:
    """A block of rows: the index of each word among `size` weights, its row (sorted), true classes, most a row."""

    places: npt.NDArray[Any]
    rows: Integers
    truth: Numbers
    size: int
    most: int

    def scores(self, weights: Numbers) -> Numbers:
        """The sum of each row's weights, 1 x rows."""
        return np.bincount(self.rows, weights[0][self.places], self.truth.shape[1])[None].astype(np.float64)

    def sums(self, values: Numbers) -> Integers:
        """For every weight, the sum of values over the rows with the word, as in `OneHot`; a row has few words."""
        found = [[np.bincount(self.places, half[self.rows], self.size)] for half in _halves(values[0])]
        return np.array(found).astype(np.int64)

    def largest(self, weights: Numbers) -> float:
        """An upper bound on a row's score in absolute value."""
        return self.most * float(np.abs(weights).max())


def _halves(values: Numbers) -> tuple[Numbers, Numbers]:
    """Values in units of 2^-48, split into multiples of 2^24 units and the remainder."""
    whole = np.rint(values * 2.0**48)
    high = np.floor(whole * 2.0**-24)
    return high, whole - high * 2.0**24


@dataclass(frozen=True)
class Objective:
    """The objective without its noise: what gives the rows, block by block and each time anew, their number, the loss,
    a penalty for every weight, offsets of the scores, and the margin subtracted from the true class's score."""

    blocks: Callable[[], Iterable[Any]]
    count: int
    loss: Loss
    penalties: Numbers
    offsets: Numbers
    margin: float = 0.0

    def scores(self, weights: Numbers, rows: Any) -> Numbers:
        """The scores that the loss is given, classes x rows: sums of the rows' weights, with offsets and margin."""
        return np.asarray(rows.scores(weights) + (self.offsets - self.margin * rows.truth))

    def gradient(self, weights: Numbers, shift: Numbers) -> Numbers:
        """The gradient with noise `shift`, classes x weights, accurate to `error_bound` and the same for all blocks."""
        slopes = ((rows, self.loss.slopes(self.scores(weights, rows), rows.truth)) for rows in self.blocks())
        high, low = sum(rows.sums(values) for rows, values in slopes)
        return np.asarray(high * 2.0**-24 + low * 2.0**-48 + self.penalties * weights + shift)

    def certainly_short(self, weights: Numbers, gradient: Numbers, shift: Numbers) -> bool:
        """Whether the norm of the exact gradient is below the tolerance, whatever the rounding of the computed one. The
        factor 1.01 covers the arithmetic of the norm and of the bound."""
        return bool(1.01 * (sqrt((gradient**2).sum()) + self.error_bound(weights, shift)) < TOLERANCE)

    def error_bound(self, weights: Numbers, shift: Numbers) -> float:
        """An upper bound on the norm of the difference between the computed and the exact gradient.

        A score is off by (p + 4) 2^-53 times the largest sum of weights, offset and margin; a slope by what that bends
        it, `ROUNDING` and 2^-48; sums are exact but for three last roundings. A row is in p sums of each class, so over
        all sums the norm is at most sqrt(classes p) times the rows."""
        any_rows = next(iter(self.blocks()))  # the columns, or the most words, are those of all
        largest = np.abs(self.offsets).max() + abs(self.margin) + any_rows.largest(weights)
        slopes = ROUNDING + 2.0**-48 + 2.0**-51 + self.loss.bend * (any_rows.most + 4) * 2.0**-53 * float(largest)
        rest = 2.0**-49 * sqrt(((self.penalties * weights) ** 2 + shift**2).sum())
        return float(sqrt(len(weights) * any_rows.most) * self.count * slopes + rest)
