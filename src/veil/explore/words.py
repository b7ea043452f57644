"""Numbers in words: what epsilon does to odds, gaps between methods, times and sizes."""

from fractions import Fraction
from math import exp, isnan

from ..display import BROAD, amount, brief
from ..markup import factor

LARGE = 5  # an epsilon from which on little is hidden
MEASURES = {"auc": "AUC", "accuracy": "accuracy", "m": "M of Hand and Till", "log_loss": "log loss"}


def odds(epsilon: float, who: str = "one row") -> str:
    """What epsilon promises, as odds.

    >>> odds(0.1)
    'One row more or less changes the odds of anything by at most 11 %.'
    >>> odds(2)
    'One row more or less changes the odds of anything by a factor of at most 7.39.'
    """
    change = f"at most {100 * (exp(epsilon) - 1):.2g} %" if epsilon <= 0.7 else f"a factor of at most {factor(epsilon)}"
    weak = " That hides little." if epsilon > LARGE else ""
    return f"{who.capitalize()} more or less changes the odds of anything by {change}.{weak}"


def digits_of(margin: float | None) -> int:
    """How many digits of a mean are known, by half of its interval."""
    return 3 if margin is None or isnan(margin) or margin < BROAD else 2


def short(value: float | None, digits: int = 3) -> str:
    """A number without its leading zero, as tables of many numbers have it: .824, -.02.

    >>> short(0.8241), short(-0.0204), short(1.5), short(None)
    ('.824', '-.020', '1.500', '-')
    """
    if value is None or isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def decimal(value: Fraction) -> str:
    """An exact amount as people read it: in four digits where no short decimal is exact.

    >>> decimal(Fraction(1, 4)), decimal(Fraction(1357, 750)), decimal(Fraction(1, 3000)), decimal(Fraction(9999, 7))
    ('0.25', '1.809', '0.0003333', '1,428.4')
    """
    exact = amount(value)
    return exact if "/" not in exact else f"{float(value):.4g}" if value < 1000 else f"{float(value):,.1f}"


def gap(value: float) -> str:
    """A difference with its sign."""
    return short(value) if value < 0 else f"+{short(value)}"


def duration(seconds: float | None) -> str:
    """Seconds in few letters."""
    return "-" if seconds is None or isnan(seconds) else brief(seconds)


def size_words(rows: int | None) -> str:
    """How many rows were learned from."""
    return "all" if rows is None else f"{rows:,}"
