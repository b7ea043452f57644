"""Growing a tree whose nodes are treated differently: rows of nodes that part ways pay for their own way alone."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...kernel import Budget, Source
from ...questions import CellScores, Predicted
from .branches import Cuts, Node
from .coins import toss
from .growing import CUT_SCORES, give_counts, handicaps, measure
from .learner import RANDOM, STOP, Decision, Facts, Learner

LARGEST = Fraction(10**9)  # epsilon, beyond which there is no noise to speak of


class Front(NamedTuple):
    """Nodes that may be divided and leaves that wait to be counted: their rows are in one source, and their paths have
    as much left."""

    source: Source
    nodes: list[Node]
    leaves: list[Node]
    left: Fraction


@dataclass(eq=False)
class Growth:
    """One tree while it grows, level by level."""

    cuts: Cuts
    learner: Learner
    levels: int
    unit: Fraction  # epsilon of a choice
    most: int  # leaves
    about: Facts  # of all rows
    coins: np.random.Generator
    first: str | None = None  # the column of the root, if it is divided at random
    support: dict[Node, float] = field(default_factory=dict)  # all rows, divided evenly over the branches on a path
    decisions: list[Decision] = field(default_factory=list)

    def grow(self, source: Source, epsilon: Fraction, rows: float | None) -> Node:
        """The tree, with counts in its leaves; every path costs epsilon exactly."""
        self.root = self.cuts.root()
        self.support = {} if rows is None else {self.root: rows}
        fronts = [Front(source, [self.root], [], epsilon)]
        for depth in range(self.levels):
            fronts = [after for front in fronts for after in self.step(front, depth)]
        for front in fronts:
            self.count(front)
        return self.root

    def step(self, front: Front, depth: int) -> list[Front]:
        """Decide about every node of a front, and divide. Coins are free, so nodes that they divide and leaves that
        wait stay together; those that a score divides go apart and pay for the choice."""
        if self.learner.sizes and front.nodes:
            front = self.measured(front)
        ways = self.decide(front, depth)
        groups: dict[str, list[Node]] = {}
        for node in [*front.leaves, *front.nodes]:
            groups.setdefault(RANDOM if ways.get(node, STOP) == STOP else ways[node], []).append(node)
        order = sorted(groups, key=lambda way: way != RANDOM)
        sources, after = self.apart(front.source, [groups[way] for way in order]), list[Front]()
        for part, way in zip(sources, order, strict=True):
            nodes = groups[way]
            after += self.divide(Front(part, nodes, [], front.left), way, [node for node in nodes if node in ways])
        return after

    def decide(self, front: Front, depth: int) -> dict[Node, str]:
        """The nodes that are to be divided, and how; as many as the tree has room for, the largest first."""
        found = dict[Node, str]()
        for node, may in zip(front.nodes, self.allowed(front.nodes), strict=True):
            if not may.any():
                continue
            facts = self.facts(node, front, depth, int(may.sum()))
            self.decisions.append(Decision(facts, self.learner.decide(facts)))
            found[node] = self.decisions[-1].decided
        going = [node for node in found if found[node] != STOP]
        fits = max(self.most - len(self.root.leaves()), 0) // int(self.cuts.widths.max())
        return {node: found[node] for node in sorted(going, key=lambda node: -(node.size or 0.0))[:fits]}

    def facts(self, node: Node, front: Front, depth: int, candidates: int) -> dict[str, float]:
        """What a decision about a node may know: all of it public or released."""
        rows = node.size if node.size is not None else self.support.get(node)
        left, unit = (float(min(front.source.per_row(Budget(e)), LARGEST)) for e in (front.left, self.unit))
        known = {"depth": depth, "levels": self.levels - depth, "height": self.levels, "candidates": candidates}
        return {**self.about, **known, "left": left, "unit": unit, **({} if rows is None else {"rows": max(rows, 0.0)})}

    def allowed(self, nodes: list[Node]) -> Any:
        """A mask, nodes x candidates: the cuts that divide the node."""
        widths = self.cuts.widths
        return self.cuts.allowed(nodes) & (widths > 1) & (widths <= self.most) if nodes else []

    def measured(self, front: Front) -> Front:
        """The front after the sizes of its nodes were asked for; leaves that wait are counted before."""
        if front.leaves:
            waiting, going = self.apart(front.source, [front.leaves, front.nodes])
            self.count(Front(waiting, [], front.leaves, front.left))
            front = Front(going, front.nodes, [], front.left)
        price = self.unit * self.learner.sizes
        measure(front.source, self.root, Budget(price), front.nodes)
        return front._replace(left=front.left - price)

    def apart(self, source: Source, groups: list[list[Node]]) -> list[Source]:
        """For each group of leaves, the source of their rows; if there is one group, all rows are theirs."""
        if len(groups) < 2:
            return [source] * len(groups)
        place = {node: number for number, group in enumerate(groups) for node in group}
        here = np.eye(len(groups))[[place.get(node, 0) for node in self.root.leaves()]]
        return [*source.split(Predicted(CellScores(self.root.partition(), here)))]

    def divide(self, front: Front, way: str, going: list[Node]) -> list[Front]:
        """The front after some of its nodes were divided; one of which none is to be divided is counted and done."""
        if not going:
            self.count(front)
            return []
        return [self.by_coins(front, going) if way == RANDOM else self.by_score(front, way)]

    def by_coins(self, front: Front, going: list[Node]) -> Front:
        """The front after public coins divided some of its nodes, for nothing."""
        for node, may in zip(going, self.allowed(going), strict=True):
            toss(self.cuts, node, may, self.first if node is self.root else None, self.coins)
        return self.below(front)

    def by_score(self, front: Front, way: str) -> Front:
        """The front after its nodes were divided by cuts that were chosen privately, all by one charge."""
        nodes, chosen = self.root.leaves(), {*front.nodes}
        mask = self.cuts.allowed(nodes) & (self.cuts.widths <= self.most)
        mask[[node not in chosen for node in nodes]] = True  # no row is left there: the choice is ignored
        marks = handicaps(front.source, self.cuts, self.learner.handicap, self.unit * self.learner.leaf)
        asked = (self.root.partition(), self.cuts.grids, CUT_SCORES[way], Budget(self.unit))
        won = front.source.choose_each(*asked, allowed=mask, handicaps=marks).value
        for node, place in zip(nodes, won, strict=True):
            if node in chosen:
                self.cuts.divide(node, self.cuts.grids[place])
        return self.below(front._replace(left=front.left - self.unit))

    def below(self, front: Front) -> Front:
        """The front one level down: branches of divided nodes, and leaves that wait."""
        for node in front.nodes:
            even = self.support.get(node, 0.0) / max(len(node.branches), 1)
            self.support |= {branch: even for branch in node.branches} if self.support else {}
        nodes = [branch for node in front.nodes for branch in node.branches]
        return front._replace(nodes=nodes, leaves=[node for node in front.nodes if not node.branches])

    def count(self, front: Front) -> None:
        """Count the leaves of a front with all that is left on their paths."""
        leaves = {*front.nodes, *front.leaves}
        if leaves:
            give_counts(self.root.leaves(), front.source.count(self.root.partition(), Budget(front.left)), leaves)
