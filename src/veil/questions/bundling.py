"""Bundling: which grids to count together, or from the counts of others. It sees questions alone.

Whatever is bundled, what is counted is a grid, of which a row moves one count; and whatever cells are added up, each is
added to one other. Grids that do not belong together would make answers wrong, not less private.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .grids import Axis, Grid

MOST_TOGETHER = 32  # grids that are counted as one: an array has 64 axes at most


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
