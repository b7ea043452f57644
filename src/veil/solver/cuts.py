"""Between which of many cuts a number lies: a guess, which whoever asks checks, number by number."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

BUCKETS = 1 << 15


def guesser(cuts: Any) -> Callable[[Any], Any]:
    """A function that guesses the number of cuts at or below each number.

    The range of the cuts is divided into equal buckets. A larger number never has a lower bucket, since each step of
    the computation keeps the order: so cuts in lower buckets are below it, and those in higher ones are not. In its
    own bucket one cut is compared; those of crowded buckets are searched in the same way, in buckets of their own.
    Columns with the same cuts share one function.
    """
    return _guesser(np.asarray(cuts, np.float64).tobytes())


@lru_cache(maxsize=32)
def _guesser(kept: bytes) -> Callable[[Any], Any]:
    cuts: Any = np.frombuffer(kept)
    if not cuts[-1] > cuts[0]:
        return lambda x: np.searchsorted(cuts, x, side="right")
    low, scale = cuts[0], BUCKETS / (cuts[-1] - cuts[0])

    def buckets(x: Any) -> Any:
        places = np.subtract(x, low, dtype=np.float64)
        places *= scale
        places += 0.5
        np.fmin(np.fmax(places, 0, out=places), BUCKETS, out=places)  # NaN as 0: a cast of it is undefined
        return places.astype(np.intp)

    in_each = np.bincount(buckets(cuts), minlength=BUCKETS + 1)
    crowded, first, mark = in_each > 1, np.cumsum(in_each) - in_each, len(cuts) + 1
    if np.count_nonzero(inner := np.repeat(crowded, in_each)) > 0.8 * len(cuts):
        return lambda x: np.searchsorted(cuts, x, side="right")
    others = first - (np.cumsum(in_each * crowded) - in_each * crowded)
    within = guesser(cuts[inner]) if inner.any() else None
    marked = np.where(crowded, mark, first).astype(np.min_scalar_type(mark))
    following = np.where(crowded, np.inf, np.append(cuts, np.inf)[first])

    def below(x: Any) -> Any:
        codes = np.take(marked, found := buckets(x))
        codes += x >= np.take(following, found)
        if within is not None:
            rest = np.flatnonzero(codes == mark)
            codes[rest] = np.take(others, found[rest]) + within(x[rest])
        return codes

    return below
