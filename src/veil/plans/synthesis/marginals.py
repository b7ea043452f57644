"""Small tables of all columns, chosen for what they add, and the model of largest entropy that agrees with them.

In the manner of MST and AIM (McKenna, Miklau, Sheldon 2021; McKenna, Mullins, Sheldon, Miklau 2022), for pure epsilon.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import log
from typing import Any, NamedTuple

import numpy as np

from ...errors import BadInput
from ...kernel import MOST_COUNTS, Budget, Release, Source
from ...questions import WHOLE, Axis, Grid, axis
from ...schema import Numeric
from ..finish import Numbers, column_shares, nonnegative
from ..histograms.grids import level_axes
from ..sizing import Known, sized
from .forest import Fitted, Forest, Measured, fit
from .grouping import Groups, coarser, grouped, joined
from .network import Network
from .tails import without_tails

CHOOSE = 12  # per cent, for choosing links
LINK, LINK_ALONE = 1.3, 2.5  # parts for the table of a link, in parts for that of a column: with a hub, and without
LINKS_PER_ROW = 0.0025  # for each row times the epsilon of all choices: with more, they would be chosen by noise
CHANCE = 0.5  # what noise adds to the best of many, of its expectation
RARE = 1.5  # scales of noise: codes with fewer rows are gathered
LEVELS = 2, 4, 8, 16, 32  # most groups of a column in the table of a link
NOISE = 1.0  # what the noise of such a table adds to its distance, for each cell and unit of scale
DOUBT = 0.01  # weight of the entropy
LARGEST = 1 << 18  # combinations of groups of two columns and the hub
MOST_PAIRS, SEED = 400, 2022  # pairs of columns that are compared, drawn by public coins if there are more


class Ground(NamedTuple):
    """What is known before links are chosen: the columns, their groups, which of them is the hub, a model without
    links, and about how many rows there are."""

    columns: Sequence[Any]
    axes: Sequence[Axis]
    hub: int | None
    base: Fitted
    rows: float


class Link(NamedTuple):
    """A table that may be counted: two columns, how their groups are gathered in it, its grid, and whether that has the
    hub first."""

    pair: tuple[int, int]
    groups: tuple[Groups, Groups]
    grid: Grid
    with_hub: bool


def marginals(source: Source, budget: Budget, *, focus: str | None = None, totals: Known = None) -> Network:
    """Count every column, by the column in focus if there is one, and a few pairs that this does not explain; then fit
    the model of largest entropy that agrees with all these tables.

    Budget: 3 % for the number of rows, unless it is known; of the rest 12 % for choosing pairs, and what is left for
    the tables of columns and of pairs, by how many there are of each. With too few rows for choices, all of it for the
    tables of columns. Choices that are not made leave their part to the tables.
    """
    columns, hub = [*source.schema.features], placed(source, focus)
    hub = hub if len(columns) > 1 else None
    size, rest = sized(source, budget, totals)
    rows = max(float(size.value.sum()), 1.0)
    most = most_links(source, rest, rows, hub)
    look, *parts = _divided(rest, len(columns), hub, most)
    first = _first(columns, hub)
    looks = source.count_each(first, look, shares=column_shares([grid.size for grid in first]))
    axes = _axes(columns, hub, looks)
    tables = [_gathered(one, axes) for one in looks]
    alone = [_alone(place, part.size, tables) for place, part in enumerate(axes)]
    forest = Forest(tuple(part.size for part in axes), hub, ())
    if parts:
        ground = Ground(columns, axes, hub, fit(forest, tables, rows, DOUBT, alone), rows)
        links, more = _linked(source, parts[0], parts[1], ground, most, first)
        forest, tables = Forest(forest.sizes, hub, tuple(link.pair for link in links)), tables + more
    network = _network(forest, axes, fit(forest, tables, rows, DOUBT, alone), rows)
    return without_tails(network, columns, looks)


def placed(source: Source, focus: str | None) -> int | None:
    """The place of the column in focus among all; refuses a name that there is not."""
    names = [column.name for column in source.schema.features]
    if focus is not None and focus not in names:
        raise BadInput(f"there is no column {focus!r} to serve first: choose one of {', '.join(names)}")
    return None if focus is None else names.index(focus)


def most_links(source: Source, budget: Budget, rows: float, hub: int | None) -> int:
    """How many links may be chosen: as many as a forest has, but no more than the choices can tell from noise."""
    signal = rows * _per_row(source, budget) * CHOOSE / 100
    return max(min(len(source.schema.features) - 1 - (hub is not None), int(LINKS_PER_ROW * signal)), 0)


def _per_row(source: Source, budget: Budget) -> float:
    """The epsilon that one row may cost, at most a billion: above that noise is negligible."""
    return float(min(source.per_row(budget), Fraction(10**9)))


def _divided(budget: Budget, columns: int, hub: int | None, links: int) -> Sequence[Budget]:
    """The parts for the first tables, for choosing links and for counting them; without links, all for the first."""
    if not links:
        return [budget]
    left, each = 100 - CHOOSE, LINK_ALONE if hub is None else LINK
    counted = max(round(left * each * links / (each * links + columns - (hub is not None))), 1)
    return budget.split(left - counted, CHOOSE, counted)


def _first(columns: Sequence[Any], hub: int | None) -> list[Grid]:
    """The tables that are counted first: of each column, with the hub if there is one."""
    if hub is None:
        return [axis(column) for column in columns]
    levels = level_axes(columns[hub])
    centre = Grid((levels[-1],)) if levels else axis(columns[hub], 0)
    return [centre & axis(column) for place, column in enumerate(columns) if place != hub]


def _axes(columns: Sequence[Any], hub: int | None, looks: Sequence[Release[Any]]) -> list[Axis]:
    """The groups of each column that stand out of the noise of its first table; all values of the hub do."""
    found = {look.question.axes[-1].column: look for look in looks}
    axes = []
    for place, column in enumerate(columns):
        if place == hub:
            axes.append(looks[0].question.axes[0])
            continue
        counts = found[column.name].value[:, 0].reshape(-1, column.size).astype(np.float64)
        axes.append(grouped(column, counts.sum(axis=0), RARE * found[column.name].noise_scale * len(counts) ** 0.5))
    return axes


def _gathered(release: Release[Any], axes: Sequence[Axis]) -> Measured:
    """A first table gathered to the groups of the model; the noise of a cell grows with the codes in it."""
    counts = release.value[:, 0].reshape([part.size for part in release.question.axes]).astype(np.float64)
    many, places = np.ones(counts.shape), []
    for side, part in enumerate(release.question.axes):
        place = next(i for i, one in enumerate(axes) if one.column == part.column)
        places.append(place)
        if part != axes[place]:  # every code by itself
            onehot = np.eye(axes[place].size)[list(axes[place].groups)]
            counts, many = (np.moveaxis(np.moveaxis(table, side, -1) @ onehot, -1, side) for table in (counts, many))
    groups = tuple(np.arange(size) for size in counts.shape)
    return Measured(tuple(places), groups, counts, release.noise_scale * np.sqrt(many))


def _alone(place: int, size: int, tables: Sequence[Measured]) -> Numbers:
    """The shares of a column's groups: the sums of all tables that hold it, averaged by their noise, none below 0."""
    total, trust = np.zeros(size), np.zeros(size)
    for table in tables:
        if place in table.columns:
            others = tuple(side for side, one in enumerate(table.columns) if one != place)
            weight = 1 / np.maximum((table.scale**2).sum(axis=others), 1e-18)
            total, trust = total + weight * table.counts.sum(axis=others), trust + weight
    shares = nonnegative((total / trust)[:, None])[:, 0]
    return np.asarray(shares / shares.sum())


