"""Exact counts of many grids over the same rows; what grids have in common is computed once."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..questions import Axis, Grid
from ..questions.bundling import as_one, by_column, steps
from ..questions.grids import join
from .noise import Integers
from .table import BLOCK, LABEL, Table
from .verbs.count import added_up

MOST_CELLS = 1 << 22  # grids with more counters (cells x classes) are counted by sorting the rows
MOST_KEPT = 1 << 25  # cached cells of rows, for axes that several grids begin with
TOGETHER = 1 << 17  # most counters of grids that are counted as one, so that they stay near the cache
MOST_GATHERED = 1 << 18  # counts of groups at a time
SMALL = 1 << 16  # cells of a grid whose counts are kept for coarser ones on the same columns


class Tally:
    """Counts grids over the rows of a table."""

    def __init__(self, table: Table) -> None:
        self._column, self._labels, self._classes = table.column, table.column(LABEL), table.classes
        self._picked: dict[int, npt.NDArray[Any]] = {}  # by the identity of an axis, which the grids keep alive
        self._begun: dict[tuple[int, ...], tuple[npt.NDArray[Any], int]] = {}

    def each(self, grids: Sequence[Grid]) -> Iterator[tuple[int, Integers]]:
        """For every grid its index and its counts, cells x classes; of a huge grid, only the cells that hold rows.

        Which grids are counted together, and which are added up from the counts of finer ones, is decided by the grids
        alone. Whichever they are, a row adds one to one count of each: a finer cell is added to one cell.
        """
        kept, most = dict[int, Any](), min(TOGETHER, len(self._labels) // 4) // self._classes
        for places, finer, cells, keep, fresh in steps(grids, most, min(SMALL, MOST_CELLS // self._classes)):
            some, kept = [grids[place] for place in places], {} if fresh else kept
            if finer is None:
                found = added_up(self._count(as_one(some), len(some)), some)
            else:
                sums = np.array([np.bincount(cells, of_class, some[0].size) for of_class in kept[finer]])
                found = [sums.astype(np.int64).T]  # doubles add whole numbers below 2^53 exactly
            if keep:
                kept[places[0]] = found[0].T.astype(np.float64)
            yield from zip(places, found, strict=True)

    def within(
        self, cells: npt.NDArray[Any], size: int, axes: Sequence[Axis]
    ) -> Iterator[tuple[list[int], list[int], Integers]]:
        """Some axes of one column at a time: their indices, the start of each axis's groups, and the counts of all
        these groups within each of `size` cells, groups x cells x classes.

        The codes of a column are counted once, and added up to groups by a product of matrices: doubles add whole
        numbers below 2^53 exactly.
        """
        first, rows = join([(self._labels, self._classes), (cells, size)]), self._classes * size
        for name, places in by_column(axes).items():
            codes = len(axes[places[0]].groups)
            counts = self._counts([(first, rows), (self._column(name), codes)]).reshape(rows, codes).astype(np.float64)
            step = max(MOST_GATHERED // (rows * codes), 1)
            for some in (places[start : start + step] for start in range(0, len(places), step)):
                groups, starts = stacked([axes[place] for place in some])
                sums = (groups @ counts.T).astype(np.int64).reshape(-1, self._classes, size)
                yield some, starts, np.moveaxis(sums, 1, 2)

    def _count(self, grid: Grid, rest: int = 1) -> Integers:
        """The counts of a grid from the rows; the cells of all but the last `rest` axes are cached for other grids."""
        if not grid.axes:
            return self._by_class([(np.zeros(len(self._labels), np.uint8), 1)])
        before, last = self._joined(grid.axes[:-rest]), grid.axes[-rest:]
        if grid.size * self._classes > MOST_CELLS:
            return self._by_class([self._step(before, last[0])])
        return self._by_class([*before, *((self._pick(axis), axis.size) for axis in last)])

    def _joined(self, axes: tuple[Axis, ...]) -> list[tuple[npt.NDArray[Any], int]]:
        """The cell of each row on these axes together, and the number of cells, in a list; [] for no axes. Cached."""
        if not axes:
            return []
        key = tuple(map(id, axes))
        if key not in self._begun:
            step = self._step(self._joined(axes[:-1]), axes[-1])
            if len(self._begun) * len(self._labels) > MOST_KEPT:
                self._begun.clear()
            self._begun[key] = step
        return [self._begun[key]]

    def _step(self, before: list[tuple[npt.NDArray[Any], int]], axis: Axis) -> tuple[npt.NDArray[Any], int]:
        """The cell of each row with one more axis, and the number of cells; of a huge grid, that of occupied cells."""
        joined, size = join([*before, (self._pick(axis), axis.size)]), prod([s for _, s in before]) * axis.size
        if size * self._classes <= MOST_CELLS:
            return joined, size
        distinct, numbers = np.unique(joined, return_inverse=True)
        return numbers, len(distinct)

    def _pick(self, axis: Axis) -> npt.NDArray[Any]:
        """The group of every row on an axis."""
        if id(axis) not in self._picked:
            self._picked[id(axis)] = axis.pick(self._column(axis.column))
        return self._picked[id(axis)]

    def _by_class(self, parts: list[tuple[npt.NDArray[Any], int]]) -> Integers:
        """Counts, cells x classes; the cells are given as parts (digits and their sizes), to be joined."""
        return self._counts([(self._labels, self._classes), *parts]).reshape(self._classes, -1).T

    def _counts(self, parts: list[tuple[npt.NDArray[Any], int]]) -> Integers:
        """The number of rows for every combination of the parts, flat; these are joined even if there are no rows."""
        counts = np.zeros(prod([size for _, size in parts]), np.int64)
        for start in range(0, max(len(self._labels), 1), block := max(BLOCK, len(counts))):
            joined = join([(part[start : start + block], size) for part, size in parts])
            counts += np.bincount(joined.astype(np.intp, copy=False), minlength=len(counts))
        return counts


def stacked(axes: Sequence[Axis]) -> tuple[Any, list[int]]:
    """A 0/1 matrix, groups x codes, of all groups of these axes of one column, and the first row of each axis. It is
    sparse if it is large, since an axis with a group for every category would be a square matrix."""
    starts = [0, *accumulate(axis.size for axis in axes)]
    shape = (starts.pop(), len(axes[0].groups))
    places = np.array([axis.groups for axis in axes]) + np.array(starts)[:, None]
    if prod(shape) > MOST_GATHERED:
        from scipy.sparse import csr_matrix  # which takes as long to load as all of Veil

        ones, codes = np.ones(places.size), np.broadcast_to(np.arange(shape[1]), places.shape)
        return csr_matrix((ones, (places.ravel(), codes.ravel())), shape), starts
    groups = np.zeros(shape)
    groups[places, np.arange(shape[1])] = 1
    return groups, starts
