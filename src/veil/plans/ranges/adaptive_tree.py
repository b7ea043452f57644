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
from .evenness import room
from .measured import Measured, Numbers
from .spread import Spread, spread_of

HALVINGS = 4  # levels that a stage goes down, about
GROWTH = {1: "1", 2: "1.6"}  # of the share of a stage from one to the next, by the number of columns
OF_MANY = "2.6"  # with three columns or more
STOP, JOIN = 12, 16  # rows x epsilon: a node with fewer is not divided; halves with fewer together are counted as one
TO_SIZE, OF_MANY_TO_SIZE = 3, 5  # per cent of the budget for the number of rows, of one column and of several
FEW, AGAIN = 40, 25  # rows x epsilon below which that number, of several columns, is worth so many per cent more
ROOT = {0: np.zeros(1, np.int64)}


def adaptive_tree(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count all rows, then the nodes of a few levels, each stage only below nodes with many rows; smooth the counts.

    Budget: 3 % for the number of rows; 5 % with several columns, and 25 % more if they are few. Of what is left, every
    stage but the last has a share. Nodes with too few rows to be divided stop, and are counted once more with all that
    is left. So each row pays all of epsilon, on whichever path it comes down the tree.
    """
    return spread_of(counted(source, budget, domain))


def counted(source: Source, budget: Budget, domain: Domain) -> Measured:
    """The noisy counts of all nodes that are asked about."""
    measured, nodes = Measured(domain), np.zeros(1, np.int64)
    left = _size(source, budget, measured)
    rows, above, level = measured.counts[0], 0, 0
    for below, share in stages(domain):
        if level:
            epsilon = float(source.per_row(left))
            stop, join = _limits(measured, level, nodes, rows)
            stops = np.maximum(rows, 0) * epsilon < stop
            final = _joined(domain, level, nodes[stops], rows[stops], join / epsilon, above)
            source = _finish(source, left, measured, final, bool(stops.all()))
            nodes = nodes[~stops]
        if not len(nodes):
            break
        children, part = domain.below(nodes, level, below), Budget(left.epsilon * share)
        measured.count(source, part, {below: children})
        rows = measured.settled(level, nodes, below, children)
        left = left if share == 1 else Budget(left.epsilon - part.epsilon)
        above, level, nodes = level, below, children
    return measured


def _size(source: Source, budget: Budget, measured: Measured) -> Budget:
    """Count all rows; returns what is left of the budget. A single cell has nothing to divide."""
    several = len(measured.domain.shape) > 1
    percent = OF_MANY_TO_SIZE if several else TO_SIZE
    if not measured.domain.depth:
        measured.count(source, budget, ROOT)
        return budget
    measured.count(source, Budget(budget.epsilon * percent / 100), ROOT)
    if several and measured.counts[0][0] * float(source.per_row(budget)) < FEW:
        measured.count(source, Budget(budget.epsilon * AGAIN / 100), ROOT)
        percent += AGAIN
    return Budget(budget.epsilon * (100 - percent) / 100)


def stages(domain: Domain) -> list[tuple[int, Fraction]]:
    """The level of each stage, about every fourth down to the cells, and its share of the budget that is left."""
    columns, depth = len(domain.shape), domain.depth
    if not depth:
        return []
    count = ceil(depth / HALVINGS) if columns == 1 else max(depth // HALVINGS, 1)
    steps = [depth / count * (count - 1 - i) if columns == 1 else HALVINGS * (count - 1 - i) for i in range(count)]
    weights = [Fraction(GROWTH.get(columns, OF_MANY)) ** i for i in range(count)]
    parts = [weight / sum(weights[i:]) for i, weight in enumerate(weights)]
    return [*zip([round(depth - step) for step in steps], parts, strict=True)]


def _limits(measured: Measured, level: int, nodes: Nodes, rows: Numbers) -> tuple[float, float]:
    """The rows x epsilon below which a node is not divided, and halves are counted as one: more than usual in one
    column, where the nodes found so far are alike."""
    if len(measured.domain.shape) > 1:
        return STOP, JOIN
    larger = room(measured.domain, level, nodes, rows, 1 / measured.precision[level][nodes])
    return STOP * larger[0], JOIN * larger[1]


def _joined(domain: Domain, level: int, nodes: Nodes, rows: Numbers, limit: float, highest: int) -> dict[int, Nodes]:
    """The nodes to count instead of these, which stopped: see `joined`. Those without cells are left out."""
    stopped, sums = domain.held[level] == 0, np.zeros(1 << level)
    stopped[nodes], sums[nodes] = True, np.maximum(rows, 0)
    found = joined(stopped, sums, limit, highest)
    return {level: some[domain.held[level][some] > 0] for level, some in found.items()}


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


def _finish(source: Source, left: Budget, measured: Measured, final: dict[int, Nodes], everything: bool) -> Source:
    """Count the nodes that stopped with all that is left; returns the source of those that go on."""
    if not any(map(len, final.values())):
        return source
    if everything:
        measured.count(source, left, final)
        return source
    going, over = source.split(measured.domain.apart(final))
    measured.count(over, left, final)
    measured.together = False  # rows with a missing value were among these
    return going