def _linked(
    source: Source, choose: Budget, count: Budget, ground: Ground, most: int, first: Sequence[Grid]
) -> tuple[list[Link], list[Measured]]:
    """The links that are worth a table, and these tables; if there are none, the first tables once more.

    Budget: both parts. What the choices leave goes to the tables, in shares that grow with the root of their cells, by
    which the sum of their errors is least.
    """
    links, spare = _chosen(source, choose, count, ground, most)
    asked = [link.grid for link in links] or first
    shares = [max(round(100 * grid.size**0.5), 1) for grid in asked]
    found = source.count_each(asked, Budget(count.epsilon + spare), shares=shares)
    if not links:
        return [], [_gathered(one, ground.axes) for one in found]
    return links, [_of_link(link, one, ground.hub) for link, one in zip(links, found, strict=True)]


def _of_link(link: Link, release: Release[Any], hub: int | None) -> Measured:
    counts = release.value[:, 0].reshape([part.size for part in link.grid.axes]).astype(np.float64)
    scale = np.full(counts.shape, release.noise_scale)
    if link.with_hub and hub is not None:
        return Measured((hub, *link.pair), (np.arange(counts.shape[0]), *link.groups), counts, scale)
    return Measured(link.pair, link.groups, counts, scale)


def _chosen(source: Source, choose: Budget, count: Budget, ground: Ground, most: int) -> tuple[list[Link], Fraction]:
    """The links that were chosen one after the other, never closing a circle, and the epsilon that was not needed.

    A table counts by its distance from the model without links, less what its own noise would add. To stop is a
    candidate too, favoured by what noise adds to the best of so many.
    """
    links = _links(ground)
    expected = [_expected(link, ground) for link in links]
    scale, each = (max(most / max(_per_row(source, part), 1e-12), 0.0) for part in (count, choose))
    marks = [_bounded(NOISE * link.grid.size * scale) for link in links]
    tree, found, spare = [*range(len(ground.axes))], list[Link](), choose.epsilon
    for part in choose.each(most):
        free = [i for i, link in enumerate(links) if tree[link.pair[0]] != tree[link.pair[1]]]
        asked = [WHOLE, *(links[i].grid for i in free)]
        levels = [np.array([round(ground.rows)]), *(expected[i] for i in free)]
        handicaps = [-_bounded(CHANCE * 2 * each * log(len(asked))), *(marks[i] for i in free)]
        won = source.choose_apart(asked, levels, part, handicaps=handicaps).value
        spare -= part.epsilon
        if won is WHOLE:
            break
        link = next(links[i] for i in free if links[i].grid is won)
        found.append(link)
        old, new = (tree[place] for place in link.pair)
        tree = [new if root == old else root for root in tree]
    return found, spare


