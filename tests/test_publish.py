"""publish and veil publish: from rows to a synopsis, synthetic rows and a report; what goes wrong costs nothing."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from shell import output, run
from veil import BadInput, BudgetRefused, Ledger, Schema, Synopsis, load_synopsis, publish
from veil.synopsis import PUBLISHERS, rehearse_publish

pytestmark = pytest.mark.usefixtures("wide_terminal")
methods = pytest.mark.parametrize("method", PUBLISHERS)


def command(*more, out="synopsis.veil", epsilon=1):
    given = ["--out", out] if out else []
    return output("publish", "fair.csv", "--schema", "fair.toml", "--epsilon", epsilon, *given, *more)


@methods
def test_publishing_costs_its_budget_exactly(fair, method):
    ledger = Ledger(2, "fair")
    few = {"pool": 1000} if method == "privpfc" else {}  # candidates, which take time
    synopsis = publish(*fair, epsilon="2/3", method=method, ledger=ledger, **few)
    assert isinstance(synopsis, Synopsis) and synopsis.private_ and synopsis.method == method
    assert ledger.spent == synopsis.epsilon and 3 * synopsis.epsilon == 2
    assert synopsis.settings_ == {**few, "epsilon": "2/3"}
    assert set(synopsis.grid.columns) <= {column.name for column in fair[1].features}
    assert synopsis.releases_[-1] is synopsis.release_ and synopsis.columns[-1] == "affair"


@methods
def test_synthetic_rows_of_a_published_table_teach_what_the_rows_do(fair, method):
    rows, schema = fair
    synopsis = publish(rows, schema, epsilon=5, method=method, random_state=1)
    table = synopsis.to_frame(random_state=0, missing=False)
    features = list(synopsis.grid.columns)
    model = LogisticRegression(max_iter=2000).fit(table[features], table["affair"])
    assert roc_auc_score(rows["affair"] == "yes", model.predict_proba(rows[features])[:, 1]) > 0.66
    assert synopsis.query(affair="yes").count == pytest.approx((rows["affair"] == "yes").sum(), rel=0.4)


def test_a_schema_and_a_ledger_can_be_files_and_settings_are_kept(files, fair):
    Ledger.create("l.ledger", 1, "fair")
    synopsis = publish(fair[0], "fair.toml", epsilon=0.5, ledger="l.ledger", pool=50, most_cells=np.int64(30))
    assert synopsis.settings_ == {"pool": 50, "most_cells": 30, "epsilon": "1/2"} and synopsis.grid.size <= 30
    assert 2 * Ledger.open("l.ledger").spent == 1
    synopsis.save("s.veil")
    assert load_synopsis("s.veil").settings_ == synopsis.settings_


def test_a_seed_makes_it_repeatable_and_not_private(fair):
    first, second = (publish(*fair, epsilon=1, random_state=4, pool=100) for _ in range(2))
    assert not first.private_ and "NOT private" in repr(first)
    assert np.array_equal(first.release_.value, second.release_.value)


def test_what_cannot_be_published_costs_nothing(fair):
    rows, schema = fair
    ledger = Ledger(1, "fair")
    with pytest.raises(BadInput, match="there is no method 'oracle'"):
        publish(rows, schema, epsilon=1, ledger=ledger, method="oracle")
    with pytest.raises(BadInput, match="needs a label"):
        publish(rows, Schema(name="fair", column=schema.column), epsilon=1, ledger=ledger)
    with pytest.raises(BudgetRefused):
        publish(rows, schema, epsilon=2, ledger=Ledger("1/100", "fair"))
    with pytest.raises(BadInput, match="settings must be"):
        publish(rows, schema, epsilon=1, ledger=ledger, pool=object())
    assert ledger.spent == 0


@methods
def test_a_rehearsal_asks_what_the_plan_would_ask(fair, method):
    schema = fair[1]
    releases = rehearse_publish(schema, 1, method)
    assert sum({r.receipt.number: r.receipt.epsilon for r in releases}.values()) == 1
    assert releases[-1].receipt.verb in ("count", "count_sparse")


@methods
def test_the_command_makes_what_the_library_makes(files, fair, method):
    said = command("--seed", 3, "--method", method, "--synthetic", "rows.parquet")
    expected = publish(fair[0].head(500), fair[1], epsilon=1, method=method, random_state=3)
    found = load_synopsis("synopsis.veil")
    assert found.columns == expected.columns and found.query(affair="yes") == expected.query(affair="yes")
    assert "the table is NOT private" in said and f"synthetic rows hold {', '.join(found.columns)}." in said
    assert pd.read_parquet("rows.parquet").equals(expected.to_arrow(None, 3).to_pandas())
    assert "published NOT privately" in Path("synopsis.html").read_text()


def test_a_private_table_is_not_marked(files):
    said = command("--synthetic", "rows.csv", "--rows", 123)
    assert "NOT private" not in said and load_synopsis("synopsis.veil").private_ and "cost nothing more" in said
    table = pd.read_csv("rows.csv")
    assert len(table) == 123 and set(table.columns) == set(load_synopsis("synopsis.veil").columns)
    assert set(table["affair"]) <= {"no", "yes"} and "Both may be published" in said


def test_json_is_for_machines(files):
    Ledger.create("l.ledger", 2, "fair")
    said = json.loads(command("--ledger", "l.ledger", "--json", "--synthetic", "rows.csv"))
    assert (said["epsilon"], said["left_exact"], said["private"], said["method"]) == (1, "1", True, "privpfc")
    assert said["synopsis"] == "synopsis.veil" and said["synthetic"] == "rows.csv" and said["columns"][-1] == "affair"
    assert len(said["receipts"]) == 3
    assert "3 of them confirmed" in output("ledger", "verify", "l.ledger", "--against", "synopsis.veil")


def test_a_dry_run_shows_the_plan_and_touches_nothing(files):
    Ledger.create("l.ledger", 1, "fair")
    Path("fair.csv").write_text(Path("fair.csv").read_text().partition("\n")[0] + "\n\xff\n")  # no row can be read
    shown = command("--dry-run", "--ledger", "l.ledger", out=None)
    assert "choose" in shown and "0.2425" in shown and "Nothing was charged" in shown and "1 of 1 left" in shown
    assert "follow from earlier answers" in shown
    plan = json.loads(command("--dry-run", "--json", "--ledger", "l.ledger", out=None))
    assert sum(row["epsilon"] for row in plan["plan"]) == pytest.approx(1) and plan["left_exact"] == "1"
    assert Ledger.open("l.ledger").spent == 0
    assert sorted(path.name for path in files.iterdir()) == ["fair.csv", "fair.toml", "l.ledger"]


def test_the_budget_refuses_with_its_exit_code(files, start):
    Ledger.create("l.ledger", "1/2", "fair")
    words = ["publish", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--ledger", "l.ledger", "--out", "s.veil"]
    code, _, said = start(*words)
    assert code == 3 and "the 0.5 that is left" in said and said.count("\n") == 1
    assert Ledger.open("l.ledger").spent == 0 and not list(files.glob("*s.veil*"))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--out", "s.html"), "two files"),
        (("--out", "s.veil", "--synthetic", "s.veil"), "two files"),
        (("--out", "s.veil", "--synthetic", "fair.csv", "--force"), "two files"),
        (("--out", "s.veil", "--synthetic", "l.ledger", "--force"), "two files"),
        (("--out", "l.ledger", "--force"), "two files"),
        (("--out", "s.veil", "--report", "l.ledger", "--force"), "two files"),
        (("--out", "s.veil", "--synthetic", "rows.xlsx"), "must end in .csv, .csv.gz or .parquet"),
        (("--out", "s.veil", "--synthetic", "nowhere/rows.csv"), "cannot be written"),
        (("--out", "s.veil", "--synthetic", "mine.csv"), "exists already"),
        (("--out", "nowhere/s.veil"), "cannot be written"),
        (("--out", "s.veil", "--rows", 5), "--synthetic"),
        (("--out", "s.veil", "--method", "oracle"), "there is no method"),
        ((), "say where to write the table"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_written_costs_and_destroys_nothing(files, more, words):
    Ledger.create("l.ledger", 1, "fair")
    Path("mine.csv").write_text("mine")
    before = Path("fair.csv").read_bytes()
    with pytest.raises(BadInput, match=words):
        command("--ledger", "l.ledger", *more, out=None)
    assert Ledger.open("l.ledger").spent == 0 and Path("fair.csv").read_bytes() == before
    assert Path("mine.csv").read_text() == "mine" and not list(files.glob("*s.veil*"))


def test_a_table_that_was_paid_for_is_kept_if_its_report_fails(files, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr("veil.report.report", fail)
    with pytest.raises(RuntimeError):
        command("--synthetic", "rows.csv")
    assert load_synopsis("synopsis.veil").private_ and not Path("synopsis.html").exists()
    assert not list(files.glob(".*"))


def test_no_text_in_a_csv_can_be_taken_for_a_formula(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("=x,y\n" + "=1+1,-1\n" * 500 + "@b,=y\n" * 500)
    values = {"=x": ["=1+1", "@b"], "y": ["-1", "=y"]}
    columns = "".join(f'[[column]]\nname = "{n}"\nkind = "categorical"\nvalues = {v}\n' for n, v in values.items())
    Path("d.toml").write_text(f'name = "d"\nlabel = "y"\n{columns}')
    common = ["publish", "d.csv", "--schema", "d.toml", "--epsilon", 100, "--out"]
    output(*common, "d.veil", "--synthetic", "rows.csv")
    output(*common, "e.veil", "--synthetic", "rows.parquet")
    with open("rows.csv", newline="") as stream:
        found = list(csv.DictReader(stream))
    assert {row["'=x"] for row in found} == {"'=1+1", "'@b"} and {row["y"] for row in found} == {"-1", "'=y"}
    assert set(pyarrow.parquet.read_table("rows.parquet")["=x"].to_pylist()) == {"=1+1", "@b"}


@methods
def test_no_value_reaches_a_stream_or_a_file(files, fair, method):
    secret = "SECRET-7391"
    fair[0].head(50).assign(age=secret, affair=secret).to_csv("odd.csv", index=False)
    more = ["--out", "odd.veil", "--synthetic", "rows.csv", "--method", method]
    result = run("publish", "odd.csv", "--schema", "fair.toml", "--epsilon", 1, *more)
    assert result.exit_code == 0 and secret not in result.output
    for name in ("odd.veil", "odd.html", "rows.csv"):
        assert secret.encode() not in Path(name).read_bytes()
