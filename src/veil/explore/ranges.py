"""Range queries: true beside noisy counts of public rows, on the same grid and scale, and how far off ranges are."""

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..display import number
from ..errors import BadInput
from ..files.kept_ranges import Draw, Numbers, Ranged, width_words
from .asking import Asking
from .commands import SEEDS, ranges_command
from .given import Given
from .page import Safe, Site, View, copied, form, paragraph, section, select, slider, tabs, warning
from .range_figures import both, by_width

ENDS = (("from", "to"), ("up_from", "up_to"))  # of the first column, and of the second
PARAMETERS = ("data", "method", "epsilon", *ENDS[0], *ENDS[1])
COUNTS, WIDTHS = ("data", "method", "epsilon"), ("data",)
MOST = 1 << 15  # of a slider
LEAD = "How far off are answers about ranges of a public table? One draw of noise beside the truth, and the mean error."
SIMULATED = "Noise was seeded, so that this can be repeated: it protects nobody. Only public rows are shown like this."
PAIR: list[tuple[str, str, dict[str, object]]] = [
    ("Classifiers", "compare", {}),
    ("Range queries", "compare/ranges", {}),
]


@dataclass(frozen=True)
class Asked:
    """What a request asks for: a table, a method, an epsilon, and on each axis the first and last cell of a range."""

    tables: list[Ranged]
    place: int
    method: str
    epsilon: float
    ends: tuple[tuple[int, int], ...]

    @property
    def table(self) -> Ranged:
        return self.tables[self.place]

    @property
    def draw(self) -> Draw | None:
        return self.table.draw(self.method, self.epsilon)

    @property
    def links(self) -> dict[str, Any]:
        """The parameters of a table of this draw."""
        return {"data": self.place, "method": self.method, "epsilon": f"{self.epsilon:g}"}

    def inside(self, cells: Numbers) -> float:
        """The count of all cells in the range."""
        return float(cells[tuple(slice(first, last + 1) for first, last in self.ends)].sum())


def asked(tables: list[Ranged], asking: Asking) -> Asked:
    """The choices of a request; each must be on its list. Ends in the wrong order are taken the other way round, and
    what lies beyond the last cell is the last cell."""
    place = int(asking.choice("data", [str(place) for place in range(len(tables))]))
    table = tables[place]
    stops = {f"{epsilon:g}": epsilon for epsilon in table.epsilons}
    return Asked(
        tables,
        place,
        asking.choice("method", table.methods),
        stops[asking.choice("epsilon", [*stops])],
        tuple(_ends(asking, names, table, axis) for axis, names in enumerate(ENDS[: len(table.axes)])),
    )


def _ends(asking: Asking, names: tuple[str, str], table: Ranged, axis: int) -> tuple[int, int]:
    """The first and last cell on one axis: without a choice, those between which the middle half of the rows lies."""
    size = table.shape[axis]
    ends = zip(names, middle(table, axis), strict=True)
    first, last = sorted(min(asking.whole(name, 0, MOST, end), size - 1) for name, end in ends)
    return first, last


def middle(table: Ranged, axis: int) -> tuple[int, int]:
    """The cells between which the middle half of the rows lies."""
    if table.truth is None or not table.truth.sum() > 0:
        return 0, table.shape[axis] - 1
    counts = table.truth if table.truth.ndim == 1 else table.truth.sum(axis=1 - axis)
    low, high = np.searchsorted(np.cumsum(counts), [counts.sum() / 4, 3 * counts.sum() / 4])
    return int(low), int(high)


def ranges(site: Site, given: Given, asking: Asking) -> View:
    """The view."""
    tables, problems = given.ranges()
    troubles = "".join(map(warning, problems))
    above = tabs(site, "Comparisons", PAIR, 1)
    if not tables:
        return View("Range queries", LEAD, above, troubles + paragraph("There is nothing about ranges to show."))
    now = asked(tables, asking)
    content = troubles + content_of(site, now) + repeat(given, now)
    return View("Range queries", LEAD, above + controls(site, now), content)


def controls(site: Site, now: Asked) -> str:
    """The tables to choose from, and the form."""
    named = [(table.title, "compare/ranges", {"data": place}) for place, table in enumerate(now.tables)]
    stops = [f"{epsilon:g}" for epsilon in now.table.epsilons]
    sliders = [
        slider(name, f"{axis.name} {word}", end, axis.size - 1, axis.span(end, end).split(" to ")[-which])
        for names, axis, ends in zip(ENDS, now.table.axes, now.ends, strict=False)
        for name, word, end, which in zip(names, ("from", "to"), ends, (0, 1), strict=True)
        if now.table.truth is not None
    ]
    return tabs(site, "Tables", named, now.place) + form(
        site,
        "compare/ranges",
        select("method", "Method", now.table.methods, now.method),
        select("epsilon", "Epsilon", stops, f"{now.epsilon:g}"),
        f'<div class="slides">{"".join(sliders)}</div>',
        hidden={"data": str(now.place)},
    )


