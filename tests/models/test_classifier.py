"""A private classifier: any kind of rows, exact spending, honest marks, and scikit-learn's tools around it."""

import pickle
import warnings
from collections import UserList, deque
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from veil import (
    BadInput,
    BudgetRefused,
    Categorical,
    Ledger,
    LittleLearned,
    NaiveBayesClassifier,
    Numeric,
    PrivatePipeline,
    PrivateSelectKBest,
    Schema,
    datasets,
    publish,
)

FRAMES = {
    "pandas": lambda rows: rows,
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
    "dict": lambda rows: rows.to_dict("list"),
}


@pytest.fixture(scope="module")
def fair():
    return datasets.load("fair")


def labelled(classes, column):
    return Schema(name="n", label="y", column=[column, Categorical(name="y", values=classes)])


def fitted(rows, schema, y=None, **settings):
    return NaiveBayesClassifier(**{"epsilon": 1, "schema": schema, "random_state": 1, **settings}).fit(rows, y)


def test_a_series_is_no_table_and_no_stream(fair):
    rows, schema = fair
    model = fitted(rows, schema)
    for one in (rows.iloc[0], rows["age"], pl.from_pandas(rows)["age"]):
        with pytest.raises(BadInput, match="X must be a data frame"):
            model.predict(one)


def test_public_frames_may_have_columns_that_pandas_cannot_join():
    X = pd.DataFrame({"n": [1, 2] * 20, "kind": pd.Categorical(["a", "b"] * 20), "yes": [True, False] * 20})
    X["day"] = pd.to_datetime("2020-01-01") + pd.to_timedelta(X.n, unit="D")
    model = fitted(X, "public", ["no", "yes"] * 20, epsilon=100)
    assert model.schema_.get("kind").values == ("a", "b") and model.score(X, ["no", "yes"] * 20) == 1


@pytest.mark.parametrize("kind", FRAMES)
def test_any_frame_gives_the_same_model_with_the_label_inside_or_apart(fair, kind):
    rows, schema = fair
    expected = fitted(rows, schema).predict_proba(rows)
    frame, features = FRAMES[kind](rows), FRAMES[kind](rows.drop(columns="affair"))
    assert np.array_equal(fitted(frame, schema).predict_proba(frame), expected)
    assert np.array_equal(fitted(features, schema, rows["affair"]).predict_proba(features), expected)


def test_arrays_and_lists_go_by_the_order_of_the_schema(fair):
    rows, schema = fair
    features, labels = rows.drop(columns="affair"), rows["affair"]
    expected = fitted(rows, schema).predict_proba(rows)
    assert np.array_equal(fitted(features.to_numpy(), schema, labels).predict_proba(features.to_numpy()), expected)
    listed = features.to_numpy().tolist()
    assert np.array_equal(fitted(listed, schema, labels.tolist()).predict_proba(listed), expected)
    assert np.array_equal(fitted(rows.to_numpy(object), schema).predict_proba(features.to_numpy()), expected)


def test_columns_are_found_by_name_whatever_else_is_there(fair):
    rows, schema = fair
    model = fitted(rows, schema)
    shuffled = rows[rows.columns[::-1]].assign(extra=1)
    assert np.array_equal(model.predict(shuffled), model.predict(rows.drop(columns="affair")))
    with pytest.raises(BadInput, match="no column 'age'"):
        model.predict(rows.drop(columns="age"))
    with pytest.raises(BadInput, match="X has 3 features, but NaiveBayesClassifier is expecting 8"):
        model.predict(np.zeros((2, 3)))


def test_the_path_of_a_file_is_told_from_rows(fair):
    for path in ("rows.csv", Path("rows.parquet")):
        with pytest.raises(BadInput, match="not the path of a file: read it first"):
            fitted(path, fair[1])


