"""Runs of neighbouring cells of one column, for bars and for a few answers at a glance."""

from typing import Any

import numpy as np

from ...display import readable
from ...schema import Categorical, Date
from ..domain import spans
from .answers import Numbers

Stretch = tuple[int, int]  # the first cell, and the one after the last
CLOSE = 1e-5  # of a cell: how far the end of a run may be from where it is, as it is typed again
BEYOND = 0.005  # of the rows, that may be cut off at either end of a picture
MOST = 0.9  # of the rows, that one of the runs may have which are as equal as can be
MOST_DIGITS = 17  # of a double


def bars(cells: int, most: int) -> list[Stretch]:
    """At most this many runs of all cells, as equal as can be."""
    edges = np.unique(np.linspace(0, cells, min(most, cells) + 1).round().astype(int)).tolist()
    return list(zip(edges, edges[1:], strict=False))


def quarters(column: Any, rows: Numbers) -> list[Stretch]:
    """At most four runs of all cells, as equal as can be; of numbers of which one run would have nearly all rows, each
    has a quarter of the cells and of the rows, both counted half."""
    cells, positive = len(rows), np.maximum(rows, 0)
    even, total = bars(cells, 4), positive.sum()
    if isinstance(column, Categorical) or max(positive[slice(*run)].sum() for run in even) <= MOST * total:
        return even
    reached = np.cumsum(positive / total + 1 / cells) / 2
    edges = np.unique([0, *(np.searchsorted(reached, [0.25, 0.5, 0.75]) + 1), cells]).tolist()
    return list(zip(edges, edges[1:], strict=False))


def crowded(column: Any, rows: Numbers) -> Stretch:
    """The cells to draw: of numbers those of nearly all rows, if less than a quarter of the range; else all."""
    positive = np.maximum(rows, 0)
    if isinstance(column, Categorical) or not positive.sum():
        return 0, len(rows)
    reached = np.cumsum(positive) / positive.sum()
    first, last = np.searchsorted(reached, [BEYOND, 1 - BEYOND])
    edges = edges_of(column, [(0, int(first)), (int(first), int(last) + 1), (int(last) + 1, len(rows))])
    narrow = edges[2] - edges[1] < (edges[3] - edges[0]) / 4
    return (int(first), int(last) + 1) if narrow else (0, len(rows))


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
    lows, highs = spans(column)
    edges = np.append(lows, highs[-1])
    low, high = (
        typed(edges[place] - less, _close(edges, place)) for place, less in zip(run, (0, column.integer), strict=True)
    )
    return f"in {low}..{high}"


def _close(edges: Numbers, place: int) -> float:
    """How far the end of a run may be from an edge, by the narrower of the cells beside it."""
    return CLOSE * float(np.diff(edges[max(place - 1, 0) : place + 2]).min())


def typed(value: float, close: float) -> str:
    """A number with the fewest digits that, typed again, are no farther from it than `close`.

    >>> typed(52.375, 1e-9), typed(1000000.0, 0.1), typed(1 / 3, 0.001)
    ('52.375', '1000000', '0.333')
    """
    texts = (f"{value:.{digits}g}" for digits in range(1, MOST_DIGITS + 1))
    found = float(next((text for text in texts if abs(float(text) - value) <= close), f"{value}"))
    plain = found == 0 or 1e-5 <= abs(found) < 10**15
    return np.format_float_positional(found, trim="-") if plain else f"{found}"
