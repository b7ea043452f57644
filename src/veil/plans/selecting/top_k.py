"""Top-k by peeling (McSherry and Talwar 2007; each round permute-and-flip, McKenna and Sheldon 2020)."""

from typing import Any

from ...kernel import Budget, Source
from .features import Candidates, Selected


def top_k(source: Source, budget: Budget, candidates: Candidates, score: Any, count: int) -> Selected:
    """`count` features, chosen one after the other, each as the best of those that remain.

    Budget: an equal share for each. The noise does not depend on how many words a row has, only on how far a row can
    move two scores apart.

    Returns the features in the order in which they were chosen, without scores.
    """
    places = source.choose_best(candidates, score, budget, count=count).value
    return Selected(tuple(places.tolist()))
