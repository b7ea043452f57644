"""Random trees, drawn by public coins: a tree of Node objects or, if it would have too many leaves, a Drawn question
that computes a row's leaf without listing any."""

from dataclasses import replace
from math import ceil, log, sqrt
from typing import Any

import numpy as np

from ...kernel import Budget, Release, Source, SparseCounts
from ...questions import Axis, Drawn, Integers, PathScores, axis
from ...questions.drawn import WIDEST, node_numbers
from ...schema import Categorical, Numeric, Schema
from ..finish import LEAST_SHARE, Numbers
from .branches import MOST_DEPTH, Cuts, Node, Truths
from .pruning import PULL

MOST_LISTED = 20_000  # leaves of all trees together, if they are built of Node objects


def draw(
    cuts: Cuts,
    depth: int,
    rows: float,
    needed: float,
    first: str | None,
    coins: np.random.Generator,
    most: int = MOST_LISTED,
) -> Node | None:
    """A random tree without counts: at each node, public coins draw a column that can divide it, then one of its cuts.

    A node is divided while it would hold more than `needed` rows if all cuts were even. `first` is the column of the
    root, if it is given. Returns None if the tree would have more than `most` leaves.
    """
    root = cuts.root()
    level, leaves = [(root, rows)], 1
    for _ in range(depth):
        level = [(node, support) for node, support in level if support > needed]
        below = []
        for (node, support), may in zip(level, cuts.allowed([node for node, _ in level]) if level else [], strict=True):
            toss(cuts, node, may, first if node is root else None, coins)
            leaves += max(len(node.branches), 1) - 1
            below += [(branch, support / len(node.branches)) for branch in node.branches]
            if leaves > most:
                return None
        level = below
    return root


def toss(cuts: Cuts, node: Node, may: Truths, first: str | None, coins: np.random.Generator) -> None:
    """Divide a node by public coins: they draw a column among the allowed cuts (`first`, if it is given), then one of
    its cuts. A node without an allowed cut stays as it is."""
    here = may if first is None else may & (cuts.columns == first)
    if here.any():
        column = coins.choice(sorted(set(cuts.columns[here])))
        cuts.divide(node, cuts.grids[coins.choice(np.flatnonzero(here & (cuts.columns == column)))])


def deepest_drawn(schema: Schema) -> int:
    """The greatest depth at which the leaves of any random tree can still be numbered."""
    width = max(2, *(2 if isinstance(column, Numeric) else column.size for column in schema.features))
    return min(MOST_DEPTH, int((log(WIDEST) - log(len(schema.classes))) / log(width) - 1e-9))


def unlisted(schema: Schema, depth: int, rows: float, needed: float, first: str | None, seed: int) -> Drawn:
    """A random tree as in `draw`, as a Drawn question. Its depth is what `needed` rows in a node allow, were all cuts
    even, or less."""
    axes, halved = zip(*map(_drawn_by, schema.features), strict=True)
    most = WIDEST if needed == 0 else min(max(ceil(rows / needed), 1), WIDEST)
    narrowest = min(2 if half else one.size for one, half in zip(axes, halved, strict=True))
    levels = min(depth, deepest_drawn(schema), ceil(log(most) / log(max(narrowest, 2))) + 1)
    names = [column.name for column in schema.features]
    return Drawn(axes, halved, levels, seed, most, -1 if first is None else names.index(first))


def _drawn_by(column: Categorical | Numeric) -> tuple[Axis, bool]:
    """The axis by which a column divides nodes, and whether it is cut in two at an edge (numbers, missing ones below)
    or into its categories."""
    if not isinstance(column, Numeric):
        return axis(column).axes[0], False
    bins = len(column.cuts) - 1
    groups = (*range(bins), *[0] * (column.size - bins))
    return Axis(column.name, groups, tuple(column.group_name([code]) for code in range(bins))), True


def top_of(tree: Drawn, rows: float, needed: float, most: int) -> Drawn:
    """The upper levels of a tree: as many as leave `needed` rows in a node, were all cuts even, and `most` nodes."""
    nodes = min(max(rows / needed, 1.0), float(most))
    return replace(tree, depth=max(1, min(tree.depth, int(log(nodes) / log(tree.width) + 1e-9))))


def count_paths(
    source: Source, tree: Drawn, top: Drawn, budget: Budget, prior: Numbers, weight: float, start: Numbers
) -> PathScores:
    """A scorer from the noisy counts of a tree: a released leaf has its own class shares, any other those of its
    ancestor at the bottom of `top`.

    Budget: half for the counts of all nodes at the bottom of `top`, half for a sparse count of the leaves; all of it
    for the first if `top` is the whole tree. Scores are `start` plus `weight` times log(class shares of the node /
    prior).
    """
    to_count, to_refine = budget.each(2) if top.depth < tree.depth else (budget, None)
    nodes, shares = _top_shares(source.count(top, to_count), top, prior)
    if to_refine is not None:
        more, finer = _leaf_shares(source.count_sparse(tree, to_refine), tree, top, shares)
        nodes, shares = np.concatenate([nodes, more]), np.concatenate([shares, finer])
    scores = start + weight * (np.log(np.maximum(shares, LEAST_SHARE)) - np.log(prior))
    return PathScores(tree, nodes, scores)


def _top_shares(release: Release[Any], top: Drawn, prior: Numbers) -> tuple[Integers, Numbers]:
    """The numbers and class shares of the root and of all nodes at the bottom of `top`. From the root down, every node
    gets pseudo-rows in proportion to its noise, shared out as in its parent, as in `class_shares`."""
    counts, shares, noise = release.value.astype(np.float64), prior[None], release.deviation
    for level in range(1, top.depth + 1):
        below = top.width ** (top.depth - level)
        rows = np.maximum(counts.reshape(-1, below, len(prior)).sum(axis=1), 0) + LEAST_SHARE
        rows += PULL * noise * sqrt(below) * len(prior) * np.repeat(shares, top.width, axis=0)
        shares = rows / rows.sum(axis=1, keepdims=True)
    ends = node_numbers(top, np.arange(top.size), top.depth)
    return np.concatenate([[0], ends]), np.concatenate([prior[None], shares])


def _leaf_shares(release: Release[SparseCounts], tree: Drawn, top: Drawn, shares: Numbers) -> tuple[Integers, Numbers]:
    """The numbers and class shares of the released leaves. A class below the threshold was not released but may have
    rows, so a leaf gets as many pseudo-rows as the threshold, shared out as in its ancestor at the bottom of `top`."""
    cells, labels = release.value.cells()
    leaves, place = np.unique(cells, return_inverse=True)
    rows = np.zeros((len(leaves), shares.shape[1])) + LEAST_SHARE
    np.add.at(rows, (place, labels), release.value.counts)
    above = 1 + leaves // tree.width ** (tree.depth - top.depth)  # the root comes first
    least = PULL * release.deviation * shares.shape[1]
    rows += max(release.value.threshold, least) * shares[above]
    return node_numbers(tree, leaves, tree.depth), rows / rows.sum(axis=1, keepdims=True)
