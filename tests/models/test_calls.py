"""The repr of an estimator: the call that makes it, on one line, without a value of rows that were given by mistake."""

import numpy as np
import pandas as pd
import pytest

from veil import (
    AutoClassifier,
    Ledger,
    NaiveBayesClassifier,
    PrivatePipeline,
    PrivateSelectKBest,
    datasets,
    load_model,
)


@pytest.fixture(scope="module")
def fair():
    return datasets.load("fair")


def test_an_estimator_is_the_call_that_makes_it_on_one_line(fair):
    ledger = Ledger(2, "fair")
    model = NaiveBayesClassifier(smoothing=2, epsilon=0.5, schema=fair[1], ledger=ledger)
    said = "NaiveBayesClassifier(epsilon=0.5, schema=<Schema 'fair'>, ledger=<Ledger 'fair'>, smoothing=2)"
    assert repr(model) == str(model) == said
    assert "\n" not in repr(model.fit(fair[0]))


def test_defaults_are_left_out():
    assert repr(NaiveBayesClassifier()) == "NaiveBayesClassifier()"
    assert repr(NaiveBayesClassifier(schema="public")) == "NaiveBayesClassifier(schema='public')"


def test_a_model_from_a_file_leaves_them_out_too(fair, tmp_path):
    model = AutoClassifier(epsilon=2, schema=fair[1], ledger=Ledger(2, "fair")).fit(fair[0])
    model.save(tmp_path / "m.veil")
    assert repr(load_model(tmp_path / "m.veil")) == "AutoClassifier(epsilon=2, schema=<Schema 'fair'>)"


def test_the_steps_of_a_pipeline_are_calls_too():
    model = PrivatePipeline([PrivateSelectKBest(k=3), ("nb", NaiveBayesClassifier())], shares=(2, 8))
    inside = "[PrivateSelectKBest(k=3), ('nb', NaiveBayesClassifier())]"
    assert repr(model) == f"PrivatePipeline(steps={inside}, shares=(2, 8))"


@pytest.mark.parametrize(
    "rows",
    [pd.DataFrame({"name": ["SECRET"]}), np.array(["SECRET"]), [["SECRET"]], {"name": ["SECRET"]}, {"SECRET"}],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_in_the_place_of_a_schema_show_nothing_but_their_type(rows):
    assert repr(NaiveBayesClassifier(schema=rows)) == f"NaiveBayesClassifier(schema=<{type(rows).__name__}>)"


def test_an_address_shows_no_password():
    assert "hunter2" not in repr(NaiveBayesClassifier(ledger="postgresql://ann:hunter2@host/clinic"))


def test_long_names_and_lists_are_cut():
    assert len(repr(NaiveBayesClassifier(schema="a" * 5000, columns=[f"c{i}" for i in range(100)]))) < 300
