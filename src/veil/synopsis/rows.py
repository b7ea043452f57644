"""Synthetic rows: as many for each cell as were counted, spread evenly over what the cell can hold.

Rows are drawn from released counts, so drawing them costs nothing, and ordinary random numbers will do.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import BadInput
from ..kernel import Release, SparseCounts
from ..questions import Axis, axis
from ..schema import Categorical, Date, Numeric, Schema, Text
from .cells import digits, sizes
from .domain import dates, declared_values, spans, spread

MOST_ROWS = 1_000_000_000
TOO_MANY = "the released counts add up to more than a billion rows: say how many with rows=..."
STEPS = 10_000  # that numbers drawn from one bin can have
WIDE, BESIDE = 8, 4  # times as wide as the next bin is a bin that is not drawn from evenly; bins that show how crowded
EVEN = 64  # places in a bin by which the mean of what is drawn from it is found
LARGEST = 2**53  # whole numbers from here on are not exact in the bounds
Numbers = npt.NDArray[np.float64]
Drawn = tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]  # values, and which are missing (None: none)


def draw_columns(
    schema: Schema,
    release: Release[Any],
    rows: int | None,
    random_state: Any,
    values: str,
    missing: bool,
    all_columns: bool,
) -> dict[str, Drawn]:
    """The columns of synthetic rows by name, in the order of the schema."""
    if values not in ("uniform", "midpoint"):
        raise BadInput('values must be "uniform" or "midpoint"')
    chance = np.random.default_rng(random_state)
    *places, labels = draw_cells(release, number_of(rows), chance, [] if missing else _known(schema, release))
    drawn: dict[str, Drawn] = {}
    axes = {part.column: (part, place) for part, place in zip(release.question.axes, places, strict=True)}
    for column in schema.column:
        if column.name == schema.label and release.classes == schema.classes:
            drawn[column.name] = declared_values(schema.classes)[labels], None
        elif column.name in axes:
            drawn[column.name] = draw_group(column, *axes[column.name], chance, values)
        elif all_columns:
            drawn[column.name] = _unknown(column, len(labels), chance, values)
    return drawn


def draw_from_cells(
    schema: Schema,
    parts: Sequence[Axis],
    table: npt.NDArray[np.float64],
    rows: int | None,
    random_state: Any,
    values: str,
) -> dict[str, Drawn]:
    """The columns of synthetic rows, drawn by a table of estimated rows with one axis for each of these parts."""
    if values not in ("uniform", "midpoint"):
        raise BadInput('values must be "uniform" or "midpoint"')
    chance, estimates = np.random.default_rng(random_state), np.maximum(table, 0).ravel()
    total = estimates.sum()
    if (asked := number_of(rows)) is None and total > MOST_ROWS:
        raise BadInput(TOO_MANY)
    many = round(total) if asked is None else asked
    shares = estimates / total if total else np.full(len(estimates), 1 / len(estimates))
    cells = np.repeat(np.arange(len(shares)), chance.multinomial(many, shares))
    chance.shuffle(cells)
    places = np.unravel_index(cells, table.shape)
    columns = zip(schema.features, parts, places, strict=True)
    return {column.name: draw_group(column, part, place, chance, values) for column, part, place in columns}


def number_of(rows: int | None) -> int | None:
    if rows is not None and (not isinstance(rows, (int, np.integer)) or not 0 <= rows <= MOST_ROWS):
        raise BadInput(f"rows must be a whole number from 0 to {MOST_ROWS:,}")
    return rows


def _known(schema: Schema, release: Release[Any]) -> list[npt.NDArray[np.bool_]]:
    """For each axis a mask of the groups that hold more than missing values."""
    found = []
    for part in release.question.axes:
        column: Any = schema.get(part.column)
        declared = np.arange(column.size) < column.size - (column.missing is None)
        found.append(np.bincount(part.groups, declared) > 0)
    return found


def draw_cells(
    release: Release[Any], rows: int | None, chance: np.random.Generator, known: Sequence[npt.NDArray[np.bool_]]
) -> list[npt.NDArray[Any]]:
    """Index on each axis, and class, of each synthetic row, in random order; only groups that `known` marks."""
    codes, counts, shape = *_positive(release), sizes(release)
    places = digits(codes, shape)
    for allowed, place in zip(known, places, strict=False):
        counts = counts * allowed[place]
    whole = counts.sum(dtype=np.float64)
    if rows is not None and not whole:  # nothing stood out: all cells are alike
        free = [*map(np.flatnonzero, known), *map(np.arange, shape[len(known) :])]
        return [chance.choice(part, rows) for part in free]
    if rows is None and whole > MOST_ROWS:
        raise BadInput(TOO_MANY)
    times = counts if rows is None else chance.multinomial(rows, counts / whole)
    picked = np.repeat(np.arange(len(codes)), times)
    chance.shuffle(picked)
    return [_narrow(place, size)[picked] for place, size in zip(places, shape, strict=True)]


def _positive(release: Release[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The cells (codes cell * classes + class) with counts above zero, and these counts."""
    if isinstance(release.value, SparseCounts):
        return release.value.codes, release.value.counts
    table = np.asarray(release.value).ravel()
    codes = np.flatnonzero(table > 0)
    return codes, table[codes]


