"""CountsDisplay: the released counts of one column as class shares, with intervals for the noise."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import rcParams
from matplotlib.colors import LinearSegmentedColormap

from ..display import COLOURS, readable
from ..errors import BadInput
from ..kernel import Release
from ..questions import Grid

Numbers = npt.NDArray[np.float64]
PALE = "#8c8c8c"  # colour of codes that may be noise
MOST_CODES = 40  # drawn of one column: those with the most rows
MOST_CLASSES = len(COLOURS)  # drawn as shares; more of them are a heat map
LETTERS = 22  # most letters of a name beside an axis
CLASS_LETTERS, MOST_ACROSS = 10, 20  # of a class below a heat map; classes that are named there


def share_intervals(counts: npt.ArrayLike, error: npt.ArrayLike) -> tuple[Numbers, Numbers, Numbers]:
    """The share of each class in each code (NaN without rows), and the lower and upper ends of its interval.

    If no true count of a code is further than `error` from the released one, the share of class k lies between
    l_k / (l_k + sum of the others' u) and u_k / (u_k + sum of the others' l), where l = max(count - error, 0) and
    u = max(count + error, 0): a share grows with its own count and falls with the others'.
    """
    centre, error = np.asarray(counts, np.float64), np.asarray(error)
    rows, least, most = (np.maximum(centre + shift, 0) for shift in (0, -error, error))
    share = _ratio(rows, rows.sum(axis=1, keepdims=True), np.nan)
    low = _ratio(least, least + most.sum(axis=1, keepdims=True) - most, 0.0)
    high = _ratio(most, most + least.sum(axis=1, keepdims=True) - least, 1.0)
    return share, low, high


def _ratio(part: Numbers, whole: Numbers, empty: float) -> Numbers:
    return np.divide(part, whole, out=np.full_like(part, empty), where=whole > 0)


class CountsDisplay:
    """The released counts of one column, codes x classes, and how far they may be from the truth.

    `error` is such that, with 95 % confidence, all counts of a code are within it of the true ones: each class gets
    5 % / classes of the doubt (Bonferroni). It follows from the public scale of the noise alone. `share_intervals`
    turns it into intervals of shares, which are therefore conservative. A code is only noise if each of its counts
    might be 0. More than six classes, or one, are drawn as a heat map of the counts; there the doubt is shared by all
    fields of the map, and those that might be 0 are left blank.

    >>> from veil import NaiveBayesClassifier, datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = NaiveBayesClassifier(epsilon=1, schema=schema).fit(rows)
    >>> CountsDisplay.from_model(model, "petal length (cm)").classes
    ('setosa', 'versicolor', 'virginica')
    """

    def __init__(
        self,
        counts: npt.ArrayLike,
        error: npt.ArrayLike,
        *,
        column: str,
        names: tuple[str, ...],
        classes: tuple[str, ...],
        shares: bool = True,
    ) -> None:
        self.counts = np.asarray(counts)
        self.error = np.broadcast_to(np.asarray(error), self.counts.shape)
        self.column, self.names, self.classes, self.shares = column, names, classes, shares

    @classmethod
    def from_release(cls, release: "Release[Any]") -> "CountsDisplay":
        """The display of counts over one column."""
        question = release.question
        if (
            release.receipt.verb not in ("count", "count_gradually")
            or not isinstance(question, Grid)
            or len(question.axes) != 1
        ):
            raise BadInput("only counts over one column can be displayed: use release.columns() for others")
        axis, classes = question.axes[0], release.classes
        error = release.error(_confidence(axis.size, classes))
        return cls(release.value, error, column=axis.column, names=axis.names, classes=classes)

    @classmethod
    def from_model(cls, model: Any, column: str) -> "CountsDisplay":
        """The display of the counts of this column from which a fitted model was made."""
        tables = {table.column: table for table in displays(model.releases_)}
        if column not in tables:
            known = ", ".join(readable(name) for name in tables) or "none"
            raise BadInput(f"the model has no counts of column {readable(column)!r} alone; it has those of: {known}")
        return tables[column]

    @classmethod
    def from_synopsis(cls, synopsis: Any, column: str) -> "CountsDisplay":
        """The display of one column of a synopsis: its counts, summed over all other columns, and their noise.

        If only counts above a threshold were released, nobody knows how many rows a share would be of: then it is a
        heat map, of what was released.
        """
        if column not in synopsis.grid.columns:
            known = ", ".join(readable(name) for name in synopsis.grid.columns) or "none"
            raise BadInput(f"the synopsis cannot display column {readable(column)!r}; it can: {known}")
        wanted, classes = [column, *synopsis.columns[len(synopsis.grid.columns) :]], synopsis.release_.classes
        counts, shares = synopsis.marginal(wanted), synopsis.threshold is None
        names = counts.names[column]
        error = counts.error(_confidence(len(names), classes, shares))
        tables = (table.reshape(len(names), len(classes)) for table in (counts.counts, error))
        return cls(*tables, column=column, names=names, classes=classes, shares=shares)

    @property
    def only_noise(self) -> npt.NDArray[np.bool_]:
        """For each code, whether it may be empty."""
        return np.asarray((self.counts <= self.error).all(axis=1))

    @property
    def shown(self) -> npt.NDArray[np.intp]:
        """The indices of the codes that are drawn, ascending: all, or those with the most rows."""
        largest = np.argsort(-self.counts.sum(axis=1), kind="stable")[:MOST_CODES]
        return np.sort(largest)

    @property
    def as_shares(self) -> bool:
        """Whether it is drawn as shares rather than as a heat map."""
        return self.shares and _few(self.classes)

    def plot(self, ax: Any = None) -> "CountsDisplay":
        """Draw on these axes, or on new ones; `ax_` and `figure_` are those drawn on."""
        if ax is None:
            import matplotlib.pyplot as plt  # only here: it may open a window system

            ax = plt.subplots(figsize=(6, max(height(self) + 0.5, 1.6)), layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        draw(self, ax)
        ax.set_ylabel(readable(self.column), parse_math=False)
        if self.as_shares:
            ax.set_xlabel("share of the class, and what the noise leaves open (95 %)")
            _legend(ax, self.classes)
        else:
            ax.set_xlabel(f"class (strongest colour: {self.counts.max():,} rows; blank: only noise)")
        return self


def _few(classes: tuple[str, ...]) -> bool:
    return 2 <= len(classes) <= MOST_CLASSES


def _confidence(size: int, classes: tuple[str, ...], shares: bool = True) -> float:
    """The confidence of each count such that all counts that are read together have 95 % (Bonferroni)."""
    return 1 - 0.05 / (len(classes) * (1 if shares and _few(classes) else size))


def displays(releases: Any) -> list[CountsDisplay]:
    """A display for each release that can be displayed."""
    found = []
    for release in releases:
        try:
            found.append(CountsDisplay.from_release(release))
        except BadInput:
            continue
    return found


def height(display: CountsDisplay) -> float:
    """The height of a drawing, in inches."""
    lines = len(display.shown)
    if display.as_shares:
        return 0.4 + lines * (0.12 + 0.07 * len(display.classes))
    below = max(len(readable(name, CLASS_LETTERS)) for name in display.classes)  # names of classes, turned
    return 0.4 + 0.2 * lines + 0.08 * below


def draw(display: CountsDisplay, ax: Any) -> None:
    """Draw the codes from top to bottom, without a title or a legend."""
    shown = display.shown
    _name_ticks(ax.yaxis, [display.names[code] for code in shown])
    (_draw_shares if display.as_shares else _draw_heat)(display, shown, ax)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.tick_params(length=0)
    ax.spines[:].set(visible=not display.as_shares, color=rcParams["grid.color"])


def _draw_shares(display: CountsDisplay, shown: Any, ax: Any) -> None:
    noise = display.only_noise[shown]
    share, low, high = (part[shown] for part in share_intervals(display.counts, display.error))
    codes, count = np.arange(len(shown)), len(display.classes)
    for number, colour in enumerate(COLOURS[:count]):
        line = (codes + (number - (count - 1) / 2) * 0.6 / count)[~noise]
        ends = low[~noise, number], high[~noise, number]
        ax.hlines(line, *ends, color=colour, linewidth=4, alpha=0.5)
        ax.plot(share[~noise, number], line, "o", color=colour, markersize=4.5)
    for code in codes[noise]:
        ax.text(0.5, code, "only noise", color=PALE, ha="center", va="center", size="small", style="italic")
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "", "50 %", "", "100 %"])
    ax.set_xlim(-0.03, 1.03)
    ax.grid(axis="x", linewidth=0.6)


def _draw_heat(display: CountsDisplay, shown: Any, ax: Any) -> None:
    counts = display.counts[shown]
    blue = LinearSegmentedColormap.from_list("rows", [f"{COLOURS[0]}18", f"{COLOURS[0]}ff"])  # see-through when few
    seen = np.ma.masked_where(counts <= display.error[shown], counts.astype(np.float64))
    ax.imshow(seen, cmap=blue, vmin=0, vmax=max(counts.max(), 1), aspect="auto", interpolation="none")
    _name_ticks(ax.xaxis, display.classes, letters=CLASS_LETTERS)


def _name_ticks(axis: Any, names: Any, letters: int = LETTERS) -> None:
    """A tick for each name, or every few if there are many; names are plain text, never parsed as mathematics."""
    step = -(-len(names) // (MOST_CODES if axis.axis_name == "y" else MOST_ACROSS))
    labels = [readable(name, letters) for name in names[::step]]
    turn = 90 if axis.axis_name == "x" and max(map(len, labels)) > 3 else 0
    axis.set_ticks(range(0, len(names), step), labels, parse_math=False, rotation=turn)


def _legend(ax: Any, classes: tuple[str, ...]) -> None:
    """A legend whose names are plain text; as labels of lines, those with a leading underscore would be left out."""
    lines = ax.get_lines()[: len(classes)]
    legend = ax.legend(lines, [""] * len(lines), loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    for text, name in zip(legend.get_texts(), classes, strict=True):
        text.set(text=readable(name, 16), parse_math=False)
