"""How many empty cells a sparse count will let through, and how far apart: guesses, on which no answer rests.

A threshold is public whichever it is; survivors are drawn in blocks of any length; and wherever the search for a gap
begins, it ends at the same.
"""

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from math import ceil, exp, log
from typing import Any


def survivors(cells: int, epsilon: Any, threshold: int) -> float:
    """The expected number of empty cells above the threshold: cells a^(threshold+1) / (1 + a), a = exp(-epsilon)."""
    rate = float(epsilon)
    return exp(min(log(max(cells, 1)) - rate * (threshold + 1) - log(1 + exp(-rate)), 700)) if cells else 0.0


def threshold_for(cells: int, epsilon: Any, spurious: float) -> int:
    """The smallest threshold at which no more than `spurious` empty cells are expected to survive."""
    needed = (log(cells) - log(spurious) - log(1 + exp(-float(epsilon)))) / float(epsilon)
    return max(ceil(needed) - 1, 0)


def guessed_gap(top: int, bits: int, epsilon: Any, rate: Any, digits: int) -> int:
    """Roughly log U / log(1 - p), to the unit, for U = top / 2^bits; -log(U) / p is off by less than -log(U)."""
    with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        exponential = -(Decimal(top + 1) / (1 << bits)).ln()
        alpha = (Decimal(-epsilon.numerator) / epsilon.denominator).exp()
        return int(exponential * (1 + alpha) * (Decimal(rate.numerator) / rate.denominator).exp())
