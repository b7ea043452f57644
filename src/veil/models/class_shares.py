"""The class shares alone as a classifier: the least that any other must be better than."""

from typing import Any

from sklearn.utils import Tags

from ..kernel import Budget, Source
from ..plans.class_shares import class_shares
from ..questions import Scorer
from .base import PrivateClassifier


class ClassSharesClassifier(PrivateClassifier):
    """Predict the largest class for every row, with the class shares as its probabilities.

    All of epsilon is for counting the classes. Where rows times epsilon are a few dozen, nothing does better.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = ClassSharesClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "shares"

    def __init__(self, *, epsilon: Any = 1.0, schema: Any = None, ledger: Any = None, random_state: Any = None) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return class_shares(source, budget, totals=totals)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
