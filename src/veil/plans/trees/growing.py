"""Growing trees level by level, with one private choice for all nodes of a level, and counts in the leaves."""

from collections.abc import Collection, Container
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from ...kernel import MOST_COUNTS, Budget, Cellwise, Entropy, Gini, Majority, Release, Source
from ...questions import CellScores, Predicted
from .branches import Cuts, Node

CUT_SCORES: dict[str, Cellwise] = {"entropy": Entropy(), "gini": Gini(), "majority": Majority()}
MOST_LEAVES = 50_000  # of one tree
LEAST_SCALE = 1e-9  # an astronomical budget has a scale that rounds to zero


@dataclass(frozen=True)
class Rules:
    """How trees are grown. The budget of a path from root to leaf has equal units: each choice takes one, each test of
    node sizes one, and the counts of a leaf `leaf` units, or all that is left."""

    score: str | None  # the score by which cuts are chosen; None: cuts are drawn by public coins
    depth: int | None = None  # None: by the number of rows
    trees: int | None = 1  # None: by the number of rows
    tested: bool = False  # a node is divided only if its noisy size is large enough
    support: bool = False  # a node is divided only if, were all cuts even, it would hold enough rows
    gathered: bool = False  # categories may be divided in groups, and a node may be left as it is
    rooted: bool = False  # each column has a tree of its own, which begins with it
    prune: str | None = None
    leaf: int = 1
    demand: float = 1.0  # the test of sizes: average count of a branch over its noise, at least
    frugal: bool = False  # a leaf takes its `leaf` units alone, and the rest of its path stays unspent
    handicap: float = 0.0  # score a cut must gain for each extra branch, in noise scales of all classes


def room(source: Source, cuts: Cuts) -> int:
    """The most leaves of a tree, so that the kernel can hold the counts of all candidates in each of them."""
    widest = max(column.size for column in source.schema.features) * len(source.schema.classes)
    return min(MOST_LEAVES, MOST_COUNTS // max(widest, len(cuts.grids)))


def grow(source: Source, budget: Budget, cuts: Cuts, rules: Rules, depth: int, root: Node) -> Node:
    """A tree with counts in its leaves, grown from `root` level by level.

    Budget: every level pays for a choice in each of its nodes and, if sizes are tested, for the sizes; a leaf pays for
    its counts with what is left on its path. Rows in leaves that end early are split off, so every path costs the whole
    budget.
    """
    tests = int(rules.tested)
    unit = budget.epsilon / (depth * (1 + tests) + rules.leaf + tests)
    part, left, most = Budget(unit), budget.epsilon, room(source, cuts)
    for _ in range(depth):
        nodes = root.leaves()
        mask = cuts.allowed(nodes) & (cuts.widths <= (most // len(nodes) if rules.gathered else most))
        able = np.asarray(mask[:, cuts.widths > 1].any(axis=1))
        going = [n for n, may in zip(nodes, able, strict=True) if may and n.counts is None and not n.ended]
        if rules.tested:
            measure(source, root, part, [node for node in nodes if node.counts is None])
            left -= unit
            going = _large(going, source, cuts, unit / Fraction(rules.demand), most - len(nodes))
        kept = set(going)
        to_leaf = Budget(unit * rules.leaf if rules.frugal else left)
        source = settle(source, root, [n for n in nodes if n.counts is None and n not in kept], to_leaf, going)
        if not going:
            return root
        mask[[node not in kept for node in nodes]] = True  # no row is left there: the choice is ignored
        marks = handicaps(source, cuts, rules.handicap, unit * rules.leaf)
        score = CUT_SCORES[str(rules.score)]
        won = source.choose_each(root.partition(), cuts.grids, score, part, allowed=mask, handicaps=marks).value
        left -= unit
        for node, place in zip(nodes, won, strict=True):
            if node in kept:
                cuts.divide(node, cuts.grids[place])
    settle(source, root, [node for node in root.leaves() if node.counts is None], Budget(left))
    return root


def handicaps(source: Source, cuts: Cuts, handicap: float, epsilon: Fraction) -> list[int]:
    """What each candidate's score is lowered by, in rows: a number for every branch after the first, at least one, so
    that pure nodes are not divided."""
    noise = handicap * len(source.schema.classes) / float(source.per_row(Budget(epsilon)))
    each = max(noise, float(handicap > 0))
    return [min(round(each * (width - 1)), 2**30) for width in cuts.widths.tolist()]


def measure(source: Source, root: Node, budget: Budget, still_open: Collection[Node]) -> None:
    """Ask for the noisy number of rows in each leaf, and note it in the leaves that are still open."""
    release, chosen = source.count(root.partition(), budget, by_class=False), set(still_open)
    for node, count in zip(root.leaves(), release.value[:, 0], strict=True):
        if node in chosen:
            node.size, node.size_deviation = float(count), release.deviation


def _large(going: list[Node], source: Source, cuts: Cuts, unit: Fraction, most: int) -> list[Node]:
    """The nodes large enough that the average class count of a branch exceeds its noise, largest first, and only as
    many as the tree has room for."""
    widest, classes = int(cuts.widths.max()), len(source.schema.classes)
    least = widest * classes * sqrt(2) / float(source.per_row(Budget(unit)))
    large = sorted((node for node in going if (node.size or 0.0) >= least), key=lambda node: -(node.size or 0.0))
    return large[: max(most, 0) // widest]


def settle(source: Source, root: Node, ended: list[Node], left: Budget, going: object = None) -> Source:
    """Count the leaves that end here with all that is left on their path. Returns the source of all other rows."""
    if not ended:
        return source
    nodes, chosen, partition, rest = root.leaves(), set(ended), root.partition(), source
    if going:
        here = np.array([[node in chosen, node not in chosen] for node in nodes], np.float64)
        source, rest = source.split(Predicted(CellScores(partition, here)))
    give_counts(nodes, source.count(partition, left), chosen)
    return rest


def give_counts(nodes: list[Node], release: Release[Any], chosen: Container[Node]) -> None:
    """Set `counts` and `deviation` from the release, for those of the leaves that are in `chosen`."""
    deviation = sqrt(2) * max(release.noise_scale, LEAST_SCALE)
    for node, counts in zip(nodes, release.value.astype(np.float64), strict=True):
        if node in chosen:
            node.counts, node.deviation = counts, deviation
