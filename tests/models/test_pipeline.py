"""A private pipeline as an estimator: files, copies, rehearsals, and its steps by name."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from veil import (
    BadInput,
    Categorical,
    Ledger,
    NaiveBayesClassifier,
    Numeric,
    PrivatePipeline,
    PrivateSelectKBest,
    PrivateSelectThreshold,
    RandomForestClassifier,
    Schema,
    SparseLogisticRegressionClassifier,
    SparseNaiveBayesClassifier,
    Text,
    datasets,
    load_model,
)
from veil.plans.outcome import total

LABEL = Categorical(name="kind", values=("ham", "spam"))
MAIL = Schema(name="mail", label="kind", column=[Text(name="text", buckets=300, words_per_row=5), LABEL])
TEXTS = {"text": ["free prize now", "see you at the meeting"] * 50, "kind": ["spam", "ham"] * 50}
FLOWERS, IRIS = datasets.load("iris")
STEPS = [("best", PrivateSelectKBest(k=2, how="perturb")), ("nb", NaiveBayesClassifier())]


def flowers(**settings):
    return PrivatePipeline(STEPS, **{"epsilon": 1, "shares": (2, 8), "schema": IRIS, **settings})


@pytest.mark.parametrize("how", ["peel", "perturb", "cluster"])
@pytest.mark.parametrize("last", [SparseNaiveBayesClassifier(), SparseLogisticRegressionClassifier()])
def test_the_file_of_a_pipeline_predicts_and_holds_what_all_steps_cost(tmp_path, how, last):
    steps = [PrivateSelectKBest(k=9, how=how), last]
    model = PrivatePipeline(steps, epsilon=1, shares=(1, 4), schema=MAIL).fit(TEXTS)
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert (again.predict_proba(TEXTS) == model.predict_proba(TEXTS)).all()
    assert again.receipts_ == model.receipts_ and total(again.receipts_) == 1 and again.private_
    with pytest.raises(BadInput, match="exists already"):
        model.save(tmp_path / "model.veil")


def test_a_file_of_selected_columns_says_when_a_step_was_not_private(tmp_path):
    model = flowers(random_state=1).fit(FLOWERS)
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert not again.private_ and len(again.schema_.features) == 2 and total(again.receipts_) == 1
    assert (again.predict(FLOWERS) == model.predict(FLOWERS)).all()


def test_a_pipeline_without_a_ledger_can_be_pickled():
    model = flowers().fit(FLOWERS)
    assert (pickle.loads(pickle.dumps(model)).predict(FLOWERS) == model.predict(FLOWERS)).all()
    ledger = Ledger(1, "iris")
    assert all(step.ledger is ledger for step in flowers(ledger=ledger).fit(FLOWERS).steps_)


def test_a_rehearsal_asks_what_a_fit_asks_and_charges_nothing():
    ledger = Ledger(1, "iris")
    model = flowers(ledger=ledger)
    planned = model.rehearse()
    assert ledger.spent == 0 and not hasattr(model, "steps_")
    asked = model.fit(FLOWERS).releases_
    assert [release.receipt.verb for release in planned] == [release.receipt.verb for release in asked]
    assert [release.scale for release in planned[:4]] == [release.scale for release in asked[:4]]  # of the selector
    assert total([*{release.receipt.number: release.receipt for release in planned}.values()]) == ledger.spent
    assert PrivatePipeline([PrivateSelectKBest(k=9), SparseNaiveBayesClassifier()], schema=MAIL).rehearse()


def test_steps_are_found_by_name_and_by_place():
    model = flowers()
    assert model["nb"] is model[-1] is model.named_steps.nb is STEPS[1][1] and len(model) == 2
    model.fit(FLOWERS)
    assert model["nb"] is model[-1] is model.named_steps["nb"] is model.steps_[-1]
    twice = [PrivateSelectKBest(k=3), PrivateSelectKBest(k=2), NaiveBayesClassifier()]
    assert [*PrivatePipeline(twice).named_steps] == [
        "privateselectkbest-1",
        "privateselectkbest-2",
        "naivebayesclassifier",
    ]


def test_settings_of_steps_are_set_by_name():
    model = clone(flowers()).set_params(nb__smoothing=0.25, best__k=3, epsilon=2)
    assert model["nb"].smoothing == 0.25 == model.get_params()["nb__smoothing"] and model["best"].k == 3
    assert STEPS[1][1].smoothing == 1.0 and clone(model)["nb"].smoothing == 0.25
    unnamed = PrivatePipeline([clone(step) for _, step in STEPS]).set_params(naivebayesclassifier__smoothing=0.5)
    assert unnamed[-1].smoothing == 0.5
    swapped = clone(flowers()).set_params(nb=RandomForestClassifier(), nb__trees=2).fit(FLOWERS)
    assert swapped[-1].settings_["trees"] == 2 and [*swapped.named_steps] == ["best", "nb"]
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(bayes__smoothing=1)


def test_a_search_over_the_settings_of_steps_is_charged_for_every_fit():
    ledger = Ledger(9, "iris")
    search = GridSearchCV(flowers(ledger=ledger), {"nb__smoothing": [0.5, 1]}, cv=2, scoring="accuracy")
    search.fit(FLOWERS.drop(columns=IRIS.label), FLOWERS[IRIS.label])
    assert ledger.spent == 5 and np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("names", [("nb", "nb"), ("a__b", "nb"), ("epsilon", "nb"), (3, "nb")])
def test_names_that_would_be_mistaken_are_refused(names):
    ledger = Ledger(9, "iris")
    steps = [(name, step) for name, (_, step) in zip(names, STEPS, strict=True)]
    with pytest.raises(BadInput, match="names"):
        flowers(ledger=ledger).set_params(steps=steps).fit(FLOWERS)
    assert ledger.spent == 0


def test_a_threshold_that_selects_nothing_says_so():
    steps = [PrivateSelectThreshold(score="majority", threshold=10**6), NaiveBayesClassifier()]
    with pytest.raises(BadInput, match="no feature was selected"):
        PrivatePipeline(steps, epsilon=Fraction(1), schema=IRIS).fit(FLOWERS)


def test_a_column_of_any_name_is_a_column():
    schema = Schema(
        name="t",
        label="attrs",
        column=[Numeric(name="veil", bounds=(0, 9)), Categorical(name="attrs", values=("a", "b"))],
    )
    rows = pd.DataFrame({"veil": [1, 2, 3], "attrs": ["a", "b", "a"]})
    assert NaiveBayesClassifier(epsilon=1, schema=schema).fit(rows).feature_names_in_ == ["veil"]
