"""Grids: partitions of rows by the codes of their columns.

A partition puts every row in exactly one cell, by a rule that depends on the row alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schema.refusing import refuse
from .kinds import Described, Encoded, Named


@dataclass(frozen=True)
class Axis:
    """A column, its codes gathered into groups: `groups[code]` is the group, `names[group]` its name."""

    column: str
    groups: tuple[int, ...]
    names: tuple[str, ...] = field(compare=False)

    @cached_property
    def size(self) -> int:
        return len(self.names)

    @cached_property
    def table(self) -> npt.NDArray[Any] | None:
        """The group of each code; None where every code is its own group."""
        if self.groups == tuple(range(len(self.groups))):
            return None
        return np.array(self.groups, np.min_scalar_type(self.size - 1))

    def pick(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The group of each row."""
        return codes if self.table is None else np.take(self.table, codes)


@dataclass(frozen=True)
class Grid(Named, Described):
    """Combinations of bins, categories or groups of them, one axis a column; no axis at all is the whole table."""

    axes: tuple[Axis, ...] = ()
    reach = 1

    def __post_init__(self) -> None:
        refuse(len({axis.column for axis in self.axes}) < len(self.axes), "a grid can hold a column only once")

    def __and__(self, other: "Grid") -> "Grid":
        return Grid(self.axes + other.axes)

    @cached_property
    def size(self) -> int:
        return prod([axis.size for axis in self.axes])

    def cells(self, codes: Encoded) -> npt.NDArray[Any]:
        """The cell of each row: mixed-radix numbers, last axis fastest, in the narrowest type (at most 2^63 cells)."""
        if not self.axes:
            return np.zeros(rows_of(codes), np.uint8)
        return join([(axis.pick(codes[axis.column]), axis.size) for axis in self.axes])


def join(parts: Sequence[tuple[npt.NDArray[Any], int]]) -> npt.NDArray[Any]:
    """Mixed-radix numbers from several digits, each step in the narrowest type that holds it."""
    cells, size = parts[0]
    for part, radix in parts[1:]:
        size *= radix
        narrow = np.min_scalar_type(max(size - 1, radix))
        cells = np.multiply(cells, narrow.type(radix), dtype=narrow, casting="unsafe")
        np.add(cells, part, out=cells, casting="unsafe")
    return cells


WHOLE = Grid()


def rows_of(codes: Encoded) -> int:
    return len(next(iter(codes.values())))
