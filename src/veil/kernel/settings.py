"""Settings: public numbers that some verbs take, with their defaults and limits. No row comes here.

Whatever is let through, the kernel makes the noise from the numbers that it is given: a mistake here would make an
answer useless, or too long to wait for, not less private.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from .. import wording
from ..questions import Bag, Partition
from ..schema.refusing import refuse
from ..solver.gaps import survivors, threshold_for
from .budget import exact
from .losses import MOST_CLASSES, Loss, Numbers
from .noise import Integers
from .owning import MOST_COUNTS, own_integers, whole
from .scores import Score

Candidates = Bag | Sequence[Partition]
MOST_CURVATURE = 25_000_000  # entries of the Hessian of one minimisation, for each class
MOST_WORDS = 1 << 13  # with a weight each
LARGEST_COLUMN = 100  # most values of a column whose noise is drawn together with others
MOST_AXES = 8  # of a box of cells
SPARSE_LIMIT = 5_000_000  # spurious cells expected in one sparse answer


@dataclass(frozen=True)
class Settings:
    """The settings of `minimise`, as they are given; what they mean is said there."""

    label: Any = None
    offsets: Any = ()
    margin: Any = 0
    penalty: Any = 4
    groups: Any = None
    shares: Any = None


def check_weights(groups: list[list[int]], words: bool, classes: int) -> None:
    """Refuse more weights than memory has room for, and columns whose common noise would take too long to draw."""
    weights = sum(map(sum, groups))
    refuse(words and weights > MOST_WORDS, wording.MOST_WEIGHTS.format(MOST_WORDS))
    refuse(not words and classes * weights**2 > MOST_CURVATURE, wording.MUCH_MEMORY)
    long = any(len(group) > 1 and max(group) > LARGEST_COLUMN for group in groups)
    refuse(long, f"a column of more than {LARGEST_COLUMN} values must be a group by itself")


def own_label(label: Any, loss: Loss, classes: int) -> int | None:
    """The index of the class against the others; None for a loss of all classes at once."""
    if not loss.joint:
        return whole(label, "the class", 0, classes - 1)
    refuse(label is not None or not 2 <= classes <= MOST_CLASSES, wording.ALL_CLASSES.format(MOST_CLASSES))
    return None


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


def own_cell(score: Any, size: int, classes: int) -> None:
    """Refuse a score of a cell or class that the partition does not have."""
    if hasattr(score, "cell"):
        whole(score.cell, "the score's cell", 0, size - 1)
    if getattr(score, "label", None) is not None:
        whole(score.label, "the score's class", 0, classes - 1)


def own_number(count: Any, candidates: Any) -> int:
    """The number of candidates to choose, at most as many as there are."""
    most = candidates.size if isinstance(candidates, Bag) else len(candidates)
    return whole(count, "the number of candidates to choose", 1, most)


def own_level(threshold: Any, score: Score) -> int:
    """The threshold in units of the score, rounded up."""
    return int(-(-exact(threshold, "the threshold") * score.unit // 1))


def described(candidates: Candidates) -> str:
    """The candidates in a few words, for receipts."""
    return candidates.describe() if isinstance(candidates, Bag) else str(len(candidates))


def searched(most: int, candidates: Candidates, score: Score, threshold: Any) -> str:
    """A search for candidates above a threshold in a few words, for receipts."""
    return f"at most {most} of {described(candidates)}, {type(score).__name__} from {threshold} on"


def own_shape(shape: Any, cells: int) -> tuple[int, ...]:
    """A copy of the shape, if the partition has so many cells."""
    sides = tuple(whole(side, "a side of the box of cells", 1, cells) for side in shape)
    many = prod(sides) > cells or prod(side + 1 for side in sides) > MOST_COUNTS
    refuse(many or not 1 <= len(sides) <= MOST_AXES, wording.BOX.format(MOST_AXES))
    return sides


def own_ranges(ranges: Any, sides: tuple[int, ...]) -> Integers:
    """A copy of the ranges, ranges x axes x 2, if they lie in the box."""
    given = own_integers(ranges, (None, len(sides), 2), 0, max(sides), wording.RANGES)
    refuse(given.size > MOST_COUNTS or (given[..., 1] < given[..., 0]).any(), wording.RANGES)
    refuse((given.max(axis=(0, 2)) > sides).any(), wording.RANGES)
    return given
