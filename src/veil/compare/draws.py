"""What is kept about ranges: exact counts of PUBLIC rows, the first noisy draw of every method, errors by width."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..files.kept_ranges import MOST_LETTERS, SIDES, Axis, Draw, Ranged
from ..kernel import VERSION
from ..plans.ranges.boxes import Integers, Numbers, sums_in
from ..plans.ranges.domain import Domain
from ..results import interval
from ..schema import Numeric
from ..synopsis.histogram.runs import bars, edges_of

STEP = 4  # each width holds ranges of up to so many times as many cells as the one before
TRIED, EACH, FEWEST = 8_000, 400, 20  # ranges that are drawn, and kept of each width
DIGITS = 12


class Keeping:
    """Takes in the draws of all methods over one table, and hands out what is kept of them."""

    def __init__(self, name: str, domain: Domain, truth: Numbers) -> None:
        self.name, self.domain = name, domain
        self.runs = [bars(size, most) for size, most in zip(domain.shape, sides_of(domain.shape), strict=True)]
        self.truth, self.draws = self.coarser(truth), list[Draw]()
        self.widths, self.boxes = boxes_by_width(self.truth.shape)
        self.exact = [sums_in(self.truth, boxes) for boxes in self.boxes]

    def coarser(self, table: Numbers) -> Numbers:
        """Neighbouring cells added up until there are as few as are kept."""
        for axis, runs in enumerate(self.runs):
            table = np.add.reduceat(table, [first for first, _ in runs], axis=axis)
        return np.asarray(table, np.float64)

    def take(self, method: str, epsilon: float, tables: Sequence[Numbers], seconds: float) -> None:
        """Take in the noisy counts of all trials of a method; those of the first are kept."""
        cells = list(map(self.coarser, tables))
        errors = [[float(np.abs(sums_in(one, boxes) - exact).mean()) for one in cells]
                  for boxes, exact in zip(self.boxes, self.exact, strict=True)]  # fmt: skip
        means = tuple((float(np.mean(values)), interval(values)[1]) for values in errors)
        first = cells[0] if len(self.runs) in SIDES else None
        self.draws.append(Draw(method, epsilon, first, means, len(cells), seconds))

    def kept(self, source: str = "") -> Ranged:
        """All that was taken in."""
        columns = self.domain.schema.features
        name = self.name if len(self.name) <= MOST_LETTERS else f"...{self.name[3 - MOST_LETTERS :]}"
        axes = tuple(axis_of(column, runs) for column, runs in zip(columns, self.runs, strict=True))
        truth, today = self.truth if len(axes) in SIDES else None, datetime.now(UTC).date().isoformat()
        rows = round(self.truth.sum())
        return Ranged(name, source, axes, rows, truth, self.widths, tuple(self.draws), today, f"veil {VERSION}")


def sides_of(shape: Sequence[int]) -> Sequence[int]:
    """How many cells are kept on each axis; of many columns, all."""
    return SIDES.get(len(shape), tuple(shape))


def axis_of(column: Any, runs: list[tuple[int, int]]) -> Axis:
    """A column in runs of its cells, as a file keeps it."""
    if isinstance(column, Numeric) and column.kind == "numeric":
        edges = tuple(float(f"{edge:.{DIGITS}g}") for edge in edges_of(column, runs))
        return Axis(column.name, len(runs), edges=edges, integer=column.integer)
    names = [dict.fromkeys((column.names[first], column.names[end - 1])) for first, end in runs]
    return Axis(column.name, len(runs), names=tuple(" to ".join(ends)[:100] for ends in names))


def boxes_by_width(shape: Sequence[int], seed: int = 0) -> tuple[tuple[int, ...], list[Integers]]:
    """Random ranges in groups by their number of cells, and the most cells that a range of each group has.

    On every axis, the logarithm of the length is as likely as any other, then every place for it.
    """
    chance, sides = np.random.default_rng(seed), []
    for size in shape:
        lengths = np.floor((size + 1) ** chance.random(TRIED)).astype(np.int64).clip(1, size)
        starts = chance.integers(0, size - lengths + 1)
        sides.append(np.stack([starts, starts + lengths], axis=1))
    boxes, total = np.stack(sides, axis=1), int(np.prod(shape))
    cells, ends = np.diff(boxes, axis=2)[:, :, 0].prod(axis=1), widths_of(total)
    ends = enough(cells, ends)
    groups = np.searchsorted(ends, cells)
    return tuple(ends), [boxes[groups == place][:EACH] for place in range(len(ends))]


def enough(cells: Integers, ends: list[int]) -> list[int]:
    """The same widths, those of too few ranges joined with the next."""
    kept = list[int]()
    for end in ends:
        low = kept[-1] if kept else 0
        if end == ends[-1] or np.count_nonzero((cells > low) & (cells <= end)) >= FEWEST:
            kept.append(end)
    return kept


def widths_of(cells: int) -> list[int]:
    """The most cells that a range of each width has: 4, 16, 64, up to all of them.

    >>> widths_of(74), widths_of(3)
    ([4, 16, 74], [3])
    """
    ends, end = list[int](), STEP
    while 2 * end < cells:
        ends.append(end)
        end *= STEP
    return [*ends, cells]
