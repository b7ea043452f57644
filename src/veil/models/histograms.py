"""Classifiers that learn from one published grid: PrivPfC, DiffGen and projected histograms."""

from math import prod
from typing import Any

from ..errors import BadInput
from ..kernel import Budget, Release, Source
from ..plans.finding.search import Search
from ..plans.finish import Numbers, cell_logs, class_prior, class_totals
from ..plans.histograms.diffgen import STEPS, diffgen
from ..plans.histograms.grids import Counted
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
        counted = privpfc(source, budget, pool=self.pool, most_cells=self.most_cells, totals=totals)
        return _learned(learner, counted, source)


def cells_of(source: Source, budget: Budget, totals: Any, **settings: Any) -> CellScores:
    """PrivPfC's grid, with the class shares of its cells, shrunk to a fit of main effects where they are noisy."""
    return _shrunk(*privpfc(source, budget, totals=totals, **settings))


def _learned(learner: Any, counted: Counted, source: Source) -> Scorer:
    """What a learner makes of the cells; without one, their class shares."""
    release, totals = counted
    if learner is None:
        return _shrunk(release, totals)
    return learn_cells(learner, release, source.schema, _prior(totals, release))


def _shrunk(release: Release[Any], totals: Release[Any]) -> CellScores:
    """The class shares of the cells of a grid, shrunk to a fit of main effects where they are noisy."""
    shape = [axis.size for axis in release.question.axes]
    logs = cell_logs(release.value, shape, release.scale or 1e-9, _prior(totals, release))
    return CellScores(release.question, logs)


class DiffGenClassifier(PrivateClassifier):
    """Classify by a grid that is refined step by step: every column starts as one general value, and each step
    specialises one value of one column, chosen privately.

    `steps` is the number of choices, `criterion` what they are made by ("majority" or "entropy"), `most_cells` the
    largest grid. `learner` is a scikit-learn classifier to be trained on the weighted cells; without one every cell has
    the class shares of its counts, shrunk to a fit of main effects where they are noisy.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = DiffGenClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "diffgen"
    search = Search()

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        learner: Any = None,
        steps: int = STEPS,
        criterion: str = "majority",
        most_cells: int = MOST_CELLS,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.learner = learner
        self.steps = steps
        self.criterion = criterion
        self.most_cells = most_cells

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        learner = _usable(self.learner, self.most_cells)
        settings = {name: getattr(self, name) for name in ("steps", "criterion", "most_cells")}
        return _learned(learner, diffgen(source, budget, totals=totals, **settings), source)


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
