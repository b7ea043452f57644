"""Ways to cut a numeric column into about sixteen bins, all of them public: windows of any place and width, and numbers
of all sizes around an origin."""

from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...schema.fine import STEPS, Fine

CELLS = 16  # of a window, which has a tail on either side besides
CUTS = CELLS + 3
NARROWEST = 11  # a window is at least 1/2^11 of the range
SMALLEST = 16  # an octave is at least 1/2^16 of it
LEAST = 4.0  # whole numbers in a window
ONE_SIDED, BOTH = np.arange(14), 2 * np.arange(7)  # half octaves between the origin and its cuts

Places = npt.NDArray[np.int64]


class Ways(NamedTuple):
    """All ways to cut a column, the public bins first.

    `places` among the fine cuts, ways x CUTS; the first step and the number of steps of each window (`windows`; 0 steps
    for other ways); and the logarithm of how many ways are alike (`alike`), since the best of many is high by chance.
    """

    places: Places
    windows: Places
    alike: npt.NDArray[np.float64]


@lru_cache(maxsize=64)
def ways_to_cut(fine: Fine, integer: bool) -> Ways:
    """All ways to cut a column: the public bins, octaves, and windows."""
    most = log(max((fine.cuts[-1] - fine.cuts[0]) / LEAST, 1.0), 2) if integer else np.inf
    sizes = [octaves(fine, halvings) for halvings in range(int(min(most, SMALLEST)) + 1)]
    others = np.concatenate([_filled([fine.public], len(fine.cuts)), *sizes])
    found = [windows(halvings) for halvings in range(int(min(most, NARROWEST)) + 1)]
    places, alike = _window_places(fine, np.concatenate(found)), [np.full(len(some), log(len(some))) for some in found]
    return Ways(
        np.concatenate([others, places]),
        np.concatenate([np.zeros((len(others), 2), np.int64), *found]),
        np.concatenate([np.zeros(len(others)), *alike]),
    )


def windows(halvings: int) -> Places:
    """The first step and the number of steps of windows of 1/2^halvings of the range, a quarter of that apart."""
    width = STEPS >> halvings
    starts = np.arange(0, STEPS - width + 1, max(width // 4, 1))
    return np.column_stack([starts, np.full(len(starts), width)])


def window_cuts(fine: Fine, start: int, width: int, cells: int) -> Places:
    """The places that cut a window into equal cells, with its ends."""
    return np.asarray(fine.steps[start + np.arange(cells + 1) * width // cells])


def _window_places(fine: Fine, found: Places) -> Places:
    starts, widths = found.T
    inner = fine.steps[starts[:, None] + widths[:, None] * np.arange(CELLS + 1) // CELLS]
    ends = np.zeros((len(found), 1), np.int64)
    return np.hstack([ends, inner, ends + len(fine.cuts) - 1])


def octaves(fine: Fine, halvings: int) -> Places:
    """Numbers of all sizes up to 1/2^halvings of the longer side of the origin: above it, below it, or both."""
    first = 2 * halvings
    above, below = (bool(side[0] != fine.origin) for side in (fine.above, fine.below))
    one_sided = [side for side, there in ((fine.above, above), (fine.below, below)) if there]
    found = [side[first + steps] for side in one_sided for steps in (2 * ONE_SIDED, ONE_SIDED)]
    if above and below:
        found += [np.append(fine.above[first + some], fine.below[first + some]) for some in (2 * BOTH, BOTH)]
    return _filled([np.sort(np.append(cuts, fine.origin)) for cuts in found], len(fine.cuts))


def _filled(found: list[Places], cuts: int) -> Places:
    """Ways of different lengths as a table; each is made longer by cuts at its ends, between which there is nothing."""
    ways = np.full((len(found), CUTS), cuts - 1)
    for way, places in zip(ways, found, strict=True):
        inner = places[(places > 0) & (places < cuts - 1)][: CUTS - 2]
        way[0], way[1 : len(inner) + 1] = 0, inner
    return ways
