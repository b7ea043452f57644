"""Uniform: the noisy number of rows, spread evenly over all cells. What can be known at the smallest epsilon."""

import numpy as np

from ...kernel import Budget, Source
from .domain import Domain
from .layers import Layers
from .spread import Spread


def uniform(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count all rows that lie in a cell, and spread them evenly.

    Budget: all of it for one count.
    """
    layers = Layers(domain)
    layers.count(source, budget, [np.zeros(domain.size, np.int64)])
    return layers.spread()
