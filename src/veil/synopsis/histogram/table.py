"""Histogram: what `veil.publish` makes of a few columns, and what can be asked of it. It holds no row."""

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...choice import Trace
from ...display import amount, html_table, large, readable, text_table
from ...errors import BadInput
from ...files.artefacts import make_parts, write_parts
from ...files.tables import new_file, writing
from ...pages import Reported
from ...plans.outcome import Outcome
from ...plans.ranges.domain import Domain
from ...plans.ranges.spread import Spread
from ...questions import axis
from ...verdicts import Verdict
from ...verdicts.ranges import of_histogram
from ...verdicts.verdict import shown as shown_verdict
from ..domain import spans
from ..rows import as_arrow, as_frame, draw_from_cells
from .answers import Answer, Doubt, Numbers, counts_in, weights_of
from .runs import Stretch, only, quarters, span_text


class Histogram(Reported):
    """Estimated rows in the cells of one to a few columns: `veil.publish(..., columns=...)` makes it.

    Any number of questions can be asked of it, for nothing: it is made of noisy counts that were paid for.
    """

    def __init__(self, outcome: Outcome[Spread]) -> None:
        self.outcome_ = outcome

    @cached_property
    def domain(self) -> Domain:
        """The cells, which are public."""
        return Domain(self.schema_)

    @property
    def spread(self) -> Spread:
        """The estimates that all answers come from."""
        spread: Spread = self.outcome_.made
        return spread

    @property
    def method(self) -> str:
        """The name of the method that made it."""
        return self.outcome_.method

    @property
    def trace_(self) -> Trace | None:
        """How the method was chosen and what that cost; None if it was named."""
        return None if self.outcome_.trace is None else Trace.from_dict(self.outcome_.trace)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it holds, in the order of the axes of `table`."""
        return tuple(column.name for column in self.schema_.features)

    @property
    def epsilon(self) -> Fraction:
        """The epsilon that it cost."""
        return self.outcome_.epsilon

    @cached_property
    def table(self) -> Numbers:
        """The estimated rows of each cell, an axis for each column."""
        return self.spread.cells.reshape(self.domain.shape)

    @property
    def missing(self) -> float:
        """About how many rows lie in no cell, since a value of theirs is missing."""
        return max(self.spread.missing, 0.0)

    @cached_property
    def verdict_(self) -> Verdict:
        """How far the answers can be relied on, judged from released values alone."""
        return of_histogram(self)

    @cached_property
    def _doubt(self) -> Doubt:
        return Doubt(self.domain, self.spread)

    def query(self, where: Mapping[str, Any] | None = None, /, **more: Any) -> Answer:
        """About how many rows lie in a box, with an interval: `query(latitude=(40, 41), longitude=(-74, -73))`.

        Numbers and dates as a range (low, high), both included, in which None leaves an end open; categories by name or
        as a list of names. Names that are no Python names go in a dict. Without a box, the number of all rows that have
        no missing value. Within a cell rows count as evenly spread.
        """
        return self._answer(weights_of(self.schema_, {**(where or {}), **more}))

    def _answer(self, weights: Sequence[Numbers]) -> Answer:
        count: Any = self.table
        for weight in reversed(weights):
            count = count @ weight
        return Answer(float(count)) if self.spread.doubt is None else self._doubt.answer(float(count), weights)

    def query_many(self, lows: npt.ArrayLike, highs: npt.ArrayLike) -> Numbers:
        """About how many rows lie in each of many boxes, without intervals: thousands in a few milliseconds.

        `lows` and `highs` are boxes x columns, both ends included, infinite where an end is open; all columns must be
        of numbers or dates (in seconds since 1970).
        """
        ends = (np.asarray(end, np.float64) for end in (lows, highs))
        return counts_in(self.schema_.features, self._sums, *ends)

    @cached_property
    def _sums(self) -> Numbers:
        """The rows below each corner of the cells, an axis for each column: differences of these are boxes."""
        sums = np.zeros([size + 1 for size in self.domain.shape])
        sums[(slice(1, None),) * sums.ndim] = self.table
        for place in range(sums.ndim):
            np.cumsum(sums, axis=place, out=sums)
        return sums

    def quarters(self) -> list[tuple[str, Answer]]:
        """The rows in up to four parts of every column: for each a condition as text, and its answer.

        A part has a quarter of the cells; of numbers of which one part would have nearly all released rows, a quarter
        of cells and rows, both counted half, so that answers tell something where most cells are empty.
        """
        found = []
        for place, column in enumerate(self.schema_.features):
            for run in quarters(column, self.marginal([column.name])):
                found.append((f"{readable(column.name)} {span_text(column, run)}", self.within(place, run)))
        return found

    def within(self, place: int, run: Stretch) -> Answer:
        """The rows in a run of cells of one column, given by its place: (first cell, the one after the last)."""
        weights = [np.ones(size) for size in self.domain.shape]
        weights[place] = only(run, self.domain.shape[place])
        return self._answer(weights)

    def marginal(self, columns: Sequence[str] = ()) -> Numbers:
        """The estimated rows by these columns, an axis for each; all others are summed over."""
        names = [columns] if isinstance(columns, str) else list(columns)
        places = [self._place(name) for name in names]
        if len(set(places)) < len(places):
            raise BadInput("a marginal can hold a column only once")
        others = tuple(place for place in range(self.table.ndim) if place not in places)
        summed = self.table.sum(axis=others)
        return np.asarray(summed.transpose(np.argsort(np.argsort(places))))

    def quantile(self, column: str, share: float) -> float:
        """The number below which about this share of the rows lie in a numeric column: 0.5 gives the median.

        Of dates it is in seconds since 1970.
        """
        place = self._place(column)
        found: Any = self.schema_.features[place]
        if not hasattr(found, "cuts") or not 0 <= share <= 1:
            raise BadInput("a quantile is of a column of numbers or dates, for a share from 0 to 1")
        rows = np.maximum(self.marginal(column), 0)
        below = np.append(0, np.cumsum(rows))
        lows, highs = spans(found)
        if not below[-1]:
            return float(lows[0] + share * (highs[-1] - lows[0]))
        cell = min(int(np.searchsorted(below, share * below[-1], side="right")) - 1, len(rows) - 1)
        cell = int(np.flatnonzero(rows[: cell + 1])[-1]) if not rows[cell] else cell
        part = (share * below[-1] - below[cell]) / rows[cell]
        return float(lows[cell] + min(part, 1.0) * (highs[cell] - lows[cell]))

    def to_frame(self, rows: int | None = None, random_state: Any = None, values: str = "uniform") -> Any:
        """Synthetic rows of its columns: a pandas data frame, or without pandas an Arrow table.

        About as many as were counted, or `rows` of them, drawn by the estimates; numbers evenly from within a cell
        (`values="midpoint"`: its middle).
        """
        return as_frame(self._drawn(rows, random_state, values))

    def to_arrow(self, rows: int | None = None, random_state: Any = None, values: str = "uniform") -> Any:
        """The same as an Arrow table."""
        return as_arrow(self._drawn(rows, random_state, values))

    def _drawn(self, rows: int | None, random_state: Any, values: str) -> dict[str, Any]:
        parts = [axis(column).axes[0] for column in self.schema_.features]
        return draw_from_cells(self.schema_, parts, self.table, rows, random_state, values)

    def plot(self, ax: Any = None, truth: Any = None) -> Any:
        """Draw it with matplotlib: bars with their intervals for one column, a map for two. Returns the axes.

        `truth` is a table of true counts of PUBLIC rows, of the shape of `table`, to draw beside it.
        """
        from .display import draw

        return draw(self, ax, truth)

    def to_geojson(self, path: "str | os.PathLike[str]", longitude: str, latitude: str, *, force: bool = False) -> None:
        """Write the cells as GeoJSON rectangles with their estimated rows: empty ones are left out."""
        from .maps import geojson

        with new_file(path, force=force) as draft, writing(path):
            draft.write_text(geojson(self, longitude, latitude), encoding="utf-8")

    def to_geoparquet(
        self, path: "str | os.PathLike[str]", longitude: str, latitude: str, *, force: bool = False
    ) -> None:
        """Write the same as a GeoParquet file."""
        from .maps import write_geoparquet

        with new_file(path, force=force) as draft, writing(path):
            write_geoparquet(self, longitude, latitude, draft)

    def save(self, path: "str | os.PathLike[str]", *, force: bool = False) -> None:
        """Write it to a file that holds data only; `veil.load_synopsis` reads it back."""
        with new_file(path, force=force) as draft, writing(path):
            self.write(draft)

    def write(self, draft: "str | os.PathLike[str]") -> None:
        """Write it to this path, replacing what is there."""
        write_parts(draft, make_parts("histogram", self.outcome_))

    def _place(self, name: str) -> int:
        if name not in self.columns:
            known = ", ".join(map(readable, self.columns))
            raise BadInput(f"the histogram has no column {readable(name)!r}; it has: {known}")
        return self.columns.index(name)

    def _summary(self) -> tuple[str, list[str], list[tuple[Any, ...]]]:
        title = f"Histogram of '{readable(self.schema_.name)}' by {readable(self.method)} for epsilon "
        title += f"{amount(self.epsilon)}: {large(self.domain.size)} cells, {self.query()}"
        title += self.outcome_.mark + shown_verdict(self.verdict_)
        rows = [
            (readable(column.name), size, _extent(column))
            for column, size in zip(self.schema_.features, self.domain.shape, strict=True)
        ]
        return title, ["column", "cells", "of"], rows

    def __repr__(self) -> str:
        return text_table(*self._summary())

    def _repr_html_(self) -> str:
        return html_table(*self._summary(), None)


def _extent(column: Any) -> str:
    """The first and last cell of a column by name."""
    names: Sequence[str] = column.names
    last = names[len(names) - 1 - (column.missing is None)]
    return f"{readable(names[0])} ... {readable(last)}"
