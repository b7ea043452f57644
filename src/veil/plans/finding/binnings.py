"""Ways to cut a numeric column into about sixteen bins, all of them public: windows of any place and width, and numbers
of all sizes around an origin."""

from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...schema.fine import PARTS, STEPS, Fine

CELLS = 16  # of a window, which has a tail on either side besides
CUTS = CELLS + 3
NARROWEST = 10  # a window is at least 1/2^10 of the range
NEAR = range(10, 25)  # halvings of windows near the origin
FAR = 32  # as many of its widths may a narrow window be from the origin
SMALLEST = 16  # an octave is at least 1/2^16 of the longer side of the origin
LEAST = 4.0  # whole numbers in a window
ONE_SIDED, BOTH = np.arange(14), 2 * np.arange(7)  # half octaves between the origin and its cuts

Places = npt.NDArray[np.int64]


class Ways(NamedTuple):
    """All ways to cut a column, the public bins first.

    `places` among the fine cuts, ways x CUTS; whether a way is a `window`; and the logarithm of how many ways are
    `alike`, since the best of many is high by chance.
    """

    places: Places
    window: npt.NDArray[np.bool_]
    alike: npt.NDArray[np.float64]


@lru_cache(maxsize=64)
def ways_to_cut(fine: Fine, integer: bool) -> Ways:
    """All ways to cut a column: the public bins, octaves, and windows."""
    most = log(max((fine.cuts[-1] - fine.cuts[0]) / LEAST, 1.0), 2) if integer else np.inf
    sizes = [octaves(fine, halvings) for halvings in range(int(min(most, SMALLEST)) + 1)]
    others = np.concatenate([_filled([fine.public], len(fine.cuts)), *sizes])
    found = [windows(fine, halvings) for halvings in range(int(min(most, NARROWEST)) + 1)]
    found += [np.concatenate([near(fine, side, one) for side in sides(fine)]) for one in NEAR if one <= most]
    alike = [np.full(len(some), log(len(some))) for some in found]
    return Ways(
        np.concatenate([others, *found]),
        np.arange(len(others) + sum(map(len, found))) >= len(others),
        np.concatenate([np.zeros(len(others)), *alike]),
    )


def windows(fine: Fine, halvings: int) -> Places:
    """Windows of 1/2^halvings of the range, a quarter of that apart, in equal cells with a tail on either side."""
    width = STEPS >> halvings
    starts = np.arange(0, STEPS - width + 1, max(width // 4, 1))
    return _with_tails(fine.steps[starts[:, None] + width // CELLS * np.arange(CELLS + 1)], fine)


def near(fine: Fine, side: int, halvings: int) -> Places:
    """Windows of 1/2^halvings of the longer side of the origin, a quarter of that apart, above it or below it.

    A window is at most FAR of its widths away: up to there, its cells are whole parts of octaves.
    """
    starts = np.arange(0, FAR * CELLS - CELLS + 1, CELLS // 4)
    cells = starts[:, None] + np.arange(CELLS + 1)  # from the origin, in sixteenths of a width
    high = np.log2(np.maximum(cells, 1)).astype(np.int64)  # the octave of a number of cells
    part = (np.maximum(cells, 1) - (1 << high)) * (PARTS >> high)
    places = np.where(cells == 0, fine.origin, fine.parts[side][halvings + 3 - high, part])
    return _with_tails(np.sort(places, axis=1), fine)


def sides(fine: Fine) -> list[int]:
    """The sides of the origin on which there are numbers: 0 above it, 1 below it."""
    return [side for side in (0, 1) if fine.halves[side][0] != fine.origin]


def octaves(fine: Fine, halvings: int) -> Places:
    """Numbers of all sizes up to 1/2^halvings of the longer side of the origin: above it, below it, or both."""
    first, there = 2 * halvings, sides(fine)
    found = [fine.halves[side][first + steps] for side in there for steps in (2 * ONE_SIDED, ONE_SIDED)]
    if len(there) == 2:
        found += [np.append(*(side[first + some] for side in fine.halves)) for some in (2 * BOTH, BOTH)]
    return _filled([np.sort(np.append(cuts, fine.origin)) for cuts in found], len(fine.cuts))


def _with_tails(inner: Places, fine: Fine) -> Places:
    ends = np.zeros((len(inner), 1), np.int64)
    return np.hstack([ends, inner, ends + len(fine.cuts) - 1])


def _filled(found: list[Places], cuts: int) -> Places:
    """Ways of different lengths as a table; each is made longer by cuts at its ends, between which there is nothing."""
    ways = np.full((len(found), CUTS), cuts - 1)
    for way, places in zip(ways, found, strict=True):
        inner = places[(places > 0) & (places < cuts - 1)][: CUTS - 2]
        way[0], way[1 : len(inner) + 1] = 0, inner
    return ways