@pytest.mark.parametrize("labels", [np.array([1, 0, 1, 2] * 9), np.array([1.0, 0.0, 1.0, 2.0] * 9)])
def test_classes_that_are_whole_numbers_come_back_as_numbers(labels):
    schema = labelled((2, 0, 1), Numeric(name="x", bounds=(0, 3)))
    model = fitted({"x": labels + 0.5}, schema, labels, epsilon=10**6)
    assert model.classes_.tolist() == [0, 1, 2] and model.classes_.dtype.kind == "i"
    assert (model.predict({"x": labels + 0.5}) == labels).all()


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (("True", "False"), [False, True]),
        (("9", "10"), [9, 10]),
        (("1", "01", "2"), ["01", "1", "2"]),
        (("1", "1.0"), ["1", "1.0"]),
        (("a", "a\0"), ["a", "a\0"]),
        (("-1", "1"), [-1, 1]),
    ],
)
def test_the_classes_follow_from_the_schema_whatever_type_the_labels_have(values, classes):
    schema = labelled(values, Numeric(name="x", bounds=(0, 3)))
    for labels in ([1, 2], np.array([1, 2]), np.array([1.0, np.nan]), pl.Series([None, None]), pd.Series(["1", 2])):
        model = fitted({"x": [0.0, 1.0]}, schema, labels)
        assert model.classes_.tolist() == classes and model.predict_proba({"x": [1]}).shape == (1, len(values))


def test_names_that_are_no_text_are_refused_not_merged_into_one_type(fair):
    rows, schema = fair
    nameless = rows.drop(columns="affair").set_axis(range(8), axis=1)
    with pytest.raises(BadInput, match="text as column names"):
        fitted(nameless, schema, rows["affair"])


def test_rows_in_odd_containers(schema):
    with pytest.raises(BadInput, match="list of dicts"):
        fitted([{"town": "Bonn"}], schema, ["left"])
    for empty in ([], np.empty((0, 3))):
        assert fitted(empty, schema, []).predict(empty).shape == (0,)
    three = [["Bonn", 17, 1.0]] * 2
    model = fitted(deque(three), schema, ["left", "right"])
    assert model.predict(UserList(three)).shape == (2,)


@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_labels_in_a_frame_of_one_column(schema, rows, kind):
    features = {"town": ["Bonn"] * rows, "age": [17] * rows, "income": [1.0] * rows}
    with pytest.warns(DataConversionWarning):
        model = fitted(features, schema, kind({"y": ["left"] * rows}), epsilon=10**6)
    assert model.releases_[0].value[0].tolist() == [rows, 0, 0]


def test_a_value_that_python_cannot_hold_is_missing(schema):
    odd = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array([0, 2**62], pa.date64())])))
    model = fitted({"town": ["Bonn"] * 2, "age": odd, "income": odd}, schema, ["left"] * 2)
    assert model.predict({"town": odd, "age": odd, "income": odd}).shape == (2,)


def test_values_that_are_lists_are_values():
    schema = labelled(("0", "1"), Categorical(name="x", values=("a",)))
    for value in ("a", ["a"], [["a"]], (), np.zeros((2, 2))):
        assert fitted([["a"], [value]], schema, ["0", "1"]).predict([[value]]).shape == (1,)
    with pytest.raises(BadInput, match="equal length"):
        fitted([["a"], ["a", "b"]], schema, ["0", "1"])


def test_with_a_huge_epsilon_it_ranks_as_scikit_learns_categorical_naive_bayes_and_is_less_sure(fair):
    rows, schema = fair
    codes = np.column_stack(list(schema.encode(rows.drop(columns="affair"), label=False).values()))
    textbook = CategoricalNB(min_categories=[column.size for column in schema.features]).fit(codes, rows["affair"])
    model = fitted(rows, schema, epsilon=10**7)
    assert model.classes_.tolist() == textbook.classes_.tolist()
    ours, theirs = (np.subtract(*said.T) for said in (model.predict_log_proba(rows), textbook.predict_log_proba(codes)))
    slope, intercept = np.polyfit(theirs, ours, 1)
    assert ours == pytest.approx(intercept + slope * theirs, abs=1e-3) and 0.3 < slope < 1
    assert log_loss(rows["affair"], model.predict_proba(rows)) < log_loss(rows["affair"], textbook.predict_proba(codes))


