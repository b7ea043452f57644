"""choose_range: of many public ranges of cells, one whose number of rows is far from what is expected there.

The score of a range is |rows in it - its target|; ranges and targets are public or follow from earlier answers. A row
lies in one cell, so it adds one to the rows of a range or nothing, and moves the score by -1, 0 or 1. So two scores
move apart by at most 2, and permute-and-flip with exponent epsilon / 2 per unit costs epsilon (see `flip`).
"""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ... import wording
from ...questions import Partition
from ...schema.encoding import quiet
from ..budget import Budget
from ..flip import permute_and_flip
from ..noise import Integers
from ..owning import Owner, own_integers
from ..release import Release
from ..settings import own_ranges, own_shape
from .apart import Comparing

LARGEST = 1 << 40  # target, so that no score overflows
SPREAD = 2  # how far apart a row can move two scores


class Ranging(Comparing):
    """The verb that chooses ranges, beside the one that chooses whole tables by the same comparison."""

    def choose_range(
        self, partition: Partition, shape: Sequence[int], ranges: Any, targets: Any, budget: Budget
    ) -> Release[int]:
        """The index of the winning range alone. The first cells of the partition stand in a box of this shape, the last
        axis fastest; all others are in no range. A range has for each axis a first place and the one after its last."""
        partition, budget = Owner(self._own).partition(partition), Budget(budget)
        sides = own_shape(shape, partition.size)
        boxes = own_ranges(ranges, sides)
        levels = own_integers(targets, (len(boxes),), -LARGEST, LARGEST, wording.TARGETS)
        epsilon = self._per_row(budget)
        receipt = self._charge("choose_range", f"one of {len(boxes)} ranges of {partition.describe()}", budget)
        with quiet():
            counts = self._table.tabulate(partition, by_class=False)[: prod(sides), 0]
            scores = np.abs(rows_in(counts.reshape(sides), boxes) - levels)
            winner = permute_and_flip(scores, epsilon / SPREAD, self._noise)
        return self._wrap(winner, float(SPREAD / epsilon), receipt)


def rows_in(counts: Integers, ranges: Integers) -> Integers:
    """The rows in each range: sums from the first cell to every corner, added and subtracted. Whatever the places are,
    a row is before each of them or not: on an axis it adds -1, 0 or 1, and the product of these over the axes."""
    sums = np.pad(counts, [(1, 0)] * counts.ndim)
    for axis in range(counts.ndim):
        sums = np.cumsum(sums, axis=axis)
    found = np.zeros(len(ranges), np.int64)
    for ends in product((0, 1), repeat=counts.ndim):
        corner = tuple(ranges[:, axis, end] for axis, end in enumerate(ends))
        found += (-1) ** (counts.ndim - sum(ends)) * sums[corner]
    return found
