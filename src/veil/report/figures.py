"""The figures of a report, as SVG text that takes on the colours and font of its page."""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure

from ..display import COLOURS, readable
from ..evaluate import RocCurve
from ..evaluate.display import band_outline
from ..markup import escaped
from ..synopsis import Histogram
from ..synopsis.histogram.display import paint_bars, paint_map
from .counts import LETTERS, CountsDisplay, draw, height

INK, LINE, LOUD = "#1b1c1d", "#d9dadb", "#c8102e"  # text, grid, and what drowned; the page has its own shades of them
SHADES = {INK: "var(--ink)", LINE: "var(--line)", LOUD: "var(--loud)", COLOURS[0]: "var(--main)"}
LOOK = {
    "svg.fonttype": "none",  # text stays text: searchable, small, and the browser has glyphs for all of it
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    **{"axes.axisbelow": True, "grid.color": LINE, "figure.facecolor": "none", "axes.facecolor": "none"},
}
LETTER = 0.073  # inches
NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
Rows = Sequence[tuple[str, float, float]]


def counts_figure(display: CountsDisplay, place: int) -> str:
    """The class shares or the heat map of one column; `place`, its number in the page, makes its title unique."""
    title = f"released counts {place}: {display.column}"
    return _svg(title, (4.2, height(display)), lambda ax: draw(display, ax))


def noise_figure(rows: Rows) -> str:
    """For each name a typical count (a dot) and the error of a count (a bar around it), red if it reaches zero."""

    def paint(ax: Any) -> None:
        names, typical, error = zip(*rows, strict=True)
        centre, margin, lines = np.array(typical, float), np.array(error, float), np.arange(len(rows))
        colours = np.where(centre > margin, COLOURS[0], LOUD)
        ax.axvline(0, color=INK, linewidth=1)
        ax.hlines(lines, centre - margin, centre + margin, colors=colours, linewidth=4, alpha=0.5)
        ax.scatter(centre, lines, c=colours, s=22, zorder=3)
        ax.set_xlabel("a typical count (dot), and where the true one may lie (bar, 95 %)")
        _list_names(ax, names)

    return _svg("typical counts and their noise", (7, 0.7 + 0.26 * len(rows)), paint)


def quality_figure(rows: Rows) -> str:
    """For each name its accuracy (a filled dot) and AUC (a ring)."""

    def paint(ax: Any) -> None:
        names, *measures = zip(*rows, strict=True)
        for values, colour in zip(np.array(measures, float), COLOURS, strict=False):
            face = colour if colour == COLOURS[0] else "none"
            ax.scatter(values, range(len(rows)), s=34, zorder=3, facecolors=face, edgecolors=colour, linewidths=1.6)
        ax.set_xlim(np.nanmin([0.5, *np.array(measures, float).ravel()]) - 0.02, 1.02)
        _list_names(ax, names)

    return _svg("accuracy and AUC", (7, 0.5 + 0.3 * len(rows)), paint)


def expected_figure(measure: str, rows: Sequence[tuple[str, float, float, float]]) -> str:
    """For each name what is expected of it (a dot) and where most tables lie (a bar); the first is strong."""

    def paint(ax: Any) -> None:
        names, values, lows, highs = zip(*rows, strict=True)
        lines, strength = np.arange(len(rows)), np.where(np.arange(len(rows)) == 0, 0.8, 0.3)
        for line in lines:
            ax.hlines(line, lows[line], highs[line], colors=COLOURS[0], linewidth=4, alpha=strength[line])
        ax.scatter(values, lines, c=COLOURS[0], s=22, zorder=3)
        ax.set_xlabel({"auc": "AUC"}.get(measure, measure))
        _list_names(ax, names)

    return _svg(f"what to expect: {measure}", (7, 0.7 + 0.26 * len(rows)), paint)


