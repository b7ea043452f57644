"""Rows that come in batches are judged as the same rows in memory are."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression

from tests.shell import output
from veil import (
    BadInput,
    Ledger,
    NaiveBayesClassifier,
    datasets,
    private_accuracy,
    private_calibration_curve,
    private_confusion_matrix,
    private_roc_curve,
)
from veil.files import parquet
from veil.files.tables import read_csv, read_rows

ROWS, SCHEMA = datasets.load("fair")
PRIVATE = SCHEMA.model_copy(update={"public": False})
FLOWERS, IRIS = datasets.load("iris")
HALVES = [np.arange(0, len(ROWS), 2), np.arange(1, len(ROWS), 2)]
KINDS = {
    "lazy": lambda rows: pl.from_pandas(rows).lazy(),
    "reader": lambda rows: pa.Table.from_pandas(rows, preserve_index=False).to_reader(max_chunksize=100),
}
EVALUATIONS = (private_roc_curve, private_accuracy, private_confusion_matrix, private_calibration_curve)


def fitted(rows=ROWS, schema=PRIVATE):
    return NaiveBayesClassifier(epsilon=5, schema=schema, random_state=0, ledger=Ledger(9, schema.name)).fit(rows)


def values(found):
    return [np.asarray(release.value).tolist() for release in found.releases_]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("judge", EVALUATIONS)
def test_the_same_seed_gives_the_same_answers(judge, kind):
    model, given = fitted(ROWS.iloc[HALVES[0]]), ROWS.iloc[HALVES[1]].reset_index(drop=True)
    settings = {"epsilon": 1, "random_state": 4, "schema": PRIVATE}
    ledger = Ledger(1, PRIVATE.name)
    here = judge(model, given, **settings, ledger=Ledger(1, PRIVATE.name))
    there = judge(model, KINDS[kind](given), **settings, ledger=ledger)
    assert values(here) == values(there) and ledger.spent == 1


def test_several_classes_have_a_score_each_in_batches_too():
    model = fitted(FLOWERS, IRIS)
    settings = {"epsilon": 1, "random_state": 4, "schema": IRIS}
    found = [private_roc_curve(model, rows, **settings) for rows in (FLOWERS, KINDS["reader"](FLOWERS))]
    assert values(found[0]) == values(found[1])


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_the_same(kind):
    model = fitted()
    assert (model.predict(KINDS[kind](ROWS)) == model.predict(ROWS)).all()
    assert (model.predict_proba(KINDS[kind](ROWS)) == model.predict_proba(ROWS)).all()
    assert model.predict(KINDS[kind](ROWS.iloc[:0])).shape == (0,)


@pytest.mark.parametrize(
    ("model", "rows", "y", "said"),
    [
        (LogisticRegression(), ROWS, None, "by models of Veil alone"),
        (fitted(), ROWS, ROWS["affair"], "must hold the label"),
        (fitted(), ROWS.drop(columns="affair"), None, "have no column 'affair'"),
        (fitted(), ROWS.drop(columns="age"), None, "have no column 'age'"),
    ],
)
def test_what_cannot_be_judged_in_batches_is_refused_before_a_charge(model, rows, y, said):
    ledger = Ledger(1, PRIVATE.name)
    with pytest.raises(BadInput, match=said):
        private_roc_curve(model, KINDS["reader"](rows), y, epsilon=1, schema=PRIVATE, ledger=ledger)
    assert ledger.spent == 0


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A model, its schema, and rows in Parquet that are read a few hundred at a time."""
    monkeypatch.setattr(parquet, "ROWS", 300)
    fitted().save(tmp_path / "m.veil")
    (tmp_path / "s.toml").write_text(PRIVATE.to_toml(), encoding="utf-8")
    pq.write_table(pa.Table.from_pandas(ROWS, preserve_index=False), tmp_path / "rows.parquet", row_group_size=500)
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


def test_a_command_judges_batch_by_batch_what_python_judges_at_once(files, monkeypatch):
    seen = []
    monkeypatch.setattr(
        NaiveBayesClassifier,
        "class_scores",
        lambda self, X, whole=NaiveBayesClassifier.class_scores: (
            seen.append(len(next(iter(X.values())) if isinstance(X, dict) else X)),
            whole(self, X),
        )[1],
    )
    asked = ["--schema", files / "s.toml", "--epsilon", "1", "--seed", "4", "--out", files / "e.html", "--json"]
    said = json.loads(output("evaluate", files / "m.veil", files / "rows.parquet", *asked))
    assert len(seen) > len(ROWS) / 500 and max(seen) <= 300
    here = private_roc_curve(fitted(), ROWS, epsilon=1, schema=PRIVATE, random_state=4)
    assert said["auc"] == here.auc


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_predictions_are_written_batch_by_batch(files, suffix):
    output("predict", files / "m.veil", files / "rows.parquet", "--out", files / f"p.{suffix}")
    found = read_csv(files / f"p.{suffix}")
    model = fitted()
    assert found.column_names == ["prediction", "p_no", "p_yes"] and found.num_rows == len(ROWS)
    assert [str(name) for name in found["prediction"].to_pylist()] == model.predict(ROWS).tolist()
    assert np.array(found["p_yes"].to_pylist(), float) == pytest.approx(model.predict_proba(ROWS)[:, 1], abs=0)


def test_a_line_that_is_no_row_has_a_prediction_too(files):
    lines = (files / "rows.csv").read_text().splitlines()
    (files / "odd.csv").write_text("\n".join([*lines[:3], "one,two", *lines[3:10]]) + "\n")
    output("predict", files / "m.veil", files / "odd.csv", "--out", files / "p.csv")
    assert read_rows(files / "p.csv").num_rows == 10
