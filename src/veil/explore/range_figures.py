"""Figures about ranges: bars or maps of true beside noisy counts, and errors by width of range."""

from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from ..display import number
from ..drawing import Picture, heat, heat_key
from ..files.kept_ranges import Axis, Numbers, Ranged, width_words
from .closer import legend
from .page import Safe, figure, table

MOST_BARS, MOST_BLOCKS = 128, 8
LEAST = 0.01  # rows that an error is drawn as, at least
Ends = Sequence[tuple[int, int]]
Runs = list[tuple[int, int]]


def both(of: Ranged, cells: Numbers | None, ends: Ends) -> Safe:
    """True beside noisy counts; the truth alone if no noisy ones are kept."""
    assert of.truth is not None
    draw = histograms if len(of.axes) == 1 else maps
    figures, numbers = draw(of, of.truth, cells, ends)
    return Safe(f'<div class="pair">{"".join(figures)}</div>{numbers}')


def runs_of(cells: int, most: int) -> Runs:
    """At most so many runs of neighbouring cells: the first, and the one after the last."""
    edges = np.unique(np.linspace(0, cells, min(most, cells) + 1).round().astype(int)).tolist()
    return list(zip(edges, edges[1:], strict=False))


def added(cells: Numbers, runs: Runs, axis: int = 0) -> Numbers:
    """The counts of runs of cells."""
    return np.asarray(np.add.reduceat(cells, [first for first, _ in runs], axis=axis), np.float64)


def histograms(of: Ranged, truth: Numbers, cells: Numbers | None, ends: Ends) -> tuple[list[Safe], Safe]:
    """Bars of one column, the truth as a line over the noisy ones, and the same numbers."""
    axis, runs = of.axes[0], runs_of(of.axes[0].size, MOST_BARS)
    exact, noisy = added(truth, runs), None if cells is None else added(cells, runs)
    together = exact if noisy is None else np.concatenate([exact, noisy])
    scale = (min(float(together.min()), 0.0), max(float(together.max()), 1.0) * 1.05)
    wide = "" if len(runs) == axis.size else f", {axis.size // len(runs)} cells in a bar"
    shown = [
        figure(
            f"{name} counts",
            f"{said}{wide}; the strip is the range",
            _bars(
                f"{name} rows by {axis.name}", axis, runs, counts, scale, ends[0], None if counts is exact else exact
            ),
            "",
        )
        for name, said, counts in (("True", "public rows", exact), ("Noisy", "one draw; the line is the truth", noisy))
        if counts is not None
    ]
    rows = [
        (axis.span(first, end - 1), f"{exact[place]:,.0f}", "-" if noisy is None else f"{round(noisy[place]) + 0:,}")
        for place, (first, end) in enumerate(runs)
    ]
    return shown, table(f"Rows by {axis.name}", [axis.name, "true", "noisy"], rows, fold=True)


