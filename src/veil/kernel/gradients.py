"""Gradients of a sum of losses over rows, and a bound on the error with which they are computed.

Rows have one value in each of p columns (`OneHot`), or at most p words of one vocabulary (`WordRows`): p weights each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from .losses import ROUNDING, Loss, Numbers
from .noise import Integers

TOLERANCE = 2.0**-14  # for the norm of the gradient
CHUNK = 1 << 15  # rows at a time: temporaries stay in the cache
WORD_CHUNK = 1 << 18  # words at a time


@dataclass(frozen=True)
class OneHot:
    """One-hot rows: codes and sizes of all columns, and the true classes, classes x rows or 1 x rows of +1 and -1."""

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

    def sums(self, values: Numbers) -> Numbers:
        """For every class and weight, the sum of values (rounded to 2^-48) over the rows that have the weight. Exact:
        doubles hold the integers of a chunk, int64 those of all chunks, with high and low halves apart."""
        halves = np.zeros((2, len(values), sum(self.sizes)), np.int64)
        for start in range(0, values.shape[1], CHUNK):
            part = slice(start, start + CHUNK)
            for half, numbers in zip(halves, _halves(values[:, part]), strict=True):
                pairs = [(codes[part], size) for codes, size in zip(self.codes, self.sizes, strict=True)]
                found = [np.bincount(codes, row, size) for row in numbers for codes, size in pairs]
                half += np.concatenate(found).reshape(half.shape).astype(np.int64)
        return np.asarray(halves[0] * 2.0**-24 + halves[1] * 2.0**-48)

    def largest(self, weights: Numbers) -> float:
        """An upper bound on a row's score in absolute value: the sum of each column's largest weight."""
        starts = np.cumsum([0, *self.sizes[:-1]])
        return float(np.maximum.reduceat(np.abs(weights).max(axis=0), starts).sum())


@dataclass(frozen=True)
class WordRows:
    """Rows of words: each word's index among `size` weights and its row (sorted), true classes, most words of a row."""

    places: npt.NDArray[Any]
    rows: Integers
    truth: Numbers
    size: int
    most: int

    def scores(self, weights: Numbers) -> Numbers:
        """The sum of each row's weights, 1 x rows."""
        return np.bincount(self.rows, weights[0][self.places], self.truth.shape[1])[None].astype(np.float64)

    def sums(self, values: Numbers) -> Numbers:
        """For every weight, the sum of values (rounded to 2^-48) over the rows with the word; exact, as in `OneHot`."""
        halves, of_rows = np.zeros((2, self.size), np.int64), _halves(values[0])
        for start in range(0, len(self.rows), WORD_CHUNK):
            part = slice(start, start + WORD_CHUNK)
            for half, numbers in zip(halves, of_rows, strict=True):
                half += np.bincount(self.places[part], numbers[self.rows[part]], self.size).astype(np.int64)
        return np.asarray(halves[0] * 2.0**-24 + halves[1] * 2.0**-48)[None]

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
    """The objective without its noise: rows, loss, a penalty for every weight, offsets of the scores, and the margin
    that is subtracted from the true class's score."""

    rows: Any
    loss: Loss
    penalties: Numbers
    offsets: Numbers
    margin: float = 0.0

    def scores(self, weights: Numbers, rows: Any = None) -> Numbers:
        """The scores that the loss is given, classes x rows: sums of the rows' weights, with offsets and margin."""
        rows = rows or self.rows
        return np.asarray(rows.scores(weights) + (self.offsets - self.margin * rows.truth))

    def gradient(self, weights: Numbers, scores: Numbers, shift: Numbers) -> Numbers:
        """The gradient of the objective with noise `shift`, classes x weights, accurate to `error_bound`."""
        slopes = self.loss.slopes(scores, self.rows.truth)
        return np.asarray(self.rows.sums(slopes) + self.penalties * weights + shift)

    def certainly_short(self, weights: Numbers, gradient: Numbers, shift: Numbers) -> bool:
        """Whether the norm of the exact gradient is below the tolerance, whatever the rounding of the computed one. The
        factor 1.01 covers the arithmetic of the norm and of the bound."""
        found = sqrt((gradient**2).sum()) + self.error_bound(weights, shift)
        return bool(1.01 * found < TOLERANCE)

    def error_bound(self, weights: Numbers, shift: Numbers) -> float:
        """An upper bound on the norm of the difference between the computed and the exact gradient.

        A score is off by (p + 4) 2^-53 times the sum of the largest weights, the offset and the margin, a slope by what
        that bends it and `ROUNDING`, and is rounded to 2^-48; sums are exact but for three last roundings. Every row
        is in p sums of each class, so over all sums the norm is at most sqrt(classes p) times the rows. The other
        terms are off by a few roundings.
        """
        classes, rows = self.rows.truth.shape
        largest = np.abs(self.offsets).max() + self.margin + self.rows.largest(weights)
        slopes = ROUNDING + 2.0**-48 + 2.0**-51 + self.loss.bend * (self.rows.most + 4) * 2.0**-53 * float(largest)
        rest = 2.0**-49 * sqrt(((self.penalties * weights) ** 2 + shift**2).sum())
        return float(sqrt(classes * self.rows.most) * rows * slopes + rest)