def _bounded(rows: float) -> int:
    return round(min(rows, 2.0**30))


def _links(ground: Ground) -> list[Link]:
    """All tables of two columns that may be counted, alone and by the hub, gathered more or less."""
    width = 1 if ground.hub is None else ground.axes[ground.hub].size
    levels = {place: _levels(ground, place) for place in range(len(ground.axes)) if place != ground.hub}
    found = []
    for one, other in _pairs(ground):
        if ground.axes[one].size * ground.axes[other].size * width > LARGEST:
            continue
        both = zip(levels[one], levels[other], strict=True)
        for first, second in {(a[0].size, b[0].size): (a, b) for a, b in both}.values():
            parts, groups = (first[0], second[0]), (first[1], second[1])
            found.append(Link((one, other), groups, Grid(parts), False))
            if ground.hub is not None:
                found.append(Link((one, other), groups, Grid((ground.axes[ground.hub], *parts)), True))
    return _comparable(found)


def _comparable(links: list[Link]) -> list[Link]:
    """The links without the largest, if all have more cells than can be compared with the whole table at once."""
    order = sorted(range(len(links)), key=lambda i: links[i].grid.size)
    cells = np.cumsum([1, *(links[i].grid.size for i in order)])[1:]
    return [links[i] for i in sorted(order[: int(np.searchsorted(cells, MOST_COUNTS, side="right"))])]


def _pairs(ground: Ground) -> list[tuple[int, int]]:
    """The pairs of columns besides the hub, some of them if there are too many."""
    places = [place for place, part in enumerate(ground.axes) if place != ground.hub and part.size > 1]
    pairs = [*combinations(places, 2)]
    if len(pairs) <= MOST_PAIRS:
        return pairs
    kept = np.random.default_rng(SEED).choice(len(pairs), MOST_PAIRS, replace=False)
    return [pairs[i] for i in np.sort(kept)]


def _levels(ground: Ground, place: int) -> list[tuple[Axis, Groups]]:
    """The column at every level: its axis, and the larger group of each of its groups."""
    ordered, mass = isinstance(ground.columns[place], Numeric), ground.base.nodes[place].sum(axis=0)
    found = [coarser(ordered, mass, level) for level in LEVELS]
    return [(joined(ground.axes[place], groups), groups) for groups in found]


def _expected(link: Link, ground: Ground) -> Any:
    """The counts that the model without links expects in the table of one."""
    first, second = (
        ground.base.nodes[place] @ np.eye(int(groups.max()) + 1)[groups]
        for place, groups in zip(link.pair, link.groups, strict=True)
    )
    both = (first / np.maximum(ground.base.hub, 1e-300)[:, None])[:, :, None] * second[:, None, :] * ground.rows
    return np.round(both if link.with_hub else both.sum(axis=0)).astype(np.int64).ravel()


def _network(forest: Forest, axes: Sequence[Axis], fitted: Fitted, rows: float) -> Network:
    """The model in the order in which rows are drawn: the hub, then every column after its parent."""
    first = [] if forest.hub is None else [forest.hub]
    order = first + [place for place, _ in forest.order]
    parents: list[tuple[int, ...]] = [()] * len(first)
    tables = [fitted.hub] * len(first)
    for place, parent in forest.order:
        given = fitted.given[place][:, 0] if parent is None else fitted.given[place]
        above = [] if parent is None else [order.index(parent)]
        parents.append((*range(len(first)), *above))
        tables.append(given if first else given[0])
    return Network(tuple(axes[place] for place in order), tuple(parents), tuple(tables), rows)
