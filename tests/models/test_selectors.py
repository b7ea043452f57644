"""Selectors and pipelines: what is selected, what it costs, and that what follows profits from it."""

import re
from fractions import Fraction
from io import BytesIO

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

from veil import (
    WHOLE,
    BadInput,
    Bag,
    Budget,
    BudgetRefused,
    Categorical,
    KDiscernibilitySelect,
    Ledger,
    NaiveBayesClassifier,
    Numeric,
    PrivateClusterSelect,
    PrivatePipeline,
    PrivateSelectKBest,
    PrivateSelectThreshold,
    Schema,
    SparseNaiveBayesClassifier,
    Text,
    datasets,
    load_model,
    open_source,
)
from veil.plans.selecting.features import FEATURE_SCORES

LABEL = Categorical(name="kind", values=("ham", "spam"))
WORDS = tuple(f"word{i}" for i in range(12))
MAIL = Schema(name="mail", label="kind", column=[Text(name="text", words=WORDS, words_per_row=4), LABEL])
CHANCE = np.random.default_rng(0)
KINDS = np.where(np.arange(600) % 3 == 0, "spam", "ham")
RATES = np.where(KINDS[:, None] == "spam", [0.9, 0.7, *[0.05] * 10], [0.02, 0.1, 0.5, *[0.05] * 9])
MATRIX = (CHANCE.random(RATES.shape) < RATES).astype(float)
TEXTS = [" ".join(np.array(WORDS)[row > 0]) for row in MATRIX]
FRAME = pd.DataFrame({"text": TEXTS, "kind": KINDS})
HUGE = {"epsilon": 10**12, "schema": MAIL, "random_state": 0}


def best(score, k):
    """The true best words by a score."""
    having = np.array([[(MATRIX[KINDS == kind, w] > 0).sum() for kind in LABEL.values] for w in range(len(WORDS))])
    totals = [(KINDS == kind).sum() for kind in LABEL.values]
    exact = FEATURE_SCORES[score]().each(np.stack([having, totals - having], axis=1))
    return set(np.array(WORDS)[np.argsort(-exact, kind="stable")[:k]])


@pytest.mark.parametrize("score", FEATURE_SCORES)
@pytest.mark.parametrize("how", ["auto", "peel", "perturb"])
def test_a_huge_epsilon_selects_the_true_set(score, how):
    model = PrivateSelectKBest(score=score, k=2, how=how, words_per_row=12, **HUGE)
    for rows, labels in ((FRAME, None), (MATRIX, KINDS), (sparse.csr_matrix(MATRIX), KINDS)):
        assert set(model.fit(rows, labels).selected_) == best(score, 2)
        assert set(model.get_feature_names_out()) == set(model.selected_)


@pytest.mark.parametrize("how", ["auto", "peel", "perturb", "sieve"])
def test_a_huge_epsilon_selects_what_is_above_the_threshold(how):
    counts = MATRIX.sum(axis=0)
    model = PrivateSelectThreshold(score="count", threshold=100, at_most=12, how=how, words_per_row=12, **HUGE)
    assert set(model.fit(FRAME).selected_) == set(np.array(WORDS)[counts >= 100])
    none = model.set_params(threshold=10_000).fit(FRAME)
    assert not none.support_.any()
    with pytest.raises(BadInput, match="no feature was selected"):
        none.selected_schema_  # noqa: B018


def test_clusters_of_like_words_are_selected_together():
    model = PrivateClusterSelect(score="difference", k=3, groups=4, words_per_row=12, **HUGE).fit(FRAME)
    assert set(model.selected_) == best("difference", 3) and len(model.scores_) == 3


