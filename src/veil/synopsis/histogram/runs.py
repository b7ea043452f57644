"""Runs of neighbouring cells of one column, for bars and for a few answers at a glance."""

from typing import Any

import numpy as np

from ...display import number, readable
from ...schema import Categorical, Date
from ..domain import spans
from .answers import Numbers

Stretch = tuple[int, int]  # the first cell, and the one after the last


def bars(cells: int, most: int) -> list[Stretch]:
    """At most this many runs of all cells, as equal as can be."""
    edges = np.unique(np.linspace(0, cells, min(most, cells) + 1).round().astype(int)).tolist()
    return list(zip(edges, edges[1:], strict=False))


def only(run: Stretch, cells: int) -> Numbers:
    """A weight of 1 for the cells of a run, 0 for all others."""
    weights = np.zeros(cells)
    weights[slice(*run)] = 1
    return weights


def edges_of(column: Any, runs: list[Stretch]) -> Numbers:
    """Where runs begin and end: by value for numbers, by place for categories."""
    places = np.array([run[0] for run in runs] + [runs[-1][1]])
    if isinstance(column, Categorical):
        return np.asarray(places, np.float64)
    lows, highs = spans(column)
    return np.asarray(np.append(lows, highs[-1])[places])


def span_text(column: Any, run: Stretch) -> str:
    """A run as a condition for `veil query`, after the name of its column."""
    if isinstance(column, Categorical):
        names = [column.names[code] for code in range(*run)]
        values = [readable(value) for name in names for value in (column.pools or {}).get(name, (name,))]
        return f"= {values[0]}" if len(values) == 1 else f"in {', '.join(values)}"  # one may have commas in it
    if isinstance(column, Date):
        first, last = (column.names[code].split(" to ") for code in (run[0], run[1] - 1))
        return f"in {first[0]}..{last[-1]}"
    low, high = edges_of(column, [run])
    return f"in {_plain(low)}..{_plain(high - column.integer)}"


def _plain(value: float) -> str:
    """A number as it can be typed again."""
    return number(value).replace(",", "")
