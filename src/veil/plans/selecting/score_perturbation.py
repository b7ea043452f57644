"""Score perturbation (Stoddard, Chen, Machanavajjhala 2014): noise on every score, then keep the highest."""

from typing import Any

import numpy as np

from ...kernel import Budget, Rows, Source
from ...questions import Bag
from .features import Candidates, Selected, highest, noisy_scores

WIDE = 1 << 17  # words from which on only counts above the threshold are drawn


def score_perturbation(
    source: Source, budget: Budget, candidates: Candidates, score: Any, count: int, threshold: float | None = None
) -> Selected:
    """The `count` features with the highest noisy scores, at or above the threshold if there is one.

    Budget: all of it for one set of counts. A row counts for at most r words, so their noise has scale r / epsilon,
    whatever the score. Noise is added to counts, not scores: a score that uses the rows without a word can be moved by
    one row for every word of the vocabulary.

    Returns the features with their noisy scores.
    """
    if isinstance(candidates, Bag) and type(score) is Rows and threshold and candidates.size >= WIDE:
        return _sparse(source, budget, candidates, count, threshold)
    return highest(noisy_scores(source, budget, candidates, score), count, threshold)


def _sparse(source: Source, budget: Budget, words: Bag, count: int, threshold: float) -> Selected:
    """The same result, from a sparse count that returns only words above the threshold."""
    level = max(int(np.ceil(threshold)) - 1, 0)
    found = source.count_sparse(words, budget, threshold=level, by_class=False).value
    best = highest(found.counts, count)
    return Selected(tuple(found.codes[list(best.places)].tolist()), best.scores)
