"""Bundling: which grids to count together, or from the counts of others. It sees questions alone.

Whatever is bundled, what is counted is a grid, of which a row moves one count; and whatever cells are added up, each is
added to one other. Grids that do not belong together would make answers wrong, not less private.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .grids import Axis, Grid

MOST_TOGETHER = 32  # grids that are counted as one: an array has 64 axes at most
KEPT = 8  # grids kept for coarser ones on the same columns


class Step(NamedTuple):
    """What to count next: the grids at these `places`, as one grid; or a single one from the counts of that at the
    place `finer`, where `cells` has the number of the cell to which each of its cells belongs. With `keep`, later
    steps need the counts; with `fresh`, they need none from before."""

    places: list[int]
    finer: int | None = None
    cells: Any = None
    keep: bool = False
    fresh: bool = False


def steps(grids: Sequence[Grid], most: int, small: int) -> Iterator[Step]:
    """The order in which to count grids: bundles of at most `most` cells, then those that share all their columns.

    Grids on the same columns come one after the other, the finest first: one that only merges groups of an earlier one,
    which has at most `small` cells, is added up from its counts, without another look at the rows.
    """
    often = Counter(grid.columns for grid in grids)
    yield from map(Step, bundles(grids, [at for at, grid in enumerate(grids) if often[grid.columns] == 1], most))
    known, merged = list[int](), dict[tuple[int, int], Any]()
    others = (place for place, grid in enumerate(grids) if often[grid.columns] > 1)
    for place in sorted(others, key=lambda i: (grids[i].columns, -grids[i].size)):
        grid, fresh = grids[place], not known or grids[known[0]].columns != grids[place].columns
        known = [] if fresh else known
        coarser = ((other, _cells_of_finer(grid, grids[other], merged)) for other in known)
        finer, cells = next((found for found in coarser if found[1] is not None), (None, None))
        keep = finer is None and grid.size <= small and len(known) < KEPT
        known += [place] if keep else []
        yield Step([place], finer, cells, keep, fresh)


def _cells_of_finer(grid: Grid, finer: Grid, merged: dict[tuple[int, int], Any]) -> Any:
    """The cell of the grid in which each cell of a finer one lies; None if that is not finer in all axes."""
    cells = np.zeros(1, np.intp)
    for axis, fine in zip(grid.axes, finer.axes, strict=True):
        key = (id(axis), id(fine))
        if key not in merged:
            merged[key] = merging(axis, fine)
        if (groups := merged[key]) is None:
            return None
        cells = np.add.outer(cells * axis.size, groups).ravel()
    return cells


def merging(axis: Axis, finer: Axis) -> Any:
    """For each group of the finer axis, the group of the coarser one that contains it; None if one is divided."""
    pairs = sorted(set(zip(finer.groups, axis.groups, strict=True)))
    return np.array([group for _, group in pairs]) if len(pairs) == finer.size else None


def bundles(questions: Sequence[Any], places: Iterable[int], most: int) -> list[list[int]]:
    """Runs of indices whose grids can be counted as one grid with at most `most` cells."""
    found = list[list[int]]()
    for place in places:
        if not (found and _alike([questions[other] for other in (*found[-1], place)], most)):
            found.append([])
        found[-1].append(place)
    return found


def _alike(questions: list[Any], most: int) -> bool:
    """Whether these grids differ in their last column alone, and have few cells together."""
    if len(questions) > MOST_TOGETHER or not all(type(asked) is Grid and asked.axes for asked in questions):
        return False
    begun, columns = {tuple(map(id, grid.axes[:-1])) for grid in questions}, {grid.columns for grid in questions}
    return len(begun) == 1 and len(columns) == len(questions) and as_one(questions).size <= most


def as_one(grids: list[Any]) -> Any:
    """One grid over all columns of grids that differ in their last column."""
    return grids[0] if len(grids) == 1 else Grid((*grids[0].axes[:-1], *(grid.axes[-1] for grid in grids)))


def by_column(axes: Sequence[Axis]) -> dict[str, list[int]]:
    """{column: indices of its axes}."""
    places: dict[str, list[int]] = {axis.column: [] for axis in axes}
    for place, axis in enumerate(axes):
        places[axis.column].append(place)
    return places
