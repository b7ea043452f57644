"""Budget: an exact amount of epsilon."""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..schema.refusing import refuse
from ..views import ShownBudget

HUGE = re.compile(r"[eE][+-]?[\d_]{4}")  # an exponent that would take long to write out
LONGEST = 12_000  # bits: Python writes out at most 4,300 digits
CHARGED = 3_000  # bits of a charge: room for every double and any 2^1000th of it; totals are exact, however long


def exact(value: Any, what: str) -> Fraction:
    """A number as the exact fraction its owner wrote: 0.1 is one tenth, not the double next to it."""
    if type(value) in (int, Fraction) and fits(number := Fraction(value)):
        return number
    try:
        if not HUGE.search(text := str(value)) and fits(number := Fraction(text)):
            return number
    except (ValueError, ZeroDivisionError):
        pass
    raise BadInput(f"{what} must be a finite number such as 0.5 or '1/3'")


def fits(number: Fraction, bits: int = LONGEST) -> bool:
    """Whether numerator and denominator have at most `bits` bits."""
    return max(abs(number.numerator), number.denominator).bit_length() <= bits


@dataclass(frozen=True, order=True, repr=False)
class Budget(ShownBudget):
    """An amount of epsilon, exact.

    >>> Budget(1).split(3, 37, 60)
    (Budget('0.03'), Budget('0.37'), Budget('0.6'))
    """

    epsilon: Fraction

    def __init__(self, epsilon: "float | str | Fraction | Decimal | Budget", what: str = "epsilon") -> None:
        value = exact(epsilon.epsilon if isinstance(epsilon, Budget) else epsilon, what)
        refuse(value <= 0, f"{what} must be greater than zero")
        object.__setattr__(self, "epsilon", value)

    def split(self, *shares: "float | str | Fraction") -> "tuple[Budget, ...]":
        """Shares in these proportions; together they are exactly the whole."""
        weights = [exact(share, "a share") for share in shares]
        refuse(not weights or min(weights) <= 0, "shares must be greater than zero")
        unit = self.epsilon / sum(weights)
        return tuple(Budget(unit * weight) for weight in weights)

    def per_row(self, rows_per_person: int) -> Fraction:
        """The epsilon of one row if a person has `rows_per_person` (group privacy); at most 10^100, to fit a double."""
        return min(self.epsilon / rows_per_person, Fraction(10**100))
