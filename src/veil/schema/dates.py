"""Date: a column of dates or moments, which are seconds since 1970, total and row by row.

A moment of a known time zone is taken to UTC, one without is as it stands. Read are the types of dates of Python,
NumPy, pandas, Polars and Arrow, and text: years, months, days or moments as ISO 8601 writes them, or a declared form.
Whatever is none of the years 1 to 9999 is missing. What is neither a date nor text is read as its category is written.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_serializer, model_validator

from .calendars import (
    DAY,
    MONTHS,
    PARTS,
    in_digits,
    numbered,
    pattern_of,
    span_names,
    starts,
    steps,
    unit_name,
    written,
)
from .columns import DEFAULT_BINS, Numeric
from .encoding import PLAIN, _arrow, _distinct, _text, category_codes

EPOCH = date(1970, 1, 1).toordinal()
FIRST, LAST = (date.min.toordinal() - EPOCH) * DAY, (date.max.toordinal() + 1 - EPOCH) * DAY - 1
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
SURE = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])([T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d)?$"
Unit = Literal["decade", "year", "quarter", "month", "week", "day", "hour", "month of year", "weekday", "hour of day"]
Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


class Date(Numeric):
    """A column of dates or moments within bounds, cut into units of the calendar, or into `bins` of equal width.

    As numbers they are seconds since 1970. A `unit` that comes again and again, such as the weekday, needs no bounds.
    `format` says how texts are written, such as %d/%m/%Y; without it they are as ISO 8601 has them.
    """

    kind: Literal["date"] = "date"  # type: ignore[assignment]
    integer: Literal[True] = True
    unit: Unit | None = None
    format: str | None = Field(None, max_length=100)

    @model_validator(mode="before")
    @classmethod
    def _dates_as_numbers(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        if odd := [key for key in ("edges", "scale") if fields.get(key) is not None]:
            raise ValueError(f"{odd[0]} is not a known key of dates: they have a unit, or bins")
        if fields.get("unit") is not None and fields.get("bins") is not None:
            raise ValueError("give either a unit or bins")
        return {**fields, **declared_dates(fields)}

    @model_validator(mode="after")
    def _check_format(self) -> "Date":
        pattern_of(self.format)
        return self

    @model_serializer(mode="wrap")
    def _as_declared(self, write: Any) -> dict[str, Any]:
        fields: dict[str, Any] = write(self)
        if self.missing is not None and "missing" in fields:
            place = int(self.missing - self.cuts[0])
            fields["missing"] = self.names[place] if self.unit in PARTS else written(self.missing)
        if "bounds" in fields:
            fields["bounds"] = (written(self.bounds[0]), written(self.bounds[1], end=True))
        return {key: value for key, value in fields.items() if key != "bounds" or self.unit not in PARTS}

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        low, top = self.bounds[0], self.bounds[1] + 1
        if self.unit in PARTS:
            return tuple(float(edge) for edge in np.arange(low, top + 1))
        inner = starts(self.unit, low, top) if self.unit else steps(low, top, self.bins or DEFAULT_BINS)
        return (low, *inner, top)

    def _whole_names(self) -> list[str]:
        if self.unit is None:
            return span_names(self.cuts)
        return [*PARTS.get(self.unit, ())] or [unit_name(self.unit, cut) for cut in self.cuts[:-1]]

    def read(self, block: Any) -> npt.NDArray[np.float64]:
        found = seconds(block, pattern_of(self.format))
        return found if self.unit not in PARTS else parts(self.unit, found, block)

    def ends(self, value: Any) -> tuple[float, float]:
        return span_of(value) if self.unit not in PARTS else part_span(self.unit, value)


def seconds(block: Any, pattern: str) -> Numbers:
    """The second of each value, not a number where there is none."""
    if isinstance(block, np.ndarray) and block.dtype.kind == "M" and np.datetime_data(block.dtype)[1] != 1:
        block = np.fromiter(block, object, len(block))  # Arrow would take 30 seconds for one
    with suppress(Exception):  # other types go value by value
        array = _arrow(block)
        is_text = any(is_kind(array.type) for is_kind in PLAIN[:4])  # the kinds of text
        return _mostly_plain(array, pattern) if is_text else _within(_declared(array))
    return _one_by_one(block, pattern)


def _one_by_one(block: Any, pattern: str) -> Numbers:
    """The seconds of values that differ, each by itself."""
    values, index = _distinct(block)
    found = np.array([*map(_second, values), np.nan])
    places = np.flatnonzero(np.isnan(found[:-1]))
    found[places] = _read([_bytes(values[place]) for place in places], pattern)
    return np.take(_within(found), index)


def _mostly_plain(array: Any, pattern: str) -> Numbers:
    """The seconds of texts, by Arrow where these are days and moments beyond doubt; raises for another form."""
    if pattern != pattern_of(None):
        raise ValueError
    plain = pc.match_substring_regex(array, SURE).fill_null(False)
    found = _declared(pc.if_else(plain, array, None).cast(pa.string()).cast(pa.timestamp("s")))
    others = np.flatnonzero(np.isnan(found))
    found[others] = _one_by_one(array.take(pa.array(others)), pattern) if len(others) else ()
    return _within(found)


def _within(found: Numbers) -> Numbers:
    return np.where((found >= FIRST) & (found <= LAST), found, np.nan)


def _declared(array: Any) -> Numbers:
    """The seconds of an Arrow array of dates or moments; raises for any other type."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_date32(kind):
        whole, scale, per = array.cast(pa.int32()).cast(pa.int64()), DAY, 1
    elif pa.types.is_date64(kind) or pa.types.is_timestamp(kind):
        whole, scale, per = array.cast(pa.int64()), 1, PER_SECOND["ms" if pa.types.is_date64(kind) else kind.unit]
    else:
        raise TypeError
    known = whole.fill_null(0).to_numpy(zero_copy_only=False) // per
    return np.where(array.is_null().to_numpy(zero_copy_only=False), np.nan, known.astype(np.float64) * scale)


