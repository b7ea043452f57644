"""Exact counts of many grids over the same rows: what the grids have in common is done once."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..questions import Axis, Grid, join
from .noise import Integers

BLOCK = 1 << 18  # rows at a time, so that temporaries stay near the cache
MOST_CELLS = 1 << 22  # up to here every cell and class has a counter; beyond, rows are sorted by cell
MOST_KEPT = 1 << 25  # cells of rows, of the axes that grids begin with
SMALL, KEPT = 1 << 16, 8  # grids up to this size, and as many of them, are kept for coarser ones on the same columns


class Tally:
    """Counts grids over rows of some number of classes; `column` gives the codes of a column."""

    def __init__(self, column: Callable[[str], npt.NDArray[Any]], labels: npt.NDArray[Any], classes: int) -> None:
        self._labels, self._classes = labels, classes
        self._order = np.argsort(labels, kind="stable")  # the rows of a class together: no need to join the class
        self._column: Callable[[str], npt.NDArray[Any]] = lambda name: column(name)[self._order]
        self._ends = np.searchsorted(labels[self._order], np.arange(classes + 1))
        self._picked: dict[int, npt.NDArray[Any]] = {}  # by the identity of an axis, which the grids keep alive
        self._merged: dict[tuple[int, int], npt.NDArray[Any] | None] = {}
        self._begun: dict[tuple[int, ...], tuple[npt.NDArray[Any], int]] = {}

    def each(self, grids: Sequence[Grid]) -> Iterator[tuple[int, Integers]]:
        """The place of every grid and its counts, cells x classes; of a huge grid, only the cells that hold rows.

        Grids on the same columns come one after the other, the finest first: one that only merges groups of an
        earlier one is added up from its counts, without another look at the rows.
        """
        known: list[tuple[Grid, npt.NDArray[np.float64]]] = []
        for place in sorted(range(len(grids)), key=lambda i: (grids[i].columns, -grids[i].size)):
            grid = grids[place]
            known = known if known and known[0][0].columns == grid.columns else []
            coarser = (self._coarser(grid, *finer) for finer in known)
            counts = next((found for found in coarser if found is not None), None)
            if counts is None:
                counts = self._count(grid)
                keep = grid.size <= min(SMALL, MOST_CELLS // self._classes) and len(known) < KEPT
                known += [(grid, counts.T.astype(np.float64))] if keep else []
            yield place, counts

    def within(self, cells: npt.NDArray[Any], size: int, axes: Sequence[Axis]) -> Iterator[tuple[int, Integers]]:
        """The place of every axis and its counts in each of `size` cells: cells x groups x classes.

        The codes of a column are counted once, and added up to the groups of each of its axes.
        """
        cells = cells[self._order]
        column, counts = None, np.zeros((0, 0, 0), np.int64)
        for place in sorted(range(len(axes)), key=lambda i: axes[i].column):
            axis, codes = axes[place], len(axes[place].groups)
            if axis.column != column:
                column, parts = axis.column, [(cells, size), (self._column(axis.column), codes)]
                counts = self._by_class(parts).reshape(size, codes, self._classes)
            order = np.argsort(axis.groups, kind="stable")
            starts = np.searchsorted(np.sort(axis.groups), np.arange(axis.size))
            yield place, np.add.reduceat(counts[:, order], starts, axis=1)

    def _coarser(self, grid: Grid, finer: Grid, counts: npt.NDArray[np.float64]) -> Integers | None:
        """The counts of a grid from those of a finer one, classes x cells; None if a group of that one lies in two of
        the grid's."""
        cells = np.zeros(1, np.intp)
        for axis, fine in zip(grid.axes, finer.axes, strict=True):
            key = (id(axis), id(fine))
            if key not in self._merged:
                self._merged[key] = merging(axis, fine)
            if (groups := self._merged[key]) is None:
                return None
            cells = np.add.outer(cells * axis.size, groups).ravel()
        merged = [np.bincount(cells, of_class, grid.size) for of_class in counts]
        return np.array(merged).astype(np.int64).T  # doubles add whole numbers below 2^53 exactly

    def _count(self, grid: Grid) -> Integers:
        """The counts of a grid from the rows, going on from the axes that it begins with like one before it."""
        if not grid.axes:
            return self._by_class([(np.zeros(len(self._labels), np.uint8), 1)])
        before, last = self._joined(grid.axes[:-1]), grid.axes[-1]
        if prod([size for _, size in before]) * last.size * self._classes > MOST_CELLS:
            return self._by_class([self._step(before, last)])
        return self._by_class([*before, (self._pick(last), last.size)])

    def _joined(self, axes: tuple[Axis, ...]) -> list[tuple[npt.NDArray[Any], int]]:
        """The cells of these axes together and their number, if there are any; kept for the grids that come next."""
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
        """The cells of one more axis and their number; those of a huge grid are numbered anew, without empty ones."""
        joined, size = join([*before, (self._pick(axis), axis.size)]), prod([s for _, s in before]) * axis.size
        if size * self._classes <= MOST_CELLS:
            return joined, size
        distinct, numbers = np.unique(joined, return_inverse=True)
        return numbers, len(distinct)

    def _pick(self, axis: Axis) -> npt.NDArray[Any]:
        """The group of every row."""
        if id(axis) not in self._picked:
            self._picked[id(axis)] = axis.pick(self._column(axis.column))
        return self._picked[id(axis)]

    def _by_class(self, parts: list[tuple[npt.NDArray[Any], int]]) -> Integers:
        """Counts by cell, given in parts that are yet to be joined, and class."""
        counts = np.zeros((self._classes, prod([size for _, size in parts])), np.int64)
        for label, (first, end) in enumerate(pairwise(self._ends.tolist())):
            for start in range(first, max(end, first + 1), BLOCK):
                rows = slice(start, min(start + BLOCK, end))
                block = join([(part[rows], size) for part, size in parts])
                counts[label] += np.bincount(block.astype(np.intp, copy=False), minlength=counts.shape[1])
        return counts.T


def merging(axis: Axis, finer: Axis) -> npt.NDArray[Any] | None:
    """For each group of the finer axis the group of the axis around it; None if it lies in more than one."""
    pairs = sorted(set(zip(finer.groups, axis.groups, strict=True)))
    return np.array([group for _, group in pairs]) if len(pairs) == finer.size else None
