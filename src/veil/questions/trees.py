"""Tree: a partition by nested cuts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..schema.refusing import refuse
from .flattening import flattened
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

    flat = cached_property(flattened)  # the tree as arrays, if it can be walked down by them

    def cells(self, codes: Encoded) -> Integers:
        if self.flat is not None:
            return self._walk(codes, *self.flat)
        taken = self.cut.cells(codes)
        leaves, offset = np.zeros(len(taken), np.int64), 0
        for number, branch in enumerate(self.branches):
            rows = np.flatnonzero(taken == number)
            leaves[rows] = branch.cells({name: codes[name][rows] for name in branch.columns} or {"": rows})
            leaves[rows] += offset  # in the wide type: the branch's own may not hold it
            offset += branch.size
        return leaves

    def _walk(self, codes: Encoded, names: tuple[str, ...], at: Integers, after: Integers) -> Integers:
        """The leaf of each row: in every step, all rows not yet in a leaf move on to another node. Whatever the arrays
        say, a row looks at its own codes alone, and ends in a leaf, after as many steps as there are nodes at most."""
        table = np.concatenate([codes[name] for name in names])  # no other column: it may be one of words
        rows = np.arange(len(table) // len(names))
        leaves, node = np.zeros((2, len(rows)), np.int64)
        first = at[0] % len(names) * len(rows)
        for _ in range(at.shape[1]):
            code = table.take(first.take(node, mode="clip") + rows)
            node = after.take(at[1].take(node, mode="clip") + code, mode="clip")
            going = np.flatnonzero(node >= 0)
            leaves[rows] = ~node
            rows, node = rows.take(going), node.take(going)
            if not len(rows):
                break
        return np.clip(leaves, 0, self.size - 1)
