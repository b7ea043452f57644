"""Between which of many cuts a number lies: a guess, which whoever asks checks, number by number."""

from collections.abc import Callable
from typing import Any

import numpy as np

BUCKETS = 1 << 15


def guesser(cuts: Any) -> Callable[[Any], Any]:
    """A function that guesses the number of cuts at or below each number.

    The range of the cuts is divided into equal buckets. A larger number never has a lower bucket, since each step of
    the computation keeps the order: so cuts in lower buckets are below it, and those in higher ones are not. In its
    own bucket one cut is compared; those of crowded buckets are searched in the same way, in buckets of their own.
    """
    if not cuts[-1] > cuts[0]:
        return lambda x: np.searchsorted(cuts, x, side="right")
    low, scale, kind = cuts[0], BUCKETS / (cuts[-1] - cuts[0]), np.min_scalar_type(len(cuts) + 1)

    def buckets(x: Any) -> Any:
        clipped = np.fmin(np.fmax((x - low) * scale + 0.5, 0), BUCKETS)  # NaN as 0: a cast of it is undefined
        return np.asarray(clipped, np.uint16)

    places, ends, every = buckets(cuts), np.append(cuts, np.inf), np.arange(2**16)
    first, crowded = np.searchsorted(places, every), np.bincount(places, minlength=2**16) > 1
    if np.count_nonzero(inner := crowded[places]) > 0.8 * len(cuts):
        return lambda x: np.searchsorted(cuts, x, side="right")
    others = first - np.searchsorted(places[inner], every)
    within = guesser(cuts[inner]) if inner.any() else None

    def below(x: Any) -> Any:
        codes = np.take(first.astype(kind), found := buckets(x))
        codes += x >= np.take(ends, codes)
        rest = np.flatnonzero(np.take(crowded, found))
        if within is not None:
            codes[rest] = np.take(others, found[rest]) + within(x[rest])
        return codes

    return below
