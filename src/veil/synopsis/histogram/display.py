"""Pictures of a histogram: bars with intervals for one column, a map of the cells for two."""

from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.colors import SymLogNorm

from ...display import COLOURS, readable
from ...errors import BadInput
from ...schema import Categorical
from ..domain import spans
from .answers import Numbers

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


def bars(histogram: Any, most: int = MOST_BARS) -> list[tuple[int, int]]:
    """The first cell of each bar, and the one after its last: runs of cells, as equal as can be."""
    cells = histogram.domain.shape[0]
    edges = np.unique(np.linspace(0, cells, min(most, cells) + 1).round().astype(int)).tolist()
    return list(zip(edges, edges[1:], strict=False))


def _bars(histogram: Any, ax: Any, truth: Any) -> Any:
    """Rows of each bar with its interval; `truth` as steps."""
    column, runs = histogram.schema_.features[0], bars(histogram)
    answers = [histogram._answer([_only(run, histogram.domain.shape[0])]) for run in runs]
    counts = np.array([answer.count for answer in answers])
    edges = _edges(column, runs)
    ax.bar(edges[:-1], counts, np.diff(edges), align="edge", color=COLOURS[0], alpha=0.75)
    if all(answer.standard_error is not None for answer in answers):
        low, high = np.array([answer.interval() for answer in answers]).T
        ax.vlines((edges[:-1] + edges[1:]) / 2, low, high, color=PALE, linewidth=1.2)
    if truth is not None:
        ax.stairs([np.asarray(truth)[first:end].sum() for first, end in runs], edges, color="black", label=TRUE)
        ax.legend()
    if isinstance(column, Categorical):
        ax.set_xticks(edges[:-1] + 0.5, [readable(column.names[first], 20) for first, _ in runs], rotation=90)
    ax.set_xlabel(readable(column.name))
    ax.set_ylabel("rows")
    return ax


def _only(run: tuple[int, int], cells: int) -> Numbers:
    weights = np.zeros(cells)
    weights[slice(*run)] = 1
    return weights


def _edges(column: Any, runs: list[tuple[int, int]]) -> Numbers:
    """Where bars begin and end: by value for numbers, by place for categories."""
    places = np.array([run[0] for run in runs] + [runs[-1][1]], np.float64)
    if isinstance(column, Categorical):
        return places
    lows, highs = spans(column)
    return np.asarray(np.append(lows, highs[-1])[places.astype(int)])


def _map(histogram: Any, ax: Any, table: Numbers, title: str) -> Any:
    """The cells by colour, the first column across."""
    first, second = histogram.schema_.features
    edges = [_edges(column, [(i, i + 1) for i in range(size)]) for column, size in _axes(histogram)]
    top = max(float(np.max(histogram.table)), 1.0)
    norm = SymLogNorm(linthresh=max(top / 1000, 0.01), vmin=0, vmax=top)
    shown = ax.pcolormesh(edges[0], edges[1], np.maximum(table, 0).T, norm=norm, cmap="viridis", rasterized=True)
    ax.figure.colorbar(shown, ax=ax, label="rows in a cell")
    ax.set_xlabel(readable(first.name))
    ax.set_ylabel(readable(second.name))
    ax.set_title(title)
    return ax


def _axes(histogram: Any) -> list[tuple[Any, int]]:
    return list(zip(histogram.schema_.features, histogram.domain.shape, strict=True))
