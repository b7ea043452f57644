"""Slopes: the share of a node's rows in its left half, as the estimates of its neighbours lead to expect it."""

import numpy as np
import numpy.typing as npt

from ...schema import Numeric
from .domain import Domain, Nodes

Numbers = npt.NDArray[np.float64]
STEEPER = 1.5  # estimates are smooth, so that slopes are steeper than they show (measured)
MOST = 0.45  # by which a share may differ from that of the cells


def expected_shares(domain: Domain, level: int, rows: Numbers) -> Numbers:
    """The left share of every node of a level: that of its cells, moved as the rows of a cell rise or fall from the
    neighbour before to the one behind. Categories have no neighbours. All of it is post-processing."""
    left, right = domain.held[level + 1].reshape(-1, 2).T
    share = np.asarray(left / np.maximum(left + right, 1), np.float64)
    axis = domain.order[level]
    if not isinstance(domain.schema.features[axis], Numeric):
        return share
    density = rows / np.maximum(left + right, 1)
    sides = [np.where(left[side] + right[side], density[side], density) for side in _neighbours(domain, level)]
    lean = STEEPER * _rise(density, *sides) / 8 / np.maximum(density, 1e-300)
    return np.asarray(share - np.clip(lean, -MOST, MOST) * 4 * share * (1 - share))


def _neighbours(domain: Domain, level: int) -> tuple[Nodes, Nodes]:
    """The nodes before and behind every node of a level, along the axis that it halves; at its ends, the node itself.

    The number of a node has the bits of all axes interleaved. Those of one axis are counted up and down by themselves
    if all others are 1, so that a carry runs through them, or 0.
    """
    nodes, axis = np.arange(1 << level), domain.order[level]
    bits = sum(1 << place for place, halved in enumerate(reversed(domain.order[:level])) if halved == axis)
    own, others = nodes & bits, nodes & ~bits
    before = np.where(own > 0, ((own - 1) & bits) | others, nodes)
    behind = np.where(own < bits, (((nodes | ~bits) + 1) & bits) | others, nodes)
    return before, behind


def _rise(density: Numbers, before: Numbers, behind: Numbers) -> Numbers:
    """How much the density rises over a node: the harmonic mean of the steps to both neighbours (van Leer 1974), which
    follows the smaller one; none at a peak, in a valley, at an end, or beside places without cells."""
    first, second = density - before, behind - density
    same = first * second > 0
    return np.where(same, 2 * first * second / np.where(same, first + second, 1), 0.0)