def _narrow(place: npt.NDArray[np.int64], size: int) -> npt.NDArray[Any]:
    return place.astype(np.min_scalar_type(size))


def _unknown(column: Any, rows: int, chance: np.random.Generator, values: str) -> Drawn:
    """A column that was not counted: uniform draws from its declared domain; nothing for free text."""
    if isinstance(column, Text):
        return np.full(rows, None), np.ones(rows, np.bool_)
    return draw_group(column, axis(column, level=0).axes[0], np.zeros(rows, np.uint8), chance, values)


def draw_group(
    column: Any,
    part: Axis,
    groups: npt.NDArray[Any],
    chance: np.random.Generator,
    values: str,
    counts: Numbers | None = None,
) -> Drawn:
    """A value for each row, drawn from its group: of numbers evenly from within a bin, but from a wide bin beside
    crowded narrow ones mostly near these, if the rows of all groups are given as `counts`."""
    if isinstance(column, Numeric) and values == "midpoint":
        return _typed(column, _midpoints(column, part)[groups])
    codes = _members(column, part, groups, chance)
    if isinstance(column, Categorical):
        missing, names = codes == len(column.declared), declared_values(column.values)
        drawn = names[_values(column, np.where(missing, 0, codes), chance)]
        return drawn, (missing if missing.any() else None)
    lows, highs = (np.append(ends, np.nan) for ends in spans(column))
    width = (highs - lows)[codes]
    inside = chance.random(len(codes))
    inside = (inside if counts is None else _bent(column, part, counts, codes, inside)) * width
    drawn = lows[codes] + (np.floor(inside) if column.integer else inside)
    drawn = drawn if column.integer else _shortened(drawn, lows[codes], width)
    return _typed(column, np.minimum(drawn, np.nextafter(highs, lows)[codes]))


def _bent(column: Numeric, part: Axis, counts: Numbers, codes: npt.NDArray[Any], even: Numbers) -> Numbers:
    """Places within bins, from 0 to 1, from even ones: in a wide bin beside crowded ones rows get fewer from that side
    on, at the rate at which they begin as densely as those are, and there are as many as were counted."""
    lows, highs = spans(column)
    widths, rows = highs - lows, (counts[list(part.groups)] * spread(part, column))[: len(lows)]
    lengths = np.full((2, column.size), np.inf)  # in which rows get fewer by a factor of e, in widths of the bin
    for side, step in enumerate((-1, 1)):
        for code in np.flatnonzero(rows):
            near = code + step * np.arange(1, BESIDE + 1)
            near = near[(near >= 0) & (near < len(rows))]
            if len(near) and widths[code] >= WIDE * widths[near[0]] and rows[near].sum():
                lengths[side, code] = rows[code] / widths[code] / (rows[near].sum() / widths[near].sum())
    length, fallen = lengths.min(axis=0)[codes], even.copy()
    bent = length < 1
    fallen[bent] = -length[bent] * np.log1p(-even[bent] * -np.expm1(-1 / length[bent]))
    return np.where(bent & (lengths[1] < lengths[0])[codes], 1 - fallen, fallen)


