"""Audits of what stops or is chosen by its own answers: counts of several levels, and twins that pay for too little."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Self

import numpy as np

from ..kernel import Budget, Source
from ..kernel.noise import Noise
from ..models import NaiveBayesClassifier
from ..plans.outcome import Outcome
from ..plans.until import Goal, Walk
from ..questions import WHOLE
from .broken import raised
from .harness import Case
from .models import VIEWS, fitting
from .pairs import pair
from .tables import EMPTY, LONE, ONE, PLACE, PLACES, TWO, Table, asking, between, parading

TRIES = 5
LEVELS = (Fraction(1, 2), Fraction(3, 4), Fraction(1))
COARSE, FINE = Fraction(2), Fraction(4)
MANY: dict[str, Any] = {"quick": PLACES, "deep": 10 * PLACES, "views": {"levels": between(0, 1)}}


def gradual() -> Iterator[Case]:
    """All twins, each followed by its counterpart."""
    yield from pair("fresh levels", 1, (0, 1), fresh_levels, parading(_levels), **MANY)
    first: dict[str, Any] = {**MANY, "views": {"first level": between(0, 1)}}
    yield from pair("continuous keeping", float(COARSE), (0, 1), continuous_keeping, parading(_first), **first)
    few: dict[str, Any] = {"quick": 700, "deep": 6_000}  # each walk is rehearsed first
    yield from pair("fixed number of tries", 2, (EMPTY, LONE), fixed_tries, asking(_tried), quick=3_000, deep=10_000)
    walks = fitting(_SharpWalk), fitting(_Walk)
    yield from pair("undivided walk", 2, (EMPTY, LONE), *walks, **few, views=VIEWS)


def fresh_levels(copies: int, noise: Noise, trials: int) -> Any:
    """NOT PRIVATE: a count with less and less noise, drawn afresh for every level, of which the last alone is paid."""
    return np.column_stack([copies + noise.discrete_laplace(level, trials) for level in LEVELS])


def _levels(source: Source) -> Any:
    """The noisy count of every place at each level, one column a level."""
    steps = source.count_gradually([PLACE], [Budget(level) for level in LEVELS])
    return np.hstack([release.value[:PLACES] for (release,) in steps])


def continuous_keeping(copies: int, noise: Noise, trials: int) -> Any:
    """NOT PRIVATE: the first of two levels of a count, its noise kept as if it was not of whole numbers.

    (2/4)^2 is the probability for continuous noise; for whole numbers it is less. The first level has too little noise
    and loses 2.186, not 2 (`tests/audit/test_gradual.py`).
    """
    share = COARSE / FINE
    kept = noise.below(share.denominator**2, trials) < share.numerator**2
    return copies + noise.discrete_laplace(FINE, trials) + np.where(kept, 0, noise.discrete_laplace(COARSE, trials))


def _first(source: Source) -> Any:
    """The noisy count of every place at the first of two levels."""
    steps = source.count_gradually([PLACE], [Budget(COARSE), Budget(FINE)])
    return next(steps)[0].value[:PLACES, 0]


def fixed_tries(table: Table, noise: Noise, trials: int) -> Any:
    """NOT PRIVATE: the best of five private tries, a noisy count that is its own score, for twice the price of one."""
    return (raised(table) + noise.discrete_laplace(ONE.epsilon, TRIES * trials)).reshape(trials, TRIES).max(axis=1)


def _tried(source: Source) -> int:
    """The best of a random number of noisy counts of all rows, about as many."""

    def count(inner: Source) -> tuple[int, int]:
        found = int(inner.count(WHOLE, ONE, by_class=False).value[0, 0])
        return found, found

    return int(source.best_of([count], TWO, rate=Fraction(1, 10)).value)


class _Walk(NaiveBayesClassifier):
    """Naive Bayes that is fitted until a goal is met."""

    def fit(self, X: Any, y: Any = None) -> Self:
        return self.fit_until(X, y, goal="accuracy=0.9", at_most=self.epsilon)


class _SharpWalk(_Walk):
    """NOT PRIVATE: a walk as sharp as the mean of many, of which one is paid."""

    def _until(self, source: Source, goal: Goal, budget: Budget, share: Any, walk: Callable[..., Walk]) -> Outcome[Any]:
        return super()._until(source, goal, Budget(budget.epsilon * 20), share, walk)