def test_every_fit_is_charged_exactly(fair):
    rows, schema = fair
    ledger = Ledger(1, schema.name)
    model = NaiveBayesClassifier(epsilon="1/3", schema=schema, ledger=ledger)
    for _ in range(3):
        model.fit(rows)
    assert ledger.spent == 1 and ledger.left == 0
    with pytest.raises(BudgetRefused):
        model.fit(rows)
    assert ledger.spent == 1


def test_without_a_ledger_a_fit_has_a_budget_of_its_own(fair):
    rows, schema = fair
    receipts = fitted(rows, schema, epsilon=0.25, random_state=None).receipts_
    assert sum(receipt.epsilon for receipt in receipts) * 4 == 1 and all(receipt.private for receipt in receipts)


def test_a_ledger_file_can_be_named(fair, tmp_path):
    rows, schema = fair
    Ledger.create(tmp_path / "fair.ledger", 1, schema.name)
    fitted(rows, schema, epsilon=0.5, ledger=tmp_path / "fair.ledger")
    assert Ledger.open(tmp_path / "fair.ledger").spent * 2 == 1


def test_marks_of_what_is_not_private(fair):
    rows, schema = fair
    assert fitted(rows, schema, random_state=None).private_
    assert not fitted(rows, schema, random_state=3).private_
    features = rows.drop(columns="affair")
    public = NaiveBayesClassifier(epsilon=1, schema="public").fit(features, rows["affair"])
    assert not public.private_ and "declared public" in repr(public.receipts_[0])


def test_no_schema_no_fit(fair):
    rows, _ = fair
    with pytest.raises(BadInput, match="veil schema new"):
        NaiveBayesClassifier(epsilon=1).fit(rows)
    with pytest.raises(BadInput, match="cannot be read"):
        NaiveBayesClassifier(epsilon=1, schema="nowhere.toml").fit(rows)


def test_a_schema_can_be_named_by_its_file(fair, tmp_path):
    rows, schema = fair
    (tmp_path / "fair.toml").write_text(schema.to_toml())
    model = fitted(rows, tmp_path / "fair.toml")
    assert np.array_equal(model.predict_proba(rows), fitted(rows, schema).predict_proba(rows))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *(("epsilon", value) for value in (0, -1, "a", float("nan"), float("inf"), None)),
        *(("smoothing", value) for value in (1e308, 5e-324, 0, -1, "1", None, float("nan"))),
        *(("random_state", value) for value in ("x", -1, 1.5, object())),
    ],
)
def test_a_bad_setting_is_refused_before_anything_is_charged(fair, setting, value):
    rows, schema = fair
    ledger = Ledger(1, schema.name)
    with pytest.raises(BadInput, match=setting.replace("random_state", "a seed must be")):
        fitted(rows, schema, **{setting: value, "ledger": ledger})
    assert ledger.spent == 0


@pytest.mark.parametrize("schema", [{"name": "fair"}, 3, ["fair.toml"], Schema])
def test_what_is_no_schema_is_refused(fair, schema):
    steps = [PrivateSelectKBest(k=2), NaiveBayesClassifier()]
    for model in (NaiveBayesClassifier(), PrivateSelectKBest(k=2), PrivatePipeline(steps)):
        with pytest.raises(BadInput, match="schema must be a Schema"):
            model.set_params(schema=schema).fit(fair[0])


