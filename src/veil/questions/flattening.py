"""Flattening: a tree as arrays, by which rows walk down it quickly. It sees questions alone.

Whatever the arrays say, a row that walks by them looks at its own codes alone, and ends in one leaf.
"""

from typing import Any

import numpy as np

from .grids import WHOLE, Grid

Flat = tuple[tuple[str, ...], Any, Any]


def flattened(tree: Any) -> Flat | None:
    """The tree as arrays: column names; for each inner node its column and where its codes start in the last array,
    which has the next node, or ~leaf, for each code. None if a cut has several columns."""
    nodes: list[tuple[Any, int]] = [(tree, 0)]
    after, at, places = list[int](), list[tuple[int, int]](), dict[str, int]()
    for node, leaf in nodes:  # the list grows on the way
        leaf_only = isinstance(node, Grid) or not hasattr(node, "cut")
        cut, branches = (node, (WHOLE,) * node.size) if leaf_only else (node.cut, node.branches)
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
