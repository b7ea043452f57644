"""Words and numbers for pages: lists of names, large factors, text escaped for HTML."""

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from math import exp, log10

from .display import readable


def escaped(text: object, most: int = 60) -> str:
    """Text that can be shown, at most `most` letters of it, escaped for HTML."""
    return escape(readable(text, most))


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names separated by commas, the first few of many; escaped for HTML."""
    shown = ", ".join(escaped(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def factor(epsilon: Fraction | float) -> str:
    """e^epsilon as people write it.

    >>> factor(1), factor(0.001), factor(10), factor(1000)
    ('2.72', '1.001', '22,026', 'about 10^434')
    """
    if epsilon > 10**9:
        return "more than 10^400000000"
    if epsilon > 20:
        return f"about 10^{float(epsilon) * log10(exp(1)):.0f}"
    value = exp(epsilon)
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}" if value >= 1.01 else f"{value:.6g}"


def plural(number: int, name: str) -> str:
    """A number and its noun: 1 row, 2 rows."""
    return f"{number:,} {name}" if number == 1 else f"{number:,} {name}s"