def _bars(
    title: str, axis: Axis, runs: Runs, counts: Numbers, scale: tuple[float, float], range_: tuple[int, int],
    over: Numbers | None,
) -> str:  # fmt: skip
    marks = [(0, axis.span(0, 0)), (axis.size / 2, axis.span(axis.size // 2, axis.size // 2))]
    along = [(place, text.split(" to ")[0]) for place, text in marks]
    along += [(axis.size, axis.span(axis.size - 1, axis.size - 1).split(" to ")[-1])]
    drawn = Picture(title, (0, axis.size), scale, below=axis.name, beside="rows", along=along, width=520, height=250)
    drawn.between(range_[0], range_[1] + 1)
    drawn.skyline([(first, end, float(count)) for (first, end), count in zip(runs, counts, strict=True)])
    if over is not None:
        line = [(float(first), float(count)) for (first, _), count in zip(runs, over, strict=True)]
        drawn.step([*line, (float(axis.size), float(over[-1]))], "truth")
    return _brushed(drawn.svg(), drawn.x.start / drawn.width, drawn.x.end / drawn.width, axis.size, 0)


def _brushed(svg: str, left: float, right: float, across: int, up: int) -> str:
    """The picture with what the script needs to read a range that is dragged on it."""
    return svg.replace("<svg ", f'<svg data-drag="{left:.4f} {right:.4f} {across} {up}" ', 1)


def maps(of: Ranged, truth: Numbers, cells: Numbers | None, ends: Ends) -> tuple[list[Safe], Safe]:
    """Maps of two columns in the same shades, with what these stand for, and the numbers of blocks."""
    first, second = of.axes
    most = max(float(truth.max()), 0.0 if cells is None else float(cells.max()))
    box = (ends[0][0], ends[0][1] + 1, ends[1][0], ends[1][1] + 1)
    shown = list[Safe]()
    for name, said, counts in (("True", "public rows", truth), ("Noisy", "one draw", cells)):
        if counts is not None:
            drawn = heat(f"{name} rows by {first.name} across and {second.name} up", counts.tolist(), most, 420, box)
            drawn = _brushed(drawn, 0, 1, first.size, second.size)
            note = f"{first.name} across, {second.name} up; the frame is the range"
            shown.append(figure(f"{name} counts", f"{said}; {note}", drawn, ""))
    note = '<p class="quiet note">Rows in a cell; each shade is twice the one before.</p>'
    key = f'<div class="key">{heat_key(most)}{note}</div>'
    return shown, Safe(key + _blocks(of, truth, cells))


def _blocks(of: Ranged, truth: Numbers, cells: Numbers | None) -> Safe:
    """The counts of blocks of cells, as a table that can be read."""
    across, up = (runs_of(axis.size, MOST_BLOCKS) for axis in of.axes)
    exact = added(added(truth, across), up, 1)
    noisy = None if cells is None else added(added(cells, across), up, 1)
    rows = [
        (
            f"{of.axes[0].span(a[0], a[1] - 1)}, {of.axes[1].span(b[0], b[1] - 1)}",
            f"{exact[i, j]:,.0f}",
            "-" if noisy is None else f"{round(noisy[i, j]) + 0:,}",
        )
        for i, a in enumerate(across)
        for j, b in enumerate(up)
    ]
    names = " and ".join(axis.name for axis in of.axes)
    return table(f"Rows in blocks by {names}", [names, "true", "noisy"], rows, fold=True)


def by_width(of: Ranged, method: str, epsilon: float) -> Safe:
    """How many rows answers are off on average, by the number of cells in a range: every method."""
    errors = {draw.method: draw.errors for draw in of.draws if draw.epsilon == epsilon}
    size = {name: float(np.mean([log(max(mean, LEAST)) for mean, _ in found])) for name, found in errors.items()}
    loud = dict(zip(dict.fromkeys([method, min(size, key=size.__getitem__)]), ("main", "second"), strict=False))
    words, names = "Mean error in rows", width_words(of.widths)
    rows = [
        (name, *(_cell(*pair) for pair in found))
        for name, found in sorted(errors.items(), key=lambda one: size[one[0]])
    ]
    listing = table(f"{words}, by cells in the range", ["method", *names], rows, "tight", fold=True)
    trials = max(draw.trials for draw in of.draws)
    source = f"{of.title}; {trials} draws of noise, up to 400 random ranges of each width; bands are 95 % over draws"
    drawn = _widths_picture(of, errors, loud, f"{words}, at epsilon {epsilon:g}")
    note = "Loud lines: the method chosen above, and the one with the least error over all widths."
    return figure(f"{words}, at epsilon {epsilon:g}", source, drawn, legend(loud) + listing, note)


def _cell(mean: float, margin: float | None) -> str:
    return number(mean) + ("" if margin is None else f" ± {number(margin)}")


def _widths_picture(
    of: Ranged, errors: dict[str, tuple[tuple[float, float | None], ...]], loud: dict[str, str], title: str
) -> str:
    places = [sqrt(low * end) for low, end in zip([1, *(end + 1 for end in of.widths)], of.widths, strict=False)]
    flat = [max(mean, LEAST) for found in errors.values() for mean, _ in found]
    room = (max(places[-1] / places[0], 2)) ** 0.28  # for names at the ends of lines
    drawn = Picture(
        title,
        (places[0] / 1.15, places[-1] * room),
        (min(flat) / 1.4, max(flat) * 1.4),
        width=520,
        height=290,
        below="cells in the range",
        beside="rows off",
        logs=True,
        logs_up=True,
        along=list(zip(places, width_words(of.widths), strict=True)),
    )
    ends = dict[str, float]()
    for name, found in sorted(errors.items(), key=lambda one: one[0] in loud):
        kind = loud.get(name, "pale")
        points = [(at, max(mean, LEAST)) for at, (mean, _) in zip(places, found, strict=True)]
        if name in loud:
            drawn.band([(at, max(mean - (margin or 0), LEAST), mean + (margin or 0))
                        for at, (mean, margin) in zip(places, found, strict=True)], kind)  # fmt: skip
            drawn.dots(points, kind)
        drawn.line(points, kind)
        ends[name] = drawn.y(points[-1][1])
    last = -1e9
    for name, level in sorted(ends.items(), key=lambda one: one[1]):
        last = max(level, last + 13)
        drawn.say(drawn.x(places[-1]) + 8, last + 4, name, kind=f"t-{loud.get(name, 'pale')}")
    return drawn.svg()
