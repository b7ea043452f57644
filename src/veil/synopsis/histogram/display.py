"""Pictures of a histogram: bars with intervals for one column, a map of the cells for two."""

from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.colors import SymLogNorm

from ...display import COLOURS, readable
from ...errors import BadInput
from ...schema import Categorical
from .answers import Numbers
from .runs import Stretch, bars, edges_of

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
    runs, edges = paint_bars(histogram, ax, 0)
    if truth is not None:
        ax.stairs([np.asarray(truth)[first:end].sum() for first, end in runs], edges, color="black", label=TRUE)
        ax.legend()
    return ax


def paint_bars(histogram: Any, ax: Any, place: int) -> tuple[list[Stretch], Numbers]:
    """Rows of each bar of a column with its interval; returns the cells of the bars, and where these begin and end."""
    column, shape = histogram.schema_.features[place], histogram.domain.shape
    runs = bars(shape[place], MOST_BARS)
    answers = [histogram.within(place, run) for run in runs]
    counts = np.array([answer.count for answer in answers])
    edges = edges_of(column, runs)
    ax.bar(edges[:-1], counts, np.diff(edges), align="edge", color=COLOURS[0], alpha=0.75)
    if all(answer.standard_error is not None for answer in answers):
        low, high = np.array([answer.interval() for answer in answers]).T
        ax.vlines((edges[:-1] + edges[1:]) / 2, low, high, color=PALE, linewidth=1.2)
    if isinstance(column, Categorical):
        ax.set_xticks(edges[:-1] + 0.5, [readable(column.names[first], 20) for first, _ in runs], rotation=90)
    ax.set_xlabel(readable(column.name))
    ax.set_ylabel("rows")
    return runs, edges


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
