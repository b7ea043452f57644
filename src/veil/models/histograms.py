"""Classifiers that learn from one published grid: PrivPfC and projected histograms."""

from math import prod
from typing import Any

from ..errors import BadInput
from ..kernel import Budget, Release, Source
from ..plans.finding.search import Search
from ..plans.finish import Numbers, cell_logs, class_prior, class_totals
from ..plans.histograms.privpfc import MOST_CELLS, privpfc
from ..plans.histograms.projected_histogram import cut_into, projected_histogram
from ..questions import CellScores, Scorer
from .base import PrivateClassifier
from .cells import MOST_CELLS as MOST_LEARNED
from .cells import check_learner, learn_cells, logistic_cells


class PrivPfCClassifier(PrivateClassifier):
    """Classify by a grid over few columns, chosen privately for what a classifier can learn from its noisy counts.

    `learner` is a scikit-learn classifier to be trained on the weighted cells; without one every cell has the class
    shares of its counts, shrunk to a fit of main effects where they are noisy. The grid is one of `pool` candidates
    (None: growing with rows times epsilon) of at most `most_cells` cells.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = PrivPfCClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "privpfc"
    search = Search()

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        learner: Any = None,
        pool: int | None = None,
        most_cells: int = MOST_CELLS,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.learner = learner
        self.pool = pool
        self.most_cells = most_cells

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        learner = _usable(self.learner, self.most_cells)
        if learner is None:
            return cells_of(source, budget, totals, pool=self.pool, most_cells=self.most_cells)
        release, totals = privpfc(source, budget, pool=self.pool, most_cells=self.most_cells, totals=totals)
        return learn_cells(learner, release, source.schema, _prior(totals, release))


def cells_of(source: Source, budget: Budget, totals: Any, **settings: Any) -> CellScores:
    """PrivPfC's grid, with the class shares of its cells, shrunk to a fit of main effects where they are noisy."""
    release, totals = privpfc(source, budget, totals=totals, **settings)
    shape = [axis.size for axis in release.question.axes]
    logs = cell_logs(release.value, shape, release.scale or 1e-9, _prior(totals, release))
    return CellScores(release.question, logs)


class ProjectedHistogramClassifier(PrivateClassifier):
    """Classify by a histogram over a few columns, those that tell the classes apart, with small counts left out.

    `learner` is a scikit-learn classifier to be trained on the weighted cells; without one, and for a grid of more than
    a million cells, it is a logistic regression. `columns`, `bins`, `share` (of the budget, for the counts) and
    `criterion` ("majority" or "discernibility"), if not given, follow from public numbers by the `rules`, "veil" or
    "paper".

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = ProjectedHistogramClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "projected"
    search = Search()

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        learner: Any = None,
        rules: str = "veil",
        columns: Any = None,
        bins: int | None = None,
        share: float | None = None,
        criterion: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.learner = learner
        self.rules = rules
        self.columns = columns
        self.bins = bins
        self.share = share
        self.criterion = criterion

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        settings = {name: getattr(self, name) for name in ("rules", "columns", "bins", "share", "criterion")}
        learner = _usable(self.learner, self._least(source) if self.learner is not None else 0)
        release, totals = projected_histogram(source, budget, totals=totals, **settings)
        prior = _prior(totals)
        if learner is None or release.question.size > MOST_LEARNED:
            return logistic_cells(release, source.schema, prior)
        return learn_cells(learner, release, source.schema, prior)

    def _least(self, source: Source) -> int:
        """The cells of the smallest grid that could be chosen: if that is too large for a learner, all are."""
        sizes = sorted(cut_into(column, self.bins or 2).size for column in source.schema.features)
        return prod(sizes[: self.columns if isinstance(self.columns, int) else 1])


def _prior(*tables: Release[Any]) -> Numbers:
    """The class shares, averaged over tables of counts that all add up to the class totals."""
    scales = [max(table.noise_scale, 1e-9) for table in tables]
    return class_prior(*class_totals([table.value for table in tables], scales))


def _usable(learner: Any, largest: int) -> Any:
    if isinstance(learner, str):
        raise BadInput("this model was read from a file: give it its learner again before another fit")
    check_learner(learner, largest)
    return learner