@pytest.mark.parametrize("ledger", [3, {"limit": 1}, ["fair.ledger"], Ledger])
def test_what_is_no_ledger_is_refused(fair, ledger):
    rows, schema = fair
    steps = [PrivateSelectKBest(k=2), NaiveBayesClassifier()]
    for model in (NaiveBayesClassifier(), PrivateSelectKBest(k=2), PrivatePipeline(steps)):
        with pytest.raises(BadInput, match="ledger must be a Ledger"):
            model.set_params(schema=schema, ledger=ledger).fit(rows)
    with pytest.raises(BadInput, match="ledger must be a Ledger"):
        publish(rows, schema, epsilon=1, ledger=ledger)
    with pytest.raises(BadInput, match="cannot be read"):
        publish(rows, {"name": "fair"}, epsilon=1)


@pytest.mark.parametrize("inside", [False, True])
def test_logarithms_of_probabilities_are_finite_and_agree_with_them(fair, inside):
    rows, schema = fair
    model = NaiveBayesClassifier(epsilon=10**9, schema=schema, random_state=0)
    model = PrivatePipeline([model], epsilon=10**9, schema=schema, random_state=0) if inside else model
    logs = model.fit(rows).predict_log_proba(rows)
    assert np.allclose(np.exp(logs), model.predict_proba(rows), atol=1e-12)
    assert np.isfinite(logs).all() and not hasattr(model, "decision_function")


def test_labels_are_required(fair):
    rows, schema = fair
    with pytest.raises(BadInput, match="requires y"):
        fitted(rows.drop(columns="affair"), schema)
    with pytest.raises(BadInput, match="different lengths"):
        fitted(rows, schema, ["yes"])
    with pytest.raises(BadInput, match="needs a label"):
        fitted(rows, schema.model_copy(update={"label": None}))


def test_a_column_of_labels_is_taken_with_a_warning(fair):
    rows, schema = fair
    with pytest.warns(DataConversionWarning):
        fitted(rows, schema, rows[["affair"]].to_numpy())


def test_values_that_nobody_declared_neither_raise_nor_warn(rows, schema, all_odd_values):
    odd = {name: all_odd_values for name in rows}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LittleLearned)  # which follows from what was released
        model = fitted(odd, schema)
        assert np.isfinite(model.predict_proba(odd)).all()
        assert set(model.predict(odd)) <= set(schema.classes)


def test_an_empty_table_gives_a_valid_model(rows, schema):
    model = fitted(rows.head(0), schema)
    assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1)


def test_the_tools_of_scikit_learn_pay_for_every_fit(fair):
    rows, schema = fair
    features, labels = rows.drop(columns="affair"), rows["affair"]
    ledger = Ledger(1, schema.name)
    model = NaiveBayesClassifier(epsilon="1/5", schema=schema, ledger=ledger)
    assert clone(model).ledger is ledger
    scores = cross_val_score(model, features, labels, cv=3, scoring="roc_auc", error_score="raise")
    assert len(scores) == 3 and ledger.spent * 5 == 3
    search = GridSearchCV(model, {"smoothing": [0.5, 1, 2]}, cv=2, scoring="accuracy", error_score="raise")
    with pytest.raises(BudgetRefused):
        search.fit(features, labels)
    assert ledger.spent == 1


def test_an_exact_score_is_refused(fair):
    rows, schema = fair
    with pytest.raises(BadInput, match="tells about the rows"):
        fitted(rows, schema).score(rows.drop(columns="affair"), rows["affair"])


@pytest.mark.parametrize("inside", [False, True])
def test_a_search_that_would_need_an_exact_score_is_refused_before_its_first_fit(fair, tmp_path, inside):
    rows, schema = fair
    features, labels, ledger = rows.drop(columns="affair"), rows["affair"], Ledger(9, schema.name)
    (tmp_path / "fair.toml").write_text(schema.to_toml())
    for declared in (schema, tmp_path / "fair.toml"):
        model = NaiveBayesClassifier(epsilon=1, schema=declared, ledger=ledger)
        model = PrivatePipeline([model], epsilon=1, schema=declared, ledger=ledger) if inside else model
        with pytest.raises(TypeError, match="scoring"):
            GridSearchCV(model, {"epsilon": [0.5, 1]}, cv=2).fit(features, labels)
        with pytest.raises(TypeError, match="scoring"):
            cross_val_score(make_pipeline(FunctionTransformer(), model), features, labels, cv=2)
        with pytest.raises(BadInput, match="tells about the rows"):
            model.score(features, labels)
    assert ledger.spent == 0
    assert not hasattr(model.fit(rows).set_params(schema="public"), "score")  # its last fit was not


