"""The class shares alone: what is left to say where rows are too few for anything else."""

import numpy as np

from ..kernel import Budget, Source
from ..questions import WHOLE, Linear
from .finish import class_prior
from .sizing import Known

LEAST = 1e-9


def class_shares(source: Source, budget: Budget, *, totals: Known = None) -> Linear:
    """Count the rows of each class, and nothing else.

    Budget: all of it for the count; `totals` that are known already are averaged with it.

    Returns a scorer: the share of each class, the same for every row, so that the largest class is always predicted.
    """
    counts = [source.count(WHOLE, budget), *([] if totals is None else [totals])]
    trust = np.array([max(one.noise_scale, LEAST) ** -2.0 for one in counts])
    mean = trust @ np.array([one.value[0] for one in counts], np.float64) / trust.sum()
    return Linear({}, np.log(np.maximum(class_prior(mean, float(np.sqrt(2 / trust.sum()))), LEAST)))
