"""Checking a model by its own odds: whether they tell the classes apart on the rows that it was made from."""

from math import log
from typing import Any

import numpy as np

from ..kernel import Budget, Release, Source
from ..questions import Binned, Odds, Scorer
from .finish import class_prior

PLACES = (-1.0, -0.5, 0.0, 0.5, 1.0)  # of the edges, in log-odds beyond those of the class itself
SHARE = 3  # per cent of the budget


def count_odds(source: Source, budget: Budget, scorer: Scorer, totals: Release[Any]) -> Release[Any]:
    """The rows of each class in six intervals of the log-odds of one: of the second of two, else of the largest.

    Budget: all of it for the counts. If the model knows nothing, or no value arrived as declared, all intervals have
    the same class shares. `totals` are the class totals, from which the middle follows.
    """
    prior = class_prior(totals.value[0].astype(np.float64), np.sqrt(2) * max(totals.noise_scale, 1e-9))
    label = 1 if len(prior) == 2 else int(np.argmax(prior))
    middle = log(max(prior[label], 1e-9) / max(1 - prior[label], 1e-9))
    return source.count(Binned(Odds(scorer, label), tuple(middle + place for place in PLACES)), budget)
