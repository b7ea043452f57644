"""Models that are not ours: what they make of a row follows from that row, whatever they are and whatever it holds."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from joblib import parallel_config
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from veil import Categorical, Numeric, Schema, private_roc_curve
from veil.evaluate import scores
from veil.evaluate.scores import TREES, prediction_table, score_table

CHANCE = np.random.default_rng(0)
TRUTH = CHANCE.random(250) < 0.4
SCORE = np.round(1 / (1 + np.exp(-CHANCE.normal(TRUTH * 1.5 - 0.7))), 2)
BOTH = {"classes": (False, True)}
HUGE = 10**9
SCHEMA = Schema(
    name="numbers",
    label="y",
    column=[*(Numeric(name=name, bounds=(-9, 9)) for name in "abcde"), Categorical(name="y", values=("False", "True"))],
)
X = np.column_stack([SCORE, CHANCE.normal(size=(250, 4)) ** 3])
ODD = np.vstack([X, np.full(5, np.nan), [np.inf] * 5, [1e300] * 5, [0, -np.inf, 0, 0, 0], -X[:3]])


def test_a_model_that_fails_on_a_row_gives_it_the_default_score():
    def score(row):
        if row[0, 0] < 0:
            raise ValueError("a private value")
        return row[:, 0]

    X, y = np.array([[-1.0], [0.2], [0.9], [-2.0]] * 50), [False, False, True, False] * 50
    curve = private_roc_curve(score, X, y, epsilon=HUGE, random_state=1, **BOTH)
    assert curve.auc == pytest.approx(1)


def test_a_model_that_is_not_ours_sees_one_row_at_a_time():
    """So that no row sways the score of another, whatever the model does with what it is given."""
    seen = []

    def mean(rows):
        seen.append(len(rows))
        return np.asarray(rows, float).mean(axis=0)[:1]

    frames = [kind({"a": SCORE[:90]}) for kind in (pd.DataFrame, pa.table)]
    for rows, given in (
        (SCORE[:90, None], BOTH),
        ([[x] for x in SCORE[:90]], BOTH),
        *((frame, {"schema": SCHEMA}) for frame in frames),
    ):
        curve = private_roc_curve(mean, rows, TRUTH[:90], epsilon=HUGE, parts=1024, random_state=1, **given)
        assert curve.auc == pytest.approx(roc_auc_score(TRUTH[:90], SCORE[:90]), abs=1e-6)
    assert len(seen) == 360 and {*seen} == {1}


@pytest.mark.parametrize("rows", [0, 1, 7, 250])
def test_progress_has_the_same_steps_whatever_the_number_of_rows(rows, monkeypatch, capfd):
    advanced = []
    monkeypatch.setattr("veil.evaluate.scores.advance", lambda work, done, total: advanced.append(done))
    private_roc_curve(lambda row: row[0, 0], SCORE[:rows, None], TRUTH[:rows], epsilon=1, **BOTH)
    assert advanced == [*range(1, 101)] and capfd.readouterr() == ("", "")  # no terminal, no bar


def counting(predict, seen):
    def counted(self, rows, *more, **named):
        seen.append(len(rows))
        return predict(self, rows, *more, **named)

    return counted


@pytest.fixture
def calls(monkeypatch):
    """How many rows scikit-learn's trees are given, call by call."""
    seen = []
    for kind in TREES:
        monkeypatch.setattr(kind, "predict_proba", counting(kind.predict_proba, seen))
    return seen


def table(make, model, rows):
    schema = SCHEMA if isinstance(rows, pd.DataFrame) else None
    return make(model, rows, [True] * len(rows), schema, (False, True)).rows


def codes(model, rows):
    return table(score_table, model, rows)["score"]


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize(
    "shape", [np.asarray, lambda rows: pd.DataFrame(rows, columns=list("abcde"))], ids=["array", "frame"]
)
def test_trees_give_a_row_the_same_score_and_class_in_any_company(kind, shape, monkeypatch):
    rows, chosen = shape(ODD), np.random.default_rng(1).permutation(len(ODD))[:77]
    few = {"n_estimators": 5} if "n_estimators" in kind().get_params() else {}
    model = kind(max_depth=6, random_state=0, **few).fit(shape(X), TRUTH)
    together, some = codes(model, rows), codes(model, shape(ODD[chosen]))
    predicted = table(prediction_table, model, rows)["prediction"]
    monkeypatch.setattr(scores, "TREES", ())
    assert (together == codes(model, rows)).all() and (some == together[chosen]).all()
    alone = table(prediction_table, model, rows)["prediction"]
    assert predicted.tolist() == alone.tolist() and predicted[250] in (None, True, False)


@pytest.mark.parametrize("rows", [0, 1, 250])
def test_trees_are_asked_for_all_finite_rows_at_once_and_for_others_one_by_one(rows, calls):
    model = ExtraTreesClassifier(3, random_state=0).fit(X, TRUTH)
    found = codes(model, np.vstack([X[:rows], ODD[250:254]]))
    assert calls.count(rows) >= (rows > 1) and max(calls) == max(rows, 1) and len(found) == rows + 4


def test_what_may_mix_rows_is_not_taken_for_trees(calls):
    class Mixing(RandomForestClassifier):
        def predict_proba(self, rows):
            assert len(rows) == 1
            return super().predict_proba(rows)

    fit = {"n_estimators": 2, "random_state": 0}
    for model in (Mixing(**fit), RandomForestClassifier(n_jobs=2, **fit)):
        codes(model.fit(X, TRUTH), X[:20])
    with parallel_config(n_jobs=2):  # trees are added up as they are done
        codes(RandomForestClassifier(**fit).fit(X, TRUTH), X[:20])
    assert {*calls} == {1}


def test_a_model_of_other_columns_makes_nothing_of_any_row():
    for model in (DecisionTreeClassifier().fit(X, TRUTH), LogisticRegression().fit(X, TRUTH)):
        assert (codes(model, X[:, :2]) == 0).all()
