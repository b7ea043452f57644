"""above, sift: which questions have a score above a threshold; only answers of yes cost something."""

import os
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ... import wording
from ...errors import BudgetRefused
from ...questions import Partition
from ...schema.encoding import quiet
from ...schema.refusing import Sealed, refuse
from ..asking import Asking
from ..budget import Budget
from ..goals import GOALS
from ..noise import SMALLEST_EPSILON, Integers, Noise
from ..owning import Owner, own_score, whole
from ..release import Release, frozen
from ..scores import OF_ROWS, Score
from ..settings import Candidates, own_cell, own_level, own_number, searched
from .choose import exact_scores, own_candidates

MOST_HITS = 1_000_000
Rates = tuple[Fraction, Fraction]  # of the noise on the threshold, and on a score


class Sifting(Asking):
    """The verbs that compare with a threshold."""

    def above(self, score: Score, threshold: float, budget: Budget, *, hits: int = 1) -> "Sieve":
        """A sieve: `sieve.ask(partition)` says whether the score is at or above the threshold, until `hits` times yes.
        The whole budget is charged now. Answers of no are free, and other questions may be asked in between."""
        score, budget = own_score(score, self._own, (*OF_ROWS, *GOALS)), Budget(budget)
        hits, level = whole(hits, "hits", 1, MOST_HITS), own_level(threshold, score)
        rates = sieve_rates(self._per_row(budget), score.low, score.high, hits)
        self._charge("above", f"{type(score).__name__} against {threshold}, {hits} hits", budget)
        return Sieve(lambda partition: self._score(partition, score), level, rates, hits, self._noise)

    def _score(self, partition: Partition, score: Score) -> int:
        asked = Owner(self._own).partition(partition)
        own_cell(score, asked.size, len(self._own.classes))
        with quiet():
            return score(self._table.tabulate(asked))

    def sift(
        self, candidates: Candidates, score: Score, threshold: float, budget: Budget, *, most: int
    ) -> Release[Integers]:
        """The indices, ascending, of the first `most` candidates that a sieve finds above a threshold, asked about in
        random order; see `above`."""
        asked, score = own_candidates(candidates, score, self._own, OF_ROWS)
        most, level, budget = own_number(most, asked), own_level(threshold, score), Budget(budget)
        rates = sieve_rates(self._per_row(budget), score.low, score.high, most)
        receipt = self._charge("sift", searched(most, asked, score, threshold), budget)
        with quiet():
            found = first_above(exact_scores(self._table, asked, score), level, rates, most, self._noise)
        return self._wrap(frozen(found), float(1 / (rates[1] * score.unit)), receipt)


class Sieve(Sealed):
    """Says which questions have a score above a threshold, until it has said so `hits` times (Lyu, Su and Li 2017).

    The threshold gets noise of scale max(|low|, |high|) / e1 once, every score fresh noise of scale hits (high - low)
    / e2, e1 + e2 = epsilon. When a row is added, shifting the threshold's noise by `high` keeps every no, and
    shifting the noise of each yes by high - low keeps that yes; when one is removed, shift by -low instead. Answers
    of no are free. All numbers are whole, so the shifts keep the order exactly.
    """

    sealed, copied = "sieve", "a sieve cannot be copied or pickled: two copies would each use up the hits"

    def __init__(self, ask: Callable[[Any], int], threshold: int, rates: Rates, hits: int, noise: Noise) -> None:
        self._exact, self._rates, self._noise = ask, rates, noise
        self._threshold = threshold + int(noise.discrete_laplace(rates[0], 1)[0])
        self._left, self._lock, self._process = hits, threading.Lock(), os.getpid()

    def ask(self, partition: Any) -> bool:
        """Whether the partition's score is above the threshold, both with noise; refused after the last hit."""
        refuse(self._process != os.getpid(), wording.SIEVE_OWNER)
        with self._lock:
            refuse(self._left == 0, wording.NO_HITS, BudgetRefused)
            score = self._exact(partition) + int(self._noise.discrete_laplace(self._rates[1], 1)[0])
            self._left -= score >= self._threshold
            return bool(score >= self._threshold)


def sieve_rates(epsilon: Fraction, low: int, high: int, hits: int) -> Rates:
    """Exact noise rates of a sieve: e1 / max(|low|, |high|) and e2 / (hits (high - low)), e1 : e2 near the best 1 :
    x^(2/3)."""
    reach, spread = max(abs(low), abs(high)), hits * (high - low)
    share = Fraction(1 / (1 + (spread / reach) ** (2 / 3))).limit_denominator(1000)
    rates = epsilon * share / reach, epsilon * (1 - share) / spread
    refuse(min(rates) < SMALLEST_EPSILON, "the budget is too small for a threshold: use a larger one or fewer hits")
    return rates


def first_above(scores: Integers, level: int, rates: Rates, hits: int, noise: Noise) -> Integers:
    """The indices, ascending, to which a sieve says yes if asked about all scores in random order; at most `hits`."""
    order = noise.permutation(len(scores))
    threshold = level + int(noise.discrete_laplace(rates[0], 1)[0])
    noisy = scores[order] + noise.discrete_laplace(rates[1], len(scores))
    return np.sort(order[np.flatnonzero(noisy >= threshold)[:hits]])
