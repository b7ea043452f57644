"""BestOf: the best of several private models, each tried a random number of times."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import exp, log
from typing import Any

from sklearn.base import clone

from ..errors import BadInput
from ..kernel import Budget, Release, Source
from ..plans.finding.search import recoded_as
from ..plans.outcome import Outcome
from ..plans.rehearsal import Rehearsal
from ..plans.run import rehearsing, try_out
from ..plans.until import EDGES
from ..questions import Odds, Predicted, Scorer
from ..schema import Schema
from .base import PrivateClassifier

MEASURES = ("accuracy", "auc")
TRAINING, JUDGING = 7, 3  # of ten rows
PARTS = 1000  # of a row or, of an accuracy, of a per cent: scores are whole numbers
RATES = [Fraction(10, 2**k) for k in range(14)]  # of the law of the number of tries; the first nearly always tries once


class BestOf(PrivateClassifier):
    """Classify by the best of several models, which are tried a random number of times, `tries` on average.

    A try fits one of the models, drawn at random, on 70 % of the rows, and measures its accuracy, or AUC, with noise on
    the others. It costs half of `epsilon`, the whole costs all of it, and how often it tried is never told, nor what
    came of it but for the best. So every model has half of what it would have alone, and 70 % of the rows: worthwhile
    only if the models, or their settings, differ by more than that.

    After `fit`, the outcome is that of the best model, with one receipt for all; its own answers are not kept.
    """

    method = "best-of"

    def __init__(
        self,
        models: Sequence[Any] = (),
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        tries: float = 4.0,
        measure: str = "accuracy",
    ) -> None:
        self.models = models
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.tries = tries
        self.measure = measure

    @property
    def chosen_(self) -> str:
        """The name of the method that came out best."""
        return self.outcome_.method

    def rehearse(self) -> Rehearsal:
        schema, budget = self._schema(None, None), Budget(self.epsilon)
        return Rehearsal((self._best(rehearsing(schema, budget), budget),), schema)

    def _plan(self, source: Source, budget: Budget) -> Scorer:
        scorer: Scorer = self._run(source, budget).made
        return scorer

    def _run(self, source: Source, budget: Budget) -> Outcome[Any]:
        """Budget: one charge for all tries."""
        release = self._best(source, budget)
        best: Outcome[Any] = release.value
        settings = {**best.settings, "epsilon": str(budget.epsilon)}
        return replace(best, settings=settings, receipts=(release.receipt,), releases=(), searched=())

    def _best(self, source: Source, budget: Budget) -> Release[Any]:
        half = Budget(budget.epsilon / 2)
        models = self._checked(source.schema, half)
        attempts = [partial(attempt, budget=half, model=model, measure=self.measure) for model in models]
        return source.best_of(attempts, budget, rate=rate_of(self.tries))

    def _checked(self, schema: Schema, half: Budget) -> list[PrivateClassifier]:
        """The models, each tried on a table without rows: what is refused is refused before anything is charged."""
        given = [] if isinstance(self.models, str) else [*self.models]
        if not given or not all(isinstance(one, PrivateClassifier) and not isinstance(one, BestOf) for one in given):
            raise BadInput("give the models to try, such as BestOf([NaiveBayesClassifier(), DecisionTreeClassifier()])")
        if self.measure not in MEASURES or (self.measure == "auc" and len(schema.classes) != 2):
            raise BadInput("the measure must be accuracy, or auc for a label of two classes")
        models = [clone(model) for model in given]
        for model in models:
            try_out(partial(attempt, model=model, measure=self.measure), schema, half)
        return models


def attempt(source: Source, budget: Budget, model: PrivateClassifier, measure: str) -> tuple[Outcome[Any], int]:
    """The outcome of a fit on 70 % of the rows, and how good it is on the others; nothing else is told to anybody.

    Budget: all of it for the fit, and all of it for the measure, on rows that are disjoint.
    """
    training, judging = source.split_at_random(TRAINING, JUDGING)
    outcome = model._run(training, budget)
    judging = recoded_as(judging, outcome.schema)
    if measure == "auc":
        return outcome, -round(PARTS * judging.misordered(Odds(outcome.made, 1), 1, budget, grid=EDGES).value)
    counts = judging.count(Predicted(outcome.made), budget).value
    return outcome, int(100 * PARTS * counts.trace() // max(int(counts.sum()), 1))


def rate_of(tries: Any) -> Fraction:
    """The rate of the law of K, P(K = k) in proportion to exp(-rate k) / k, whose mean is nearest to `tries`."""
    if not isinstance(tries, (int, float)) or not 1 <= tries <= 100:
        raise BadInput("tries must be a number from 1 to 100: how often to try, on average")
    return min(RATES, key=lambda rate: abs(log(mean_tries(float(rate)) / tries)))


def mean_tries(rate: float) -> float:
    """The mean of that law."""
    stop = 1 - exp(-rate)
    return (1 - stop) / (-stop * log(stop))
