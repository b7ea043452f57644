"""Exact counts of many grids over the same rows; what grids have in common is computed once."""

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from ..questions import Axis, Grid
from ..questions.bundling import by_column
from ..questions.covering import steps
from ..questions.grids import join
from ..schema.codes import LABEL
from .noise import Integers
from .table import BLOCK, Table

MOST_CELLS = 1 << 22  # grids with more counters (cells x classes) are counted by sorting the rows
MOST_KEPT = 1 << 28  # bytes of cached cells of rows
TOGETHER = 1 << 19  # counters of a grid that others are added up from, so that they stay near the cache
MOST_GATHERED = 1 << 18  # counts of groups at a time
_blas = lru_cache(1)(lambda process: ThreadpoolController().select(user_api="blas"))  # to find it takes some ms


class Tally:
    """Counts grids over the rows of a table."""

    def __init__(self, table: Table) -> None:
        self._column, self._labels, self._classes = table.column, table.column(LABEL), table.classes
        self._kept: dict[tuple[int, ...], tuple[Any, int]] = {}  # by the identity of axes, which grids keep alive

    def each(self, grids: Sequence[Grid]) -> Iterator[tuple[int, Integers]]:
        """For every grid its index and its counts, cells x classes; of a huge grid, only the cells that hold rows.

        Which are added up from the counts of finer ones is decided by the grids, and how fine these are by the number
        of rows, which changes the time alone. A row adds one to one count of each: a finer cell is added to one cell.
        """
        rows, tables = len(self._labels), list[Any]()  # each is added up from the one before it
        kind = np.float32 if rows < 1 << 24 else np.float64  # which add whole numbers below 2^24, and 2^53, exactly
        with _blas(os.getpid()).limit(limits=1):  # with matrices so small, threads wait longer than they work
            for place, grid, kept, merges in steps(grids, min(rows, TOGETHER, MOST_CELLS) // self._classes):
                tables = tables[:kept] if grid is None else [self._count(grid).astype(kind)]
                for cells, groups in merges:
                    tables.append(merged(tables[-1], cells, groups))
                yield place, tables[-1].astype(np.int64).T

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

    def _count(self, grid: Grid) -> Integers:
        """The counts of a grid from the rows, classes x cells."""
        huge = grid.size * self._classes > MOST_CELLS
        parts = [self._cells(grid.axes)] if huge else [self._cells((axis,)) for axis in grid.axes]
        return self._counts([(self._labels, self._classes), *parts]).reshape(self._classes, -1)

    def _cells(self, axes: tuple[Axis, ...]) -> tuple[npt.NDArray[Any], int]:
        """The cell of each row on these axes, and the number of cells; of a huge grid, of occupied ones. Cached."""
        key = tuple(map(id, axes))
        if key not in self._kept:
            parts = [self._cells(axes[:-1]), self._cells(axes[-1:])] if axes[1:] else []
            cells = join(parts) if parts else axes[0].pick(self._column(axes[0].column))
            if (size := prod([s for _, s in parts]) if parts else axes[0].size) * self._classes > MOST_CELLS:
                distinct, cells = np.unique(cells, return_inverse=True)
                size = len(distinct)
            if sum(kept.nbytes for kept, _ in self._kept.values()) > MOST_KEPT:
                self._kept.clear()
            self._kept[key] = cells, size
        return self._kept[key]

    def _counts(self, parts: list[tuple[npt.NDArray[Any], int]]) -> Integers:
        """The number of rows for every combination of the parts, flat; these are joined even if there are no rows."""
        counts = np.zeros(prod([size for _, size in parts]), np.int64)
        for start in range(0, max(len(self._labels), 1), block := max(BLOCK, len(counts))):
            joined = join([(part[start : start + block], size) for part, size in parts])
            counts += np.bincount(joined.astype(np.intp, copy=False), minlength=len(counts))
        return counts


def merged(counts: Any, cells: int, groups: tuple[int, ...]) -> Any:
    """The counts, classes x cells, with groups of an axis added up: `groups` has the new group of each, and the cells
    are numbered `cells` x groups x others."""
    parts, matrix = counts.reshape(len(counts) * cells, len(groups), -1), _adding(groups, counts.dtype)
    found = matrix @ parts if parts.shape[2] > 1 else parts[:, :, 0] @ matrix.T
    return found.reshape(len(counts), -1)


@lru_cache(maxsize=256)
def _adding(groups: tuple[int, ...], kind: Any) -> Any:
    """A 0/1 matrix, new groups x groups, with a single one for each group."""
    return np.equal.outer(np.arange(max(groups) + 1), groups).astype(kind)


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
