"""Pictures as SVG text: lines, bands, dots, bars, bars across and heat. Colours are those of the page, by class.

Every picture has a name that is read aloud, and text that stays text. The page shows the same numbers as a table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, isfinite, log10

from .markup import escaped

LETTER = 6.3  # pixels of a letter, about
Point = tuple[float, float]


@dataclass(frozen=True)
class Scale:
    """Numbers from `low` to `high` as pixels from `start` to `end`; in equal ratios if `logs`."""

    low: float
    high: float
    start: float
    end: float
    logs: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a number, never outside the picture."""
        low, high = self._size(self.low), self._size(self.high)
        inside = min(max(value, min(self.low, self.high)), max(self.low, self.high))
        share = (self._size(inside) - low) / (high - low) if high != low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def _size(self, value: float) -> float:
        return log10(max(value, 1e-300)) if self.logs else value

    def ticks(self, count: int = 5) -> list[float]:
        """A few round numbers of it."""
        return _powers(self.low, self.high) if self.logs else rounded(self.low, self.high, count)


def rounded(low: float, high: float, count: int = 5) -> list[float]:
    """About so many round numbers from low to high."""
    if not (isfinite(low) and isfinite(high) and high > low):
        return [low]
    unit = 10.0 ** floor(log10((high - low) / count))
    step = next(unit * size for size in (1, 2, 5, 10) if (high - low) / (unit * size) <= count)
    return [round(place * step, 12) for place in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _powers(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two numbers above zero."""
    sizes = [times * 10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1) for times in (1, 2, 5)]
    found = [size for size in sizes if low * 0.999 <= size <= high * 1.001]
    return found if len(found) <= 6 else [size for size in found if f"{size:.0e}"[0] == "1"]


@dataclass
class Picture:
    """A picture with two axes; draw on it, then take `svg()`.

    `across` and `up` are the ends of what it shows; a text for each axis, and numbers or names along it.
    """

    title: str
    across: tuple[float, float]
    up: tuple[float, float]
    width: int = 460
    height: int = 260
    below: str = ""
    beside: str = ""
    logs: bool = False
    logs_up: bool = False
    along: Sequence[tuple[float, str]] | None = None  # the marks below, instead of round numbers
    names: Sequence[str] = ()  # of the lines of a list, instead of an axis on the left
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        longest = max([len(name) for name in self.names], default=4)
        left = min(14 + LETTER * longest, 0.45 * self.width) if self.names else 46
        self.x = Scale(*self.across, left, self.width - 14, self.logs)
        self.y = Scale(*self.up, self.height - (40 if self.below else 24), 18 if self.beside else 8, self.logs_up)

    def line(self, points: Iterable[Point], kind: str = "main") -> None:
        """A line through points, with a dot on each of them if it is loud."""
        found = [(self.x(across), self.y(up)) for across, up in points if isfinite(up)]
        if found:
            path = "L".join(f"{across:g} {up:g}" for across, up in found)
            self.parts.append(f'<path class="line {kind}" d="M{path}"/>')

    def step(self, points: Iterable[Point], kind: str = "main") -> None:
        """A line that keeps its height until the next point."""
        found = [(self.x(across), self.y(up)) for across, up in points]
        if found:
            path = f"M{found[0][0]:g} {found[0][1]:g}" + "".join(f"H{across:g}V{up:g}" for across, up in found[1:])
            self.parts.append(f'<path class="line {kind}" d="{path}"/>')

    def band(self, points: Iterable[tuple[float, float, float]], kind: str = "main") -> None:
        """The area between two lines: (across, low, high)."""
        found = [(self.x(across), self.y(low), self.y(high)) for across, low, high in points]
        if found:
            there = "L".join(f"{across:g} {high:g}" for across, _, high in found)
            back = "L".join(f"{across:g} {low:g}" for across, low, _ in reversed(found))
            self.parts.append(f'<path class="band {kind}" d="M{there}L{back}Z"/>')

    def dots(self, points: Iterable[Point], kind: str = "main", size: float = 3) -> None:
        """A dot for each point."""
        circles = (
            f'<circle class="dot {kind}" cx="{self.x(across):g}" cy="{self.y(up):g}" r="{size:g}"/>'
            for across, up in points
        )
        self.parts += circles

    def bars(self, bars: Iterable[tuple[float, float, float]], kind: str = "main") -> None:
        """Bars that stand on the axis: (from, to, height)."""
        floor_ = self.y(max(self.up[0], 0))
        for first, last, height in bars:
            left, right, top = self.x(first), self.x(last), self.y(height)
            size = f'width="{max(right - left - 0.4, 0.4):.1f}" height="{max(floor_ - top, 0):.1f}"'
            self.parts.append(f'<rect class="rod {kind}" x="{left:g}" y="{top:g}" {size}/>')

    def skyline(self, bars: Iterable[tuple[float, float, float]], kind: str = "main") -> None:
        """Bars side by side as one shape, from zero up or, if negative, down: (from, to, height)."""
        zero, found = self.y(0), [(self.x(first), self.x(last), self.y(height)) for first, last, height in bars]
        if found:
            path = "".join(f"V{top:g}H{right:g}" for _, right, top in found)
            self.parts.append(f'<path class="rod {kind}" d="M{found[0][0]:g} {zero:g}{path}V{zero:g}Z"/>')

    def between(self, first: float, last: float) -> None:
        """What was picked along the axis below: a strip behind all that is drawn later."""
        left, right, top = self.x(first), self.x(last), self.y.end
        size = f'width="{max(right - left, 1):.1f}" height="{self.y.start - top:.1f}"'
        self.parts.append(f'<rect class="picked" x="{left:g}" y="{top:g}" {size}/>')

    def lying(self, place: float, low: float, high: float, kind: str = "main", thick: float = 8) -> None:
        """A bar that lies at a place of a list, from low to high."""
        left, right, middle = self.x(low), self.x(high), self.y(place)
        size = f'width="{max(right - left, 1):.1f}" height="{thick:g}"'
        self.parts.append(f'<rect class="rod {kind}" x="{left:g}" y="{middle - thick / 2:.1f}" {size} rx="2"/>')

    def rule(self, up: float, text: str, kind: str = "limit") -> None:
        """A line right across, with its name."""
        place = self.y(up)
        self.parts.append(f'<path class="line {kind}" d="M{self.x.start:g} {place:g}H{self.x.end:g}"/>')
        self.say(self.x.end, place - 4, text, "end")

    def post(self, across: float, text: str = "", kind: str = "limit") -> None:
        """A line straight up."""
        place = self.x(across)
        self.parts.append(f'<path class="line {kind}" d="M{place:g} {self.y.start:g}V{self.y.end:g}"/>')
        if text:
            self.say(place + 4, self.y.end + 10, text)

    def say(self, across: float, up: float, text: str, anchor: str = "start", kind: str = "") -> None:
        """Words at a place, in pixels."""
        named = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{across:g}" y="{up:g}" text-anchor="{anchor}"{named}>{escaped(text, 80)}</text>')

    def svg(self) -> str:
        """The picture as text."""
        inside = self._grid() + "".join(self.parts)
        return svg(self.title, self.width, self.height, inside)

    def _grid(self) -> str:
        found = list[str]()
        bottom, middle = self.y.start, (self.x.start + self.x.end) / 2
        for value, text in self.along if self.along is not None else [(v, f"{v:g}") for v in self.x.ticks()]:
            found.append(_text(self.x(value), bottom + 15, text, "middle"))
        for place, name in enumerate(self.names):
            found.append(_text(self.x.start - 8, self.y(place) + 4, name, "end"))
        for value in [] if self.names else self.y.ticks():
            level = self.y(value)
            found.append(f'<path class="grid" d="M{self.x.start:g} {level:g}H{self.x.end:g}"/>')
            found.append(_text(self.x.start - 6, level + 4, short(value), "end"))
        for value in self.x.ticks() if self.names else []:
            found.append(f'<path class="grid" d="M{self.x(value):g} {bottom:g}V{self.y.end:g}"/>')
        found += [_text(middle, self.height - 6, self.below, "middle")] if self.below else []
        found += [_text(4, 10, self.beside)] if self.beside else []
        return "".join(found)


def _text(across: float, up: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{across:g}" y="{up:g}" text-anchor="{anchor}">{escaped(text, 60)}</text>'


def short(value: float) -> str:
    """A number along an axis: 0.5, 1,000, 20k, 3M.

    >>> short(0.5), short(1000.0), short(20000.0), short(3e6)
    ('0.5', '1,000', '20k', '3M')
    """
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else f"{value:,.0f}" if abs(value) >= 1e3 else f"{value:g}"


def svg(title: str, width: float, height: float, inside: str) -> str:
    """An SVG element with a name that is read aloud."""
    name = escaped(title, 200)
    return f'<svg role="img" aria-label="{name}" viewBox="0 0 {width:g} {height:g}" width="{width:g}">{inside}</svg>'


def heat(
    title: str, table: Sequence[Sequence[float]], most: float, width: int = 320, box: Sequence[int] | None = None
) -> str:
    """A map: `table` has a list for each column, from left to right, each from the bottom up; the stronger the colour,
    the more, in steps of equal ratio up to `most`. `box` is a part to frame: its first column and the one after its
    last, and its rows likewise."""
    columns, rows = len(table), max(map(len, table), default=1)
    side = width / max(columns, 1)
    tall = min(max(side * rows, 60), 1.4 * width)
    paths = "".join(f'<path class="h{level}" d="{path}"/>' for level, path in sorted(_shades(table, most).items()))
    stretched = f'<g class="heat" transform="scale({side:.4f} {tall / rows:.4f})">{paths}</g>'
    frame = f'<rect class="frame" x="0" y="0" width="{width}" height="{tall:.1f}"/>'
    if box is not None:
        left, right, low, high = (box[0] * side, box[1] * side, box[2] * tall / rows, box[3] * tall / rows)
        size = f'width="{right - left:.1f}" height="{high - low:.1f}"'
        frame += f'<rect class="chosen" x="{left:.1f}" y="{tall - high:.1f}" {size}/>'
    return svg(title, width, tall, stretched + frame)


def _shades(table: Sequence[Sequence[float]], most: float) -> dict[int, str]:
    """For each shade the cells that have it, as one shape; neighbours in a column are one piece of it."""
    found, rows = dict[int, str](), max(map(len, table), default=1)
    for place, column in enumerate(table):
        levels = [heat_level(value, most) for value in column]
        start = 0
        for up in range(1, len(levels) + 1):
            if up == len(levels) or levels[up] != levels[start]:
                if level := levels[start]:
                    piece = f"M{place} {rows - up}h1v{up - start}h-1z"
                    found[level] = found.get(level, "") + piece
                start = up
    return found


def heat_key(most: float) -> str:
    """What the shades of a map stand for."""
    side, steps = 26, range(1, LEVELS + 1)
    boxes = "".join(
        f'<rect class="h{level}" x="{(level - 1) * side}" y="0" width="{side}" height="10"/>' for level in steps
    )
    ends = [(0.0, "start", most / 2**LEVELS), (LEVELS * side, "end", most)]
    marks = "".join(f'<text x="{place:g}" y="23" text-anchor="{where}">{short(float(f"{value:.2g}"))}</text>'
                    for place, where, value in ends)  # fmt: skip
    return svg("shades, from the least to the most rows", LEVELS * side, 26, boxes + marks)


LEVELS = 8  # of heat


def heat_level(value: float, most: float) -> int:
    """How strong a colour is: 0 for nothing, LEVELS for the most, each twice as much as the one before."""
    if not value > 0 or not most > 0:
        return 0
    return max(LEVELS + ceil(log10(min(value / most, 1.0)) / log10(2) - 1e-9), 0)
