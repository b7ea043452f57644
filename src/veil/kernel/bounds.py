"""Integer arithmetic that decides a comparison exactly, whatever the precision it takes."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

Bounds = Callable[[int], tuple[int, int]]
Power = Callable[[int, int], tuple[int, int]]


class Uniform:
    """A uniform number U in (0, 1), known to as many bits as its comparisons have needed so far.

    U lies in [top, top + 1) / 2^bits. More bits are appended to the same draw, never drawn afresh: throwing
    an undecided draw away would change its law.
    """

    def __init__(self, word: int, more: Callable[[], int]) -> None:
        self.top, self.bits, self._more = word, 64, more

    def refine(self) -> None:
        """Draw 64 more bits of U."""
        self.top, self.bits = self.top << 64 | self._more(), self.bits + 64

    def below(self, bounds: Bounds) -> bool:
        """Whether U < x, where `bounds(bits)` gives integers around 2^bits x."""
        while True:
            low, high = bounds(self.bits)
            if self.top + 1 <= low:
                return True
            if self.top >= high:
                return False
            self.refine()


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers low <= 2^bits exp(-x) <= high that differ by at most two; x >= 0.

    exp(-x) = exp(-y)^(2^r) with y = x / 2^r < 2^-8. The Taylor series of exp(-y) is summed in units of 2^-work
    with every term rounded down for one bound and up for the other, then squared r times with the same care.
    Squaring doubles a relative error, so r squarings cost r bits; `work` keeps 2r + 16 bits in hand.
    """
    if x == 0:
        return 1 << bits, 1 << bits
    r = int(x + 1).bit_length() + 8
    work = bits + 2 * r + 16
    num, den = x.numerator, x.denominator << r
    low = high = term_low = term_high = 1 << work
    k = 0
    while term_high > 1:
        k += 1
        term_low, term_high = term_low * num // (den * k), -(-term_high * num // (den * k))
        low, high = (low - term_high, high - term_low) if k % 2 else (low + term_low, high + term_high)
    low, high = max(low - term_high, 0), high + term_high  # the tail is smaller than the last term
    for _ in range(r):
        low, high = low * low >> work, -(-high * high >> work)
    return low >> work - bits, -(-high >> work - bits)


def count_below(uniform: Uniform, power: Power, guess: int = 1, limit: int | None = None) -> int:
    """The number of k >= 1 with U < x^k, or `limit` if that is smaller: gallop from a guess, then bisect. `power(k,
    bits)` bounds 2^bits x^k."""

    def below(k: int) -> bool:
        return k <= 0 or (limit is None or k <= limit) and uniform.below(partial(power, k))

    low, step = max(guess, 0), 1
    while not below(low):
        low, step = max(low - step, 0), step * 2
    high, step = low + 1, 1
    while below(high):
        low, high, step = high, high + step, step * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low