def content_of(site: Site, now: Asked) -> str:
    """The answer, the truth beside the noise, and errors by width."""
    title = f"{now.table.title[:1].upper()}{now.table.title[1:]}, {now.method} at epsilon {now.epsilon:g}"
    cells = now.draw.cells if now.draw else None
    csv_ = site.link("The counts as CSV", "compare/ranges.csv", **now.links) if site.served else Safe("")
    if now.table.truth is None:
        words = "Of more than two columns no counts are kept, only how far off ranges are."
        shown = paragraph(words, "quiet")
    elif cells is None:
        words = f"No draw of {now.method} at this epsilon is kept of this table, only how far off its ranges are."
        shown = Safe(paragraph(words, "quiet") + both(now.table, None, now.ends))
    else:
        shown = Safe(answer(now, cells) + both(now.table, cells, now.ends) + (paragraph(csv_) if csv_ else ""))
    return section(title, shown, source(now)) + widths_section(site, now)


def answer(now: Asked, cells: Numbers) -> Safe:
    """True count, noisy count, and error of the range that was asked for."""
    assert now.table.truth is not None
    truth, noisy = now.inside(now.table.truth), now.inside(cells)
    off = round(noisy) - round(truth)  # as it follows from what is shown
    share = f" ({number(100 * abs(off) / truth)}\u00a0%)" if truth else ""
    spans = [f"{axis.name} {axis.span(*ends)}" for axis, ends in zip(now.table.axes, now.ends, strict=False)]
    tiles = [
        (f"{truth:,.0f}", "true count"),
        (f"{noisy:,.0f}", "noisy count"),
        (f"{off:+,.0f}{share}", "error"),
    ]
    boxes = "".join(f"<div><b>{value}</b>{name}</div>" for value, name in tiles)
    said = paragraph(f"{', '.join(spans)}. {usual(now)}")
    return Safe(f'<div class="tiles" role="status">{boxes}</div>{said}')


def usual(now: Asked) -> str:
    """How far ranges with about as many cells are off on average, and how many cells there are."""
    assert now.draw is not None
    cells = 1
    for first, last in now.ends:
        cells *= last + 1 - first
    place = next(place for place, end in enumerate(now.table.widths) if cells <= end)
    mean, margin = now.draw.errors[place]
    wide = "" if margin is None else f" ± {number(margin)}"
    words = f"{cells:,} cells: ranges of {width_words(now.table.widths)[place]} cells are {number(mean)}{wide} rows off"
    return f"{words} on average, over {now.draw.trials} draws."


def source(now: Asked) -> Safe:
    """Whose rows these are, and when and by what this was measured."""
    whose = f"Source: {now.table.source}. " if now.table.source else "Source: public rows. "
    when = f"Measured {now.table.date} by {now.table.version}. " if now.table.date else ""
    return paragraph(f"{whose}{now.table.rows:,} rows. {when}{SIMULATED}", "quiet")


def widths_section(site: Site, now: Asked) -> Safe:
    """How far off every method is, by the width of ranges."""
    link = site.link("The errors as CSV", "compare/widths.csv", data=now.place) if site.served else Safe("")
    return section(
        "Error by width of range", by_width(now.table, now.method, now.epsilon), paragraph(link) if link else ""
    )


def repeat(given: Given, now: Asked) -> Safe:
    """The command that makes such results."""
    own = bool(given.ranged)
    columns, data = ([axis.name for axis in now.table.axes], now.table.data) if own else (["age"], "fair")
    stops = [f"{epsilon:g}" for epsilon in now.table.epsilons]
    words = "This measures the same again." if own else "This does the same for a table that Veil brings along."
    words = f"{words} It takes public rows alone: tables of Veil, or files whose schema says so."
    seeds = max((draw.trials for draw in now.table.draws), default=1) if own else SEEDS
    command = ranges_command(columns, data, now.table.methods, stops, seeds)
    return section("Make it again", paragraph(words, "quiet"), copied("Command", command, "shell"))


def counts_csv(given: Given, asking: Asking) -> str:
    """All cells of a draw as CSV: where they lie, the true and the noisy count."""
    now = _chosen(given, asking)
    cells, axes = now.draw.cells if now.draw else None, now.table.axes
    if cells is None or now.table.truth is None:
        raise BadInput("no counts of this are kept: choose another method or table")
    lines = [[axis.name for axis in axes] + ["true", "noisy"]]
    for place in range(cells.size):
        at = [place] if len(axes) == 1 else list(divmod(place, axes[1].size))
        spans = [axis.span(one, one) for axis, one in zip(axes, at, strict=True)]
        lines.append([*spans, f"{now.table.truth.flat[place]:.0f}", f"{cells.flat[place]:g}"])
    return _as_csv(lines)


def widths_csv(given: Given, asking: Asking) -> str:
    """The errors of all methods over a table as CSV."""
    table = _chosen(given, asking).table
    lines: list[list[Any]] = [["method", "epsilon", "cells", "rows off", "margin", "draws", "seconds"]]
    for draw in table.draws:
        for words, (mean, margin) in zip(width_words(table.widths), draw.errors, strict=True):
            known = "" if margin is None else f"{margin:g}"
            lines.append(
                [draw.method, f"{draw.epsilon:g}", words, f"{mean:g}", known, draw.trials, f"{draw.seconds:.3g}"]
            )
    return _as_csv(lines)


def _chosen(given: Given, asking: Asking) -> Asked:
    tables, problems = given.ranges()
    if not tables:
        raise BadInput(problems[0] if problems else "there is nothing about ranges")
    return asked(tables, asking)


def _as_csv(lines: list[list[Any]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue()
