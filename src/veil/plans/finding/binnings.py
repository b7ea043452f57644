"""Ways to cut a numeric column into about sixteen bins, all of them public: windows of any place and width, and numbers
of all sizes around an origin."""

from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...schema.fine import STEPS, Fine

CELLS = 16  # bins of a way; never more than a column has without a search, so what fitted before still fits
NARROWEST = 11  # a window is at least 1/2^11 of the range
SMALLEST = 17  # an octave is at least 1/2^17 of it
LEAST = 4.0  # whole numbers in a window
RARE = 2.0  # how much less likely than the public bins any other way is thought to be, as a logarithm

Places = npt.NDArray[np.int64]


class Ways(NamedTuple):
    """The places at which each way cuts, ways x (CELLS + 1), the public bins first; and the logarithm of how unlikely
    each is thought to be."""

    places: Places
    odds: npt.NDArray[np.float64]


@lru_cache(maxsize=64)
def ways_to_cut(fine: Fine, integer: bool) -> Ways:
    """All ways to cut a column: the declared bins, windows, and octaves."""
    most = np.log2(max((fine.cuts[-1] - fine.cuts[0]) / LEAST, 1.0)) if integer else NARROWEST
    narrow = [windows(fine, halvings) for halvings in range(int(min(most, NARROWEST)) + 1)]
    sizes = [octaves(fine, halvings) for halvings in range(int(min(most, SMALLEST - 1)) + 1)]
    found = [_filled([fine.public], len(fine.cuts)), *narrow, *sizes]
    odds = [[0.0], *([RARE + log(len(some))] * len(some) for some in narrow), *([RARE] * len(some) for some in sizes)]
    return Ways(np.concatenate(found), np.concatenate([np.array(part) for part in odds]))


def windows(fine: Fine, halvings: int) -> Places:
    """Windows of 1/2^halvings of the range, a quarter of it apart, in equal bins; the outer ones reach the bounds."""
    width = STEPS >> halvings
    starts = np.arange(0, STEPS - width + 1, max(width // 4, 1))
    inner = fine.steps[starts[:, None] + np.arange(1, CELLS) * (width // CELLS)]
    ends = np.zeros((len(starts), 1), np.int64)
    return np.hstack([ends, inner, ends + len(fine.cuts) - 1])


def octaves(fine: Fine, halvings: int) -> Places:
    """Numbers of all sizes up to 1/2^halvings of the longer side of the origin: above it, below it, or both."""
    first, whole, half = 2 * halvings, 2 * np.arange(14), np.arange(14)
    above, below = fine.above[-1] > fine.origin, fine.below[-1] < fine.origin
    one_sided = [side for side, there in ((fine.above, above), (fine.below, below)) if there]
    found = [side[first + steps] for side in one_sided for steps in (whole, half)]
    if above and below:
        places = (first + 2 * whole[:7], first + whole[:7])
        found += [np.append(fine.above[some], fine.below[some]) for some in places]
    return _filled([np.sort(np.append(cuts, fine.origin)) for cuts in found], len(fine.cuts))


def _filled(found: list[Places], cuts: int) -> Places:
    """Ways of different lengths as a table; each is made longer by cuts at its ends, between which there is nothing."""
    ways = np.full((len(found), CELLS + 1), cuts - 1)
    for way, places in zip(ways, found, strict=True):
        way[0] = 0
        inner = places[(places > 0) & (places < cuts - 1)][: CELLS - 1]
        way[1 : len(inner) + 1] = inner
    return ways
