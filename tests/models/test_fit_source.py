"""Models, selectors and pipelines fitted on rows that are open already, as a part of a larger run."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from veil import (
    WHOLE,
    BadInput,
    Budget,
    BudgetRefused,
    Categorical,
    KDiscernibilitySelect,
    Ledger,
    NaiveBayesClassifier,
    PrivateClusterSelect,
    PrivatePipeline,
    PrivateSelectKBest,
    PrivateSelectThreshold,
    PrivPfCClassifier,
    Schema,
    SparseLogisticRegressionClassifier,
    SparseNaiveBayesClassifier,
    Text,
    datasets,
    load_model,
    open_source,
    private_accuracy,
)
from veil.models import METHODS
from veil.plans.narrow import Narrow
from veil.plans.outcome import total
from veil.questions import bag

FLOWERS, IRIS = datasets.load("iris")
LABEL = Categorical(name="kind", values=("ham", "spam"))
WORDS = ("free", "prize", "now", "see", "you", "at", "the", "meeting")
MAIL = Schema(name="mail", label="kind", column=[Text(name="text", words=WORDS, words_per_row=3), LABEL])
TEXTS = {"text": ["free prize now", "see you at the meeting", "prize you"] * 60, "kind": ["spam", "ham", "spam"] * 60}
TABLES = {"iris": (FLOWERS, IRIS), "mail": (TEXTS, MAIL)}
EVERY = {
    **{name: kind() for name, kind in METHODS.items()},
    "best": PrivateSelectKBest(k=2),
    "above": PrivateSelectThreshold(score="majority", threshold=20, at_most=3),
    "together": KDiscernibilitySelect(k=2),
    "clusters": PrivateClusterSelect(k=3),
    "pipeline": PrivatePipeline([PrivateSelectKBest(k=3), PrivateSelectKBest(k=2), NaiveBayesClassifier()]),
    "pipeline of a grid": PrivatePipeline([KDiscernibilitySelect(k=2), PrivPfCClassifier()], shares=(1, 3)),
    "pipeline of words": PrivatePipeline(
        [PrivateSelectKBest(k=5), PrivateClusterSelect(k=4), SparseNaiveBayesClassifier()]
    ),
    "pipeline of weights": PrivatePipeline([PrivateSelectKBest(k=4), SparseLogisticRegressionClassifier()]),
}
OF_WORDS = {"sparse-naive-bayes", "sparse-logistic", "clusters", "pipeline of words", "pipeline of weights"}
every = pytest.mark.parametrize("name", EVERY)


def asked_of(name):
    """What is fitted, its rows and their schema."""
    return clone(EVERY[name]), *TABLES["mail" if name in OF_WORDS else "iris"]


def opened(name, limit, seed=7):
    """What is fitted, an open source, and its ledger."""
    model, rows, schema = asked_of(name)
    ledger = Ledger(limit, schema.name)
    return model, open_source(rows, schema, ledger, noise=seed), ledger


def values(model):
    return [repr(getattr(release.value, "describe", lambda r=release: r.value)()) for release in model.releases_]


def questions(model):
    return [release.question and release.question.describe() for release in model.releases_]


@every
def test_a_fit_on_an_open_source_asks_what_a_fit_on_its_rows_asks(name):
    model, rows, schema = asked_of(name)
    model.set_params(epsilon=2, schema=schema, random_state=7, ledger=Ledger(2, schema.name)).fit(rows)
    other, source, ledger = opened(name, 2)
    assert other.fit_source(source, 2) is other and ledger.spent == 2
    assert values(other) == values(model)
    assert questions(other) == questions(model)
    assert other.settings_ == model.settings_ and other.schema_ == model.schema_ and not other.private_
    if hasattr(model, "predict_proba"):
        assert (other.predict_proba(rows) == model.predict_proba(rows)).all()
    else:
        assert (other.selected_ == model.selected_).all()


@every
def test_two_fits_on_one_source_add_up_and_each_holds_its_own_answers(name):
    model, source, ledger = opened(name, "7/3")
    before = source.count(WHOLE, Budget("1/3"))
    first, second = model.fit_source(source, "1/2"), clone(model).fit_source(source, Budget("3/2"))
    assert [one.outcome_.epsilon for one in (first, second)] == [Fraction("1/2"), Fraction("3/2")]
    assert ledger.spent == Fraction("7/3") and first.settings_["epsilon"] == "1/2"
    numbers = [[receipt.number for receipt in one.receipts_] for one in (first, second)]
    assert [before.receipt.number, *numbers[0], *numbers[1]] == [r.number for r in source.record.receipts]
    assert {r.receipt.number for r in second.releases_} <= {*numbers[1]}
    with pytest.raises(BudgetRefused):
        clone(model).fit_source(source, "1/1000")


@every
def test_fits_on_disjoint_parts_cost_the_dearer(name):
    model, source, ledger = opened(name, 2)
    parts = source.split_at_random(1, 1)
    fitted = [clone(model).fit_source(part, cost) for part, cost in zip(parts, (1, 2), strict=True)]
    assert [one.outcome_.epsilon for one in fitted] == [1, 2] and ledger.spent == 2
    assert total([receipt for one in fitted for receipt in one.receipts_]) == 2


@pytest.mark.parametrize("last", [SparseNaiveBayesClassifier(), SparseLogisticRegressionClassifier()])
def test_a_pipeline_on_an_open_source_holds_answers_about_what_it_selected(tmp_path, last):
    """Its file is opened again: the questions in it fit the smaller schema."""
    source = open_source(TEXTS, MAIL, Ledger(10**6, "mail"), noise=3)
    model = PrivatePipeline([PrivateSelectKBest(k=3, score="count"), last]).fit_source(source, 10**6)
    assert model.schema_.texts[0].size == 3 == model.releases_[-1].value.shape[0]
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert (again.predict_proba(TEXTS) == model.predict_proba(TEXTS)).all() and again.receipts_ == model.receipts_


def test_words_that_were_selected_are_counted_by_their_own_rows():
    source = open_source(TEXTS, MAIL, Ledger(10**9, "mail"), noise=3)
    steps = [PrivateSelectKBest(k=4, score="count"), SparseNaiveBayesClassifier(words_per_row=4)]
    model = PrivatePipeline(steps).fit_source(source, 10**9)
    matrix = np.array([[word in text.split() for word in model.schema_.texts[0].names] for text in TEXTS["text"]])
    kinds = np.array(TEXTS["kind"])
    exact = np.stack([matrix[kinds == kind].sum(axis=0) for kind in LABEL.values], axis=1)
    assert "prize" in model.schema_.texts[0].names and (model.releases_[-1].value == exact).all()


def test_a_model_fitted_on_a_source_forgets_the_names_of_a_fit_before():
    model = NaiveBayesClassifier(epsilon=1, schema=IRIS).fit(FLOWERS)
    assert len(model.feature_names_in_) == 4
    model.fit_source(open_source(FLOWERS, IRIS, Ledger(1, "iris")), 1)
    assert not hasattr(model, "feature_names_in_") and model.n_features_in_ == 4 and model.private_
    assert len(model.predict(FLOWERS)) == len(FLOWERS)


def test_settings_that_make_no_sense_are_refused_before_a_source_is_charged():
    source = open_source(FLOWERS, IRIS, ledger := Ledger(1, "iris"))
    for wrong in (NaiveBayesClassifier(smoothing=-1), PrivateSelectKBest(k=0), PrivatePipeline([PrivateSelectKBest()])):
        with pytest.raises(BadInput):
            wrong.fit_source(source, 1)
    assert ledger.spent == 0


def test_what_a_ledger_cannot_pay_as_a_whole_is_not_begun():
    ledger = Ledger("1/2", "iris")
    with pytest.raises(BudgetRefused, match="nothing was charged"):
        PrivPfCClassifier(epsilon=1, schema=IRIS, ledger=ledger).fit(FLOWERS)
    assert ledger.spent == 0


def test_a_pipeline_can_be_judged_by_the_schema_that_it_was_fitted_with():
    steps = [PrivateSelectKBest(k=2), NaiveBayesClassifier()]
    model = PrivatePipeline(steps, epsilon=10**4, schema=IRIS, random_state=1).fit(FLOWERS)
    found = private_accuracy(model, FLOWERS, epsilon=10**4, random_state=1)
    assert found.accuracy > 0.9 and found.judged_.method == "pipeline" and found.judged_.receipts == model.receipts_
    opened = PrivatePipeline(steps).fit_source(open_source(FLOWERS, IRIS, Ledger(10**4, "iris"), noise=1), 10**4)
    assert private_accuracy(opened, FLOWERS, epsilon=10**4, random_state=1).accuracy == found.accuracy


@pytest.mark.parametrize("last", [2, 3])
def test_a_pipeline_costs_its_budget_also_if_a_selection_leaves_another_one_nothing_to_do(last):
    steps = [PrivateSelectKBest(k=2), PrivateSelectKBest(k=last), NaiveBayesClassifier()]
    ledger = Ledger(1, "iris")
    model = PrivatePipeline(steps, shares=(1, 2, 3)).fit_source(open_source(FLOWERS, IRIS, ledger, noise=3), 1)
    assert model.costs_ == (Fraction(1, 6), 0, Fraction(5, 6)) and ledger.spent == model.outcome_.epsilon == 1


def test_lists_of_words_and_words_by_name_are_those_of_the_smaller_vocabulary():
    source = open_source(TEXTS, MAIL, Ledger(10**9, "mail"), noise=3)
    schema = MAIL.model_copy(update={"column": (MAIL.texts[0].only([1, 4]), LABEL)})  # prize, you
    narrow, words = Narrow(source, schema), bag(schema)
    alone = narrow.count(words, Budget(10**6))
    (listed, *_), named = narrow.count_each([words, WHOLE], Budget(10**6)), narrow.count(question=words, budget=10**6)
    assert (alone.value == listed.value).all() and (alone.value == named.value).all()
    assert alone.value.tolist() == [[0, 120], [60, 60]]
    assert alone.question == listed.question == named.question == words
