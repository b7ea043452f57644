"""Quadtree: all levels of a tree that halves every axis, with a geometric budget (Cormode, Procopiuc, Srivastava, Shen
and Yu 2012)."""

import numpy as np

from ...kernel import Budget, Source
from .domain import Domain
from .hierarchy import levels
from .layers import Layers
from .spread import Spread


def quadtree(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count the nodes of every level, the root among them, and reconcile the levels.

    Budget: level i has a share of 2^(i (d - 1) / 3), 2^(i / 3) in two dimensions: the border of a range cuts through
    2^(d - 1) times as many nodes on each next level, and the third root of that makes the variance least.
    """
    nodes = [np.zeros(domain.size, np.int64), *levels(domain.along, domain.shape, 2)]
    shares = [round(1000 * 2 ** (level * (len(domain.shape) - 1) / 3)) for level in range(len(nodes))]
    layers = Layers(domain)
    layers.count(source, budget, nodes, shares)
    return layers.spread()
