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

from ...errors import BadInput
from ...questions import Partition
from ...schema.encoding import quiet
from ..asking import Asking
from ..budget import Budget
from ..flip import permute_and_flip
from ..noise import Integers
from ..owning import MOST_COUNTS, Owner, whole
from ..release import Release

LARGEST = 1 << 40  # target
SPREAD = 2  # how far apart a row can move two scores
MOST_AXES = 8


class Ranging(Asking):
    """The verb that chooses ranges."""

    def choose_range(
        self, partition: Partition, shape: Sequence[int], ranges: Any, targets: Any, budget: Budget
    ) -> Release[int]:
        """The index of the winning range alone. The first cells of the partition stand in a box of this shape, the last
        axis fastest; all others are in no range. A range has for each axis a first place and the one after its last."""
        partition, budget = Owner(self._own).partition(partition), Budget(budget)
        sides = own_shape(shape, partition.size)
        boxes = own_ranges(ranges, sides)
        levels = own_targets(targets, len(boxes))
        epsilon = self._per_row(budget)
        receipt = self._charge("choose_range", f"one of {len(boxes)} ranges of {partition.describe()}", budget)
        with quiet():
            counts = self._table.tabulate(partition, by_class=False)[: prod(sides), 0]
            scores = np.abs(rows_in(counts.reshape(sides), boxes) - levels)
            winner = permute_and_flip(scores, epsilon / SPREAD, self._noise)
        return self._wrap(winner, float(SPREAD / epsilon), receipt)


def own_shape(shape: Any, cells: int) -> tuple[int, ...]:
    """A copy of the shape, if the partition has so many cells."""
    sides = tuple(whole(side, "a side of the box of cells", 1, cells) for side in shape)
    if not 1 <= len(sides) <= MOST_AXES or prod(sides) > cells or prod(s + 1 for s in sides) > MOST_COUNTS:
        raise BadInput(f"the box of cells must have one to {MOST_AXES} sides, and no more cells than the partition")
    return sides


def own_ranges(ranges: Any, sides: tuple[int, ...]) -> Integers:
    """A copy of the ranges, ranges x axes x 2, if they lie in the box."""
    given = np.array(np.array(ranges))  # see `own_ways`
    if given.ndim != 3 or given.shape[1:] != (len(sides), 2) or given.dtype.kind not in "iu":
        raise BadInput("ranges must be a table of whole numbers: for each range and axis, the first place and the end")
    if not 0 < given.size <= MOST_COUNTS or given.min() < 0 or (given[..., 1] < given[..., 0]).any():
        raise BadInput("a range must begin at 0 or later, and not after its end")
    if (given.max(axis=(0, 2)) > sides).any():
        raise BadInput("a range must end within the box of cells")
    return given.astype(np.int64)


def own_targets(targets: Any, count: int) -> Integers:
    """A copy of the targets: one whole number for each range, none so large that scores could overflow."""
    given = np.array(np.array(targets))
    if given.shape != (count,) or given.dtype.kind not in "iu" or (np.abs(given.astype(float)) > LARGEST).any():
        raise BadInput("give a target for each range: whole numbers, from -2^40 to 2^40")
    return given.astype(np.int64)


def rows_in(counts: Integers, ranges: Integers) -> Integers:
    """The rows in each range: sums from the first cell to every corner, added and subtracted."""
    sums = np.pad(counts, [(1, 0)] * counts.ndim)
    for axis in range(counts.ndim):
        sums = np.cumsum(sums, axis=axis)
    found = np.zeros(len(ranges), np.int64)
    for ends in product((0, 1), repeat=counts.ndim):
        corner = tuple(ranges[:, axis, end] for axis, end in enumerate(ends))
        found += (-1) ** (counts.ndim - sum(ends)) * sums[corner]
    return found
