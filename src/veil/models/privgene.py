"""PrivGene as a classifier: a linear model bred by selection."""

from typing import Any

from ..kernel import Budget, Source
from ..plans.finding.search import Search
from ..plans.privgene import POPULATION, SURVIVORS, privgene
from ..questions import Scorer
from .linear import LinearClassifier


class PrivGeneClassifier(LinearClassifier):
    """Classify by a weight for every category and every column of numbers, bred from vectors that predict most rows.

    A baseline, from the paper of that name: logistic regression learns more from the same budget. `rounds` (None:
    growing with rows times epsilon) of selection, of `survivors` out of a `population`. `predict_proba` takes the
    scores for log odds: they rank rows, but they are no probabilities.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = PrivGeneClassifier(epsilon=10, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "privgene"
    search = Search()

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        rounds: int | None = None,
        population: int = POPULATION,
        survivors: int = SURVIVORS,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.rounds = rounds
        self.population = population
        self.survivors = survivors

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        settings = {name: getattr(self, name) for name in ("rounds", "population", "survivors")}
        return privgene(source, budget, totals=totals, **settings)
