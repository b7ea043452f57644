"""PrivBayes (Zhang, Cormode, Procopiuc, Srivastava, Xiao, SIGMOD 2014): a Bayesian network of all columns.

The score R is scaled by the number of rows, so that its range holds when a row is added, for every number of rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np

from ...kernel import Budget, Dependence, Release, Source
from ...questions import Axis, Grid
from ..finish import Numbers, nonnegative
from ..histograms.grids import level_axes
from ..sizing import Known, sized
from .marginals import placed
from .network import Network
from .tails import without_tails

CHOOSE, COUNT = 3, 7  # parts of the budget: for the parents of each column, and for the tables
USEFUL = 4  # average rows of a cell, in units of the noise (the paper's theta)
MOST_PARENTS = 3
MOST_CELLS = 1 << 24  # of all tables together, so that they fit into a file
MOST_SETS, SEED = 600, 2014  # sets of parents of each size that are compared at a time; of more, some by public coins


def privbayes(source: Source, budget: Budget, *, focus: str | None = None, totals: Known = None) -> Network:
    """Choose for one column after the other the earlier ones that it depends on, then count these tables.

    Budget: 3 % for the number of rows, which bounds the tables, as files do; of the rest 30 % for the choices, an equal
    part each, and 70 % for the tables, an equal part each. The first column is the one in focus, or the first of all:
    the paper draws it.
    """
    columns, first = [*source.schema.features], placed(source, focus) or 0
    size, rest = sized(source, budget, totals)
    rows = max(float(size.value.sum()), 1.0)
    choose, count = rest.split(CHOOSE, COUNT) if len(columns) > 1 else (None, rest)
    useful = rows * float(min(source.per_row(count), Fraction(10**9))) / (USEFUL * len(columns))
    useful = min(useful, MOST_CELLS / len(columns))
    axes = [_finest(column) for column in columns]
    grids = [Grid((axes[first],))]
    for part in choose.each(len(columns) - 1) if choose else ():
        held = [grid.axes[-1] for grid in grids]
        left = [one for one in axes if one not in held]
        candidates = [*_candidates(held, left, useful)]
        grids.append(source.choose(candidates, Dependence(), part).value)
    tables = source.count_each(grids, count)
    return without_tails(_network([grid.axes for grid in grids], tables, rows), columns, tables)


def _finest(column: Any) -> Axis:
    """Every code by itself, the missing one with the first; a column of one value has one group."""
    levels = level_axes(column)
    return levels[-1] if levels else Axis(column.name, (0,) * column.size, (column.names[0],))


def _candidates(held: Sequence[Axis], left: Sequence[Axis], useful: float) -> Iterator[Grid]:
    """For each column that is left its largest sets of parents whose table has at most `useful` cells; the empty set if
    there is no other. Grids have the parents first, the column last."""
    coins, most = np.random.default_rng(SEED), max(MOST_SETS // len(left), 1)
    for one in left:
        fitting: list[set[int]] = []
        for size in range(min(MOST_PARENTS, len(held)), -1, -1):
            for some in _sets(len(held), size, most, coins):
                fits = prod(held[place].size for place in some) * one.size <= useful
                if fits and not any({*some} <= other for other in fitting):
                    fitting.append({*some})
        for parents in fitting or [set[int]()]:
            yield Grid((*(held[place] for place in sorted(parents)), one))


def _sets(count: int, size: int, most: int, coins: np.random.Generator) -> Iterable[tuple[int, ...]]:
    """All sets of so many numbers below `count`, or some of them if there are more than `most`."""
    if comb(count, size) <= most:
        return combinations(range(count), size)
    return sorted({tuple(sorted(coins.choice(count, size, replace=False).tolist())) for _ in range(most)})


def _network(grids: Sequence[tuple[Axis, ...]], tables: Sequence[Release[Any]], rows: float) -> Network:
    """Each column given its parents: noisy counts, none below zero, as shares."""
    axes = tuple(parts[-1] for parts in grids)
    place = {one.column: i for i, one in enumerate(axes)}
    parents = tuple(tuple(place[one.column] for one in parts[:-1]) for parts in grids)
    return Network(
        axes, parents, tuple(_shares(table, parts) for table, parts in zip(tables, grids, strict=True)), rows
    )


def _shares(table: Release[Any], parts: Sequence[Axis]) -> Numbers:
    """The shares of a column's groups for each combination of its parents; those of all rows where there are none."""
    counts = nonnegative(table.value)[:, 0].reshape([part.size for part in parts])
    sums = counts.sum(axis=-1, keepdims=True)
    whole = counts.reshape(-1, parts[-1].size).sum(axis=0)
    return np.asarray(np.where(sums > 0, counts / np.where(sums > 0, sums, 1), whole / whole.sum()))
