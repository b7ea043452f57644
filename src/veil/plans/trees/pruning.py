"""What is computed from a tree's released counts, without cost: sums, pruning, class shares of the leaves."""

from collections.abc import Callable
from math import sqrt

import numpy as np

from ..finish import Numbers
from .branches import Node

CONFIDENCE = 0.25
VALUES = (0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)
COEFFICIENT = float(np.interp(CONFIDENCE, VALUES, DEVIATIONS)) ** 2
SLACK = 0.1  # errors that a subtree must save to stay
PULL = 1.5  # pseudo-rows of a class in a node, in deviations of its noise


def add_up(node: Node) -> None:
    """Set the counts of inner nodes to the sums over their leaves, and the deviation of their noise."""
    for branch in node.branches:
        add_up(branch)
    if node.branches:
        node.counts = sum(branch.counts for branch in node.branches)
        node.deviation = sqrt(sum(branch.deviation**2 for branch in node.branches))


def added_errors(rows: float, errors: float) -> float:
    """The errors to expect beyond those seen among `rows` rows: the upper confidence bound of C4.5 (Quinlan 1993)."""
    certain: float = rows * (1 - CONFIDENCE ** (1 / rows))
    if errors < 1e-6:
        return certain
    if errors < 0.9999:
        return certain + errors * (added_errors(rows, 1.0) - certain)
    if errors + 0.5 >= rows:
        return 0.67 * max(rows - errors, 0.0)
    half = errors + 0.5
    root = sqrt(COEFFICIENT * (half * (1 - half / rows) + COEFFICIENT / 4))
    return rows * (half + COEFFICIENT / 2 + root) / (rows + COEFFICIENT) - errors


def rows_of(node: Node) -> float:
    """The number of rows of a node, by its counts and (if asked for) its size, averaged by inverse variance."""
    counted, variance = float(node.counts.sum()), len(node.counts) * node.deviation**2
    if node.size is None:
        return counted
    trust = variance / max(variance + node.size_deviation**2, 1e-12)
    return trust * node.size + (1 - trust) * counted


def leaf_errors(node: Node) -> float:
    """The errors to expect of a leaf, plus a deviation of its noise, which makes tiny leaves look too good."""
    rows = rows_of(node)
    if rows < 1:
        return 0.0
    errors = rows - float(np.maximum(node.counts, 0).max()) + node.deviation
    errors = min(max(errors, 0.0), rows)
    return errors + added_errors(rows, errors)


def prune_by_errors(node: Node) -> float:
    """Error-based pruning of C4.5: a subtree not expected to save errors becomes a leaf. Returns expected errors."""
    alone = leaf_errors(node)
    if not node.branches:
        return alone
    below = sum(prune_by_errors(branch) for branch in node.branches)
    if rows_of(node) >= 1 and alone > below + SLACK:
        return below
    node.cut_off()
    return alone


def prune_by_noise(node: Node) -> None:
    """Turn a node above leaves into a leaf if the average class count of its branches does not exceed its noise."""
    for branch in node.branches:
        prune_by_noise(branch)
    if node.branches and not any(branch.branches for branch in node.branches):
        signal = np.mean([branch.counts.sum() for branch in node.branches]) / len(node.counts)
        if signal <= np.mean([branch.deviation for branch in node.branches]):
            node.cut_off()


PRUNE: dict[str | None, Callable[[Node], object]] = {
    None: lambda node: None,
    "errors": prune_by_errors,
    "noise": prune_by_noise,
}


def class_shares(node: Node, around: Numbers) -> list[Numbers]:
    """The class shares of each leaf, in order: from the root (whose parent is `around`) down, every node gets
    pseudo-rows in proportion to its noise, shared out as in its parent. A leaf without rows has its parent's shares."""
    level, shares, found = [node], around[None], dict[Node, Numbers]()
    while level:
        rows = np.maximum([each.counts for each in level], 0)
        rows += PULL * np.array([[each.deviation] for each in level]) * len(around) * shares
        shares = rows / rows.sum(axis=1, keepdims=True)
        found.update(zip(level, shares, strict=True))
        shares = np.repeat(shares, [len(each.branches) for each in level], axis=0)
        level = [branch for each in level for branch in each.branches]
    return [found[leaf] for leaf in node.leaves()]
