"""Forms: how dates are written, as regular expressions. They follow from what is declared; no row comes here.

`moments` reads texts by them, and takes any of them: a wrong one makes dates missing or wrong, each in its own row.
"""

import re
from functools import lru_cache
from typing import NamedTuple

START, END, FRACTION = r"^\s*(?:", r")\s*$", r"(?:[.,]\d+)?"
ZONE = r"(?:Z|UTC|(?P<zs>[+-])(?P<zh>\d\d):?(?P<zm>\d\d)?)"
TIME = rf"[T ](?P<H>\d\d)(?::(?P<M>\d\d)(?::(?P<S>\d\d){FRACTION})?)?\s*{ZONE}?"
ISO = rf"(?P<Y>\d{{4}})(?:-(?P<m>\d\d)(?:-(?P<d>\d\d)(?:{TIME})?)?)?"
DIRECTIVES = {"%Y": r"(?P<Y>\d{4})", "%y": r"(?P<y>\d\d)", "%b": r"(?P<b>[A-Za-z]{3})[a-z]*", "%z": ZONE}
DIRECTIVES |= {f"%{key}": rf"(?P<{key}>\d{{1,2}})" for key in "mdHMI"}
DIRECTIVES |= {"%S": r"(?P<S>\d{1,2})" + FRACTION, "%p": r"(?P<p>[AaPp])\.?[Mm]\.?"}
FIXED = re.compile(r"\(\?P<([YymdHMSI])>\\d(?:\\d|\{4\})\)")  # a part of a form that has nothing but digits
MONTHS = tuple("January February March April May June July August September October November December".split())


class Form(NamedTuple):
    """A regular expression with a named group for each part of a date, and the digits to which a number is padded with
    zeros before it is read; None if no number can be a date."""

    expression: str
    width: int | None


@lru_cache(maxsize=64)
def form_of(format: str | None) -> Form:
    """The form of dates in this format, such as %d/%m/%Y; of ISO 8601 without one."""
    pieces = re.split("(%.?)", format) if format is not None else []
    inside = "".join(DIRECTIVES.get(piece, re.escape(piece.replace("%%", "%"))) for piece in pieces) or ISO
    digits = inside.replace(r"\d{1,2}", r"\d\d")  # one after the other, only their width tells the parts apart
    width = _digits(digits)
    return Form(f"{START}{digits if width else inside}{END}", width or (0 if inside == ISO else None))


def _digits(inside: str) -> int:
    """The number of digits of a format that consists of digits alone, else 0."""
    bare = inside.replace(FRACTION, "")
    return 0 if FIXED.sub("", bare) else sum(4 if name == "Y" else 2 for name in FIXED.findall(bare))
