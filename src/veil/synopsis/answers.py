"""The answers of a synopsis: noisy counts by a few columns, and estimates of how many rows lie in a box."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..display import html_table, number, readable, row_count, text_table
from ..errors import BadInput
from ..kernel import Release
from ..questions import Axis
from ..schema import Categorical, Date, Numeric
from ..schema.calendars import PARTS, written
from ..schema.columns import MISSING, text_of
from .cells import Integers, Numbers, sum_error, threshold_of, variance
from .domain import spans, spread
from .where import wanted as as_wanted

AROUND = ". A box across the 180th meridian is two boxes, one on each side, whose counts add up"


@dataclass(frozen=True, eq=False, repr=False)
class Marginal:
    """Noisy counts by some columns: `counts` and `standard_errors` have an axis for each, `names` the names along it.

    Each count is a sum of `terms` released counts, and its standard error that of their noise. If `threshold` is not
    None, only noisy counts above it were released: all others count as 0, and some above it are noise alone. Sums may
    then be too low or too high by more than the standard error.
    """

    release: Release[Any]
    names: Mapping[str, tuple[str, ...]]
    counts: Integers
    terms: Integers

    @property
    def standard_errors(self) -> Numbers:
        return np.asarray(np.sqrt(self.terms * variance(self.release.noise_scale)))

    @property
    def threshold(self) -> int | None:
        return threshold_of(self.release)

    def error(self, confidence: float = 0.95) -> Numbers:
        """The half-width of each count's confidence interval, from the noise alone."""
        return sum_error(self.release, self.terms, confidence)

    def columns(self) -> dict[str, list[Any]]:
        """One row for each cell: `pandas.DataFrame(marginal.columns())`."""
        places = np.indices(self.counts.shape).reshape(self.counts.ndim, -1)
        found: dict[str, list[Any]] = {}
        for (column, names), place in zip(self.names.items(), places, strict=True):
            found[column] = [names[i] for i in place]
        for name, values in (("count", self.counts), ("standard_error", self.standard_errors)):
            found[_unused(name, found)] = values.ravel().tolist()
        return found

    def _summary(self) -> tuple[str, list[str], list[tuple[Any, ...]]]:
        columns = self.columns()
        columns[[*columns][-1]] = [number(error) for error in self.standard_errors.ravel()]
        title = f"Noisy counts by {', '.join(map(readable, self.names)) or 'nothing'}{_mark(self.threshold)}"
        return title, list(columns), list(zip(*columns.values(), strict=True))

    def __repr__(self) -> str:
        return text_table(*self._summary(), all_in=".columns()")

    def _repr_html_(self) -> str:
        return html_table(*self._summary(), all_in=".columns()")