def test_columns_of_a_table_are_selected_by_scores_and_by_discernibility():
    rows, schema = datasets.load("iris")
    for score in ("gini", "entropy", "majority", "purity"):
        found = PrivateSelectKBest(score=score, k=2, epsilon=10**12, schema=schema, random_state=0).fit(rows)
        assert set(found.selected_) == {"petal length (cm)", "petal width (cm)"}
    model = KDiscernibilitySelect(k=2, epsilon=10**12, schema=schema, random_state=0).fit(rows)
    assert len(model.selected_) == 2 and model.scores_ is None
    assert {column.name for column in model.selected_schema_.features} == set(model.selected_)


def test_more_features_than_there_are_means_all_of_them_for_nothing():
    ledger = Ledger(1, "mail")
    open_source(FRAME, MAIL, spent := Ledger(1, "mail")).count(WHOLE, Budget(1))
    assert PrivateSelectKBest(k=12, schema=MAIL, ledger=spent).fit(FRAME).support_.all()
    for selector in (PrivateSelectKBest(k=12), PrivateSelectKBest(k=99), PrivateClusterSelect(k=50)):
        selector.set_params(schema=MAIL, ledger=ledger).fit(FRAME)
        assert selector.support_.all() and ledger.spent == 0 and selector.private_


def test_columns_without_any_word_and_rows_with_too_many_are_no_error():
    matrix = np.zeros((50, 12))
    for rows in (matrix, matrix + 1):
        model = PrivateSelectKBest(score="count", k=3, epsilon=1, schema=MAIL).fit(rows, KINDS[:50])
        assert len(model.selected_) == 3


