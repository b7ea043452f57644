"""Growing trees level by level, with one private choice for all nodes of a level, and counts in the leaves."""

from collections.abc import Collection, Container
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from ...kernel import MOST_COUNTS, Budget, Cellwise, Entropy, Gini, Majority, Release, Source
from ...questions import CellScores, Predicted, Tree, grid
from .branches import Cuts, Node

CUT_SCORES: dict[str, Cellwise] = {"entropy": Entropy(), "gini": Gini(), "majority": Majority()}
MOST_LEAVES = 50_000  # of one tree
LEAST_SCALE = 1e-9  # an astronomical budget has a scale that rounds to zero


@dataclass(frozen=True)
class Rules:
    """How trees are grown. The budget of a path from root to leaf has equal units: the choices of a level take `split`
    of them, a test of node sizes `stop`, and the counts of a leaf `leaf`, or all that is left."""

    score: str | None  # the score by which cuts are chosen; None: cuts are drawn by public coins
    depth: int | None = None  # None: by the number of rows
    trees: int | None = 1  # None: by the number of rows
    tested: bool = False  # a node is divided only if its noisy size is large enough
    counted: bool = False  # cuts are chosen by noisy counts of every column, not by a private choice
    support: bool = False  # a node is divided only if, were all cuts even, it would hold enough rows
    gathered: bool = False  # categories may be divided in groups, and a node may be left as it is
    rooted: bool = False  # each column has a tree of its own, which begins with it
    prune: str | None = None
    stop: int = 1
    split: int = 1
    leaf: int = 1
    demand: float = 1.0  # the test of sizes: average count of a branch over its noise, at least
    frugal: bool = False  # a leaf takes its `leaf` units alone, and the rest of its path stays unspent
    handicap: float = 0.0  # score a cut must gain for each extra branch, in noise scales of all classes

    @property
    def test(self) -> int:
        """The units that a test of sizes takes; none if they are not tested."""
        return self.stop if self.tested else 0

    def units(self, depth: int) -> int:
        """The units of a path with so many choices."""
        return depth * (self.split + self.test) + self.leaf + self.test


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
    unit = budget.epsilon / rules.units(depth)
    left, most = budget.epsilon, room(source, cuts)
    for _ in range(depth):
        nodes = root.leaves()
        mask = cuts.allowed(nodes) & (cuts.widths <= (most // len(nodes) if rules.gathered else most))
        able = np.asarray(mask[:, cuts.widths > 1].any(axis=1))
        going = [n for n, may in zip(nodes, able, strict=True) if may and n.counts is None and not n.ended]
        if rules.tested:
            measure(source, root, Budget(unit * rules.stop), [node for node in nodes if node.counts is None])
            left -= unit * rules.stop
            going = _large(going, source, cuts, unit * rules.leaf / Fraction(rules.demand), most - len(nodes))
        kept = set(going)
        to_leaf = Budget(unit * rules.leaf if rules.frugal else left)
        source = settle(source, root, [n for n in nodes if n.counts is None and n not in kept], to_leaf, going)
        if not going:
            return root
        mask[[node not in kept for node in nodes]] = True  # no row is left there: the choice is ignored
        won = _won(source, root, cuts, rules, unit, mask)
        left -= unit * rules.split
        for node, place in zip(nodes, won, strict=True):
            if node in kept:
                cuts.divide(node, cuts.grids[place])
    settle(source, root, [node for node in root.leaves() if node.counts is None], Budget(left))
    return root


def _won(source: Source, root: Node, cuts: Cuts, rules: Rules, unit: Fraction, mask: Any) -> Any:
    """The candidate that divides each leaf, chosen by one private choice for all of them, or by noisy counts."""
    score, part = CUT_SCORES[str(rules.score)], Budget(unit * rules.split)
    if rules.counted:
        return best_by_counts(source, root, cuts, score, part, mask)
    marks = handicaps(source, cuts, rules.handicap, unit * rules.leaf)
    return source.choose_each(root.partition(), cuts.grids, score, part, allowed=mask, handicaps=marks).value


def best_by_counts(source: Source, root: Node, cuts: Cuts, score: Cellwise, budget: Budget, mask: Any) -> Any:
    """The allowed candidate of each leaf that has the highest score, by noisy class counts of every value of every
    column within the leaves. Budget: an equal part for each column."""
    scores, leaves = np.full(mask.shape, np.iinfo(np.int64).min), len(mask)
    for (name, places, (groups, starts)), part in zip(cuts.of_column, budget.each(len(cuts.of_column)), strict=True):
        values = grid(source.schema, name)
        asked = Tree(root.partition(), (values,) * leaves) if leaves > 1 else values
        counts = np.maximum(source.count(asked, part).value, 0).reshape(leaves, values.size, -1)
        sums = (groups @ np.moveaxis(counts, 1, 0).reshape(values.size, -1)).astype(np.int64)
        scores[:, places] = np.add.reduceat(score.cells(sums.reshape(-1, leaves, counts.shape[2])), starts).T
    return np.where(mask, scores, np.iinfo(np.int64).min).argmax(axis=1)


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
