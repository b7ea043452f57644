"""Fine: the finest public cuts of a numeric column, from which bins are chosen; nothing in them comes from the rows.

A step is 1/16384 of the range between the bounds, so every window of 1/1024 of it can still be cut into 16. Around the
origin (0, or the bound nearest to it) every octave is cut into 256 besides: whatever the bounds are, numbers are told
apart that differ by less than half a per cent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import wording
from ..errors import BadInput
from .columns import Categorical, Numeric
from .schema import Schema

STEPS = 1 << 14
OCTAVES = 30  # below the longer side of the origin
PARTS = 1 << 8  # of an octave
Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
FACTORS = (PARTS + np.arange(PARTS)) / PARTS * 2.0 ** -np.arange(1, OCTAVES + 1)[:, None]
HALVES = 2.0 ** (-np.arange(2 * OCTAVES + 1) / 2)


@dataclass(frozen=True, eq=False)
class Fine:
    """A numeric column whose codes are the cells between fine `cuts`, as many as `size` with that of missing values.

    The other fields are places among the cuts: of the `origin`; of the `steps`, lowest first; of the bins that are
    declared (`public`); above and below the origin, of the `halves` of octaves, outermost first, and of the parts of
    octaves (`parts`), octaves x PARTS, the outermost octave first.
    """

    name: str
    cuts: Numbers
    missing: float | None
    origin: int
    steps: Places
    public: Places
    halves: tuple[Places, Places]
    parts: tuple[Places, Places]
    kind: str = "numeric"

    @property
    def size(self) -> int:
        return len(self.cuts) - (self.missing is not None)


def cells_of(column: Any) -> npt.NDArray[Any]:
    """A value of each code: the lowest of a cell, and NaN for missing numbers; the name of a category."""
    if isinstance(column, Fine):
        return np.append(column.cuts[:-1], np.nan)[: column.size]
    return np.array(column.names, object)


def finest(column: Any, anew: bool = False) -> Any:
    """The column as it is encoded: with fine cuts if its bins are to be found, else as declared.

    They are made `anew` where nobody else may get hold of them; else those that were made before are given again.
    """
    if not (isinstance(column, Numeric) and column.searched):
        return column
    made = _fine.__wrapped__ if anew else _fine
    return made(column.name, column.integer, column.cuts, column.missing)


def check_finer(columns: Sequence[Any], schema: Schema, read: Mapping[str, Any]) -> None:
    """Refuse columns unless the schema has them with other bins or pools, and they were `read` as finely as needed.

    Answers about others would be useless, not less private: whatever is declared, a code is made from the finest code
    of its own row.
    """
    for column in columns:
        if type(column) not in (Categorical, Numeric) or schema.get(column.name).kind != column.kind:
            raise BadInput(wording.RECODED)
        fine = read[column.name]
        if not isinstance(fine, (Categorical, Fine)) or getattr(fine, "pools", None):
            raise BadInput(f"column {column.name!r} has declared bins or pools: nothing finer is known to recode from")
        if isinstance(fine, Fine) and not np.isin(column.cuts[1:-1], fine.cuts).all():
            raise BadInput(f"the edges of column {column.name!r} must be among its fine cuts")


@lru_cache(maxsize=512)
def _fine(name: str, integer: bool, public: tuple[float, ...], missing: float | None) -> Fine:
    low, high = public[0], public[-1]
    origin = min(max(0.0, low), high)
    longer = max(high - origin, origin - low)
    sides = [origin + sign * longer * factors for factors in (HALVES, FACTORS) for sign in (1, -1)]
    steps = np.append(low + np.arange(STEPS) * ((high - low) / STEPS), high)
    parts = [np.clip(np.ceil(some) if integer else some, low, high) + 0.0 for some in (steps, np.array(public), *sides)]
    cuts = _merged(*parts)
    steps_at, public_at, *others = (np.searchsorted(cuts, part) for part in parts)
    for array in (cuts, steps_at, public_at, *others):
        array.flags.writeable = False
    middle = int(np.searchsorted(cuts, origin))
    return Fine(name, cuts, missing, middle, steps_at, public_at, (others[0], others[1]), (others[2], others[3]))


def _merged(steps: Numbers, *others: Numbers) -> Numbers:
    """All numbers once, ascending; the first list, the longest, is so already."""
    more = np.unique(np.concatenate([np.ravel(other) for other in others]))
    cuts = np.insert(steps, np.searchsorted(steps, more), more)
    return np.asarray(cuts[np.append(True, np.diff(cuts) > 0)])