@dataclass(frozen=True, repr=False)
class Estimate:
    """About how many rows lie in a box, and the standard error of the noise in it.

    It does not include the error of assuming that rows are evenly spread within a cell. `threshold` is as in Marginal.
    """

    count: float
    standard_error: float
    threshold: int | None = None

    def __repr__(self) -> str:
        error = f"standard error {number(self.standard_error)}"
        return f"about {row_count(self.count)} rows, {error}{_mark(self.threshold)}"


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with underscores appended until no column has it."""
    return _unused(f"{name}_", taken) if name in taken else name


def _mark(threshold: int | None) -> str:
    return "" if threshold is None else f"; counts up to {threshold} were not released"


def group_weights(axis: Axis, column: Categorical | Numeric, wanted: Any) -> Numbers:
    """For each group, the share of its rows that are wanted: by a name, a list of names, or a range (low, high)."""
    wanted = as_wanted(wanted) if isinstance(wanted, str) and ".." in wanted and _is_range(column, wanted) else wanted
    inside = _in_range(column, wanted) if _is_range(column, wanted) else _named(column, wanted)
    return np.asarray(np.bincount(axis.groups, inside * spread(axis, column)), np.float64)


def class_weights(classes: tuple[str, ...], label: str, wanted: Any) -> Numbers:
    """For each class, 1 if it is wanted, else 0."""
    return _picked(classes, label, wanted)


def _is_range(column: Categorical | Numeric, wanted: Any) -> bool:
    named = wanted is None or isinstance(wanted, str) and wanted in (MISSING, *column.names)
    return isinstance(column, Numeric) and not named


def _named(column: Categorical | Numeric, wanted: Any) -> Numbers:
    """For each code, the share of its rows that are wanted; those of a pool are spread evenly over its values."""
    if not (isinstance(column, Categorical) and column.pools):
        return _picked(column.names, column.name, wanted)
    place = np.array(column.places)
    alone = (*column.values, *column.names[len(column.declared) :])
    picked = _picked(alone, column.name, wanted)
    place = np.append(place, np.arange(len(column.declared), column.size))
    return np.asarray(np.bincount(place, picked) / np.bincount(place), np.float64)


def _picked(names: tuple[str, ...], column: str, wanted: Any) -> Numbers:
    """For each name, 1 if it is wanted, else 0; None stands for the missing value."""
    several = isinstance(wanted, (list, tuple, set, frozenset, np.ndarray))
    picked = np.zeros(len(names))
    for value in wanted if several else [wanted]:
        picked[_place(names, column, value)] = 1
    return picked


def _place(names: tuple[str, ...], column: str, value: Any) -> int:
    try:
        return names.index(MISSING if value is None else text_of(value))
    except ValueError:
        known = ", ".join(readable(name) for name in names[:12]) + (", ..." if len(names) > 12 else "")
        raise BadInput(f"column {column!r} has no value {readable(value)!r}: choose among {known}") from None


def _in_range(column: Any, wanted: Any) -> Numbers:
    """The share of each bin inside a range, ends included; None leaves an end open. One number is that integer."""
    low, high = _ends(column, wanted)
    starts, stops = spans(column)
    shares = (np.minimum(stops, high) - np.maximum(starts, low)) / (stops - starts)
    return np.concatenate([np.clip(shares, 0, 1), np.zeros(column.size - len(shares))])


def _example(column: Any) -> str:
    if not isinstance(column, Date):
        return "(30, 50) or (30, None), on the command line 30..50 or 30.."
    first, *_, last = PARTS.get(str(column.unit)) or map(written, column.bounds)
    return f"({first!r}, {last!r}) or ({first!r}, None)"


def _shown(column: Any, end: float) -> str:
    """A bound as text."""
    if not isinstance(column, Date):
        return number(end)
    return (
        column.names[int(end - column.cuts[0])] if column.unit in PARTS else written(end, end=end == column.bounds[1])
    )


def _ends(column: Any, wanted: Any) -> tuple[float, float]:
    try:
        low, high = wanted if isinstance(wanted, (tuple, list)) else (wanted, wanted)
        start = -np.inf if low is None else column.ends(low)[0]
        end = np.inf if high is None else column.ends(high)[1]
    except (TypeError, ValueError):
        raise BadInput(f"column {column.name!r} needs a range, such as {_example(column)}") from None
    if start > end:
        wrong = f"column {column.name!r} needs the lower end of a range first: {readable(low)} is above "
        raise BadInput(wrong + readable(high) + (AROUND if _goes_around(column) else ""))
    if start == end and not column.integer:
        raise BadInput(f"column {column.name!r} is not of integers: ask for a range, such as (30, 50)")
    least, most = column.bounds
    if not (start <= most and end >= least):
        declared = f"column {column.name!r} was declared from {_shown(column, least)} to {_shown(column, most)}"
        raise BadInput(f"{declared}: ask for a range (low, high) that meets it")
    return (float(np.ceil(start)), float(np.floor(end)) + 1) if column.integer else (start, end)


def _goes_around(column: Any) -> bool:
    """Whether a column may hold longitudes, which go on at the other end."""
    least, most = column.bounds
    return not isinstance(column, Date) and -180 <= least < -90 and 90 < most <= 180
