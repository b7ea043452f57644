"""Classifiers on a published grid: its cells, or any estimator trained on them; saved as numbers, without any code."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from veil import (
    BadInput,
    Categorical,
    DiffGenClassifier,
    Ledger,
    Linear,
    Numeric,
    PrivPfCClassifier,
    ProjectedHistogramClassifier,
    Schema,
    datasets,
    load_model,
)
from veil.models.cells import RIDGE, axis_features, features, weighted_cells
from veil.plans.finish import cell_logs
from veil.plans.histograms.projected_histogram import cut_into

KINDS = [PrivPfCClassifier, DiffGenClassifier, ProjectedHistogramClassifier]
LEARNERS = [DecisionTreeClassifier(max_depth=3), LinearSVC(), GradientBoostingClassifier(n_estimators=10)]


@pytest.fixture(scope="module")
def iris():
    return datasets.load("iris")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", [None, *LEARNERS], ids=lambda learner: type(learner).__name__)
def test_any_estimator_can_learn_from_the_cells_and_be_kept_in_a_file(kind, learner, iris, tmp_path):
    rows, schema = iris
    model = kind(epsilon=50, schema=schema, random_state=0, learner=learner).fit(rows)
    assert (model.predict(rows) == rows[schema.label]).mean() > 0.7
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()
    assert sum(receipt.epsilon for receipt in again.receipts_) == 50


def test_a_model_read_from_a_file_asks_for_its_learner_before_it_learns_again(iris, tmp_path):
    rows, schema = iris
    PrivPfCClassifier(schema=schema, learner=DecisionTreeClassifier()).fit(rows).save(tmp_path / "m.veil")
    again = load_model(tmp_path / "m.veil")
    assert "DecisionTreeClassifier" in again.settings_["learner"]
    with pytest.raises(BadInput, match="learner again"):
        again.fit(rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "learner",
    [KNeighborsClassifier(), make_pipeline(DecisionTreeClassifier()), LinearRegression(), 3],
    ids=["no weights", "pipeline", "regression", "3"],
)
def test_a_learner_that_cannot_take_weights_is_refused_before_the_charge(kind, learner, iris):
    rows, schema = iris
    ledger = Ledger(1, schema.name)
    with pytest.raises(BadInput, match="sample_weight"):
        kind(schema=schema, ledger=ledger, learner=learner).fit(rows)
    assert ledger.left == 1


def test_a_grid_too_large_for_a_learner_is_refused_before_the_charge():
    many = tuple(map(str, range(3000)))
    schema = Schema(
        name="w",
        label="y",
        column=[
            Categorical(name="a", values=many),
            Categorical(name="b", values=many),
            Categorical(name="y", values=("0", "1")),
        ],
    )
    ledger = Ledger(1, "w")
    model = ProjectedHistogramClassifier(schema=schema, ledger=ledger, learner=DecisionTreeClassifier(), columns=2)
    with pytest.raises(BadInput, match="cells"):
        model.fit({"a": ["1"], "b": ["2"], "y": ["0"]})
    assert ledger.left == 1


def test_a_grid_that_turns_out_too_large_for_a_learner_has_a_logistic_regression(iris, monkeypatch):
    rows, schema = iris
    monkeypatch.setattr("veil.models.histograms.MOST_LEARNED", 8)
    model = ProjectedHistogramClassifier(epsilon=50, schema=schema, learner=DecisionTreeClassifier()).fit(rows)
    assert isinstance(model.scorer_, Linear)
    assert (model.predict(rows) == rows[schema.label]).mean() > 0.7


def test_without_noise_the_logistic_regression_is_that_of_the_rows(iris):
    """Trained on weighted cells, it is the regression on rows whose values are the places of their bins."""
    rows, schema = iris
    model = ProjectedHistogramClassifier(epsilon=10**6, schema=schema, random_state=0).fit(rows)
    grid, codes = model.releases_[-1].question, schema.encode(rows)
    table = features(grid, schema, grid.cells(codes))
    weight = len(rows) / len(weighted_cells(model.releases_[-1])[2])
    direct = LogisticRegression(C=1 / RIDGE, max_iter=5000)
    direct.fit(table, codes[schema.label], sample_weight=np.full(len(rows), 1 / weight))
    assert model.predict_proba(rows) == pytest.approx(direct.predict_proba(table), abs=2e-3)


def test_without_noise_a_cell_has_its_own_class_shares():
    counts = np.array([[30, 10], [0, 5], [7, 7], [2, 0]])
    logs = cell_logs(counts, [2, 2], 1e-9, np.array([0.6, 0.4]))
    assert np.exp(logs[[0, 2]]) == pytest.approx(counts[[0, 2]] / counts[[0, 2]].sum(axis=1, keepdims=True), abs=1e-6)
    assert (logs.argmax(axis=1)[[0, 1, 3]] == counts.argmax(axis=1)[[0, 1, 3]]).all()


def test_an_empty_cell_says_what_its_columns_say_one_by_one():
    """In a two by two grid each value speaks for its majority; the empty cell is at two values of the second class."""
    counts = np.array([[80, 2], [10, 40], [10, 40], [0, 0]])
    logs = cell_logs(counts, [2, 2], 2.0, np.array([0.5, 0.5]))
    assert logs[3].argmax() == 1 and np.exp(logs[3, 1]) > 0.8


def test_all_noise_leaves_the_prior():
    logs = cell_logs(np.zeros((6, 3), int), [2, 3], 5.0, np.array([0.5, 0.3, 0.2]))
    assert np.exp(logs) == pytest.approx(np.tile([0.5, 0.3, 0.2], (6, 1)), abs=1e-6)


def test_numbers_lie_where_their_bins_lie_and_missing_ones_apart():
    column = Numeric(name="x", bounds=(0, 8), bins=8)
    schema = Schema(name="n", label="y", column=[column, Categorical(name="y", values=("0", "1"))])
    table = axis_features(cut_into(column, 4).axes[0], schema)
    assert table.tolist() == [[0.125, 0], [0.375, 0], [0.625, 0], [0.875, 0], [0.5, 1]]


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_one_class_and_no_row_have_a_model(kind, iris):
    rows, schema = iris
    for few in (rows.head(0), rows.head(1), rows.head(50)):
        model = kind(epsilon=1, schema=schema, random_state=0).fit(few)
        assert model.predict_proba(rows).shape == (150, 3)
        assert np.isfinite(model.predict_proba(rows)).all()
