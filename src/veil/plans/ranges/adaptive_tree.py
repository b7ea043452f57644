"""The adaptive tree: counts of dyadic nodes in a few stages, each only where the stage before found rows.

Own design; its nearest relatives are adaptive grids (Qardaji, Yang, Li 2013), hierarchies (Qardaji, Yang, Li 2013b) and
PrivTree (Zhang, Xiao, Xie 2016).
"""

from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from ...kernel import Budget, Source
from .domain import Domain, Nodes
from .measured import Measured, Numbers
from .spread import Spread, spread_of

HALVINGS = 4  # levels that a stage goes down, about
GROWTH = {1: "1", 2: "1.6"}  # of the share of a stage from one to the next, by the number of columns
OF_MANY = "2.6"  # with three columns or more
STOP = 12  # a node with fewer rows x epsilon is not divided further
JOIN = 16  # two halves that stopped are counted as one if they have fewer together


def adaptive_tree(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count the nodes of a few levels, each stage only below nodes with many rows, and smooth what was counted.

    Budget: every stage but the last has a share of what is left. Nodes with too few rows to be divided stop, and are
    counted once more with all that is left. So each row pays all of epsilon, on whichever path it comes down the tree.
    """
    measured, left, above, level = Measured(domain), budget, 0, 0
    nodes, rows = np.zeros(1, np.int64), np.zeros(1)
    for below, share in stages(domain):
        if level:
            stops = np.maximum(rows, 0) * float(source.per_row(left)) < STOP
            source = _finish(source, left, measured, level, nodes[stops], rows[stops], max(above, 1), bool(stops.all()))
            nodes = nodes[~stops]
        if not len(nodes):
            break
        part = Budget(left.epsilon * share)
        children = _children(domain, nodes, level, below)
        measured.count(source, part, {below: children})
        rows = measured.settled(level, nodes, below, children)
        left = Budget(left.epsilon - part.epsilon) if share < 1 else left
        above, level, nodes = level, below, children
    return spread_of(measured)


def stages(domain: Domain) -> list[tuple[int, Fraction]]:
    """The level of each stage, and its share of the budget that is left."""
    count = max(ceil(domain.depth / HALVINGS), 1)
    growth = Fraction(GROWTH.get(len(domain.shape), OF_MANY))
    weights = [growth**stage for stage in range(count)]
    levels = [round(domain.depth * (stage + 1) / count) for stage in range(count)]
    return [
        (level, weight / sum(weights[stage:]))
        for stage, (level, weight) in enumerate(zip(levels, weights, strict=True))
    ]


def _children(domain: Domain, nodes: Nodes, level: int, below: int) -> Nodes:
    """The descendants of nodes at a lower level, without those that hold no cell."""
    found = ((nodes << (below - level))[:, None] + np.arange(1 << (below - level))).ravel()
    return np.asarray(found[domain.held[below][found] > 0])


def _finish(
    source: Source,
    left: Budget,
    measured: Measured,
    level: int,
    nodes: Nodes,
    rows: Numbers,
    highest: int,
    everything: bool,
) -> Source:
    """Count the nodes that stopped with all that is left; returns the source of those that go on."""
    if not len(nodes):
        return source
    stopped, sums = measured.domain.held[level] == 0, np.zeros(1 << level)
    stopped[nodes], sums[nodes] = True, np.maximum(rows, 0)
    final = joined(stopped, sums, JOIN / float(source.per_row(left)), highest)
    if everything:
        measured.count(source, left, final)
        return source
    going, over = source.split(measured.domain.apart(final))
    measured.count(over, left, final)
    measured.together = False  # all others went on
    return going


def joined(stopped: npt.NDArray[np.bool_], rows: Numbers, limit: float, highest: int) -> dict[int, Nodes]:
    """The nodes to count, by level: halves that both stopped and hold less than `limit` together become one node, again
    and again, up to the highest level."""
    found, level = {}, (len(rows) - 1).bit_length()
    while level > highest:
        halves = stopped.reshape(-1, 2).all(axis=1), rows.reshape(-1, 2).sum(axis=1)
        one = halves[0] & (halves[1] < limit)
        found[level] = np.flatnonzero(stopped & ~np.repeat(one, 2))
        stopped, rows, level = one, halves[1], level - 1
    return {**found, level: np.flatnonzero(stopped)}
