"""Private linear models as classifiers: logistic regression and support vector machine."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernel import Budget, Source
from ..plans.finding.search import Search, widest
from ..plans.linear import MARGIN_PENALTY, PENALTY, logistic_regression, support_vectors, too_many
from ..plans.rehearsal import quickly
from ..plans.run import try_out
from ..questions import Scorer
from ..questions.scorers import UNIT
from ..schema import Schema
from .base import PrivateClassifier


class LinearClassifier(PrivateClassifier):
    """A classifier by sums of weights, with a decision function."""

    search = Search(signal=50)

    def search_for(self, schema: Schema) -> Search | None:
        """How bins are found; None also where there might then be too many to fit, which nobody should pay to learn."""
        found = super().search_for(schema)
        return None if found and too_many(widest(schema, found)) else found

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        """What is learned. It is tried on a table without rows before, so that what the weights, or a grid beside them,
        would be refused for is refused before the class totals are charged."""
        if totals is None:
            with quickly():
                try_out(self._learn, source.schema, budget)
        return self._learn(source, budget, totals)

    def _learn(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        raise NotImplementedError

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The score of each class, rows x classes in the order of `classes_`; with two, second minus first."""
        margins = self.class_scores(X) / UNIT
        return np.asarray(margins[:, 1] - margins[:, 0] if margins.shape[1] == 2 else margins)


class LogisticRegressionClassifier(LinearClassifier):
    """Classify by a weight for every value of every column, found together, with noise in what is minimised.

    `penalty`, divided by a column's share of epsilon, is the weight of the L2 penalty on its weights: too little fits
    the noise, too much fits nothing.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = LogisticRegressionClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "logistic"

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        penalty: float = PENALTY,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.penalty = penalty

    def _learn(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return logistic_regression(source, budget, penalty=self.penalty, totals=totals)


class LinearSVMClassifier(LinearClassifier):
    """Classify by a weight for every value of every column, such that rows are on the right side, by a margin.

    `penalty`, divided by a column's share of epsilon, is the weight of the L2 penalty on its weights. `predict_proba`
    takes the margins for log odds: they rank rows, but they are no probabilities.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = LinearSVMClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "svm"

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        penalty: float = MARGIN_PENALTY,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.penalty = penalty

    def _learn(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return support_vectors(source, budget, penalty=self.penalty, totals=totals)
