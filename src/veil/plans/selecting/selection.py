"""Which selection plan is used, decided by public numbers alone."""

from math import isfinite
from numbers import Real
from typing import Any

from ...errors import BadInput
from ...kernel import Budget, Source, whole
from ...questions import Bag
from .clusters import clusters
from .features import Candidates, Selected, features, number, score_of
from .peel_and_check import peel_and_check
from .score_perturbation import score_perturbation
from .sparse_vector import sparse_vector
from .top_k import top_k

BEST = ("auto", "peel", "perturb", "cluster")
ABOVE = ("auto", "peel", "perturb", "sieve", "cluster")
BELOW_ZERO = ("gini", "entropy")  # at most zero, the score of a feature that separates the classes


def select_best(
    source: Source,
    budget: Budget,
    *,
    score: str = "gini",
    k: int = 10,
    method: str = "auto",
    words_per_row: int | None = None,
    groups: int = 10,
) -> Selected:
    """The `k` best features; if there are no more than `k`, all of them for nothing.

    Budget: all of it for one method. The noise of "peel" has scale k times the score's range over epsilon, that of
    "perturb" the words a row counts for times the range over epsilon; "auto" takes the one with less.
    """
    candidates, ranking = _checked(source, score, method, BEST, words_per_row)
    if whole(k, "k", 1, 2**31) >= number(candidates):
        return Selected(tuple(range(number(candidates))))
    way = _way(candidates, k) if method == "auto" else method
    if way == "cluster":
        return clusters(source, budget, _words(candidates), ranking, k, groups=groups)
    return (top_k if way == "peel" else score_perturbation)(source, budget, candidates, ranking, k)


def select_above(
    source: Source,
    budget: Budget,
    *,
    threshold: float | None,
    at_most: int,
    score: str = "gini",
    method: str = "auto",
    words_per_row: int | None = None,
    groups: int = 10,
) -> Selected:
    """The features whose score is at or above the threshold, at most `at_most` of them.

    Budget: all of it for one method; see `select_best`. "peel" spends half of each round on checking the score.
    """
    candidates, ranking = _checked(source, score, method, ABOVE, words_per_row)
    lowest = _lowest(threshold, score)
    most = min(whole(at_most, "at_most", 1, 2**31), number(candidates))
    way = _way(candidates, 2 * most) if method == "auto" else method
    if way == "cluster":
        return clusters(source, budget, _words(candidates), ranking, most, lowest, groups=groups)
    if way == "perturb":
        return score_perturbation(source, budget, candidates, ranking, most, lowest)
    return (peel_and_check if way == "peel" else sparse_vector)(source, budget, candidates, ranking, most, lowest)


def _lowest(threshold: Any, score: str) -> float:
    """The threshold as a float. Raises BadInput if it is not a number, or no score can reach it."""
    if threshold is None:
        raise BadInput("give a threshold: the lowest score of what is selected, in rows")
    if not isinstance(threshold, Real) or not isfinite(threshold):
        raise BadInput("the threshold must be a finite number")
    if score in BELOW_ZERO and not threshold < 0:
        raise BadInput(f"scores by {score} are minus rows x impurity: the threshold must be below zero too")
    return float(threshold)


def is_free(source_schema: Any, k: int) -> bool:
    """Whether there are no more than `k` candidates, so that nothing needs to be asked."""
    return bool(whole(k, "k", 1, 2**31) >= number(features(source_schema)))


def _checked(source: Source, score: Any, method: Any, known: tuple[str, ...], words_per_row: Any) -> Any:
    candidates = features(source.schema, words_per_row)
    if method not in known:
        raise BadInput(f"method must be one of {', '.join(known)}")
    if method == "cluster":
        _words(candidates)
    return candidates, score_of(score, candidates)


def _words(candidates: Candidates) -> Bag:
    if not isinstance(candidates, Bag):
        raise BadInput("clusters are made of words: declare a text column, or give the rows as a matrix of words")
    return candidates


def _way(candidates: Candidates, rounds: int) -> str:
    """Whether "perturb" or "peel" has less noise: that of counting all features grows with the features a row counts
    for, that of choosing one by one with the number of rounds."""
    moved = candidates.reach if isinstance(candidates, Bag) else len(candidates)
    return "perturb" if moved < rounds else "peel"
