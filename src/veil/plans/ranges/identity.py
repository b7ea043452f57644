"""Identity: a noisy count of every cell (Dwork, McSherry, Nissim and Smith 2006). The baseline of all others."""

import numpy as np

from ...kernel import Budget, Source
from .domain import Domain
from .layers import Layers
from .spread import Spread


def identity(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count every cell.

    Budget: all of it for one count.
    """
    layers = Layers(domain)
    layers.count(source, budget, [np.arange(domain.size)])
    return layers.spread()
