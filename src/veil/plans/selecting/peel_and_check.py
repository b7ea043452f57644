"""Peel and check: the features above a threshold from the best down, as private threshold testing was meant to do."""

from typing import Any

from ...kernel import Budget, Source
from .features import Candidates, Selected


def peel_and_check(
    source: Source, budget: Budget, candidates: Candidates, score: Any, most: int, threshold: float
) -> Selected:
    """At most `most` features: in each round the best of those that remain, until one is below the threshold.

    Budget: an equal share for each of `most` rounds, half of it for the choice and half for the noise on the chosen
    score. Rounds that are not needed are paid for too.

    Returns the features with their noisy scores.
    """
    found = source.choose_above(candidates, score, threshold, budget, most=most).value
    return Selected(tuple(found[:, 0].tolist()), tuple((found[:, 1] / score.unit).tolist()))
