"""Rows of one value in each column, with neighbouring columns merged, which is several times as fast."""

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np

from .lines import Numbers

MOST_PACKED = 30  # columns merged into one: an array has 64 axes at most
PACK = 1 << 11  # values of a merged column, a table of which is looked up


class Packs:
    """Which neighbouring columns of these sizes are merged: `columns` has a slice for each merged one, of at most
    `most` values."""

    def __init__(self, sizes: Sequence[int], most: int = PACK) -> None:
        self.sizes, self.columns = sizes, list[slice]()
        for place, size in enumerate(sizes):
            last = self.columns[-1] if self.columns else slice(0)
            if last.stop and prod(sizes[last]) * size <= most and place - last.start < MOST_PACKED:
                self.columns[-1] = slice(last.start, place + 1)
            else:
                self.columns.append(slice(place, place + 1))

    def merged(self, codes: Sequence[Any]) -> list[Any]:
        """The codes of the merged columns."""
        found = []
        for columns in self.columns:
            one, *others = zip(codes[columns], self.sizes[columns], strict=True)
            found.append(reduce(lambda before, pair: before * pair[1] + pair[0], others, one[0]))
        return found

    def tables(self, weights: Numbers) -> list[Numbers]:
        """For every merged column, the sum of the weights of each of its values, classes x values."""
        parts = [weights[:, start:end] for start, end in pairwise([0, *accumulate(self.sizes)])]
        return [reduce(_add_outer, parts[columns]) for columns in self.columns]

    def apart(self, tables: Sequence[Numbers]) -> Numbers:
        """For every class and weight, the sum over all values of its merged column that it is part of."""
        found = []
        for table, columns in zip(tables, self.columns, strict=True):
            shaped = table.reshape(len(table), *self.sizes[columns])
            axes = range(1, shaped.ndim)
            found += [shaped.sum(axis=tuple({*axes} - {axis})) for axis in axes]
        return np.hstack(found)


def looked_up(tables: Sequence[Numbers], merged: Sequence[Any]) -> Numbers:
    """The sum of each row's entries, classes x rows."""
    total = np.take(tables[0], merged[0], axis=1)
    for table, codes in zip(tables[1:], merged[1:], strict=True):
        total += np.take(table, codes, axis=1)
    return np.asarray(total, np.float64)


def _add_outer(first: Numbers, second: Numbers) -> Numbers:
    """For each class, all sums of an entry of the first and an entry of the second (an outer sum, flattened)."""
    return (first[:, :, None] + second[:, None, :]).reshape(len(first), -1)
