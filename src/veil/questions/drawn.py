"""Trees drawn by public coins, with any number of leaves: a node is only computed when a row comes to it.

The coins of a node are a hash of a public seed and of the path to it, so the leaf of a row follows from that row alone,
and nodes without rows take no memory.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import wording
from ..schema.refusing import refuse
from .grids import Axis
from .kinds import Described, Encoded, Integers
from .scorers import fixed_point

WIDEST = 2**62  # leaves times classes: their numbers stay within 64 bits


@dataclass(frozen=True, eq=False)
class Drawn(Described):
    """The leaves of a tree whose nodes are divided by columns drawn with public coins, down to `depth`.

    A column divides into all groups of its axis or, if `halved`, at a drawn edge between them; it is drawn as long as
    two of its groups can be reached. The root's column is `first`, if that is not below zero. A node is divided only
    if the cuts above it have made fewer than `most` parts. A leaf is numbered by its branches, one digit a level: there
    are numbers that no leaf has, which is as if nobody were in it.
    """

    axes: tuple[Axis, ...]
    halved: tuple[bool, ...]
    depth: int
    seed: int
    most: int = WIDEST
    first: int = -1
    reach = 1

    @cached_property
    def width(self) -> int:
        """The largest number of branches of a node, the base in which leaves are numbered."""
        return max([2, *(2 if half else axis.size for axis, half in zip(self.axes, self.halved, strict=True))])

    @cached_property
    def size(self) -> int:
        return int(self.width**self.depth)

    def cells(self, codes: Encoded) -> Integers:
        """The leaf of each row; every step works on each row by itself."""
        groups = np.column_stack([axis.pick(codes[axis.column]) for axis in self.axes]).astype(np.int32)
        low, high = np.zeros_like(groups), np.zeros_like(groups) + np.array([axis.size for axis in self.axes], np.int32)
        leaves, parts, rows = np.zeros(len(groups), np.int64), np.ones(len(groups), np.int64), np.arange(len(groups))
        for level in range(self.depth):
            divides = high - low > 1  # columns with two reachable groups or more
            left, coins = divides.sum(axis=1), _coins(self.seed, level, leaves)
            place = (divides.cumsum(axis=1) > (coins % np.maximum(left, 1).astype(np.uint64))[:, None]).argmax(axis=1)
            if level == 0 and self.first >= 0:
                place[:] = self.first
            here = (rows, place)
            going, halved = divides[here] & (parts < self.most), np.array(self.halved)[place]
            group, start, end = groups[here], low[here], high[here]
            edge = start + 1 + (_mixed(coins) % np.maximum(end - start - 1, 1).astype(np.uint64)).astype(np.int32)
            above = group >= edge
            low[here] = np.where(going, np.where(halved, np.where(above, edge, start), group), start)
            high[here] = np.where(going, np.where(halved, np.where(above, end, edge), group + 1), end)
            leaves = leaves * self.width + np.where(going, np.where(halved, above, group), 0)
            parts *= np.where(going, np.where(halved, 2, end - start), 1)
        return leaves


def _coins(seed: int, level: int, path: Integers) -> npt.NDArray[np.uint64]:
    """64 random-looking bits for each node, computed from the seed, the level and the path that leads there."""
    start = _mixed(np.array([seed], np.uint64) + np.uint64(level))
    return _mixed(_mixed(path.astype(np.uint64)) ^ start)


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A step of splitmix64 (Steele, Lea, Flood 2014): bits that look random. They are public and need not be secure."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class PathScores(Described):
    """Scores for some nodes of a drawn tree, the root among them; a row has those of the last on its path. `nodes` are
    sorted numbers: a node's branches as a number with one digit a level, after those of all levels above."""

    tree: Drawn
    nodes: npt.NDArray[Any]
    values: npt.ArrayLike

    @cached_property
    def table(self) -> Integers:
        table, nodes = fixed_point(self.values), self.nodes
        whole = type(nodes) is np.ndarray and nodes.dtype == np.int64 and nodes.ndim == 1 and len(nodes) > 0
        refuse(not whole or nodes[0] != 0 or np.any(nodes[1:] <= nodes[:-1]), wording.NODES)
        refuse(table.ndim != 2 or len(table) != len(nodes) or not table.size, wording.PATH_SCORES)
        return table

    @property
    def classes(self) -> int:
        return int(self.table.shape[1])

    def scores(self, codes: Encoded) -> Integers:
        leaves = self.tree.cells(codes)
        last = np.zeros(len(leaves), np.int64)
        for level in range(1, self.tree.depth + 1):
            numbers = node_numbers(self.tree, leaves, level)
            place = np.minimum(np.searchsorted(self.nodes, numbers), len(self.nodes) - 1)
            last = np.where(self.nodes[place] == numbers, place, last)
        return np.take(self.table, last, axis=0)


def node_numbers(tree: Drawn, leaves: Integers, level: int) -> Integers:
    """The numbers of the nodes of this level that lead to these leaves."""
    before = (tree.width**level - 1) // (tree.width - 1)
    numbers: Integers = leaves // tree.width ** (tree.depth - level) + before
    return numbers
