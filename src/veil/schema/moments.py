"""Moments: values as seconds since 1970, and what part of the calendar these lie in; total, and row by row.

A moment of a known time zone is taken to UTC, one without is as it stands. Read are the types of dates of Python,
NumPy, pandas, Polars and Arrow, and text as ISO 8601 writes years, months, days or moments, or in a declared form. What
is none of the years 1 to 9999 is missing; what is neither a date nor text is read as its category is written.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .encoding import arrow_of, category_codes, distinct, is_text, text_or_none
from .forms import Form, form_of
from .spelling import BLANK, NUMBER, written_out

DAY, EPOCH = 86_400, date(1970, 1, 1).toordinal()
FIRST, LAST = (date.min.toordinal() - EPOCH) * DAY, (date.max.toordinal() + 1 - EPOCH) * DAY - 1
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
SURE = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])([T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d)?$"
MONTH_OF = {name: month for month, name in enumerate(b"jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
Numbers = npt.NDArray[np.float64]


def reader(form: str | None, unit: str | None, named: Mapping[str, int]) -> Callable[[Any], Numbers]:
    """A function from a block of values to seconds since 1970 or, if parts are named, to the number of a part."""
    read, number_of = partial(seconds, form=own_form(form)), {str(name): int(n) for name, n in named.items()}
    return (lambda block: parts(str(unit), read(block), block, number_of)) if number_of else read


def second_of(value: Any) -> float:
    """The second of a declared value, NaN if it is no date."""
    return float(seconds(np.fromiter([value], object, 1), own_form(None))[0])


@lru_cache(maxsize=64)
def own_form(format: str | None) -> Form:
    """The form of texts in this format, ISO 8601 without one. Whatever expression it is, it reads each text by itself,
    and what it finds is a date or nothing; an expression that cannot be used raises here, before a value is seen."""
    expression, width = form_of(format)
    _read([b""], form := Form(str(expression), None if width is None else min(int(width), 100)))
    return form


def in_digits(text: bytes, width: int | None) -> bytes:
    """A text that is a number, written out and zero-padded to the width of a format of digits alone (or as ISO 8601);
    else the text unchanged. A file reader may have turned 0930 or 2019 into the numbers 930 or 2019.0."""
    number = text.decode("ascii", "replace").strip(BLANK)
    if width is None or not NUMBER.fullmatch(number):
        return text
    whole, point, fraction = written_out(Decimal(number)).partition(".")
    return f"{whole.zfill(width)}{point}{fraction}".encode()


def seconds(block: Any, form: Form) -> Numbers:
    """The second of each value, NaN where it is no date."""
    if isinstance(block, np.ndarray) and block.dtype.kind == "M" and np.datetime_data(block.dtype)[1] != 1:
        block = np.fromiter(block, object, len(block))  # Arrow would take 30 seconds for one
    with suppress(Exception):  # other types go value by value
        array = arrow_of(block)
        if not is_text(array.type):
            return _within(_declared(array))
        if form == own_form(None):
            return _mostly_plain(array, form)
    return _one_by_one(block, form)


def _one_by_one(block: Any, form: Form) -> Numbers:
    """The seconds of a block, computed for each distinct value by itself."""
    values, index = distinct(block)
    found = np.array([*map(_second, values), np.nan])
    places = np.flatnonzero(np.isnan(found[:-1]))
    found[places] = _read([_bytes(values[place]) for place in places], form)
    return np.take(_within(found), index)


def _mostly_plain(array: Any, form: Form) -> Numbers:
    """The seconds of texts, parsed by Arrow where they are ISO 8601 days and moments beyond doubt."""
    plain = pc.match_substring_regex(array, SURE).fill_null(False)
    found = _declared(pc.if_else(plain, array, None).cast(pa.string()).cast(pa.timestamp("s")))
    others = np.flatnonzero(np.isnan(found))
    found[others] = _one_by_one(array.take(pa.array(others)), form) if len(others) else ()
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
    """The second of a date or moment of any library; NaN for text and anything else."""
    try:
        if not isinstance(value, (date, np.datetime64, pa.Scalar)):
            return np.nan
        if isinstance(value, pa.Scalar):
            return float(_declared(pa.array([value], value.type))[0])
        if isinstance(value, np.datetime64):  # of some units, what is far off wraps around
            moment = value.astype("M8[s]")
            return float(moment.astype(np.int64)) if moment.astype(value.dtype) == value else np.nan
        days = (int(value.toordinal()) - EPOCH) * DAY
        if not isinstance(value, datetime):
            return float(days)
        zone = (value.utcoffset() or timedelta(0)) // timedelta(seconds=1)
        return float(days + value.hour * 3600 + value.minute * 60 + value.second - zone)
    except Exception:
        return np.nan


def _bytes(value: Any) -> bytes:
    """The text of a value as bytes, empty if it has none or is too long for a date."""
    text = value if type(value) is bytes else (text_or_none(value) or "").encode("utf-8", "replace")
    return text if len(text) < 100 else b""


def _read(texts: list[bytes], form: Form) -> Numbers:
    """The seconds of texts, all in one regular expression search; each depends on its own text alone."""
    plain = pa.array([in_digits(text, form.width) for text in texts], pa.binary())
    found = pc.extract_regex(plain, form.expression)
    fields = {field.name: found.field(field.name).fill_null(b"") for field in found.type}
    got = {name: _whole(fields, name, 0) for name in "zh zm H M S I".split()}
    year = _whole(fields, "Y", 1970) if "y" not in fields else (_whole(fields, "y", 70) + 31) % 100 + 1969
    names = [MONTH_OF.get(name.lower(), 0) for name in fields["b"].to_pylist()] if "b" in fields else None
    month, day = _whole(fields, "m", 1) if names is None else np.array(names, np.int64), _whole(fields, "d", 1)
    start = (year * 12 + month - 1 - 1970 * 12).astype("M8[M]")
    days = start.astype("M8[D]") + (day - 1)
    hour = got["H"] if "I" not in fields else got["I"] % 12 + 12 * _is(fields, "p", b"p", b"P")
    zone = (got["zh"] * 60 + got["zm"]) * 60 * np.where(_is(fields, "zs", b"-"), -1, 1)
    fine = (year > 0) & (month > 0) & (month < 13) & (day > 0) & (days.astype("M8[M]") == start) & (got["zm"] < 60)
    fine &= (hour < 24) & (got["M"] < 60) & (got["S"] < 60) & ("I" not in fields or (got["I"] > 0) & (got["I"] < 13))
    second = days.astype(np.int64) * DAY + hour * 3600 + got["M"] * 60 + got["S"] - zone
    return np.where(fine & found.is_valid().to_numpy(zero_copy_only=False), second, np.nan)


def _whole(fields: dict[str, Any], name: str, otherwise: int) -> npt.NDArray[np.int64]:
    """The integers of at most four digits in a named field of the matches, `otherwise` where a text has none."""
    if name not in fields:
        return np.full(len(next(iter(fields.values()))), otherwise, np.int64)
    digits = pc.match_substring_regex(fields[name], "^[0-9]{1,4}$")
    return np.asarray(pc.if_else(digits, fields[name], str(otherwise).encode()).cast(pa.string()).cast(pa.int64()))


def _is(fields: dict[str, Any], name: str, *letters: bytes) -> Any:
    """Whether a named field of each match is one of these letters."""
    return np.asarray(pc.is_in(fields[name], pa.array(letters, pa.binary()))) if name in fields else False


def parts(unit: str, found: Numbers, block: Any, number_of: Mapping[str, int]) -> Numbers:
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
    named = category_codes(block, number_of, -1)
    return np.where(~np.isnan(found), part, np.where(named < 0, np.nan, named))