@pytest.mark.parametrize("inside", [False, True])
def test_models_of_public_rows_have_a_score(fair, tmp_path, inside):
    rows, schema = fair
    public = schema.model_copy(update={"public": True})
    (tmp_path / "fair.toml").write_text(public.to_toml())
    for declared in (public, tmp_path / "fair.toml", "public"):
        model = NaiveBayesClassifier(epsilon=10, schema=declared, random_state=0)
        model = PrivatePipeline([model], epsilon=10, schema=declared, random_state=0) if inside else model
        assert cross_val_score(model, rows.drop(columns="affair"), rows["affair"], cv=2).min() > 0.6
    for unreadable in (None, tmp_path / "nothing.toml", 3):
        assert not hasattr(model.set_params(schema=unreadable), "score")


def test_a_pipeline_and_a_search_on_public_rows(fair):
    rows, _ = fair
    features, labels = rows.drop(columns="affair"), rows["affair"]
    model = NaiveBayesClassifier(epsilon=10, schema="public", random_state=0)
    search = GridSearchCV(
        make_pipeline(FunctionTransformer(), model), {"naivebayesclassifier__smoothing": [1, 5]}, cv=2
    )
    search.fit(features, labels)
    assert search.best_score_ > 0.65 and search.predict(features).shape == labels.shape


def test_models_can_be_pickled_and_unfitted_ones_say_so(fair):
    rows, schema = fair
    model = fitted(rows, schema)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(rows), model.predict(rows))
    with pytest.raises(NotFittedError):
        NaiveBayesClassifier(schema=schema).predict(rows)


def test_a_notebook_shows_what_was_released(fair):
    rows, schema = fair
    assert "noise scale" not in NaiveBayesClassifier(schema=schema)._repr_html_()
    html = fitted(rows, schema)._repr_html_()
    assert "noise scale" in html and "rate_marriage" in html and "NOT private" in html
    assert "NOT private" not in fitted(rows, schema, random_state=None)._repr_html_()


def test_a_rehearsal_asks_what_a_fit_asks_and_charges_nothing(fair):
    rows, schema = fair
    ledger = Ledger(1, schema.name)
    model = NaiveBayesClassifier(epsilon=1, schema=schema, ledger=ledger)
    planned = [(release.question, release.scale) for release in model.rehearse()]
    assert ledger.spent == 0 and not hasattr(model, "releases_")
    asked = [(release.question, release.scale) for release in model.fit(rows).releases_]
    assert planned[:-1] == asked[:-1] and planned[-1][1] == asked[-1][1]
    assert planned[-1][0].describe() == asked[-1][0].describe()  # of the scores of the model itself


def test_people_are_protected_whole():
    schema = Schema(
        name="visits",
        label="y",
        person="who",
        rows_per_person=2,
        column=[Categorical(name="x", values=("a", "b")), Categorical(name="y", values=("no", "yes"))],
    )
    rows = {"x": ["a", "b"] * 50, "y": ["no", "yes"] * 50, "who": [i // 5 for i in range(100)]}
    model = fitted(rows, schema)
    assert model.releases_[0].scale == 2 and "one person, at most 2 rows" in repr(model.receipts_[0])
    assert model.predict({"x": ["a"]}).shape == (1,)
    with pytest.raises(BadInput, match="'who'"):
        fitted({name: rows[name] for name in "xy"}, schema)