@pytest.mark.parametrize(
    "model",
    [
        PrivateSelectKBest(k=0),
        PrivateSelectKBest(k=2.5),
        PrivateSelectKBest(score="chi2"),
        PrivateSelectKBest(how="sieve"),
        PrivateSelectKBest(k=2, words_per_row=0.5),
        PrivateSelectThreshold(threshold="high"),
        PrivateSelectThreshold(threshold=float("nan")),
        PrivateSelectThreshold(threshold=-5, at_most=0),
        PrivateSelectThreshold(),
        PrivateSelectThreshold(threshold=0),
        PrivateSelectThreshold(score="entropy", threshold=0.1),
        KDiscernibilitySelect(k=1),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_is_charged(model):
    ledger = Ledger(1, "mail")
    with pytest.raises(BadInput):
        model.set_params(schema=MAIL, ledger=ledger).fit(FRAME)
    assert ledger.spent == 0


def test_a_schema_with_words_and_columns_or_with_nothing_to_select_is_refused():
    both = Schema(name="mail", label="kind", column=[*MAIL.column, Numeric(name="size", bounds=(0, 9))])
    none = Schema(name="mail", label="kind", column=[LABEL, Text(name="text")])
    for schema in (both, none):
        with pytest.raises(BadInput):
            PrivateSelectKBest(schema=schema).fit({**FRAME, "size": KINDS})
    iris = datasets.load("iris")[1]
    with pytest.raises(BadInput, match="text column"):
        PrivateSelectKBest(score="count", schema=iris).rehearse()


def test_values_that_are_no_zeros_and_ones_go_by_a_public_rule():
    strange = np.where(MATRIX > 0, 0.25, -3.0)
    strange[strange < 0] *= CHANCE.integers(0, 2, (strange < 0).sum())
    strange[0, 5] = np.nan
    found = [PrivateSelectKBest(k=2, **HUGE).fit(rows, KINDS).selected_ for rows in (strange, MATRIX)]
    assert set(found[0]) == set(found[1])


def test_transform_leaves_out_what_was_not_selected():
    model = PrivateSelectKBest(k=2, **HUGE).fit(FRAME)
    for rows in (FRAME, FRAME[["text"]].to_numpy(), TEXTS, pd.Series(TEXTS)):
        assert (model.transform(rows).toarray() == MATRIX[:, model.support_]).all()
    assert (model.set_params(schema=MAIL).fit(MATRIX, KINDS).transform(MATRIX) == MATRIX[:, model.support_]).all()
    assert model.n_features_in_ == 12
    with pytest.raises(ValueError, match="features"):
        model.transform(MATRIX[:, :5])


def chosen():
    """A selector fitted on the flowers, with their rows."""
    rows, schema = datasets.load("iris")
    ledger = Ledger(100, "iris")
    model = PrivateSelectKBest(k=2, epsilon=100, schema=schema, ledger=ledger, random_state=0).fit(rows)
    return model, rows, list(model.get_feature_names_out())


OTHER_TABLES = {
    "the label too": lambda rows, names: rows,
    "without it": lambda rows, names: rows.drop(columns="target"),
    "in another order": lambda rows, names: rows[rows.columns[::-1]],
    "the selected alone": lambda rows, names: rows[names[::-1]],
    "others beside": lambda rows, names: rows.assign(other=1, another="x"),
    "Polars": lambda rows, names: pl.from_pandas(rows[rows.columns[::-1]]),
    "Arrow": lambda rows, names: pa.Table.from_pandas(rows[rows.columns[::-1]]),
    "a dict": lambda rows, names: rows[rows.columns[::-1]].to_dict("list"),
}


@pytest.mark.parametrize("kind", OTHER_TABLES)
def test_selected_columns_are_found_by_name(kind):
    model, rows, names = chosen()
    found = model.transform(OTHER_TABLES[kind](rows, names))
    assert isinstance(found, np.ndarray) and (found.astype(float) == rows[names].to_numpy()).all()


def test_selected_columns_keep_their_frame_where_one_is_asked_for():
    model, rows, names = chosen()
    found = model.set_output(transform="pandas").transform(rows[rows.columns[::-1]])
    assert list(found) == names and found.equals(rows[names])
    assert found.attrs == model.transform(rows).attrs and found.attrs


def test_selected_words_are_found_by_name_in_a_table_of_words():
    model = PrivateSelectKBest(k=2, **HUGE).fit(FRAME)
    names = list(model.get_feature_names_out())
    table = pd.DataFrame(MATRIX, columns=model.schema_.texts[0].names).assign(kind=KINDS)
    assert (np.asarray(model.transform(table[table.columns[::-1]])) == table[names].to_numpy()).all()


def test_a_selected_column_that_is_absent_is_named():
    model, rows, names = chosen()
    with pytest.raises(
        BadInput, match=rf"no column '{re.escape(names[0])}' \(did you mean '{re.escape(names[0].upper())}'\?\)"
    ):
        model.transform(rows.rename(columns={names[0]: names[0].upper()}))


def test_names_of_selected_columns_are_looked_for_among_those_of_any_table():
    model, rows, names = chosen()
    assert list(model.get_feature_names_out(list(rows)[::-1])) == names
    with pytest.raises(BadInput, match="no column"):
        model.get_feature_names_out(["target", *names[1:]])


def test_a_selector_works_in_a_pipeline_of_scikit_learn():
    whole = make_pipeline(
        PrivateSelectKBest(k=2, epsilon=100, schema="public", random_state=0),
        SparseNaiveBayesClassifier(epsilon=100, schema="public", random_state=0),
    )
    assert whole.fit(sparse.csr_matrix(MATRIX), KINDS).score(sparse.csr_matrix(MATRIX), KINDS) > 0.9


@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.parametrize("kind", [pd.DataFrame, np.asarray])
def test_a_classifier_of_the_same_schema_takes_the_columns_that_a_selector_left(output, kind):
    rows, schema = datasets.load("iris")
    ledger, X, y = Ledger(300, "iris"), kind(rows.drop(columns=schema.label)), rows[schema.label]
    given = {"epsilon": 100, "schema": schema, "ledger": ledger}
    whole = make_pipeline(PrivateSelectKBest(k=3, **given), KDiscernibilitySelect(k=2, **given))
    whole.steps.append(("nb", NaiveBayesClassifier(**given)))
    whole.set_output(transform=output).fit(X, y)
    assert ledger.left == 0 and (whole.predict(X) == y).mean() > 0.9
    assert [column.name for column in whole[-1].schema_.features] == list(whole[1].get_feature_names_out())


@pytest.mark.parametrize("rows", [FRAME[["text"]], MATRIX, sparse.csr_matrix(MATRIX)])
def test_a_classifier_of_the_same_schema_takes_the_words_that_a_selector_left(rows):
    whole = make_pipeline(PrivateSelectKBest(k=2, **HUGE), SparseNaiveBayesClassifier(**HUGE)).fit(rows, KINDS)
    assert whole[-1].schema_.texts[0].names == tuple(whole[0].get_feature_names_out())
    assert (whole.predict(rows) == KINDS).mean() > 0.9


def test_columns_that_no_selector_left_out_are_missed():
    rows, schema = datasets.load("iris")
    X, y = rows.drop(columns=schema.label), rows[schema.label]
    found = PrivateSelectKBest(k=2, epsilon=1, schema=schema).set_output(transform="pandas").fit(X, y).transform(X)
    other = schema.model_copy(update={"name": "another"})
    for model, part in (
        (NaiveBayesClassifier(schema=other), found),
        (NaiveBayesClassifier(schema=schema), X.iloc[:, :2]),
    ):
        with pytest.raises(BadInput, match="no column"):
            model.fit(part, y)
    with pytest.raises(BadInput, match="the schema.s 4 columns"):
        NaiveBayesClassifier(schema=other).fit(found.to_numpy(), y)
    assert pd.read_parquet(BytesIO(found.to_parquet())).equals(found)  # the mark is text alone


def test_a_selection_that_no_step_could_follow_is_refused_before_it_is_charged():
    rows, schema = datasets.load("iris")
    person = schema.model_copy(update={"person": "who"})
    for declared, X, y in ((schema, rows, None), (person, rows.assign(who=range(150)), rows[schema.label])):
        ledger = Ledger(3, "iris")
        with pytest.raises(BadInput, match="PrivatePipeline"):
            make_pipeline(PrivateSelectKBest(k=2, schema=declared, ledger=ledger), NaiveBayesClassifier()).fit(X, y)
        assert ledger.spent == 0


def test_buckets_are_selected_like_words():
    hashed = Schema(name="mail", label="kind", column=[Text(name="text", buckets=64, words_per_row=12), LABEL])
    model = PrivateSelectKBest(k=2, epsilon=10**12, schema=hashed, random_state=0).fit(FRAME)
    narrow = model.selected_schema_
    assert narrow.texts[0].size == 2 and Schema.loads(narrow.to_toml()) == narrow
    words = narrow.encode({"text": TEXTS}, label=False)["text"]
    assert (np.diff(words.starts) == model.transform(FRAME).sum(axis=1).A1).all()


@pytest.mark.parametrize("shares", [(2, 8), (1, 1), ("1/3", "2/3")])
def test_a_pipeline_spends_exactly_its_budget_from_one_ledger(shares):
    ledger = Ledger(3, "mail")
    steps = [("select", PrivateSelectKBest(k=3)), ("classify", SparseNaiveBayesClassifier())]
    model = PrivatePipeline(steps, epsilon="0.7", shares=shares, schema=MAIL, ledger=ledger).fit(FRAME)
    assert ledger.spent == Fraction("0.7") == sum(model.costs_) and model.private_
    first, second = map(Fraction, shares)
    assert model.costs_[0] / model.costs_[1] == first / second
    assert "PrivateSelectKBest" in model.summary() and "epsilon 0.7" in model.summary()


def test_a_step_that_selects_everything_leaves_its_part_to_the_others():
    ledger = Ledger(3, "mail")
    steps = [PrivateSelectKBest(k=12), SparseNaiveBayesClassifier()]
    model = PrivatePipeline(steps, epsilon=1, shares=(2, 8), schema=MAIL, ledger=ledger).fit(FRAME)
    assert model.costs_ == (0, 1) and ledger.spent == 1


def test_the_classifier_after_a_selection_needs_noise_for_the_selected_words_alone():
    steps = [PrivateSelectKBest(k=2), SparseNaiveBayesClassifier()]
    model = PrivatePipeline(steps, epsilon=1, shares=(1, 1), schema=MAIL).fit(FRAME)
    alone = SparseNaiveBayesClassifier(epsilon="1/2", schema=MAIL).fit(FRAME)
    noise = [next(r.scale for r in fitted.releases_ if isinstance(r.question, Bag)) for fitted in (model, alone)]
    assert noise[0] == noise[1] * 2 / 4


@pytest.mark.parametrize("rows", [FRAME, MATRIX, sparse.csr_matrix(MATRIX), {"text": TEXTS, "kind": KINDS}])
def test_a_pipeline_learns_from_texts_matrices_and_tables(rows):
    y = None if isinstance(rows, (pd.DataFrame, dict)) else KINDS
    steps = [PrivateSelectKBest(k=3), SparseNaiveBayesClassifier()]
    model = PrivatePipeline(steps, epsilon=50, schema=MAIL, random_state=0).fit(rows, y)
    assert (model.predict(rows) == KINDS).mean() > 0.9 and model.predict_proba(rows).shape == (600, 2)
    iris, schema = datasets.load("iris")
    flowers = PrivatePipeline([KDiscernibilitySelect(k=2), NaiveBayesClassifier()], epsilon=50, schema=schema)
    assert len(flowers.fit(iris).predict(iris)) == 150


def test_a_pipeline_is_refused_before_its_first_step_if_the_ledger_is_short():
    ledger = Ledger("1/2", "mail")
    with pytest.raises(BudgetRefused):
        PrivatePipeline([PrivateSelectKBest(), SparseNaiveBayesClassifier()], schema=MAIL, ledger=ledger).fit(FRAME)
    assert ledger.spent == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": []},
        {"steps": [PrivateSelectKBest(k=1)]},
        {"steps": [SparseNaiveBayesClassifier(), SparseNaiveBayesClassifier()]},
        {"shares": (1, 2, 3)},
        {"shares": (0, 1)},
        {"schema": None},
    ],
)
def test_a_pipeline_that_makes_no_sense_is_refused(wrong):
    given = {"steps": [PrivateSelectKBest(k=1), SparseNaiveBayesClassifier()], "schema": MAIL, **wrong}
    with pytest.raises(BadInput):
        PrivatePipeline(**given).fit(FRAME)


