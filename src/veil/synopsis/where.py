"""Conditions as people type them, such as "age in 30..50 and sex = Female", as what `query` takes."""

import re
from collections.abc import Iterable
from typing import Any

from ..display import readable
from ..errors import BadInput

SIGN = r"\s*(?:(?P<sign>>=|<=|=)|\s+in\s)\s*"
EXAMPLE = "write a condition as 'age in 30..50', 'age >= 30', 'sex = Female' or 'sex in Female, Male'"


def where(texts: Iterable[str], columns: Iterable[str] = ()) -> dict[str, Any]:
    """The box that conditions describe together: {column: a range, a value or a list of values}.

    The names of `columns` are known to be whole, whatever words are in them; a value may have the word "and" in it.
    """
    found: dict[str, Any] = {}
    known = "|".join(map(re.escape, sorted(columns, key=len, reverse=True))) or "(?!)"  # of nothing: never
    condition = re.compile(rf"\s*(?P<name>{known}|.+?){SIGN}(?P<value>.+?)\s*", re.DOTALL)
    between = re.compile(rf"\s+and\s+(?=(?:{known}|(?:(?!\s+and\s).)+?)\s*(?:[<>]?=|\s+in\s))", re.DOTALL)
    for text in [part for joined in texts for part in between.split(joined)]:
        match = condition.fullmatch(text)
        if match is None:
            raise BadInput(f"{readable(text)!r} is no condition: {EXAMPLE}")
        wish = _wanted(match["sign"], match["value"])
        found[match["name"]] = _both(found[match["name"]], wish, match["name"]) if match["name"] in found else wish
    return found


def _both(one: Any, other: Any, name: str) -> Any:
    """A range from two that are open at different ends; all other pairs are refused."""
    ends = [*zip(one, other, strict=True)] if isinstance(one, tuple) and isinstance(other, tuple) else []
    if not ends or not all(None in pair for pair in ends):
        raise BadInput(f"there are two conditions on {readable(name)!r}: give one, such as 'age in 30..50'")
    low, high = (pair[0] if pair[1] is None else pair[1] for pair in ends)
    return low, high


def _wanted(sign: str | None, value: str) -> Any:
    if sign in (">=", "<="):
        return (value, None) if sign == ">=" else (None, value)
    return value if sign == "=" else wanted(value)


def wanted(text: str) -> Any:
    """What is wanted of one column: "30..50" is a range, which may be open, "a, b" a list of values."""
    if ".." in text:
        low, _, high = text.partition("..")
        return low.strip() or None, high.strip() or None
    values = [value.strip() for value in text.split(",")]
    return values if len(values) > 1 else values[0]
