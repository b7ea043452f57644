"""Growing trees by choices in all nodes of a level at once; then counts in the leaves."""

from collections.abc import Container
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
    """How trees are grown. Of a path's budget every choice takes one part, every test of sizes one, and a leaf `leaf`
    parts or what is left."""

    score: str | None  # by which cuts are chosen; None: drawn by public coins
    depth: int | None = None  # None: by the number of rows
    trees: int | None = 1  # None: by the number of rows
    tested: bool = False  # a node is divided only if its noisy size is large enough
    support: bool = False  # a node is divided only if enough rows would be left after even divisions
    gathered: bool = False  # categories may be divided in groups, and a node may be left as it is
    rooted: bool = False  # each column has a tree of its own, which begins with it
    prune: str | None = None
    leaf: int = 1
    demand: float = 1.0  # how many times its noise the average count of a branch must be, by the test of sizes
    frugal: bool = False  # a leaf takes its parts alone, and what is left on its path stays unspent
    handicap: float = 0.0  # rows that a choice must save for each branch more, in noise scales of all classes


def room(source: Source, cuts: Cuts) -> int:
    """The leaves that a tree may have: a choice must be possible in each of them."""
    widest = max(column.size for column in source.schema.features) * len(source.schema.classes)
    return min(MOST_LEAVES, MOST_COUNTS // max(widest, len(cuts.grids)))


def grow(source: Source, budget: Budget, cuts: Cuts, rules: Rules, depth: int, root: Node) -> Node:
    """A tree with counts in its leaves, grown from `root` one level after the other.

    Budget: every level pays for a choice in each of its nodes and, if sizes are tested, for these; a leaf pays for its
    counts what is left on its path. Rows in leaves that end early are set apart, so every path costs all of it.
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
            _measure(source, root, part)
            left -= unit
            going = _large(going, source, cuts, unit / Fraction(rules.demand), most - len(nodes))
        kept = set(going)
        to_leaf = Budget(unit * rules.leaf if rules.frugal else left)
        source = settle(source, root, [n for n in nodes if n.counts is None and n not in kept], to_leaf, going)
        if not going:
            return root
        mask[[node not in kept for node in nodes]] = True  # none of the rows that are left is there
        marks = _handicaps(source, cuts, rules, unit * rules.leaf)
        score = CUT_SCORES[str(rules.score)]
        won = source.choose_each(root.partition(), cuts.grids, score, part, allowed=mask, handicaps=marks).value
        left -= unit
        for node, place in zip(nodes, won, strict=True):
            if node in kept:
                cuts.divide(node, cuts.grids[place])
    settle(source, root, [node for node in root.leaves() if node.counts is None], Budget(left))
    return root


def _handicaps(source: Source, cuts: Cuts, rules: Rules, epsilon: Fraction) -> list[int]:
    """Rows that a candidate must save for every branch after the first: one at least, so that pure nodes stay whole."""
    noise = rules.handicap * len(source.schema.classes) / float(source.per_row(Budget(epsilon)))
    each = max(noise, float(rules.handicap > 0))
    return [min(round(each * (width - 1)), 2**30) for width in cuts.widths.tolist()]


def _measure(source: Source, root: Node, budget: Budget) -> None:
    """Buy the sizes of all leaves that are still open."""
    release = source.count(root.partition(), budget, by_class=False)
    for node, count in zip(root.leaves(), release.value[:, 0], strict=True):
        if node.counts is None:
            node.size, node.size_deviation = float(count), release.deviation


def _large(going: list[Node], source: Source, cuts: Cuts, unit: Fraction, most: int) -> list[Node]:
    """Those whose noisy size leaves the average count of a branch larger than its noise; the largest, of too many."""
    widest, classes = int(cuts.widths.max()), len(source.schema.classes)
    least = widest * classes * sqrt(2) / float(source.per_row(Budget(unit)))
    large = sorted((node for node in going if (node.size or 0.0) >= least), key=lambda node: -(node.size or 0.0))
    return large[: max(most, 0) // widest]


def settle(source: Source, root: Node, ended: list[Node], left: Budget, going: object = None) -> Source:
    """Count the leaves that end here for all that is left on their path; the source of all other rows comes back."""
    if not ended:
        return source
    nodes, chosen, partition, rest = root.leaves(), set(ended), root.partition(), source
    if going:
        here = np.array([[node in chosen, node not in chosen] for node in nodes], np.float64)
        source, rest = source.split(Predicted(CellScores(partition, here)))
    give_counts(nodes, source.count(partition, left), chosen)
    return rest


def give_counts(nodes: list[Node], release: Release[Any], chosen: Container[Node]) -> None:
    """Give those of the leaves that are chosen their released counts."""
    deviation = sqrt(2) * max(release.noise_scale, LEAST_SCALE)
    for node, counts in zip(nodes, release.value.astype(np.float64), strict=True):
        if node in chosen:
            node.counts, node.deviation = counts, deviation
