"""Gradients of a sum of losses over rows, and a bound on the error with which they are computed.

Rows have one value in each of p columns (`OneHot`), or at most p words of one vocabulary (`WordRows`): p weights each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from .losses import ROUNDING, Loss, Numbers
from .noise import Integers

TOLERANCE = 2.0**-14  # of the norm of the gradient
CHUNK = 1 << 15  # rows at a time: temporaries stay in the cache
WORD_CHUNK = 1 << 18  # words at a time
MOST_PACKED = 30  # columns taken as one: an array has 64 axes at most
PACK = 1 << 11  # values of several columns taken as one, where they are looked up


@dataclass(frozen=True)
class OneHot:
    """Codes of every column, their sizes, and the truth: classes x rows, or 1 x rows with 1 for the class, else -1."""

    codes: Sequence[npt.NDArray[Any]]
    sizes: Sequence[int]
    truth: Numbers

    @property
    def most(self) -> int:
        """The weights of a row."""
        return len(self.sizes)

    def _chunks(self) -> Iterator[slice]:
        rows = self.truth.shape[1]
        return (slice(start, min(start + CHUNK, rows)) for start in range(0, rows, CHUNK))

    @cached_property
    def packs(self) -> list[tuple[npt.NDArray[Any], slice]]:
        return self.packed(PACK)

    def packed(self, most: int) -> list[tuple[npt.NDArray[Any], slice]]:
        """Neighbouring columns merged into one of no more than `most` values: its codes, and which columns they are."""
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
            for half, part in enumerate(_halves(values[:, rows])):
                halves[half] += self.added(part, rows).astype(np.int64)
        return np.asarray(halves[0] * 2.0**-24 + halves[1] * 2.0**-48)

    def added(self, values: Numbers, rows: slice) -> Numbers:
        """For every class and weight, the sum of values over those of these rows that have it, in doubles."""
        found = []
        for codes, columns in self.packs:
            shape, index = self.sizes[columns], codes[rows]
            table = np.array([np.bincount(index, row, prod(shape)) for row in values]).reshape(len(values), *shape)
            axes = range(1, len(shape) + 1)
            found += [table.sum(axis=tuple({*axes} - {axis})) for axis in axes]
        return np.hstack(found)

    def largest(self, weights: Numbers) -> float:
        """How large the score of a row can be."""
        starts = np.cumsum([0, *self.sizes[:-1]])
        return float(np.maximum.reduceat(np.abs(weights).max(axis=0), starts).sum())


@dataclass(frozen=True)
class WordRows:
    """The words of rows as places among `size` weights, sorted by row, the truth, 1 x rows, and the most of a row."""

    places: npt.NDArray[Any]
    rows: Integers
    truth: Numbers
    size: int
    most: int

    def scores(self, weights: Numbers) -> Numbers:
        """The sum of each row's weights, its words one after the other; 1 x rows."""
        return np.bincount(self.rows, weights[0][self.places], self.truth.shape[1])[None].astype(np.float64)

    def sums(self, values: Numbers) -> Numbers:
        """For every weight the sum of what its rows have, each rounded to 2^-48; the sum is exact, as for `OneHot`."""
        halves, of_rows = np.zeros((2, self.size), np.int64), _halves(values[0])
        for start in range(0, len(self.rows), WORD_CHUNK):
            part = slice(start, start + WORD_CHUNK)
            for half, numbers in zip(halves, of_rows, strict=True):
                half += np.bincount(self.places[part], numbers[self.rows[part]], self.size).astype(np.int64)
        return np.asarray(halves[0] * 2.0**-24 + halves[1] * 2.0**-48)[None]

    def largest(self, weights: Numbers) -> float:
        """How large the score of a row can be."""
        return self.most * float(np.abs(weights).max())


def _halves(values: Numbers) -> tuple[Numbers, Numbers]:
    """Values in units of 2^-48, as whole numbers of 2^24 units and the rest."""
    whole = np.rint(values * 2.0**48)
    high = np.floor(whole * 2.0**-24)
    return high, whole - high * 2.0**24


def _add_outer(first: Numbers, second: Numbers) -> Numbers:
    """All sums of a weight of the first and one of the second, for each class."""
    return (first[:, :, None] + second[:, None, :]).reshape(len(first), -1)


@dataclass(frozen=True)
class Objective:
    """What is minimised, but for the noise: rows, a loss, penalties for every weight, offsets of the scores, and the
    margin by which the true class has to lead for the loss that it would have without one."""

    rows: Any
    loss: Loss
    penalties: Numbers
    offsets: Numbers
    margin: float = 0.0

    def scores(self, weights: Numbers, rows: Any = None) -> Numbers:
        """What the loss gets of these rows, or of all: the sums of their weights, with offsets and margin."""
        rows = rows or self.rows
        return np.asarray(rows.scores(weights) + (self.offsets - self.margin * rows.truth))

    def gradient(self, weights: Numbers, scores: Numbers, shift: Numbers) -> Numbers:
        """The gradient with noise, up to the error bound."""
        slopes = self.loss.slopes(scores, self.rows.truth)
        return np.asarray(self.rows.sums(slopes) + self.penalties * weights + shift)

    def certainly_short(self, weights: Numbers, gradient: Numbers, shift: Numbers) -> bool:
        """Whether the exact gradient is shorter than the tolerance, however the computed one was rounded.

        The hundredth covers the arithmetic of the norm and of the bound.
        """
        found = sqrt((gradient**2).sum()) + self.error_bound(weights, shift)
        return bool(1.01 * found < TOLERANCE)

    def error_bound(self, weights: Numbers, shift: Numbers) -> float:
        """How far the computed gradient can be from the exact one, in norm.

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
