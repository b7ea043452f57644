"""The calendar: its units, what they are called, and how dates are written. All of it is public; no row comes here.

Moments are seconds since 1970; what comes again and again, such as a weekday, is a number.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

import numpy as np

from ..display import readable
from .spelling import BLANK, NUMBER, written_out

DAY = 86_400
UNITS = {"decade": 3652 * DAY, "year": 365 * DAY, "quarter": 90 * DAY, "month": 28 * DAY, "week": 7 * DAY, "day": DAY}
UNITS["hour"] = 3600  # seconds that a unit has at least
MONTHS_OF = {"decade": 120, "year": 12, "quarter": 3, "month": 1}
MOST = 2**16 - 2  # bins of a column
MONTHS = tuple("January February March April May June July August September October November December".split())
WEEK = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
PARTS = {"month of year": MONTHS, "weekday": WEEK, "hour of day": tuple(map(str, range(24)))}
ZONE = r"(?:Z|UTC|(?P<zs>[+-])(?P<zh>\d\d):?(?P<zm>\d\d)?)"
TIME = rf"[T ](?P<H>\d\d)(?::(?P<M>\d\d)(?::(?P<S>\d\d)(?:[.,]\d+)?)?)?\s*{ZONE}?"
ISO = rf"(?P<Y>\d{{4}})(?:-(?P<m>\d\d)(?:-(?P<d>\d\d)(?:{TIME})?)?)?"
DIRECTIVES = {"%Y": r"(?P<Y>\d{4})", "%y": r"(?P<y>\d\d)", "%b": r"(?P<b>[A-Za-z]{3})[a-z]*", "%z": ZONE}
DIRECTIVES |= {f"%{key}": rf"(?P<{key}>\d{{1,2}})" for key in "mdHMI"} | {"%S": r"(?P<S>\d{1,2})(?:[.,]\d+)?"}
START, END = r"^\s*(?:", r")\s*$"
FRACTION = r"(?:[.,]\d+)?"
FIXED = re.compile(r"\(\?P<([YymdHMSI])>\\d(?:\\d|\{4\})\)")  # a part of a form that has nothing but digits
DIRECTIVES["%p"] = r"(?P<p>[AaPp])\.?[Mm]\.?"


def pattern_of(form: str | None) -> str:
    """The regular expression of dates in this form, such as %d/%m/%Y; without one, of ISO 8601."""
    pieces = re.split("(%.?)", form) if form is not None else []
    used = [piece for piece in pieces if piece.startswith("%") and piece != "%%"]
    if unknown := [piece for piece in used if piece not in DIRECTIVES]:
        raise ValueError(f"format has no {readable(unknown[0])}: it knows {' '.join(DIRECTIVES)}")
    if form is not None and (
        not used or len(set(used)) < len(used) or {"%I", "%p"} & {*used} not in [{"%I", "%p"}, set()]
    ):
        raise ValueError("format needs parts of a date, each once, such as %d/%m/%Y; and %I needs %p")
    inside = "".join(DIRECTIVES.get(piece, re.escape(piece.replace("%%", "%"))) for piece in pieces) if used else ISO
    digits = inside.replace(r"\d{1,2}", r"\d\d")  # one after the other, only their width tells the parts apart
    return f"{START}{digits if _digits(digits) else inside}{END}"


@lru_cache(maxsize=64)
def _digits(pattern: str) -> int:
    """How many digits a form has that has nothing else, 0 if it does."""
    bare = pattern.removeprefix(START).removesuffix(END).replace(FRACTION, "")
    return 0 if FIXED.sub("", bare) else sum(4 if name == "Y" else 2 for name in FIXED.findall(bare))


def in_digits(text: bytes, pattern: str) -> bytes:
    """A text that is a number as it is written out, with the zeros in front that its form has, if all of that is digits
    or ISO 8601: a reader that takes 0930 or 2019.0 for a number keeps no more of it than that."""
    width, number = _digits(pattern), text.decode("ascii", "replace").strip(BLANK)
    if not (width or pattern == f"{START}{ISO}{END}") or not NUMBER.fullmatch(number):
        return text
    whole, point, fraction = written_out(Decimal(number)).partition(".")
    return f"{whole.zfill(width)}{point}{fraction}".encode()


def numbered(unit: str) -> dict[str, int]:
    """The number of each part of its kind, by that number and by its name: Thursday, thursday, THU, Thurs, 4."""
    first = 0 if unit == "hour of day" else 1
    names = [(i, name[:end]) for i, name in enumerate(PARTS[unit], first) for end in range(min(3, len(name)), 10)]
    return {text: i for i, name in names for text in (str(i), name, name.lower(), name.upper())}


def written(second: float, end: bool = False) -> str:
    """A second in ISO 8601: a day if it is the first of one, or the last if it is an end."""
    moment = np.int64(second).astype("M8[s]")
    return str(moment.astype("M8[D]") if (second + end) % DAY == 0 else moment)


def starts(unit: str, low: float, top: float) -> list[float]:
    """Where the units of the calendar start that lie between two seconds."""
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
    """The edges between bins of equal width, at the start of days if there are enough of them."""
    step = DAY if top - low >= bins * DAY else 1
    found = np.ceil(np.linspace(low, top, bins + 1)[1:-1] / step) * step
    return [float(edge) for edge in dict.fromkeys(found) if low < edge < top]


def span_names(cuts: Sequence[float]) -> list[str]:
    """What bins between seconds are called: by their first and last day, or second."""
    step, kind = (DAY, "M8[D]") if all(cut % DAY == 0 for cut in cuts) else (1, "M8[s]")
    firsts, lasts = (
        np.array(ends).astype("M8[s]").astype(kind).astype(str) for ends in (cuts[:-1], np.array(cuts[1:]) - step)
    )
    return [first if first == last else f"{first} to {last}" for first, last in zip(firsts, lasts, strict=True)]


def unit_name(unit: str, second: float) -> str:
    """What a unit of the calendar is called: 2010s, 2019, 2019 Q1, 2019-03, 2019-W10, 2019-03-04 or 2019-03-04 14h."""
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
