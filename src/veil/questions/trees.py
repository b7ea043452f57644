"""Tree: a partition by nested cuts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..schema.refusing import refuse
from .grids import WHOLE, Grid
from .kinds import Described, Encoded, Integers, Partition


@dataclass(frozen=True, eq=False)
class Tree(Described):
    """The leaves of a tree: `cut` sends a row to a branch, and the branch to one of its leaves."""

    cut: Partition
    branches: tuple[Partition, ...]
    reach = 1

    def __post_init__(self) -> None:
        refuse(self.cut.size != len(self.branches), "a tree needs one branch for every cell of its cut")

    @cached_property
    def size(self) -> int:
        return sum(branch.size for branch in self.branches)

    @cached_property
    def steps(self) -> tuple[tuple[str, ...], Integers, Integers] | None:
        """The tree as arrays: column names; for each inner node its column and where its codes start in the last array,
        which has the next node, or ~leaf, for each code. None if a cut has several columns."""
        nodes: list[tuple[Partition, int]] = [(self, 0)]
        after, at, places = list[int](), list[tuple[int, int]](), dict[str, int]()
        for node, leaf in nodes:  # the list grows on the way
            cut, branches = (node.cut, node.branches) if isinstance(node, Tree) else (node, (WHOLE,) * node.size)
            if not isinstance(cut, Grid) or len(cut.axes) != 1:
                return None
            ways = list[int]()
            for branch in branches:
                ways.append(~leaf if branch.size == 1 else len(nodes))
                nodes += [(branch, leaf)] if branch.size > 1 else []
                leaf += branch.size
            at.append((places.setdefault(cut.columns[0], len(places)), len(after)))
            after += [ways[group] for group in cut.axes[0].groups]
        return tuple(places), np.array(at).T.copy(), np.array(after)

    def cells(self, codes: Encoded) -> Integers:
        if self.steps is not None:
            return self._walk(codes, *self.steps)
        taken = self.cut.cells(codes)
        leaves, offset = np.zeros(len(taken), np.int64), 0
        for number, branch in enumerate(self.branches):
            rows = np.flatnonzero(taken == number)
            leaves[rows] = branch.cells({name: codes[name][rows] for name in branch.columns} or {"": rows})
            leaves[rows] += offset  # in the wide type: the branch's own may not hold it
            offset += branch.size
        return leaves

    def _walk(self, codes: Encoded, names: tuple[str, ...], at: Integers, after: Integers) -> Integers:
        """The leaf of each row: in every step, all rows not yet in a leaf move on to the next node."""
        table = np.concatenate([codes[name] for name in names])  # no other column: it may be one of words
        rows = np.arange(len(table) // len(names))
        leaves, node, first = np.empty(len(rows), np.int64), np.zeros(len(rows), np.int64), at[0] * len(rows)
        while len(rows):
            node = after.take(at[1].take(node) + table.take(first.take(node) + rows))
            going = np.flatnonzero(node >= 0)
            leaves[rows] = ~node
            rows, node = rows.take(going), node.take(going)
        return leaves
