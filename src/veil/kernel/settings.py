"""Settings: public numbers that some verbs take, with their defaults and limits. No row comes here.

Whatever is let through, the kernel makes the noise from the numbers that it is given: a mistake here would make an
answer useless, or too long to wait for, not less private.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from .. import wording
from ..schema.refusing import refuse
from ..solver.gaps import survivors, threshold_for
from .budget import exact
from .losses import Numbers
from .owning import whole

SPARSE_LIMIT = 5_000_000  # spurious cells expected in one sparse answer


def sparse_level(cells: int, epsilon: Fraction, threshold: int | None, spurious: float) -> int:
    """The threshold of a sparse count; refuses one that would let too many empty cells through."""
    refuse(not 0 < spurious <= SPARSE_LIMIT, f"a sparse count needs spurious between 0 and {SPARSE_LIMIT}")
    level = threshold_for(cells, epsilon, spurious) if threshold is None else threshold
    level = whole(level, "the threshold", 0, 2**60)
    least, passing = threshold_for(cells, epsilon, SPARSE_LIMIT), survivors(cells, epsilon, level)
    refuse(passing > SPARSE_LIMIT, wording.LOW_THRESHOLD.format(least, level, passing))
    return level


def own_penalties(penalty: Any, columns: int) -> list[Fraction]:
    """One penalty for each column, as exact fractions."""
    given = [penalty] * columns if np.ndim(penalty) == 0 else penalty
    ratios = [exact(one, "the penalty") for one in given]
    refuse(len(ratios) != columns or not all(1 <= ratio <= 2**40 for ratio in ratios), wording.PENALTY)
    return ratios


def own_offsets(offsets: Any, classes: int) -> Numbers:
    """What is added to the scores of each class, classes x 1."""
    found = [exact(offset, "an offset") for offset in offsets] or [Fraction(0)] * classes
    refuse(len(found) != classes or max(map(abs, found)) > 100, wording.OFFSETS.format(classes))
    return np.array(found, np.float64)[:, None]


def own_margin(margin: Any) -> float:
    """What is subtracted from the score of a row's own class."""
    refuse(not 0 <= (lead := exact(margin, "the margin")) <= 100, "the margin must be a number between 0 and 100")
    return float(lead)
