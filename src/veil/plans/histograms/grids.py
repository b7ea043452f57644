"""Candidate grids: sets of columns, each at a level of its hierarchy. They are drawn from the schema by public coins,
never from rows."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...kernel import Release
from ...questions import Axis, Grid, axis
from ...schema import Categorical, Numeric, Schema
from ...schema.columns import MISSING

Levels = npt.NDArray[np.uint8]  # candidates x columns: the level of each column, 0 if the grid drops it
Sizes = npt.NDArray[np.float64]  # columns x levels: the number of groups, infinite where there is no such level
LOOSE, FULL = 6, 8  # most columns of a grid at random levels, and of one refined until it is full
TRIES = 8  # rounds of pool / 2 draws: most random grids have too many cells
MOST_DRAWN = 20_000_000  # entries of Levels at once, to bound the memory for tables of many columns
SEED = 2018  # the pool is public, and the same for everyone


class Counted(NamedTuple):
    """The noisy counts of a grid by class, and the noisy class totals that were asked before them."""

    table: Release[Any]
    totals: Release[Any]


def grids(schema: Schema, cells: int, pool: int) -> list[Grid]:
    """Up to `pool` distinct grids with at most `cells` cells, always with each column alone at its coarsest level.

    First grids of one column and of two, up to a third of the pool. Of the rest, half are random sets of three to six
    columns at random levels, and half are sets of three to eight columns, refined at random until no more cells fit.
    The paper's enumeration cuts its pool short by the order of names, which plays no part here.
    """
    axes = [level_axes(column) for column in schema.features]
    sizes = np.full((len(axes), max(map(len, axes), default=0) + 1), np.inf)
    sizes[:, 0] = 1
    for column, levels in enumerate(axes):
        sizes[column, 1 : len(levels) + 1] = [level.size for level in levels]
    coins, singles = np.random.default_rng(SEED), _singles(sizes)
    at_once = min(pool // 2 + 1, MOST_DRAWN // max(len(axes), 1))
    always = singles[(singles <= 1).all(axis=1)]
    pairs = _fitting(_pairs(singles, at_once, coins), sizes, cells)[: pool // 3]
    few = np.concatenate([always, _fitting(singles, sizes, cells), pairs])
    loose = _until(pool // 2, lambda: _fitting(_random(sizes, LOOSE, at_once, coins), sizes, cells))
    full = _until(pool, lambda: _refined(_random(sizes, FULL, at_once, coins) > 0, sizes, cells, coins))
    found = _distinct(np.concatenate([few, loose, full]))[: max(pool, len(always))].tolist()
    return [Grid(tuple([axes[c][level - 1] for c, level in enumerate(levels) if level])) for levels in found]


def level_axes(column: Categorical | Numeric) -> list[Axis]:
    """The axes of a column with two groups or more, from the coarsest level of its hierarchy to single codes.

    The extra code for missing values is put into the first group, since a group for it would be empty in most columns.
    A `missing` value that the schema declares is a value like any other.
    """
    levels = [axis(column, level).axes[0] for level in range(len(column.levels))]
    if column.missing is None:
        levels = [*dict.fromkeys(_with_first(one) for one in levels)]
    return [one for one in levels if one.size > 1]


def _with_first(one: Axis) -> Axis:
    """The axis with its last group, that of missing values, merged into the first; unchanged if it has one group."""
    if len(set(one.groups)) == 1:
        return one
    groups = (*one.groups[:-1], one.groups[0])
    return Axis(one.column, groups, (f"{one.names[0]} or {MISSING}", *one.names[1:-1]))


def _singles(sizes: Sizes) -> Levels:
    places = np.argwhere(np.isfinite(sizes[:, 1:]))
    levels = np.zeros((len(places), len(sizes)), np.uint8)
    levels[np.arange(len(places)), places[:, 0]] = places[:, 1] + 1
    return levels


def _pairs(singles: Levels, most: int, coins: np.random.Generator) -> Levels:
    """All pairs of columns and levels, in random order; if there are too many, `most` random ones."""
    count = len(singles)
    if count * (count - 1) // 2 <= MOST_DRAWN // max(singles.shape[1], 1):
        first, second = np.triu_indices(count, 1)
        order = coins.permutation(len(first))
        first, second = first[order], second[order]
    else:
        first, second = coins.integers(0, count, (2, most))
    apart = singles.argmax(axis=1)[first] != singles.argmax(axis=1)[second]
    return np.asarray(singles[first[apart]] + singles[second[apart]])


def _until(wanted: int, draw: Any) -> Levels:
    """Distinct grids from repeated calls of `draw`, until there are `wanted` of them or TRIES rounds are over."""
    found = _distinct(draw())
    for _ in range(TRIES):
        if len(found) >= wanted or not len(found):
            break
        found = _distinct(np.concatenate([found, draw()]))
    return found[:wanted]


def _random(sizes: Sizes, most: int, tries: int, coins: np.random.Generator) -> Levels:
    """Random grids of three to `most` columns, each at a level drawn uniformly."""
    if len(sizes) < 3:
        return np.zeros((0, len(sizes)), np.uint8)
    depth = np.isfinite(sizes[:, 1:]).sum(axis=1)
    levels = coins.integers(1, np.maximum(depth, 1) + 1, (tries, len(sizes)))
    order = coins.random(levels.shape).argsort(axis=1)  # a random order of the columns; the first few are kept
    kept = order < coins.integers(3, min(most, len(sizes)) + 1, (tries, 1))
    return np.where(kept & (depth > 0), levels, 0).astype(np.uint8)


def _refined(kept: npt.NDArray[np.bool_], sizes: Sizes, cells: int, coins: np.random.Generator) -> Levels:
    """Grids over the columns in `kept`: from their coarsest levels, random columns are refined while the cells fit."""
    levels, columns = _fitting(kept.astype(np.uint8), sizes, cells), np.arange(len(sizes))
    sizes = np.hstack([sizes, np.full((len(sizes), 1), np.inf)])
    while True:
        now, finer = sizes[columns, levels], sizes[columns, levels + 1]
        fits = (levels > 0) & (now.prod(axis=1, keepdims=True) / now * finer <= cells)
        more = fits.any(axis=1)
        if not more.any():
            return levels
        chosen = np.where(fits, coins.random(fits.shape), -1).argmax(axis=1)
        levels[more, chosen[more]] += 1


def _fitting(levels: Levels, sizes: Sizes, cells: int) -> Levels:
    """The grids with at most `cells` cells."""
    fits: npt.NDArray[np.bool_] = sizes[np.arange(len(sizes)), levels].prod(axis=1) <= cells
    return levels[fits]


def _distinct(levels: Levels) -> Levels:
    """The grids without duplicates, in order. They are compared by a random hash, so a rare collision drops one."""
    keys = levels.astype(np.uint64) @ np.random.default_rng(SEED).integers(0, 2**64, levels.shape[1], np.uint64)
    return levels[np.sort(np.unique(keys, return_index=True)[1])]
