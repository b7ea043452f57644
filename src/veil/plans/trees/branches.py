"""The shape of a tree while it grows: candidate cuts, nodes, and the codes that a row in a node can have. All of it is
public or released."""

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ...kernel import stacked
from ...questions import WHOLE, Axis, Grid, Partition, Tree, axis, runs
from ...questions.bundling import by_column
from ...schema import Categorical, Numeric, Schema
from ...schema.columns import MISSING

Truths = npt.NDArray[np.bool_]
MOST_DEPTH = 50
RUNS = 8  # branches of a numeric column at the root of the tree for that column


@dataclass(eq=False)
class Node:
    """A node of a tree. `reach` is a mask over the codes of all columns: those that a row in the node can have."""

    reach: Truths
    cut: Grid | None = None
    branches: list["Node"] = field(default_factory=list)
    ended: bool = False  # a leaf by choice: the winning candidate does not divide it
    counts: Any = None  # noisy, one for each class; of an inner node, the sums over its leaves
    deviation: float = 0.0  # standard deviation of the noise in each count
    size: float | None = None  # noisy number of rows, if it was asked for, and the deviation of its noise
    size_deviation: float = 0.0

    def leaves(self) -> list["Node"]:
        """The leaves, in the order of the cells of `partition`."""
        found, left = list[Node](), [self]
        while left:
            node = left.pop()
            left += reversed(node.branches)
            found += [] if node.branches else [node]
        return found

    def partition(self) -> Partition:
        """The leaves as a question, one cell for each; if all branches are leaves, that is the cut itself."""
        if self.cut is None:
            return WHOLE
        if not any(branch.branches for branch in self.branches):
            return self.cut
        return Tree(self.cut, tuple(branch.partition() for branch in self.branches))

    def depth(self) -> float:
        """The number of cuts between root and leaf, averaged over the leaves."""
        if not self.branches:
            return 0.0
        leaves = [len(branch.leaves()) for branch in self.branches]
        return 1 + sum(n * branch.depth() for n, branch in zip(leaves, self.branches, strict=True)) / sum(leaves)

    def cut_off(self) -> None:
        """Turn the node into a leaf."""
        self.cut, self.branches = None, []


class Cuts:
    """The candidate cuts of nodes: one branch for each category, or two for the numbers below and above an edge.

    With `gathered`, also one branch for each group of a taxonomy, one category against the others, and a candidate of a
    single group, which leaves the node as it is.
    """

    def __init__(self, schema: Schema, gathered: bool = False) -> None:
        features = schema.features
        ends = np.cumsum([column.size for column in features]).tolist()
        self._places = {c.name: slice(end - c.size, end) for c, end in zip(features, ends, strict=True)}
        self._codes = ends[-1]
        self.grids = [grid for column in features for grid in _cuts_of(column, gathered)]
        self.grids += [axis(features[0], 0)] if gathered else []
        self.widths = np.array([grid.size for grid in self.grids])
        axes = [grid.axes[0] for grid in self.grids]
        self.of_column = [(name, at, stacked([axes[p] for p in at])) for name, at in by_column(axes).items()]
        self.columns = np.array([grid.columns[0] for grid in self.grids], object)
        self.roots = [runs(c, RUNS) if isinstance(c, Numeric) else axis(c) for c in features]
        self._sizes = [column.size for column in features]
        self._widest = [2 if isinstance(c, Numeric) else c.size for c in features]
        self._halved = any(isinstance(column, Numeric) for column in features)

    @property
    def branching(self) -> float:
        """The largest number of branches that a cut has, averaged over the columns."""
        return sum(self._widest) / len(self._widest)

    def root(self) -> Node:
        """A tree of one leaf."""
        return Node(np.ones(self._codes, np.bool_))

    def allowed(self, nodes: list[Node]) -> Truths:
        """A mask, nodes x candidates: whether rows of the node can be in two groups of the candidate or more. The
        candidate of a single group, which leaves a node as it is, is always allowed."""
        reach = np.array([node.reach for node in nodes], np.float32).T  # adds up numbers of codes exactly
        idle = np.empty((len(self.grids), len(nodes)), np.bool_)  # all codes that the node can have are in one group
        for name, places, (groups, starts) in self.of_column:
            codes = reach[self._places[name]]
            idle[places] = np.logical_or.reduceat(groups.astype(np.float32) @ codes == codes.sum(axis=0), starts)
        staying: Truths = self.widths == 1
        return ~idle.T | staying

    def divide(self, node: Node, cut: Grid) -> None:
        """Give a node a branch for each group that its rows can be in; codes of other groups go to the first."""
        one = cut.axes[0]
        groups, where = np.array(one.groups), self._places[one.column]
        alive = np.flatnonzero(np.bincount(groups[node.reach[where]], minlength=one.size))
        node.ended = len(alive) < 2
        if node.ended:
            return
        if len(alive) < one.size:
            moved = np.zeros(one.size, np.int64)
            moved[alive] = np.arange(len(alive))
            names = tuple(one.names[group] for group in alive)
            cut = Grid((Axis(one.column, tuple(moved[groups].tolist()), names),))
        reach = np.repeat(node.reach[None], len(alive), axis=0)
        reach[:, where] &= groups == alive[:, None]
        node.cut, node.branches = cut, [Node(codes) for codes in reach]

    def most_leaves(self, depth: int) -> int:
        """The most leaves of a tree of this depth: a path uses a category once, a number any number of times."""
        numbers = [2] * depth if self._halved else []
        widths = sorted([*self._widest, *numbers], reverse=True)[:depth]
        return min(prod(widths), prod(self._sizes))

    def deepest(self, most: int) -> int:
        """The greatest depth at which no tree has more than `most` leaves."""
        return max(depth for depth in range(MOST_DEPTH + 1) if self.most_leaves(depth) <= most)


def _cuts_of(column: Categorical | Numeric, gathered: bool) -> list[Grid]:
    if isinstance(column, Numeric):
        return _halves(column)
    return _gathered(column) if gathered else [axis(column)]


def _halves(column: Numeric) -> list[Grid]:
    """The cuts of a numeric column, one at each edge between bins; missing values go below the edge."""
    bins = len(column.cuts) - 1
    own = [0] * (column.size - bins)
    tail = f" or {MISSING}" if own else ""
    return [
        Grid((Axis(column.name, (*[0] * edge, *[1] * (bins - edge), *own), _two_names(column, edge, bins, tail)),))
        for edge in range(1, bins)
    ]


def _two_names(column: Numeric, edge: int, bins: int, tail: str) -> tuple[str, str]:
    return column.group_name(range(edge)) + tail, column.group_name(range(edge, bins))


def _gathered(column: Categorical) -> list[Grid]:
    """The cuts of a categorical column: each level of the taxonomy down to single categories, and one category against
    the others."""
    levels = [axis(column, level) for level in range(1, len(column.levels))]
    if column.size < 3:
        return levels
    apart = ((tuple(int(code != one) for code in range(column.size)), name) for one, name in enumerate(column.declared))
    return [*levels, *(Grid((Axis(column.name, groups, (name, f"not {name}")),)) for groups, name in apart)]
