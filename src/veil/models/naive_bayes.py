"""Private naive Bayes as a classifier."""

from typing import Any

from ..kernel import Budget, Source
from ..plans.finding.search import Search
from ..plans.naive_bayes import naive_bayes, named
from ..plans.until import Goal, Walk, naive_bayes_until
from ..questions import Scorer
from ..schema import Schema
from .base import PrivateClassifier


class NaiveBayesClassifier(PrivateClassifier):
    """Classify by noisy counts of every column and class, as if columns were independent within a class.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = NaiveBayesClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "naive-bayes"
    search = Search(percent=2, fineness=0.35, values=10**9)

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        columns: Any = None,
        smoothing: float = 1.0,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.columns = columns
        self.smoothing = smoothing

    def search_for(self, schema: Schema) -> Search | None:
        found = super().search_for(schema)
        return found and found._replace(columns=named(self.columns))

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return naive_bayes(source, budget, columns=self.columns, smoothing=self.smoothing, totals=totals)

    def _walk(self, training: Source, judging: Source, goal: Goal, at_most: Budget, to_the_end: bool = False) -> Walk:
        given: dict[str, Any] = {"columns": self.columns, "smoothing": self.smoothing, "to_the_end": to_the_end}
        return naive_bayes_until(training, judging, goal, at_most, **given)
