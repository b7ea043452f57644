"""How exact amounts and small tables look, in text and in Jupyter."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape


def amount(value: Fraction) -> str:
    """An exact fraction as people write it: 0.25, or 1/3 where no short decimal is exact.

    >>> amount(Fraction(1, 4)), amount(Fraction(1, 3)), amount(Fraction(2))
    ('0.25', '1/3', '2')
    """
    for digits in range(9):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            text = f"{scaled.numerator:0{digits + 1}d}"
            return f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return str(value)


def number(value: float) -> str:
    """About three significant digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def readable(text: object, most: int = 60) -> str:
    """Text that can be shown: characters that cannot be printed become spaces, the middle of a long one is left out."""
    shown = "".join(letter if letter.isprintable() else " " for letter in str(text))
    return shown if len(shown) <= most else f"{shown[: most // 2]}…{shown[len(shown) - (most - 1) // 2 :]}"


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A small HTML table for notebooks; every cell is escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
