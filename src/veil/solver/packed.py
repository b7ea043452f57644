"""Rows of one value in each column, with neighbouring columns merged, which is several times as fast."""

from collections.abc import Iterator
from functools import cached_property, reduce
from math import prod
from typing import Any

import numpy as np

from .lines import Numbers

CHUNK = 1 << 15  # rows at a time: temporaries stay in the cache
MOST_PACKED = 30  # columns merged into one: an array has 64 axes at most
PACK = 1 << 11  # values of a merged column, a table of which is looked up


class Packed:
    """Codes and sizes of all columns, and the true classes, as the kernel has them."""

    def __init__(self, codes: Any, sizes: Any, truth: Numbers) -> None:
        self.codes, self.sizes, self.truth, self.most = codes, sizes, truth, len(sizes)

    def _chunks(self) -> Iterator[slice]:
        rows = self.truth.shape[1]
        return (slice(start, min(start + CHUNK, rows)) for start in range(0, rows, CHUNK))

    @cached_property
    def packs(self) -> list[tuple[Any, slice]]:
        """The columns merged as far as tables of scores allow."""
        return self.packed(PACK)

    def packed(self, most: int) -> list[tuple[Any, slice]]:
        """Neighbouring columns merged into one with at most `most` values. Returns merged codes and column slices."""
        packs: list[tuple[Any, slice]] = []
        for place, (codes, size) in enumerate(zip(self.codes, self.sizes, strict=True)):
            if packs and prod(self.sizes[packs[-1][1]]) * size <= most and place - packs[-1][1].start < MOST_PACKED:
                before, columns = packs.pop()
                packs.append((before * np.int64(size) + codes, slice(columns.start, place + 1)))
            else:
                packs.append((codes.astype(np.int64), slice(place, place + 1)))
        return packs

    def scores(self, weights: Numbers) -> Numbers:
        """The sum of each row's weights, classes x rows."""
        total, parts = np.zeros(self.truth.shape), np.split(weights, np.cumsum(self.sizes)[:-1], axis=1)
        tables = [reduce(_add_outer, parts[columns]) for _, columns in self.packs]
        for rows in self._chunks():
            for (codes, _), table in zip(self.packs, tables, strict=True):
                total[:, rows] += np.take(table, codes[rows], axis=1)
        return total

    def added(self, values: Numbers) -> Numbers:
        """For every class and weight, the sum of values over the rows that have the weight, in plain doubles."""
        found = []
        for codes, columns in self.packs:
            shape = self.sizes[columns]
            table = np.array([np.bincount(codes, row, prod(shape)) for row in values]).reshape(len(values), *shape)
            axes = range(1, len(shape) + 1)
            found += [table.sum(axis=tuple({*axes} - {axis})) for axis in axes]
        return np.hstack(found)

    def largest(self, weights: Numbers) -> float:
        """An upper bound on a row's score in absolute value: the sum of each column's largest weight."""
        starts = np.cumsum([0, *self.sizes[:-1]])
        return float(np.maximum.reduceat(np.abs(weights).max(axis=0), starts).sum())


def _add_outer(first: Numbers, second: Numbers) -> Numbers:
    """For each class, all sums of an entry of the first and an entry of the second (an outer sum, flattened)."""
    return (first[:, :, None] + second[:, None, :]).reshape(len(first), -1)
