"""Fine: the finest public cuts of a numeric column, from which bins are chosen; nothing in them comes from the rows.

A step is 1/32768 of the range between the bounds, so every window of 1/2048 of it can still be cut into 16. Near the
origin (0, or the bound nearest to it) there are octaves and half octaves besides, for numbers of all sizes.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .columns import Numeric

STEPS = 1 << 15
HALVES = 60  # half octaves below the longer side of the origin
Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fine:
    """A numeric column whose codes are the cells between fine `cuts`, as many as `size` with that of missing values.

    The other fields are places among the cuts: of the `steps`, lowest first; of the half octaves `above` and `below`
    the origin, outermost first; of the bins that are declared (`public`).
    """

    name: str
    cuts: Numbers
    missing: float | None
    origin: int
    steps: Places
    above: Places
    below: Places
    public: Places
    kind: str = "numeric"

    @property
    def size(self) -> int:
        return len(self.cuts) - (self.missing is not None)


def cells_of(column: Any) -> npt.NDArray[Any]:
    """A value of each code: the lowest of a cell, and NaN for missing numbers; the name of a category."""
    if isinstance(column, Fine):
        return np.append(column.cuts[:-1], np.nan)[: column.size]
    return np.array(column.names, object)


def finest(column: Any) -> Any:
    """The column as it is encoded: with fine cuts if its bins are to be found, else as declared."""
    if not (isinstance(column, Numeric) and column.searched):
        return column
    return _fine(column.name, column.bounds, column.integer, column.cuts, column.missing)


@lru_cache(maxsize=512)
def _fine(
    name: str, bounds: tuple[float, float], integer: bool, public: tuple[float, ...], missing: float | None
) -> Fine:
    low, high = public[0], public[-1]
    origin = min(max(0.0, low), high)
    steps = low + np.arange(STEPS) * ((high - low) / STEPS)
    octaves = max(high - origin, origin - low) * 2.0 ** (-np.arange(HALVES + 1) / 2)
    parts = [np.append(steps, high), origin + octaves, origin - octaves, np.array(public), np.array([origin])]
    parts = [np.clip(np.ceil(part) if integer else part, low, high) + 0.0 for part in parts]  # no -0.0
    cuts = _merged(*parts)
    places = [np.searchsorted(cuts, part) for part in parts]
    for array in (cuts, *places):
        array.flags.writeable = False
    steps_at, above, below, declared, middle = places
    return Fine(name, cuts, missing, int(middle[0]), steps_at, above, below, declared)


def _merged(steps: Numbers, *others: Numbers) -> Numbers:
    """All numbers once, ascending; the first list, by far the longest, is so already."""
    more = np.unique(np.concatenate(others))
    cuts = np.insert(steps, np.searchsorted(steps, more), more)
    return np.asarray(cuts[np.append(True, np.diff(cuts) > 0)])
