"""Capped sparse vector (Dwork et al. 2009, as corrected by Lyu, Su and Li 2017): features above a threshold."""

from typing import Any

from ...kernel import Budget, Source
from .features import Candidates, Selected


def sparse_vector(
    source: Source, budget: Budget, candidates: Candidates, score: Any, most: int, threshold: float
) -> Selected:
    """The first `most` features, in a random order, whose noisy score is above a noisy threshold.

    Budget: all of it for one sieve, divided between its threshold and its scores as is best for `most` hits. Without a
    cap on hits no budget would suffice.

    Returns the features in the order of the schema, without scores.
    """
    found = source.sift(candidates, score, threshold, budget, most=most).value
    return Selected(tuple(found.tolist()))