def test_a_model_of_words_comes_back_from_its_file(tmp_path):
    model = SparseNaiveBayesClassifier(epsilon=5, schema=MAIL).fit(FRAME)
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert (again.predict_proba(FRAME) == model.predict_proba(FRAME)).all() and again.private_


def test_the_paper_s_naive_bayes_is_the_textbook_one_without_noise():
    from sklearn.naive_bayes import BernoulliNB

    ours = SparseNaiveBayesClassifier(rules="paper", words_per_row=12, **HUGE).fit(FRAME)
    theirs = BernoulliNB().fit(MATRIX, KINDS)
    assert np.abs(ours.predict_proba(FRAME) - theirs.predict_proba(MATRIX)).max() < 0.01


def test_a_threshold_that_no_feature_can_reach_is_refused_with_the_scale_that_scores_have():
    rows, schema = datasets.load("iris")
    ledger = Ledger(3, "iris")
    for score in ("gini", "entropy"):
        with pytest.raises(BadInput, match="minus rows x impurity"):
            PrivateSelectThreshold(score=score, threshold=0.0, schema=schema, ledger=ledger).fit(rows)
    with pytest.raises(BadInput, match="give a threshold"):
        PrivateSelectThreshold(schema=schema, ledger=ledger).fit(rows)
    assert ledger.spent == 0
    found = PrivateSelectThreshold(threshold=-30, epsilon=10**9, schema=schema, random_state=0).fit(rows)
    assert set(found.selected_) == {"petal length (cm)", "petal width (cm)"}
