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


def bits_for_guess(epsilon: Any, threshold: int, limit: int | None) -> int:
    """How many bits of U the guess of a gap needs; none where the gap is almost certainly beyond the limit."""
    rate = epsilon * (threshold + 1)
    return 0 if limit is not None and rate > 2 * limit.bit_length() else 4 * _digits(rate, limit)


def _digits(rate: Any, limit: int | None) -> int:
    """The precision with which a gap is guessed, in decimal digits."""
    return 20 + (int(rate / 2) if limit is None else min(int(rate / 2), limit.bit_length() // 3))


def guessed_gap(top: int, bits: int, epsilon: Any, threshold: int, limit: int | None) -> int:
    """Roughly log U / log(1 - p), to the unit, for U = top / 2^bits; -log(U) / p is off by less than -log(U). At most
    the limit."""
    rate = epsilon * (threshold + 1)
    if limit is not None and rate > 2 * limit.bit_length():
        return limit
    guess = _gap(top, bits, epsilon, rate, _digits(rate, limit))
    return guess if limit is None else min(guess, limit)


def _gap(top: int, bits: int, epsilon: Any, rate: Any, digits: int) -> int:
    with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        exponential = -(Decimal(top + 1) / (1 << bits)).ln()
        alpha = (Decimal(-epsilon.numerator) / epsilon.denominator).exp()
        return int(exponential * (1 + alpha) * (Decimal(rate.numerator) / rate.denominator).exp())
