"""choose_apart: of many public partitions, one whose counts are far from what is expected of them.

The score of a partition is the sum of |rows in a cell - what is expected there| over its cells; what is expected is
public or follows from earlier answers. A row adds one to one cell and moves its term by -1 or 1. So two scores move
apart by at most 2, and permute-and-flip with exponent epsilon / 2 per unit costs epsilon (see `flip`).
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ... import wording
from ...progress import advance
from ...questions import Partition
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ..asking import Asking
from ..budget import Budget
from ..flip import own_handicaps, permute_and_flip
from ..noise import Integers
from ..owning import MOST_COUNTS, Owner, own_integers
from ..release import Release
from ..table import Table

LARGEST = 1 << 36  # rows expected in a cell, so that no sum over MOST_COUNTS of them overflows
SPREAD = 2  # how far apart a row can move two scores
Question = TypeVar("Question", bound=Partition)


class Comparing(Asking):
    """The verb that compares counts with what is expected."""

    def choose_apart(
        self, partitions: Sequence[Question], expected: Sequence[Any], budget: Budget, *, handicaps: Any = None
    ) -> Release[Question]:
        """The winning partition alone; classes do not count. `expected` has a whole number for every cell of each
        partition; `handicaps` are public whole numbers subtracted from the scores, which no row changes."""
        partitions, budget, owner = tuple(partitions), Budget(budget), Owner(self._own)
        asked = [owner.partition(one) for one in partitions]
        refuse(not asked or sum(one.size for one in asked) > MOST_COUNTS, wording.COMPARED.format(MOST_COUNTS))
        refuse(len(expected) != len(asked), wording.EXPECTED)
        pairs = zip(expected, asked, strict=True)
        levels = [own_integers(given, (one.size,), -LARGEST, LARGEST, wording.EXPECTED) for given, one in pairs]
        marks, epsilon = own_handicaps(handicaps, len(asked)), self._per_row(budget)
        receipt = self._charge("choose_apart", f"one of {len(asked)} by how far from expected", budget)
        with quiet():
            scores = distances(self._table, asked, levels) - marks
            winner = permute_and_flip(scores, epsilon / SPREAD, self._noise)
        return self._wrap(partitions[winner], float(SPREAD / epsilon), receipt)


def distances(table: Table, partitions: Sequence[Any], expected: Sequence[Integers]) -> Integers:
    """For each partition, the sum over its cells of the difference between the rows in it and those expected."""
    found = np.zeros(len(partitions), np.int64)
    for place, (partition, level) in enumerate(zip(partitions, expected, strict=True)):
        found[place] = np.abs(table.tabulate(partition, by_class=False)[:, 0] - level).sum()
        advance("comparing tables", place + 1, len(partitions))
    return found