def roc_figure(curve: RocCurve, place: int) -> str:
    """A ROC curve in its band, grey and dotted if it is noise; `place`, its number, makes its title unique."""

    def paint(ax: Any) -> None:
        colour, line = (INK, ":") if curve.only_noise else (COLOURS[0], "-")
        ax.plot([0, 1], [0, 1], color=LINE, linewidth=1)
        ax.fill(*band_outline(curve), color=colour, alpha=0.15, linewidth=0)
        ax.plot(curve.fpr, curve.tpr, color=colour, linestyle=line, linewidth=1.6)
        if curve.only_noise:
            ax.text(0.5, 0.5, "mostly noise", ha="center", va="center")
        ax.set_xlabel("false positives (across), true positives (up)")
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])

    return _svg(f"ROC curve {place}: {curve.positive}", (3.6, 3.4), paint)


def reliability_figure(points: Sequence[tuple[float, float, float, float]]) -> str:
    """Predicted probability against the share predicted right, dots with interval bars, beside the diagonal."""

    def paint(ax: Any) -> None:
        said, right, low, high = np.array(points).T
        ax.plot([0, 1], [0, 1], color=INK, linewidth=1)
        ax.vlines(said, low, high, colors=COLOURS[0], linewidth=4, alpha=0.5)
        ax.scatter(said, right, c=COLOURS[0], s=22, zorder=3)
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="probability that was said (across), share that was right (up)")
        ax.grid(linewidth=0.6)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)

    return _svg("calibration", (4.2, 3.6), paint)


def histogram_figure(histogram: Histogram, columns: Sequence[str], place: int) -> str:
    """Bars with intervals for one column of a histogram, a map for two; `place` makes its title unique."""

    def paint(ax: Any) -> None:
        if len(columns) == 2:
            paint_map(histogram, ax, histogram.table)
        else:
            paint_bars(histogram, ax, histogram.columns.index(columns[0]))
        up = ax.get_ylabel()
        ax.set(ylabel="", xlabel=f"{ax.get_xlabel()} (across), {up} (up)")  # room is made for one line below alone
        low, high = ax.get_ylim()
        ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick < high - (high - low) / 50])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)

    return _svg(f"histogram {place}: {' and '.join(columns)}", (7, 4.6 if len(columns) == 2 else 2.6), paint)


def _list_names(ax: Any, names: Sequence[str]) -> None:
    """One line for each name, the first on top."""
    ax.set_yticks(range(len(names)), [readable(name, LETTERS) for name in names], parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", linewidth=0.6)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _svg(title: str, size: tuple[float, float], paint: Callable[[Any], None]) -> str:
    """An SVG element. The same drawing gives the same text, and ids in it are unique to its title."""
    text = StringIO()
    with _look(title):
        figure = Figure(figsize=size)
        ax = figure.add_axes((0, 0, 1, 1))
        paint(ax)
        _make_room(ax, *size)
        figure.savefig(text, format="svg", metadata=NO_METADATA)
    return _inline(text.getvalue(), title)


def _make_room(ax: Any, width: float, height: float) -> None:
    """Leave space for labels by their number of letters: a layout engine would take as long as all the rest."""
    longest = max(len(label.get_text()) for label in ax.get_yticklabels())
    turned = max(len(label.get_text()) if label.get_rotation() else 0 for label in ax.get_xticklabels())
    left, bottom = 0.15 + LETTER * longest, 0.22 + LETTER * turned + 0.2 * bool(ax.get_xlabel())
    ax.set_position((left / width, bottom / height, 1 - (left + 0.15) / width, 1 - (bottom + 0.03) / height))


@contextmanager
def _look(salt: str) -> Iterator[None]:
    """matplotlib with the report's style, whatever the user's own settings are."""
    with style.context(["default", {**LOOK, "svg.hashsalt": salt}]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # from the font that measures; the browser has others
        yield


def _inline(text: str, title: str) -> str:
    """The SVG element alone, without what would apply to the whole page: styles, ids of groups, a font."""
    svg = text[text.index("<svg") :]
    svg = re.sub(r"<defs>\s*<style[^>]*>[^<]*</style>\s*</defs>\s*", "", svg, count=1)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = svg.replace("font-family: 'DejaVu Sans', sans-serif", "font-family: inherit")
    for colour, shade in SHADES.items():
        svg = svg.replace(f": {colour}", f": {shade}")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escaped(title, 200)}" ', 1)
