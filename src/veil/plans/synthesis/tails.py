"""Ends of a column's declared range in which no rows are found beyond noise: none are drawn from them."""

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...kernel import Release
from ...questions import Axis, Grid
from ...schema import Numeric
from ..finish import Numbers
from .network import Network

SURE = 3.5  # standard deviations that noise hardly reaches in any group at an end of a column, nor in all of them
WIDE = 2 * SURE  # from so many times all the rest on, an end adds more noise to a mean than the rows that it may hide
LARGE = 0.5  # of what values differ by, which noise in a mean should not reach


class Found(NamedTuple):
    """What was counted of the groups of a column of numbers, in the order of their values: their places on its axis,
    rows, variances of these, and where the values of each begin and end; and the same of every table, by the others."""

    places: npt.NDArray[np.int64]
    rows: Numbers
    variances: Numbers
    lows: Numbers
    highs: Numbers
    tables: tuple[tuple[Numbers, Numbers], ...] = ()


def without_tails(network: Network, columns: Sequence[Any], releases: Sequence[Release[Any]]) -> Network:
    """The model without rows in wide ends of columns of numbers in which no rows were found beyond noise.

    An end is wide if it is at least `WIDE` times as long as all that is left between the two.

    With careless bounds, such as 0 to 10,000 for days in hospital, a few rows of noise in such an end, drawn evenly
    from all of it, would make up most of the mean.
    """
    named = {column.name: column for column in columns}
    tables = []
    for part, table in zip(network.axes, network.tables, strict=True):
        found = evidence(named[part.column], part, releases)
        kept = np.ones(part.size, bool)
        if found is not None:
            kept[found.places[_empty_ends(found)]] = False
        tables.append(_only(table, kept))
    return replace(network, tables=tuple(tables))


def evidence(column: Any, part: Axis, releases: Sequence[Release[Any]]) -> Found | None:
    """The rows of the groups of a column of numbers, averaged over the tables that hold it by their noise; None if
    there are none, or it holds no numbers."""
    total, trust, tables = np.zeros(part.size), np.zeros(part.size), []
    for release in releases if isinstance(column, Numeric) else ():
        found = _along(release, part)
        if found is not None:
            rows, variances = found
            total, trust = total + rows.sum(axis=0) / (variances * len(rows)), trust + 1 / (variances * len(rows))
            tables.append(found)
    return _in_order(column, part, total / trust, 1 / trust, tables) if tables else None


def is_blurred(found: Found, counts: Numbers, means: Numbers) -> bool:
    """Whether noise could move the mean of a column, with so many rows and such a mean in each group, by more than
    `LARGE` of what values differ by: the distance of the quartiles, or of mean and median, or the median's bin."""
    if not counts.sum():
        return False
    shares = counts / counts.sum()
    mean = float(shares @ means)
    low, middle, high = np.searchsorted(np.cumsum(shares), [0.25, 0.5, 0.75]).clip(0, len(shares) - 1)
    apart = max(means[high] - means[low], abs(mean - means[middle]), found.highs[middle] - found.lows[middle])
    noise = np.sqrt(found.variances[counts > 0] @ (means[counts > 0] - mean) ** 2) / counts.sum()
    return bool(2 * noise > LARGE * apart)


def _along(release: Release[Any], part: Axis) -> tuple[Numbers, Numbers] | None:
    """The rows of each group of a column in a table, a line for every combination of the others, and the variances in a
    line; None if the table does not hold the column, or has larger groups of it."""
    axes = release.question.axes if isinstance(release.question, Grid) else ()
    side = next((place for place, one in enumerate(axes) if one.column == part.column), None)
    pairs = set() if side is None else {*zip(axes[side].groups, part.groups, strict=True)}
    if side is None or len(pairs) != axes[side].size:
        return None
    onehot = np.eye(part.size)[[group for _, group in sorted(pairs)]]
    value = np.asarray(release.value, np.float64).reshape([*(one.size for one in axes), -1])
    rows = np.moveaxis(value, side, -1).reshape(-1, len(onehot)) @ onehot
    return rows, onehot.sum(axis=0) * max(2 * release.noise_scale**2, 1e-18)


def _in_order(column: Numeric, part: Axis, rows: Numbers, variances: Numbers, tables: Sequence[Any]) -> Found:
    edges, groups = np.array(column.cuts), np.array(part.groups)[: len(column.cuts) - 1]
    places, first = np.unique(groups, return_index=True)
    last = len(groups) - 1 - np.unique(groups[::-1], return_index=True)[1]
    order = np.argsort(first)
    places, first, last = places[order], first[order], last[order]
    sides = tuple((lines[:, places], noise[places]) for lines, noise in tables)
    return Found(places, rows[places], variances[places], edges[first], edges[last + 1], sides)


def _empty_ends(found: Found) -> npt.NDArray[np.bool_]:
    """Which groups are in a wide end without rows beyond noise; none if no rows are found at all."""
    marks, many = np.zeros(len(found.rows), bool), len(found.rows)
    tables = ((found.rows[None], found.variances), *found.tables)
    below = min(_within_noise(rows, noise) for rows, noise in tables)
    above = many - min(_within_noise(rows[:, ::-1], noise[::-1]) for rows, noise in tables)
    if below >= above:
        return marks
    middle = WIDE * (found.highs[above - 1] - found.lows[below])
    marks[:below] = found.lows[below] - found.lows[0] >= middle
    marks[above:] |= found.highs[-1] - found.highs[above - 1] >= middle
    return marks


def _within_noise(rows: Numbers, variances: Numbers) -> int:
    """How many groups there are before the first whose rows in any line, alone or with all before it, are beyond noise:
    the more lines, the farther it reaches in one of them."""
    sure = SURE + log(len(rows)) / 2**0.5
    beyond = np.cumsum(rows, axis=1) > sure * np.sqrt(np.cumsum(variances))
    found = (beyond | (rows > sure * np.sqrt(variances))).any(axis=0)
    return int(np.argmax(found)) if found.any() else rows.shape[1]


def _only(table: Numbers, kept: npt.NDArray[np.bool_]) -> Numbers:
    """Shares of the groups that are kept alone: each as it was beside the others, or alike if all had none."""
    if kept.all():
        return table
    shares = np.where(kept, table, 0.0)
    sums = shares.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(sums > 0, shares / np.where(sums > 0, sums, 1), kept / kept.sum()))
