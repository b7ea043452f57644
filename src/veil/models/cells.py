"""Classifiers from the released counts of a grid: any scikit-learn estimator, trained on the cells as weighted rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from ..errors import BadInput
from ..kernel import Release, SparseCounts
from ..plans.finish import LEAST_SHARE
from ..questions import Axis, CellScores, Grid, Linear, Scorer
from ..schema import Numeric, Schema

MOST_CELLS = 1_000_000  # of a grid, since an estimator predicts once for each
RIDGE = 1e-2  # noisy cells can often be separated; without a penalty the weights would grow without end
Numbers = npt.NDArray[np.float64]


def check_learner(learner: Any, largest: int) -> None:
    """Raise BadInput, before any charge, if an estimator cannot take weighted cells, or the grid is too large."""
    if learner is None:
        return
    estimator = hasattr(learner, "fit") and hasattr(learner, "get_params") and not isinstance(learner, type)
    if not estimator or not is_classifier(learner) or not has_fit_parameter(learner, "sample_weight"):
        raise BadInput("learner must be a scikit-learn classifier whose fit takes sample_weight")
    if largest > MOST_CELLS:
        raise BadInput(
            f"the grid may have {largest:,} cells, more than the {MOST_CELLS:,} that a learner can be tried on: "
            "use fewer columns or bins, or no learner"
        )


def weighted_cells(release: Release[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Numbers]:
    """Three arrays with an entry for every count above zero: its cell, its class, and the count as a weight."""
    counts = release.value
    if isinstance(counts, SparseCounts):
        return *counts.cells(), counts.counts.astype(np.float64)
    cells, labels = np.nonzero(counts > 0)
    return cells, labels, counts[cells, labels].astype(np.float64)


def learn_cells(learner: Any, release: Release[Any], schema: Schema, prior: Numbers) -> Scorer:
    """A scorer with the class probabilities that an estimator, trained on weighted cells, predicts for each cell."""
    grid, (cells, labels, weights) = release.question, weighted_cells(release)
    shares = np.tile(prior, (grid.size, 1))
    if len(set(labels)) > 1:
        fitted = clone(learner).fit(features(grid, schema, cells), labels, sample_weight=weights)
        answers = _answers(fitted, features(grid, schema, np.arange(grid.size)))
        shares = np.zeros((grid.size, len(schema.classes)))
        shares[:, fitted.classes_] = answers
    return CellScores(grid, np.log(np.maximum(shares, LEAST_SHARE)))


def _answers(fitted: Any, rows: Numbers) -> Numbers:
    """Class probabilities, rows x classes; without predict_proba, a one-hot row for the predicted class."""
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(rows))
    return np.asarray(fitted.predict(rows)[:, None] == fitted.classes_, np.float64)


def logistic_cells(release: Release[Any], schema: Schema, prior: Numbers) -> Scorer:
    """A scorer from a logistic regression on the weighted cells, as a table of weights for every column."""
    from sklearn.linear_model import LogisticRegression

    grid, (cells, labels, weights) = release.question, weighted_cells(release)
    constant = np.log(prior)
    tables = {axis.column: np.zeros((len(axis.groups), len(prior))) for axis in grid.axes}
    if len(set(labels)) > 1:
        fitted = LogisticRegression(C=1 / RIDGE, max_iter=1000)
        fitted.fit(features(grid, schema, cells), labels, sample_weight=weights / weights.mean())
        weights_of, start = _by_class(fitted, len(prior))
        constant, place = start, 0
        for axis in grid.axes:
            inside = axis_features(axis, schema)
            scores = inside @ weights_of[place : place + inside.shape[1]]
            tables[axis.column], place = scores[np.asarray(axis.groups)], place + inside.shape[1]
    return Linear(tables, constant)


def _by_class(fitted: Any, classes: int) -> tuple[Numbers, Numbers]:
    """Coefficients, features x classes, and intercepts; a class that no cell has gets the lowest intercept."""
    weights, start = fitted.coef_, fitted.intercept_
    if len(fitted.classes_) == 2:
        weights, start = np.vstack([-weights, weights]) / 2, np.array([-start[0], start[0]]) / 2
    table, constant = np.zeros((weights.shape[1], classes)), np.full(classes, np.log(LEAST_SHARE))
    table[:, fitted.classes_], constant[fitted.classes_] = weights.T, start
    return table, constant


def features(grid: Grid, schema: Schema, cells: npt.NDArray[Any]) -> Numbers:
    """The feature matrix of cells, cells x features, for a scikit-learn estimator."""
    parts: list[Numbers] = []
    for axis in reversed(grid.axes):
        cells, groups = cells // axis.size, cells % axis.size
        parts.append(axis_features(axis, schema)[groups.astype(np.int64)])
    return np.hstack(parts[::-1])


def axis_features(axis: Axis, schema: Schema) -> Numbers:
    """The features of each group of an axis: one-hot for categories; for numbers the mean position of its bins, from 0
    to 1, and an indicator of missing values if there is a group for them.

    With equal bins, that is the midpoint on the scale from lower to upper bound.
    """
    column = schema.get(axis.column)
    if not isinstance(column, Numeric):
        return np.eye(axis.size)
    bins = len(column.cuts) - 1
    middles = [_middle([code for code, g in enumerate(axis.groups) if g == group], bins) for group in range(axis.size)]
    apart = [float(middle is None) for middle in middles]  # missing values
    place = [0.5 if middle is None else middle for middle in middles]
    return np.array([place, apart] if any(apart) else [place]).T


def _middle(codes: Sequence[int], bins: int) -> float | None:
    inside = [code for code in codes if code < bins]
    return (sum(inside) / len(inside) + 0.5) / bins if inside else None
