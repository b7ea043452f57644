"""Goals: how far right predictions, or pairs of rows in the right order, are above what a goal asks for. For sieves.

Each is a whole number from a table of exact counts (cells x classes), at least zero where the goal is met. `low` and
`high` say how far one added row can move it, whatever the table.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..schema.refusing import refuse
from .budget import exact
from .scores import Counts, Score
from .verbs.order import PARTS_OF_A_ROW, misordered_rows

FINEST = 1000  # a goal is a whole number of parts, of so many at most


@dataclass(frozen=True)
class Goal(Score):
    """A score against a goal, a fraction between 0 and 1."""

    goal: Any
    numbered = True

    def __post_init__(self) -> None:
        aim = exact(self.goal, "the goal").limit_denominator(FINEST)
        refuse(not 0 < aim < 1, "the goal must lie between 0 and 1, such as 0.8")
        object.__setattr__(self, "goal", aim)


@dataclass(frozen=True)
class RightBeyond(Goal):
    """The rows whose class is the number of their cell, less the goal's share of all rows; for the cells of
    `Predicted`, at least zero if the accuracy is at least the goal. A row adds 1 - goal if it is right, else -goal."""

    @property
    def unit(self) -> int:  # type: ignore[override]
        return int(self.goal.denominator)

    @property
    def low(self) -> int:  # type: ignore[override]
        return -int(self.goal.numerator)

    @property
    def high(self) -> int:  # type: ignore[override]
        return self.unit + self.low

    def each(self, counts: Counts) -> Counts:
        return np.asarray(self.unit * np.trace(counts) + self.low * counts.sum())


@dataclass(frozen=True)
class OrderedBeyond(Goal):
    """min(n1, n0) (AUC - goal), rounded: at least zero if the AUC is at least the goal. Positives are the rows of class
    `label`, and a higher cell is a higher score.

    It is (1 - goal) min(n1, n0) less the `misordered_rows` m. A row added to the smaller class raises the first by 1 -
    goal and m by 0 to 1; to the larger class, or where both are as large, it moves m alone, by -1 to 1. So the whole
    moves by -1 to 1, and since these are whole numbers of parts, so do the parts after rounding down.
    """

    label: int = 1
    low, high, unit = -PARTS_OF_A_ROW, PARTS_OF_A_ROW, PARTS_OF_A_ROW

    def each(self, counts: Counts) -> Counts:
        positives, negatives = counts[:, self.label], counts.sum(axis=1) - counts[:, self.label]
        smaller = min(int(positives.sum()), int(negatives.sum()))
        allowed = smaller * PARTS_OF_A_ROW * (1 - Fraction(self.goal)) // 1
        return np.asarray(allowed - misordered_rows(positives, negatives))


GOALS = (RightBeyond, OrderedBeyond)
