"""A blend of two models under one budget: one that adds up columns, and one of a grid, which sees them together."""

from typing import Any

import numpy as np

from ..kernel import Budget, Source
from ..plans.histograms.privpfc import MOST_CELLS
from ..plans.linear import PENALTY, logistic_regression
from ..plans.sizing import sized
from ..questions import CellScores, Linear, Scorer, Sum
from .histograms import cells_of
from .linear import LinearClassifier

SHARES = 2, 1  # of the budget, and of the evidence: the sum of columns, the grid


class BlendClassifier(LinearClassifier):
    """Classify by the mean of a logistic regression and PrivPfC's grid, two thirds and one third of it.

    The first adds up what single columns tell, the second knows what a few of them tell together. `penalty` is that of
    `LogisticRegressionClassifier`, `pool` and `most_cells` those of `PrivPfCClassifier`.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = BlendClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "blend"

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        penalty: float = PENALTY,
        pool: int | None = None,
        most_cells: int = MOST_CELLS,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.penalty = penalty
        self.pool = pool
        self.most_cells = most_cells

    def _learn(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        """Budget: 3 % for the class totals, unless they are known; of the rest two thirds for the regression, one third
        for the grid. Returns the sum of their log odds, weighted alike."""
        totals, rest = sized(source, budget, totals)
        to_fit, to_grid = rest.split(*SHARES)
        linear = logistic_regression(source, to_fit, penalty=self.penalty, totals=totals)
        cells = cells_of(source, to_grid, totals, pool=self.pool, most_cells=self.most_cells)
        first, second = (share / sum(SHARES) for share in SHARES)
        weights = {name: first * np.asarray(table) for name, table in linear.weights.items()}
        additive = Linear(weights, first * np.asarray(linear.constant))
        return Sum((additive, CellScores(cells.partition, second * np.asarray(cells.values))))