def _second(value: Any) -> float:
    """The second of a date or moment of any library; not a number for text and anything else."""
    if type(value) in (bytes, str):
        return np.nan
    try:
        if isinstance(value, pa.Scalar):
            return float(_declared(pa.array([value], value.type))[0])
        if isinstance(value, np.datetime64):  # of some units, what is far off wraps around
            moment = value.astype("M8[s]")
            return float(moment.astype(np.int64)) if moment.astype(value.dtype) == value else np.nan
        if not isinstance(value, date):
            return np.nan
        days = (int(value.toordinal()) - EPOCH) * DAY
        if not isinstance(value, datetime):
            return float(days)
        zone = value.utcoffset() or timedelta(0)
        return float(days + value.hour * 3600 + value.minute * 60 + value.second - zone // timedelta(seconds=1))
    except Exception:
        return np.nan


def _bytes(value: Any) -> bytes:
    """The text of a value, empty if it has none or is too long for a date."""
    text = value if type(value) is bytes else (_text(value) or "").encode("utf-8", "replace")
    return text if len(text) < 100 else b""


def _read(texts: list[bytes], pattern: str) -> Numbers:
    """The seconds of texts, by one look at all of them; every text by itself."""
    found = pc.extract_regex(pa.array([in_digits(text, pattern) for text in texts], pa.binary()), pattern)
    fields = {field.name: found.field(field.name).fill_null(b"") for field in found.type}
    got = {name: _whole(fields, name, 0) for name in "zh zm H M S I".split()}
    year = _whole(fields, "Y", 1970) if "y" not in fields else (_whole(fields, "y", 70) + 31) % 100 + 1969
    month, day = _named_month(fields) if "b" in fields else _whole(fields, "m", 1), _whole(fields, "d", 1)
    start = (year * 12 + month - 1 - 1970 * 12).astype("M8[M]")
    days = start.astype("M8[D]") + (day - 1)
    hour = got["H"] if "I" not in fields else got["I"] % 12 + 12 * _is(fields, "p", "pP")
    zone = (got["zh"] * 60 + got["zm"]) * 60 * np.where(_is(fields, "zs", "-"), -1, 1)
    fine = (year > 0) & (month > 0) & (month < 13) & (day > 0) & (days.astype("M8[M]") == start) & (got["zm"] < 60)
    fine &= (hour < 24) & (got["M"] < 60) & (got["S"] < 60) & ("I" not in fields or (got["I"] > 0) & (got["I"] < 13))
    second = days.astype(np.int64) * DAY + hour * 3600 + got["M"] * 60 + got["S"] - zone
    return np.where(fine & found.is_valid().to_numpy(zero_copy_only=False), second, np.nan)


def _whole(fields: dict[str, Any], name: str, otherwise: int) -> Whole:
    """The numbers in a field of the texts, another where a text has none."""
    if name not in fields:
        return np.full(len(next(iter(fields.values()))), otherwise, np.int64)
    digits = fields[name].cast(pa.string())
    return np.asarray(pc.if_else(pc.equal(digits, ""), str(otherwise), digits).cast(pa.int64()))


def _named_month(fields: dict[str, Any]) -> Whole:
    """The number of the month that starts with three letters, 0 for none."""
    known = pa.array([month[:3].lower() for month in MONTHS])
    return np.asarray(pc.index_in(pc.utf8_lower(fields["b"].cast(pa.string())), known).fill_null(-1), np.int64) + 1


def _is(fields: dict[str, Any], name: str, letters: str) -> Any:
    """Whether a field of the texts is one of these letters."""
    return np.asarray(pc.is_in(fields[name].cast(pa.string()), pa.array([*letters]))) if name in fields else False


def parts(unit: str, found: Numbers, block: Any) -> Numbers:
    """The number of the month (from 1), the weekday (Monday is 1) or the hour of each second; or the one named."""
    known = np.where(np.isnan(found), 0, found).astype("M8[s]")
    if unit == "month of year":
        part = known.astype("M8[M]").astype(np.int64) % 12 + 1
    elif unit == "weekday":
        part = (known.astype("M8[D]").astype(np.int64) + 3) % 7 + 1
    else:
        part = known.astype(np.int64) // 3600 % 24
    if not np.isnan(found).any():
        return part.astype(np.float64)
    named = category_codes(block, numbered(unit), -1)
    return np.where(~np.isnan(found), part, np.where(named < 0, np.nan, named))


def part_span(unit: str, value: Any) -> tuple[float, float]:
    """The number of a part by its name or number, twice."""
    number = numbered(unit).get(_text(value) or "")
    if number is None:
        raise ValueError(f"there is no such {unit}: choose among {', '.join(PARTS[unit])}")
    return float(number), float(number)


def span_of(value: Any) -> tuple[float, float]:
    """The first and the last second of a year, month, day or moment as somebody declares or asks for it."""
    text = (_text(value) or "").strip()
    month = f"{text}-01" if len(text) == 4 else value  # as values in rows, 0999 and 999 are both no years
    first = float(seconds(np.fromiter([month], object, 1), pattern_of(None))[0])
    if np.isnan(first):
        raise ValueError("a date is written as 2019, 2019-03, 2019-03-31 or 2019-03-31T14:00")
    length = len(text)
    if length > 10 or isinstance(value, datetime):
        return first, first
    unit = "D" if length > 7 else "M" if length > 4 else "Y"
    after = (np.int64(first).astype("M8[s]").astype(f"M8[{unit}]") + 1).astype("M8[s]")
    return first, float(after.astype(np.int64)) - 1


def declared_dates(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The bounds and the missing value of a declared column as numbers."""
    unit, found = str(fields.get("unit")), dict[str, Any]()
    if unit in PARTS:
        if "bounds" in fields:
            raise ValueError(f"a {unit} needs no bounds")
        found["bounds"] = (min(numbered(unit).values()), max(numbered(unit).values()))
    elif isinstance(fields.get("bounds"), (list, tuple)) and len(fields["bounds"]) == 2:
        try:
            found["bounds"] = span_of(fields["bounds"][0])[0], span_of(fields["bounds"][1])[1]
        except ValueError as problem:
            raise ValueError(f"bounds must be two dates: {problem}") from None
        if found["bounds"][0] > found["bounds"][1]:
            raise ValueError("bounds must be two dates, the earlier one first")
    if fields.get("missing") is not None:
        found["missing"] = (part_span(unit, fields["missing"]) if unit in PARTS else span_of(fields["missing"]))[0]
    return found
