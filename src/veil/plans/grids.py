"""Candidate grids: which columns to keep, and how coarse; drawn from the schema and public coins, never from rows."""

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ..questions import Axis, Grid, axis
from ..schema import Schema

Levels = npt.NDArray[np.uint8]  # candidates x columns: the level of each column, 0 if the grid drops it
MOST_COLUMNS = 6
TRIES = 8  # rounds of as many draws as the pool is large: most random grids have too many cells
SEED = 2018  # the pool is public, and the same for everyone


def grids(schema: Schema, cells: int, pool: int) -> list[Grid]:
    """Up to `pool` grids of at most this many cells, among them every grid of one column, whatever its size.

    Then come all pairs of columns, or a third of the pool of them, and random sets of three to six columns at random
    levels. An order of names, by which the paper's enumeration cuts its pool short, plays no part.
    """
    axes = [level_axes(column) for column in schema.features]
    sizes = np.ones((len(axes), max(map(len, axes), default=0) + 1))
    for column, levels in enumerate(axes):
        sizes[column, 1 : len(levels) + 1] = [level.size for level in levels]
        sizes[column, len(levels) + 1 :] = np.inf
    coins = np.random.default_rng(SEED)
    pairs = _fitting(_pairs(sizes), sizes, cells)
    pairs = pairs[coins.permutation(len(pairs))[: pool // 3]] if len(pairs) > pool // 3 else pairs
    candidates = np.concatenate([_singles(sizes), pairs])
    for _ in range(TRIES):
        more = _fitting(_random(sizes, pool, coins), sizes, cells)
        candidates = _distinct(np.concatenate([candidates, more]))
        if len(candidates) >= pool or not len(more):
            break
    return [
        Grid(tuple([axes[c][level - 1] for c, level in enumerate(one) if level])) for one in candidates[:pool].tolist()
    ]


def _distinct(levels: Levels) -> Levels:
    """Each once, in order. Two with one key by accident would be taken for one, and the pool have one less."""
    keys = levels.astype(np.uint64) @ np.random.default_rng(SEED).integers(0, 2**64, levels.shape[1], np.uint64)
    return levels[np.sort(np.unique(keys, return_index=True)[1])]


def level_axes(column: Any) -> list[Axis]:
    """The axes of a column from two groups or so to every code; those that only set missing values apart are none."""
    return [axis(column, level).axes[0] for level in range(1, len(column.levels))]


def _singles(sizes: npt.NDArray[np.float64]) -> Levels:
    places = np.argwhere(np.isfinite(sizes[:, 1:]))
    levels = np.zeros((len(places), len(sizes)), np.uint8)
    levels[np.arange(len(places)), places[:, 0]] = places[:, 1] + 1
    return levels


def _pairs(sizes: npt.NDArray[np.float64]) -> Levels:
    one = _singles(sizes)
    column = one.argmax(axis=1)
    both = np.array([(a, b) for a, b in combinations(range(len(one)), 2) if column[a] != column[b]], int).reshape(-1, 2)
    return one[both[:, 0]] + one[both[:, 1]]


def _random(sizes: npt.NDArray[np.float64], tries: int, coins: np.random.Generator) -> Levels:
    """Sets of three to six columns, each at a level, all equally likely."""
    most = min(MOST_COLUMNS, len(sizes))
    if most < 3:
        return np.zeros((0, len(sizes)), np.uint8)
    depth = np.isfinite(sizes[:, 1:]).sum(axis=1)
    levels = coins.integers(1, np.maximum(depth, 1) + 1, (tries, len(sizes)))
    order = coins.random(levels.shape).argsort(axis=1)  # the columns in random places; the first few stay
    kept = order < coins.integers(3, most + 1, (tries, 1))
    return np.where(kept & (depth > 0), levels, 0).astype(np.uint8)


def _fitting(levels: Levels, sizes: npt.NDArray[np.float64], cells: int) -> Levels:
    """Those with at most this many cells."""
    columns = np.arange(len(sizes))
    return levels[sizes[columns, levels].prod(axis=1) <= cells]
