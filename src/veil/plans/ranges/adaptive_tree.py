"""The adaptive tree: counts of dyadic nodes in a few stages, each only where the stage before found rows.

Own design; its nearest relatives are adaptive grids (Qardaji, Yang, Li 2013), hierarchies (Qardaji, Yang, Li 2013b) and
PrivTree (Zhang, Xiao, Xie 2016).
"""

from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...kernel import Budget, Source
from .domain import Domain, Nodes
from .measured import Measured, Numbers
from .spread import Spread, spread_of

HALVINGS = 4  # levels that a stage goes down, about
GROWTH = {1: "1", 2: "1.6"}  # of the share of a stage from one to the next, by the number of columns
OF_MANY = "2.6"  # with three columns or more
STOP, JOIN = 12, 16  # rows x epsilon: a node with fewer is not divided; halves with fewer together are counted as one
FEW, STOP_FEW = 20, 4  # rows x epsilon of all: with fewer, only a few large nodes are counted


class Sizing(NamedTuple):
    """Percent of epsilon for the number of rows: at first, once more if rows x epsilon is below a limit, and once more
    if it is below FEW; and the levels that are counted then."""

    first: int
    again: int
    below: int
    few: int
    levels: tuple[int, ...]


ONE_COLUMN, COLUMNS = Sizing(10, 10, 2000, 0, (2,)), Sizing(5, 7, 200, 8, (2, 4))


def adaptive_tree(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count all rows, then the nodes of a few levels, each stage only below nodes with many rows; smooth the counts.

    Budget: 10 % for the number of rows (5 % with several columns), up to 20 % if they are few. Of what is left, every
    stage but the last has a share. Nodes with too few rows to be divided stop, and are counted once more with all that
    is left. So each row pays all of epsilon, on whichever path it comes down the tree.
    """
    return spread_of(counted(source, budget, domain))


def counted(source: Source, budget: Budget, domain: Domain) -> Measured:
    """The noisy counts of all nodes that are asked about."""
    measured, nodes = Measured(domain), np.zeros(1, np.int64)
    left, few = _size(source, budget, measured)
    stages = few_stages(domain) if few else usual_stages(domain)
    stop, join = (STOP_FEW, STOP_FEW) if few else (STOP, JOIN)
    rows, above, level = measured.counts[0], 0, 0
    for below, share in stages:
        if level:
            epsilon = float(source.per_row(left))
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


def _size(source: Source, budget: Budget, measured: Measured) -> tuple[Budget, bool]:
    """Count all rows; returns the budget that is left, and whether they are few."""
    how, root = ONE_COLUMN if len(measured.domain.shape) == 1 else COLUMNS, {0: np.zeros(1, np.int64)}
    parts = [(how.first, np.inf), (how.again, how.below), (how.few, FEW)]
    if not measured.domain.depth:  # a single cell
        measured.count(source, budget, root)
        return budget, False
    signal, left = 0.0, 100
    for percent, below in parts:
        if percent and signal < below:
            measured.count(source, Budget(budget.epsilon * percent / 100), root)
            signal, left = float(measured.counts[0][0] * source.per_row(budget)), left - percent
    return Budget(budget.epsilon * left / 100), signal < FEW


def usual_stages(domain: Domain) -> list[tuple[int, Fraction]]:
    """The level of each stage, and its share of the budget that is left."""
    depth, alone = domain.depth, len(domain.shape) == 1
    count = ceil(depth / HALVINGS) if alone else max(depth // HALVINGS, 1)
    growth = Fraction(GROWTH.get(len(domain.shape), OF_MANY))
    weights = [growth**stage for stage in range(count)]
    levels = [round(depth * (i + 1) / count) if alone else depth - HALVINGS * (count - 1 - i) for i in range(count)]
    return [(level, weight / sum(weights[i:])) for i, (level, weight) in enumerate(zip(levels, weights, strict=True))]


def few_stages(domain: Domain) -> list[tuple[int, Fraction]]:
    """The same for few rows: one or two coarse levels, with equal shares."""
    how = ONE_COLUMN if len(domain.shape) == 1 else COLUMNS
    levels = sorted({min(level, domain.depth) for level in how.levels} - {0})
    return [(level, Fraction(1, len(levels) - place)) for place, level in enumerate(levels)]


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
