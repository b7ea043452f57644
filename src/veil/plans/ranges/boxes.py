"""Boxes: ranges of cells on every axis, as a table of ranges x axes x (first place, the one after the last)."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


def random_boxes(shape: Sequence[int], count: int, seed: int = 0) -> Integers:
    """Boxes at random, the same for the same seed: on each axis every length is as likely, then every place for it."""
    chance, found = np.random.default_rng(seed), []
    for size in shape:
        lengths = chance.integers(1, size + 1, count)
        starts = chance.integers(0, size - lengths + 1)
        found.append(np.stack([starts, starts + lengths], axis=1))
    return np.stack(found, axis=1)


def sums_in(table: npt.NDArray[Any], boxes: Integers) -> Numbers:
    """The sum of the cells in each box: sums from the first cell to every corner, added and subtracted."""
    sums = np.pad(np.asarray(table, np.float64), [(1, 0)] * table.ndim)
    for axis in range(table.ndim):
        sums = np.cumsum(sums, axis=axis)
    found = np.zeros(len(boxes))
    for ends in product((0, 1), repeat=table.ndim):
        corner = tuple(boxes[:, axis, end] for axis, end in enumerate(ends))
        found += (-1) ** (table.ndim - sum(ends)) * sums[corner]
    return found
