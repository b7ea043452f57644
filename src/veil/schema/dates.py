"""Date: a column of dates or moments, which are seconds since 1970; how they are read from rows is in `moments`."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_serializer, model_validator

from .calendars import PARTS, check_form, numbered, span_names, starts, steps, unit_name, written
from .columns import Numeric
from .encoding import text_or_none
from .moments import second_of

Unit = Literal["decade", "year", "quarter", "month", "week", "day", "hour", "month of year", "weekday", "hour of day"]


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
        check_form(self.format)
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
        inner = starts(self.unit, low, top) if self.unit else steps(low, top, self.most_bins)
        return (low, *inner, top)

    def _whole_names(self) -> list[str]:
        if self.unit is None:
            return span_names(self.cuts)
        return [*PARTS.get(self.unit, ())] or [unit_name(self.unit, cut) for cut in self.cuts[:-1]]

    @cached_property
    def parts(self) -> dict[str, int]:
        """{name: number} of a recurring part of the calendar; {} for a unit that does not recur."""
        return numbered(self.unit) if self.unit in PARTS else {}

    def ends(self, value: Any) -> tuple[float, float]:
        return span_of(value) if self.unit not in PARTS else part_span(self.unit, value)


def part_span(unit: str, value: Any) -> tuple[float, float]:
    """The number of a recurring part, given by name or number, as both ends of a span."""
    number = numbered(unit).get(text_or_none(value) or "")
    if number is None:
        raise ValueError(f"there is no such {unit}: choose among {', '.join(PARTS[unit])}")
    return float(number), float(number)


def span_of(value: Any) -> tuple[float, float]:
    """The first and last second of a year, month, day or moment that somebody declares or asks for."""
    text = (text_or_none(value) or "").strip()
    month = f"{text}-01" if len(text) == 4 else value  # as values in rows, 0999 and 999 are both no years
    first = second_of(month)
    if np.isnan(first):
        raise ValueError("a date is written as 2019, 2019-03, 2019-03-31 or 2019-03-31T14:00")
    length = len(text)
    if length > 10 or isinstance(value, datetime):
        return first, first
    unit = "D" if length > 7 else "M" if length > 4 else "Y"
    after = (np.int64(first).astype("M8[s]").astype(f"M8[{unit}]") + 1).astype("M8[s]")
    return first, float(after.astype(np.int64)) - 1


def declared_dates(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a declared column, with bounds and missing value turned into numbers."""
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
