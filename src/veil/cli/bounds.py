"""Bounds that look careless, by what they are alone; no row is looked at."""

from collections.abc import Callable, Iterator
from math import log2, log10

from ..display import number
from ..schema import Numeric, Schema

LARGE = 10_000  # a power of ten from which on it is no scale that people rate on, nor per cent
BITS = 15  # of the least power of two that looks like the end of a type
WIDE = 10**6  # a ratio of bounds that few things span


def searched(schema: Schema) -> Iterator[Numeric]:
    """The columns whose bins a model finds in the rows."""
    return (column for column in schema.features if isinstance(column, Numeric) and column.searched)


def careless(column: Numeric) -> str:
    """Why the bounds look as if nobody had thought about them, in a few words; "" if they do not.

    >>> careless(Numeric(name="income", bounds=(0, 1_000_000))), careless(Numeric(name="age", bounds=(0, 120)))
    ('a power of ten', '')
    """
    low, high = column.bounds
    ends = [abs(end) for end in (low, high) if end]
    looks = {
        "a power of ten": low in (0, 1) and high >= LARGE and _power(high, log10),
        "nines only": high + 1 >= LARGE and _power(high + 1, log10),
        "the end of a type": any(end + 1 >= 2**BITS and (_power(end, log2) or _power(end + 1, log2)) for end in ends),
        "as far below zero as above": low == -high and high >= LARGE / 10,
        "many sizes": high - low >= WIDE * max(min(ends), 1) if len(ends) == 2 else high - low >= WIDE,
    }
    return next((words for words, so in looks.items() if so), "")


def _power(end: float, logarithm: Callable[[float], float]) -> bool:
    """Whether a number is a whole power of the base of this logarithm, but for rounding."""
    power = logarithm(end)
    return abs(power - round(power)) < 1e-13 * abs(power)


def within(column: Numeric) -> str:
    """Where the bins of a column come from, if they are found."""
    low, high = column.bounds
    return f"found in the rows, from {number(low)} to {number(high)}"
