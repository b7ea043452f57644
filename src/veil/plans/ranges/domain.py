"""Domain: the cells over which a histogram is published, and the dyadic tree above them. All of it is public."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ...questions import Grid, Grouped, grid
from ...schema import Numeric, Schema

Integers = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int64]  # numbers of the nodes of one level, from 0


@dataclass(frozen=True, eq=False)
class Domain:
    """The cells of a few columns: one for each combination of their declared bins or values.

    Above them stands a binary tree of `depth` levels: level l halves the axis that has the most halvings left, the
    first of equals, so that nodes stay as square as can be. An axis whose number of cells is no power of two is spread
    over the next one; the places that no cell has are empty, and known to be. Rows with a missing value lie in no cell.
    """

    schema: Schema

    @cached_property
    def grid(self) -> Grid:
        """The grid of all codes, those of missing values among them."""
        return grid(self.schema, *(column.name for column in self.schema.features))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of cells on each axis."""
        return tuple(column.size - (column.missing is None) for column in self.schema.features)

    @cached_property
    def size(self) -> int:
        """The number of cells."""
        return prod(self.shape)

    @cached_property
    def halvings(self) -> tuple[int, ...]:
        """How often each axis is halved until its cells stand alone."""
        return tuple((size - 1).bit_length() for size in self.shape)

    @cached_property
    def depth(self) -> int:
        """The levels of the tree below the root."""
        return sum(self.halvings)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The axis that each level halves, from the root down."""
        left, order = list(self.halvings), []
        while any(left):
            axis = left.index(max(left))
            left[axis] -= 1
            order.append(axis)
        return tuple(order)

    @cached_property
    def ranks(self) -> list[Integers]:
        """For each axis the rank of its codes along it: numbers by size, categories as their taxonomy groups them."""
        return [
            np.arange(column.size) if isinstance(column, Numeric) else np.argsort(np.lexsort(column.levels[::-1]))
            for column in self.schema.features
        ]

    @cached_property
    def places(self) -> Integers:
        """The place of each cell among the 2^depth leaves of the tree; cells in the order of the axes, last fastest."""
        return self._places(self.shape)

    @cached_property
    def leaves(self) -> Integers:
        """The place of each cell of the grid, which has codes for missing values too: those have place -1."""
        known = self._places(self.grid_shape)
        for axis, (size, cells) in enumerate(zip(self.grid_shape, self.shape, strict=True)):
            missing = np.arange(size) >= cells
            shaped = missing.reshape([-1 if other == axis else 1 for other in range(len(self.shape))])
            known = np.where(np.broadcast_to(shaped, self.grid_shape).ravel(), -1, known)
        return known

    @cached_property
    def grid_shape(self) -> tuple[int, ...]:
        """The number of codes on each axis."""
        return tuple(column.size for column in self.schema.features)

    def _places(self, sizes: Sequence[int]) -> Integers:
        """The place of every combination of codes: the bits of all axes, in the order in which they are halved."""
        places = np.zeros(sizes, np.int64)
        used = [0] * len(sizes)
        for axis in self.order:
            cells, bits = self.shape[axis], self.halvings[axis]
            spread = (self.ranks[axis][: sizes[axis]] << bits) // cells
            used[axis] += 1
            bit = (spread >> (bits - used[axis])) & 1
            places = 2 * places + bit.reshape([-1 if other == axis else 1 for other in range(len(sizes))])
        return places.ravel()

    @cached_property
    def along(self) -> list[Integers]:
        """For each axis, the place along it of every cell, from 0: numbers by size, categories by their groups."""
        codes = np.indices(self.shape).reshape(len(self.shape), -1)
        places = [np.argsort(np.argsort(ranks[:size])) for ranks, size in zip(self.ranks, self.shape, strict=True)]
        return [place[code] for place, code in zip(places, codes, strict=True)]

    @cached_property
    def held(self) -> list[npt.NDArray[np.float64]]:
        """For each level, the number of cells below each of its nodes; 0 for those that are known to be empty."""
        cells = np.bincount(self.places, minlength=1 << self.depth).astype(np.float64)
        return [cells.reshape(1 << level, -1).sum(axis=1) for level in range(self.depth + 1)]

    def below(self, nodes: Nodes, level: int, lower: int) -> Nodes:
        """The descendants of nodes at a lower level, without those that hold no cell."""
        found = ((nodes << (lower - level))[:, None] + np.arange(1 << (lower - level))).ravel()
        return np.asarray(found[self.held[lower][found] > 0])

    def nodes(self, nodes: Mapping[int, Nodes]) -> Grouped:
        """The rows of disjoint nodes, given by level, as a question: a group for each, and one more for all others."""
        many, start = sum(map(len, nodes.values())), 0
        numbers = np.full(1 << self.depth, many)
        for level, some in nodes.items():
            numbers.reshape(1 << level, -1)[some] = np.arange(start, start + len(some))[:, None]
            start += len(some)
        return self._grouped(numbers, many)

    def apart(self, nodes: Mapping[int, Nodes]) -> Grouped:
        """Two groups: the rows outside of these nodes, then those in them, with all that lie in no cell."""
        inside = np.zeros(1 << self.depth, np.int64)
        for level, some in nodes.items():
            inside.reshape(1 << level, -1)[some] = 1
        return self._grouped(inside, 1)

    def insist_on(self, most: int, method: str) -> None:
        """Refuse more cells than a method can hold."""
        if self.size > most:
            raise BadInput(
                f"{method} takes at most {most:,} cells, and these columns have {self.size:,}: use fewer bins, fewer "
                "columns, or another method such as adaptive-tree"
            )

    def groups(self, numbers: Integers) -> Grouped:
        """Any grouping of the cells as a question: `numbers` has the group of each, from 0. The last group, one more,
        is that of the rows that lie in no cell."""
        others = int(numbers.max()) + 1
        found = np.full(self.grid.size, others)
        found[self.leaves >= 0] = numbers
        return Grouped(self.grid, found.astype(np.min_scalar_type(others)), others + 1)

    def _grouped(self, of_leaves: Integers, others: int) -> Grouped:
        numbers = np.where(self.leaves < 0, others, of_leaves[self.leaves])
        return Grouped(self.grid, numbers.astype(np.min_scalar_type(others)), others + 1)


def numbered(parts: Sequence[Integers]) -> Integers:
    """A number for each combination of these that occurs, from 0, the last fastest."""
    joined = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        joined = joined * (int(part.max()) + 1) + part
    return np.unique(joined, return_inverse=True)[1].reshape(-1)