def group_means(column: Numeric, part: Axis, counts: Numbers) -> Numbers:
    """The mean of the numbers that are drawn for each group, of which there are so many rows; 0 for missing values."""
    lows, highs = spans(column)
    codes, even = np.arange(len(lows)), (np.arange(EVEN) + 0.5) / EVEN
    places = [_bent(column, part, counts, codes, np.full(len(codes), place)) for place in even]
    means = np.append(lows + (highs - lows) * np.mean(places, axis=0), 0.0)[: column.size]
    return np.asarray(np.bincount(part.groups, means * spread(part, column)), np.float64)


def _shortened(x: Numbers, low: Numbers, width: Numbers) -> Numbers:
    """Numbers cut to so many digits as leave `STEPS` of them or more in a bin: all others would say nothing."""
    with np.errstate(all="ignore"):
        places = np.floor(np.log10(width / STEPS))
        unit = 10.0 ** np.abs(places)
        cut = np.where(places < 0, np.floor(x * unit) / unit, np.floor(x / unit) * unit)
        next_up = np.where(places < 0, np.ceil(low * unit) / unit, np.ceil(low / unit) * unit)
        return np.where(np.abs(places) < 300, np.maximum(cut, next_up), x)


def _members(column: Any, part: Axis, groups: npt.NDArray[Any], chance: np.random.Generator) -> npt.NDArray[Any]:
    """A code for each row, drawn uniformly from those of its group."""
    codes = np.flatnonzero(spread(part, column))
    codes = codes[np.argsort(np.array(part.groups)[codes], kind="stable")]
    many = np.bincount(np.array(part.groups)[codes])
    first = np.cumsum(many) - many
    if (many == 1).all():
        return np.asarray(_narrow(codes, column.size)[groups])
    return np.asarray(codes[first[groups] + (chance.random(len(groups)) * many[groups]).astype(np.int64)])


def _values(column: Categorical, codes: npt.NDArray[Any], chance: np.random.Generator) -> npt.NDArray[Any]:
    """The place among the declared values for each code; of those in a pool, one drawn uniformly."""
    if not column.pools:
        return codes
    place = np.array(column.places)
    many = np.bincount(place)
    first = np.cumsum(many) - many
    drawn = first[codes] + (chance.random(len(codes)) * many[codes]).astype(np.int64)
    return np.asarray(np.argsort(place, kind="stable")[drawn])


def _midpoints(column: Numeric, part: Axis) -> npt.NDArray[np.float64]:
    """The mean of the values that would be drawn for each group; NaN for missing values."""
    lows, highs = spans(column)
    middles = np.append((lows + highs - column.integer) / 2, np.nan)[: column.size]
    shares = spread(part, column)
    known = np.where(shares > 0, middles, 0) * shares
    means = np.asarray(np.bincount(part.groups, known), np.float64)
    return np.floor(means + 0.5) if column.integer else means


def _typed(column: Numeric, x: npt.NDArray[np.float64]) -> Drawn:
    """Numbers in the column's type: integers if exact, dates as declared; and a mask of missing ones."""
    missing = np.isnan(x)
    if isinstance(column, Date):
        return dates(
            column, np.where(missing, column.bounds[0], x).astype(np.int64)
        ), missing if missing.any() else None
    if column.integer and max(map(abs, column.bounds)) < LARGEST:
        x = np.where(missing, 0, x).astype(np.int64)
    return x, missing if missing.any() else None


def as_arrow(columns: dict[str, Drawn]) -> pa.Table:
    """The columns as an Arrow table; missing values are null."""
    kinds = {name: pa.string() if values.dtype == object else None for name, (values, _) in columns.items()}
    return pa.table({name: pa.array(values, kinds[name], mask=gaps) for name, (values, gaps) in columns.items()})


def as_frame(columns: dict[str, Drawn]) -> Any:
    """The columns as a pandas data frame, or as an Arrow table if there is no pandas."""
    try:
        import pandas
    except ImportError:
        return as_arrow(columns)
    return pandas.DataFrame({name: _with_gaps(*drawn) for name, drawn in columns.items()})


def _with_gaps(values: npt.NDArray[Any], gaps: npt.NDArray[np.bool_] | None) -> npt.NDArray[Any]:
    """Values as pandas has them: a missing number is NaN, any other missing value None."""
    if gaps is None:
        return values
    if values.dtype.kind == "M":
        return np.where(gaps, np.datetime64("NaT"), values)
    if values.dtype.kind in "if":
        return np.where(gaps, np.nan, values)
    found = values.astype(object)
    found[gaps] = None
    return found
