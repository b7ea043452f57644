"""Covering: how to count many grids with few looks at the rows. It sees questions alone.

Whatever it says, what is counted is a grid, of which a row moves one count; and whatever groups of cells are added up,
each is added to one other. Grids that do not belong together would make answers wrong, not less private.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import ceil, floor, log2, prod
from typing import Any, NamedTuple

import numpy as np

from .bundling import merging
from .grids import Axis, Grid

MOST_MERGED = 1 << 16  # groups of an axis times those that they are merged into
BIT = 256  # sizes are compared by their logarithms, in parts of a bit
FEW = 512  # cells for each column
FAR = 1 << 29  # more bits than any grid has that is counted with others


Merge = tuple[int, tuple[int, ...]]  # cells before an axis, and the new group of each of its groups


class Step(NamedTuple):
    """How to count the grid at `place`. If `grid` is given, count that one from the rows; else go back to the first
    `kept` of the tables that were made since one was. Then make one table of the last for each of `merges`: a number
    of cells b and the new group of each group of an axis, whose cells are numbered b x groups x others."""

    place: int
    grid: Grid | None
    kept: int
    merges: list[Merge]


def steps(grids: Sequence[Grid], most: int) -> Iterator[Step]:
    """A way to count grids with few looks at the rows: some of at most `most` cells, each of which is finer than many
    of those asked about. These are added up from it one axis after the other; what they share is added up once.

    With many columns for so few cells, grids share so little that each is counted by itself.
    """
    chains, most = Chains(grids, most), max(most, 1)
    if most < len(chains.axes) * FEW:
        chains.alone[:] = True
    yield from (Step(place, grids[place], 1, []) for place in np.flatnonzero(chains.alone).tolist())
    places = np.flatnonzero(~chains.alone)
    if len(places) > most:  # to look through all of them each time would take longer than counting
        places = np.array(sorted(places.tolist(), key=lambda place: grids[place].columns))
    for start in range(0, len(places), most):
        some = np.sort(places[start : start + most])
        weights = chains.weights(some)
        for finest, inside in covers(weights, floor(BIT * log2(most))):
            yield from _added_up(chains, finest, weights[:, inside], some[inside])


class Chains:
    """The axes of each column that are nested, and the grids made of these.

    Axes of a column are told apart by their weights, logarithms of their sizes. The weight of a column that a grid
    leaves out, or has in a single group, is 0; so the union of two grids has the larger weight in each column.
    """

    def __init__(self, grids: Sequence[Grid], most: int) -> None:
        axes = {id(axis): axis for grid in grids for axis in grid.axes}
        names = dict.fromkeys(axis.column for axis in axes.values())
        self.axes: list[dict[int, Axis]] = [{} for _ in names]  # by weight, the coarsest first
        self.merged = dict[tuple[int, int, int], tuple[tuple[int, ...], int]]()
        numbers, known = {name: number for number, name in enumerate(names)}, dict[int, tuple[int, int]]()
        for axis in sorted(axes.values(), key=lambda axis: axis.size):
            if (weight := _weight(self.axes[numbers[axis.column]], axis)) is not None:
                known[id(axis)] = numbers[axis.column], weight
        self.owners = np.repeat(np.arange(len(grids)), [len(grid.axes) for grid in grids])
        found = [known.get(id(axis), (-1, 0)) for grid in grids for axis in grid.axes]
        self.columns, self.found = np.array(found, np.int32).reshape(-1, 2).T
        disordered = (np.diff(self.columns) <= 0) & (np.diff(self.owners) == 0)
        self.alone = np.array([grid.size > most for grid in grids], np.bool_)  # those to be counted by themselves
        self.alone[self.owners[self.columns < 0]] = True
        self.alone[self.owners[1:][disordered]] = True

    def weights(self, places: Any) -> Any:
        """The weights of some grids, columns x grids."""
        at = np.full(len(self.alone), -1)
        at[places] = np.arange(len(places))
        found, inside = np.zeros((len(self.axes), len(places)), np.int32), at[self.owners] >= 0
        found[self.columns[inside], at[self.owners[inside]]] = self.found[inside]
        return found

    def grid(self, weights: Any) -> Grid:
        """The grid with these weights."""
        return Grid(tuple([self.axes[column][weights[column]] for column in np.flatnonzero(weights).tolist()]))

    def merging(self, column: int, weight: int, finer: int) -> tuple[tuple[int, ...], int]:
        """For each group of the finer axis of a column the group of the other one, and their number."""
        if (column, weight, finer) not in self.merged:
            fine, other = self.axes[column][finer], self.axes[column].get(weight)  # None: the column is left out
            groups = merging(other, fine).tolist() if other else [0] * fine.size
            self.merged[column, weight, finer] = tuple(groups), other.size if other else 1
        return self.merged[column, weight, finer]


def _weight(chain: dict[int, Axis], axis: Axis) -> int | None:
    """The weight of an axis at the end of a chain of coarser ones, to which it is added if it is new; None if it does
    not refine the last."""
    if axis.size == 1:
        return 0
    weight, last = next(reversed(chain.items()), (0, None))
    if last is not None and axis.groups == last.groups and axis.size == last.size:
        return weight
    if len(set(axis.groups)) < axis.size or (last is not None and not _refines(axis, last)):
        return None
    weight = max(ceil(BIT * log2(axis.size)), weight + 1)
    chain[weight] = axis
    return weight


def _refines(axis: Axis, coarser: Axis) -> bool:
    return axis.size * coarser.size <= MOST_MERGED and merging(coarser, axis) is not None


def covers(weights: Any, most: int) -> Iterator[tuple[Any, Any]]:
    """Grids of at most `most` weight that are finer than all of the given ones: the weights of each, and the indices
    of those that it is finer than, and no earlier one was.

    It begins with the first that is left, and grows by the one that adds the least, until none fits. One that does not
    fit never will: what it needs falls by no more than the grid grows.
    """
    left, needs = np.arange(weights.shape[1]), weights.sum(axis=0)
    first, many = 0, len(left)
    while many:
        first += int(np.argmax(needs[first:] < FAR))
        finest, inside = _grown(weights, needs, first, most)
        yield finest, left[inside]
        needs[inside], many = FAR, many - len(inside)
        if many < len(left) // 2:
            rest = np.flatnonzero(needs < FAR)
            left, weights, needs, first = left[rest], weights[:, rest], needs[rest], 0


def _grown(weights: Any, needs: Any, first: int, most: int) -> tuple[Any, Any]:
    """The grid that has grown from the first one, and the indices of those inside."""
    finest, near = np.zeros(len(weights), np.int32), np.arange(weights.shape[1])
    free, nearest = most, first
    while True:
        more = weights[:, near[nearest]]
        for column in np.flatnonzero(more > finest).tolist():
            has, gets = int(finest[column]), int(more[column])
            needs = needs - np.clip(weights[column, near] - has, 0, gets - has)
            finest[column], free = gets, free - (gets - has)
        fit = needs <= max(free, 0)
        near, needs = near[fit], needs[fit]
        outside = np.where(needs > 0, needs, FAR)
        nearest = int(outside.argmin())
        if outside[nearest] == FAR:
            return finest, near


def _added_up(chains: Chains, finest: Any, weights: Any, places: Any) -> Iterator[Step]:
    """The steps for grids of these weights, which this one is finer than. The axes that lose most groups are merged
    first, and grids that lose the same of these come one after the other."""
    columns, grid = np.flatnonzero(finest), chains.grid(finest)
    lost = finest[columns, None] - weights[columns]
    order = np.argsort(-lost.mean(axis=1), kind="stable").tolist()
    alike = np.lexsort([places, *lost[order[::-1]]])
    lost = lost[order][:, alike]
    other = np.vstack([lost[:, 1:] != lost[:, :-1], np.ones(len(places) - 1, np.bool_)]).argmax(axis=0)
    shape, merged = [axis.size for axis in grid.axes], list[int]()
    for number, (place, loses, same) in enumerate(
        zip(places[alike].tolist(), lost.T.tolist(), [0, *other.tolist()], strict=True)
    ):
        kept = bisect_left(merged, same)
        for at in merged[kept:]:
            shape[order[at]] = grid.axes[order[at]].size
        merged[kept:] = [at for at in range(same, len(order)) if loses[at]]
        merges = list[Merge]()
        for at in merged[kept:]:
            axis, column = order[at], int(columns[order[at]])
            groups, size = chains.merging(column, int(finest[column]) - loses[at], int(finest[column]))
            merges.append((prod(shape[:axis]), groups))
            shape[axis] = size
        yield Step(place, None if number else grid, kept + 1, merges)
