"""Calibration in a report: from public rows that are handed in, from a model's own counts, or not at all."""

import numpy as np
import pytest

from veil import (
    BadInput,
    DecisionTreeClassifier,
    NaiveBayesClassifier,
    PrivPfCClassifier,
    RandomForestClassifier,
    datasets,
)
from veil.report import report
from veil.report.calibration import on_counts, on_rows


@pytest.fixture(scope="module")
def fair():
    return datasets.load("fair")


def fitted(kind, fair, **settings):
    rows, schema = fair
    return kind(**{"epsilon": 5, "schema": schema, "random_state": 0, **settings}).fit(rows)


def test_points_on_rows_are_shares_of_right_predictions(fair):
    rows, schema = fair
    model = fitted(NaiveBayesClassifier, fair)
    points = on_rows(model, rows, rows[schema.label])
    said = model.predict_proba(rows)
    right = model.predict(rows).astype(str) == rows[schema.label].astype(str)
    assert sum(point.rows for point in points) == len(rows)
    assert sum(point.rows * point.right for point in points) == pytest.approx(right.sum())
    assert sum(point.rows * point.said for point in points) == pytest.approx(said.max(axis=1).sum())
    assert all(0 <= point.low <= point.right <= point.high <= 1 for point in points)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, PrivPfCClassifier])
def test_points_on_counts_need_no_rows_and_are_near_those_on_the_rows_for_a_huge_budget(kind, fair):
    rows, schema = fair
    model = fitted(kind, fair, epsilon=10**5)
    ours, theirs = on_counts(model), on_rows(model, rows, rows[schema.label])
    assert len(ours) == len(theirs)
    for own, measured in zip(ours, theirs, strict=True):
        assert own.rows == pytest.approx(measured.rows) and own.right == pytest.approx(measured.right, abs=1e-6)


def test_the_interval_of_counts_grows_with_the_noise(fair):
    sharp, noisy = (on_counts(fitted(DecisionTreeClassifier, fair, epsilon=e)) for e in (100, 0.1))
    width = [np.mean([point.high - point.low for point in points]) for points in (sharp, noisy)]
    assert width[0] < width[1]


def test_a_report_says_what_its_calibration_is_measured_on(fair):
    rows, schema = fair
    tree, forest = (fitted(kind, fair) for kind in (DecisionTreeClassifier, RandomForestClassifier))
    own, checked, nothing = report(tree), report(tree, check=(rows, rows[schema.label])), report(forest)
    assert "counts that the model was made from" in own and "said and right differ" in own
    assert "handed to this report as public" in checked and "counts that the model was made from" not in checked
    assert "Not measured" in nothing and "said and right differ" not in nothing
    assert "handed to this report as public" in report(forest, check=(rows, rows[schema.label]))


def test_labels_must_be_as_many_as_rows(fair):
    rows, schema = fair
    with pytest.raises(BadInput, match="one label for each row"):
        report(fitted(NaiveBayesClassifier, fair), check=(rows, rows[schema.label][:3]))
