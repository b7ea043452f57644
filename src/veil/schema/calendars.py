"""The calendar: its units, their names, and how dates are written. All of it is public; no row comes here.

Moments are seconds since 1970; a part of the calendar that recurs, such as a weekday, is a number.
"""

import re
from collections.abc import Sequence

import numpy as np

from ..display import readable
from .forms import DIRECTIVES, MONTHS
from .moments import DAY

UNITS = {"decade": 3652 * DAY, "year": 365 * DAY, "quarter": 90 * DAY, "month": 28 * DAY, "week": 7 * DAY, "day": DAY}
UNITS["hour"] = 3600  # shortest length of each unit, in seconds
MONTHS_OF = {"decade": 120, "year": 12, "quarter": 3, "month": 1}
MOST = 2**16 - 2  # bins of a column
WEEK = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
PARTS = {"month of year": MONTHS, "weekday": WEEK, "hour of day": tuple(map(str, range(24)))}


def check_form(form: str | None) -> None:
    """Raise if a text is not a date format such as %d/%m/%Y."""
    used = [piece for piece in re.split("(%.?)", form or "") if piece.startswith("%") and piece != "%%"]
    if unknown := [piece for piece in used if piece not in DIRECTIVES]:
        raise ValueError(f"format has no {readable(unknown[0])}: it knows {' '.join(DIRECTIVES)}")
    if form is not None and (
        not used or len(set(used)) < len(used) or {"%I", "%p"} & {*used} not in [{"%I", "%p"}, set()]
    ):
        raise ValueError("format needs parts of a date, each once, such as %d/%m/%Y; and %I needs %p")


def numbered(unit: str) -> dict[str, int]:
    """{name: number} of a recurring part of the calendar, in all its spellings: Thursday, thursday, THU, Thurs, 4."""
    first = 0 if unit == "hour of day" else 1
    names = [(i, name[:end]) for i, name in enumerate(PARTS[unit], first) for end in range(min(3, len(name)), 10)]
    return {text: i for i, name in names for text in (str(i), name, name.lower(), name.upper())}


def written(second: float, end: bool = False) -> str:
    """A second in ISO 8601: as a day if it is the first second of one, or (with `end`) the last."""
    moment = np.int64(second).astype("M8[s]")
    return str(moment.astype("M8[D]") if (second + end) % DAY == 0 else moment)


def starts(unit: str, low: float, top: float) -> list[float]:
    """The seconds between `low` and `top` at which a unit of the calendar starts."""
    if (top - low) / UNITS[unit] > MOST:
        raise ValueError(f"{unit} is too short a unit for these bounds: take a longer one")
    ends = np.array([low, top]).astype("M8[s]")
    if unit in MONTHS_OF:
        months = MONTHS_OF[unit]
        first, last = ends.astype("M8[M]").astype(np.int64) // months
        found = (np.arange(first, last + 2) * months).astype("M8[M]").astype("M8[s]").astype(np.int64)
    else:
        monday = 4 * DAY if unit == "week" else 0
        first, last = (ends.astype(np.int64) - monday) // UNITS[unit]
        found = np.arange(first, last + 2) * UNITS[unit] + monday
    return [float(start) for start in found if low < start < top]


def steps(low: float, top: float, bins: int) -> list[float]:
    """The inner edges of bins of equal width, moved to the start of days if there are enough days."""
    step = DAY if top - low >= bins * DAY else 1
    found = np.ceil(np.linspace(low, top, bins + 1)[1:-1] / step) * step
    return [float(edge) for edge in dict.fromkeys(found) if low < edge < top]


def span_names(cuts: Sequence[float]) -> list[str]:
    """The names of bins between these seconds: their first and last day, or second."""
    step, kind = (DAY, "M8[D]") if all(cut % DAY == 0 for cut in cuts) else (1, "M8[s]")
    firsts, lasts = (
        np.array(ends).astype("M8[s]").astype(kind).astype(str) for ends in (cuts[:-1], np.array(cuts[1:]) - step)
    )
    return [first if first == last else f"{first} to {last}" for first, last in zip(firsts, lasts, strict=True)]


def unit_name(unit: str, second: float) -> str:
    """The name of a unit of the calendar: 2010s, 2019, 2019 Q1, 2019-03, 2019-W10, 2019-03-04 or 2019-03-04 14h."""
    moment = np.int64(second).astype("M8[s]").item()
    text = moment.isoformat(" ")
    if unit == "week":
        year, week, _ = moment.isocalendar()
        return f"{year:04}-W{week:02}"
    if unit == "quarter":
        return f"{text[:4]} Q{(moment.month + 2) // 3}"
    return {"decade": f"{text[:3]}0s", "hour": f"{text[:13]}h"}.get(unit) or text[
        : {"year": 4, "month": 7}.get(unit, 10)
    ]
