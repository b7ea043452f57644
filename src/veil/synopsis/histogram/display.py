"""Pictures of a histogram: bars with intervals for one column, a map of the cells for two."""

from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.colors import SymLogNorm

from ...display import COLOURS, percent, readable
from ...errors import BadInput
from ...schema import Categorical, Date
from ...schema.moments import DAY
from .answers import Numbers
from .runs import Stretch, bars, crowded, edges_of

MOST_BARS = 64
PALE = "#8c8c8c"
TRUE = "true, of public rows"


def draw(histogram: Any, ax: Any = None, truth: Any = None) -> Any:
    """The picture of one or two columns on these axes, or on new ones; returns the axes, two of them for two maps."""
    count = len(histogram.columns)
    if count > 2:
        raise BadInput("a picture has one or two columns: publish fewer of them, or use marginal(...)")
    if truth is not None and np.shape(truth) != histogram.table.shape:
        raise BadInput("truth must be a table of counts, of the shape of histogram.table")
    if count == 1:
        return _bars(histogram, pyplot.subplots()[1] if ax is None else ax, truth)
    if truth is None:
        return _map(histogram, pyplot.subplots()[1] if ax is None else ax, histogram.table, "")
    both = pyplot.subplots(1, 2, sharex=True, sharey=True, figsize=(11, 4.5))[1] if ax is None else ax
    _map(histogram, both[0], np.asarray(truth, np.float64), TRUE)
    _map(histogram, both[1], histogram.table, f"published, epsilon {float(histogram.epsilon):g}")
    return both


def _bars(histogram: Any, ax: Any, truth: Any) -> Any:
    """Rows of each bar of the only column with its interval; `truth` as steps."""
    runs, edges, units = paint_bars(histogram, ax, 0)
    if truth is not None:
        sums = np.array([np.asarray(truth)[first:end].sum() for first, end in runs])
        ax.stairs(sums / units, edges, color="black", label=TRUE)
        ax.legend()
    return ax


def paint_bars(histogram: Any, ax: Any, place: int) -> tuple[list[Stretch], Numbers, Numbers]:
    """Rows of each bar of a column with its interval, for each unit of the column where bars differ in width.

    Where nearly all rows are in a small part of the range, only that is drawn, and the label says so. Returns the cells
    of the bars, where these begin and end, and by how many units the rows of each are divided.
    """
    column, table = histogram.schema_.features[place], histogram.marginal([histogram.columns[place]])
    first, last = crowded(column, table)
    runs = [(first + low, first + high) for low, high in bars(last - first, MOST_BARS)]
    edges = edges_of(column, runs)
    units, unit = _units(column, edges)
    answers = [histogram.within(place, run) for run in runs]
    heights = np.array([answer.count for answer in answers]) / units
    ax.bar(edges[:-1], heights, np.diff(edges), align="edge", color=COLOURS[0], alpha=0.75)
    if all(answer.standard_error is not None for answer in answers):
        low, high = np.array([answer.interval() for answer in answers]).T / units
        ax.vlines((edges[:-1] + edges[1:]) / 2, low, high, color=PALE, linewidth=1.2)
    if isinstance(column, Categorical):
        ax.set_xticks(edges[:-1] + 0.5, [readable(column.names[first], 20) for first, _ in runs], rotation=90)
    ax.set_xlabel(readable(column.name) + _cut_off(table, first, last))
    ax.set_ylabel(f"rows{unit}")
    return runs, edges, units


def _units(column: Any, edges: Numbers) -> tuple[Numbers, str]:
    """By how much the rows of each bar are divided, and what the label says of it: 1, and nothing, if all bars are
    alike."""
    widths = np.diff(edges)
    if isinstance(column, Categorical) or np.allclose(widths, widths[0]):
        return np.ones(len(widths)), ""
    days = isinstance(column, Date) and column.unit is None
    return (widths / DAY, " per day") if days else (widths, " per unit")


def _cut_off(table: Numbers, first: int, last: int) -> str:
    """A part of a label: that the rest of the range is not drawn, and about how many of the rows it holds."""
    if last - first == len(table):
        return ""
    rows = np.maximum(table, 0)
    rest = 1 - rows[first:last].sum() / rows.sum()
    return f"; the rest, about {percent(rest)} of the rows, is cut off"


def _map(histogram: Any, ax: Any, table: Numbers, title: str) -> Any:
    """The cells by colour, the first column across, with a scale beside them."""
    shown = paint_map(histogram, ax, table)
    ax.figure.colorbar(shown, ax=ax, label="rows in a cell")
    ax.set_title(title)
    return ax


def paint_map(histogram: Any, ax: Any, table: Numbers) -> Any:
    """The cells by colour, the first column across; the brighter, the more rows, in steps of equal ratio."""
    first, second = histogram.schema_.features
    edges = [edges_of(column, [(i, i + 1) for i in range(size)]) for column, size in _axes(histogram)]
    top = max(float(np.max(histogram.table)), 1.0)
    norm = SymLogNorm(linthresh=max(top / 1000, 0.01), vmin=0, vmax=top)
    shown = ax.pcolormesh(edges[0], edges[1], np.maximum(table, 0).T, norm=norm, cmap="viridis", rasterized=True)
    ax.set_xlabel(readable(first.name))
    ax.set_ylabel(readable(second.name))
    return shown


def _axes(histogram: Any) -> list[tuple[Any, int]]:
    return list(zip(histogram.schema_.features, histogram.domain.shape, strict=True))
