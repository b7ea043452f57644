"""veil train, predict and demo: from a file to a model, predictions and a report; what goes wrong costs nothing."""

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shell import output, run
from veil import BadInput, BudgetRefused, Ledger, load_model
from veil.models import METHODS

pytestmark = pytest.mark.usefixtures("wide_terminal")


def train(*more, out="model.veil", epsilon=1):
    given = ["--out", out] if out else []
    return output("train", "fair.csv", "--schema", "fair.toml", "--epsilon", epsilon, *given, *more)


def without_the_clock(shown):
    """What was shown, with a mark where the one run in it says when it was: the minute may change between two."""
    marked, times = re.subn(r"\d{4}-\d\d-\d\d \d\d:\d\d", "(then)", shown)
    assert times == 1
    return marked


def test_a_model_from_a_file_is_the_model_from_the_frame(files, fair):
    from veil import NaiveBayesClassifier

    rows, schema = fair
    said = train("--seed", 3, "--method", "naive-bayes")
    expected = NaiveBayesClassifier(epsilon=1, schema=schema, random_state=3).fit(rows.head(500))
    assert np.array_equal(load_model("model.veil").predict_proba(rows), expected.predict_proba(rows))
    assert "NOT private" in said and "It cost epsilon 1; no ledger was charged" in said
    assert "<html" in Path("model.html").read_text() and "NOT private" in Path("model.html").read_text()


@pytest.mark.parametrize("method", ["logistic", "svm"])
def test_a_linear_model_is_trained_reported_and_used(files, fair, method):
    train("--method", method)
    output("predict", "model.veil", "fair.csv", "--out", "predictions.csv")
    assert load_model("model.veil").method == method and len(Path("predictions.csv").read_text().splitlines()) == 501
    assert "<caption>Weights</caption>" in Path("model.html").read_text()


def test_methods_that_are_left_out_for_one_reason_are_named_together(files):
    said = train(epsilon="0.0001")
    assert said.count("Left out: ") == 1
    assert "Left out: privpfc, logistic, blend, since epsilon is too small" in said


def test_a_private_model_is_not_marked(files):
    assert "NOT private" not in train() and load_model("model.veil").private_


@pytest.mark.parametrize("epsilon", ["5.1", "1000000", "1e400"])
def test_a_model_at_a_cost_that_hides_little_is_not_called_publishable(files, epsilon):
    said = train(epsilon=epsilon)
    assert "The noise hides little about one row, at this cost." in said and "may be published" not in said
    assert "may be published" in train("--force", epsilon=5) and not [word for word in said.split() if len(word) > 60]


@pytest.mark.parametrize("kind", ["csv.gz", "parquet"])
def test_other_formats(files, fair, kind):
    rows = fair[0].head(500)
    if kind == "parquet":
        rows.to_parquet("other.parquet")
    else:
        Path("other.csv.gz").write_bytes(gzip.compress(Path("fair.csv").read_bytes()))
    train("--seed", 3)
    output("train", f"other.{kind}", "--schema", "fair.toml", "--epsilon", 1, "--out", "other.veil", "--seed", 3)
    first, second = (load_model(name).predict_proba(rows) for name in ("model.veil", "other.veil"))
    assert np.array_equal(first, second)


def test_predictions_have_fixed_columns_and_need_no_label(files, fair):
    rows = fair[0].head(500)
    train("--seed", 3)
    rows.drop(columns="affair").assign(extra="x")[["extra", *rows.columns[-2::-1]]].to_csv("new.csv", index=False)
    output("predict", "model.veil", "new.csv", "--out", "new-predictions.csv")
    output("predict", "model.veil", "fair.csv", "--out", "predictions.csv")
    assert Path("new-predictions.csv").read_bytes() == Path("predictions.csv").read_bytes()
    written = pd.read_csv("predictions.csv")
    assert list(written) == ["prediction", "p_no", "p_yes"] and len(written) == 500
    model = load_model("model.veil")
    assert written["prediction"].tolist() == model.predict(rows).tolist()
    assert written[["p_no", "p_yes"]].to_numpy() == pytest.approx(model.predict_proba(rows))


def test_predictions_are_what_their_name_says(files):
    train("--seed", 3)
    for name in ("p.csv", "p.csv.gz", "p.parquet"):
        said = json.loads(output("predict", "model.veil", "fair.csv", "--out", name, "--json"))
        assert said == {"predictions": name, "columns": ["prediction", "p_no", "p_yes"]}
    written = pd.read_csv("p.csv")
    pd.testing.assert_frame_equal(pd.read_csv("p.csv.gz"), written)
    pd.testing.assert_frame_equal(pd.read_parquet("p.parquet"), written, check_dtype=False)
    for name in ("p.xlsx", "p", "p.csv.zip"):
        with pytest.raises(BadInput, match="must end in .csv, .csv.gz or .parquet"):
            output("predict", "model.veil", "fair.csv", "--out", name)
    assert not list(files.glob("*.xlsx"))


def test_what_looks_missing_can_be_a_category(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n" + "NA,?\n" * 50 + "?,NA\n" * 50)
    columns = "".join(f'[[column]]\nname = "{n}"\nkind = "categorical"\nvalues = ["NA", "?"]\n' for n in "xy")
    Path("d.toml").write_text(f'name = "d"\nlabel = "y"\n{columns}')
    output("train", "d.csv", "--schema", "d.toml", "--epsilon", 100, "--out", "d.veil")
    output("predict", "d.veil", "d.csv", "--out", "p.csv")
    with open("p.csv", newline="") as stream:
        written = list(csv.DictReader(stream))
    assert list(written[0]) == ["prediction", "p_?", "p_NA"]
    assert [row["prediction"] for row in written] == ["?"] * 50 + ["NA"] * 50


def test_a_dry_run_shows_the_plan_and_touches_nothing(files):
    Ledger.create("l.ledger", 1, "fair")
    Path("fair.csv").write_text(Path("fair.csv").read_text().partition("\n")[0] + "\n\xff\n")  # no row can be read
    shown = train("--dry-run", "--ledger", "l.ledger", "--method", "naive-bayes", out=None)
    assert "rate_marriage[6]" in shown and "noise scale" in shown and "Nothing was charged" in shown and "MB" in shown
    assert "1 of 1 left" in shown and sorted(p.name for p in files.iterdir()) == ["fair.csv", "fair.toml", "l.ledger"]
    assert "rate_marriage[6] stands for a table of the 6 codes of column rate_marriage by class." in shown
    assert "What to expect of all methods: veil plan --schema fair.toml --epsilon 1\n" in shown
    plan = json.loads(train("--dry-run", "--json", "--ledger", "l.ledger", out=None))
    assert sum(row["epsilon"] for row in plan["plan"]) == pytest.approx(1) and plan["left_exact"] == "1"
    assert Ledger.open("l.ledger").spent == 0


def test_a_dry_run_says_how_long_choosing_will_take_for_the_rows_that_are_declared(files):
    def estimate(rows):
        text = re.sub(r"(?m)^rows = .*\n", "", Path("fair.toml").read_text())
        Path("fair.toml").write_text(f"rows = {rows}\n{text}")
        return json.loads(train("--dry-run", "--json", "--method", "privpfc", out=None))["seconds_to_choose"]

    assert 0 < estimate(10**6) < estimate(10**9)
    assert "each candidate is counted, in about" in train("--dry-run", "--method", "privpfc", out=None)
    assert json.loads(train("--dry-run", "--json", "--method", "naive-bayes", out=None))["seconds_to_choose"] == 0


@pytest.mark.parametrize("method", [method for method in METHODS if not method.startswith("sparse")])
def test_a_dry_run_adds_up_what_a_run_would_cost(files, method):
    shown = train("--dry-run", "--method", method, out=None, epsilon="0.7")
    assert [line.split() for line in shown.splitlines() if "together" in line] == [["together", "0.7"]]


def test_a_dry_run_shows_what_measuring_would_ask_and_that_the_dearer_part_counts(files, start):
    options = ("--dry-run", "--test-share", "0.3", "--test-epsilon", "0.5", "--method", "naive-bayes")
    shown = train(*options, out=None)
    assert "rate_marriage[6]" in shown and "quantiles" in shown and "disjoint" in shown
    assert [line.split() for line in shown.splitlines() if "together " in line[:12]] == [["together", "1"]]
    plan = json.loads(train("--dry-run", "--json", "--test-share", "0.3", "--test-epsilon", "0.5", out=None))["plan"]
    assert sum(row["epsilon"] for row in plan) == pytest.approx(1.5)
    asked = ("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--dry-run")
    for wrong in (("--test-share", "abc"), ("--test-share", "2"), ("--test-epsilon", "1")):
        assert start(*asked, *wrong)[0] == 2


def test_a_ledger_is_shared_and_refuses(files, start):
    output("ledger", "create", "l.ledger", "--limit", 1, "--name", "fair")
    said = json.loads(train("--ledger", "l.ledger", "--json", "--method", "naive-bayes", epsilon=0.6))
    assert (said["epsilon"], said["left_exact"], said["private"]) == (0.6, "2/5", True)
    arguments = ["train", "fair.csv", "--schema", "fair.toml", "--epsilon", 0.6, "--ledger", "l.ledger"]
    code, _, complaint = start(*arguments, "--out", "second.veil")
    assert code == 3 and "the 0.4 that is left" in complaint and complaint.count("\n") == 1
    assert not list(files.glob("*second*")) and Ledger.open("l.ledger").spent * 5 == 3
    assert "2 of them confirmed" in output("ledger", "verify", "l.ledger", "--against", "model.veil")


def test_existing_files_are_kept_and_nothing_is_charged(files):
    Ledger.create("l.ledger", 10, "fair")
    for name in ("model.veil", "model.html"):
        Path(name).write_text("mine")
        with pytest.raises(BadInput, match=f"{name} exists already"):
            train("--ledger", "l.ledger")
        assert Path(name).read_text() == "mine"
        Path(name).unlink()
    Path("model.veil").write_text("mine")
    train("--ledger", "l.ledger", "--force")
    assert load_model("model.veil") and Ledger.open("l.ledger").spent == 1
    Path("p.csv").write_text("mine")
    with pytest.raises(BadInput, match="exists already"):
        output("predict", "model.veil", "fair.csv", "--out", "p.csv")
    assert Path("p.csv").read_text() == "mine"


@pytest.mark.parametrize(
    "paths",
    [
        ("--out", "m.html"),
        ("--out", "m.veil", "--report", "m.veil"),
        ("--out", "l.ledger", "--force"),
        ("--out", "fair.csv", "--force"),
        ("--out", "folder", "--force"),
    ],
    ids=" ".join,
)
def test_one_path_for_two_files_costs_and_destroys_nothing(files, paths):
    Ledger.create("l.ledger", 1, "fair")
    Path("folder").mkdir()
    before = Path("fair.csv").read_bytes()
    with pytest.raises(BadInput, match="two files|cannot be written"):
        train("--ledger", "l.ledger", *paths, out=None)
    assert Ledger.open("l.ledger").spent == 0 and Path("fair.csv").read_bytes() == before


def test_a_line_that_does_not_fit_keeps_its_place_among_the_predictions(files):
    train("--seed", 3)
    lines = Path("fair.csv").read_text().splitlines()
    Path("odd.csv").write_text(
        "\n".join([*lines[:3], "1,2", *lines[3:6], "1,2,3,4,5,6,7,8,9,10,11", *lines[6:9]]) + "\n"
    )
    output("predict", "model.veil", "fair.csv", "--out", "all.csv")
    output("predict", "model.veil", "odd.csv", "--out", "odd-predictions.csv")
    everything, odd = (Path(name).read_text().splitlines()[1:] for name in ("all.csv", "odd-predictions.csv"))
    assert len(odd) == 10 and odd[:2] + odd[3:6] + odd[7:] == everything[:8] and odd[2] == odd[6]


def test_a_class_cannot_be_taken_for_a_formula(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n" + "a,=1+1\n" * 50 + "b,-1\n" * 50)
    values = {"x": ["a", "b"], "y": ["=1+1", "-1"]}
    columns = "".join(f'[[column]]\nname = "{n}"\nkind = "categorical"\nvalues = {v}\n' for n, v in values.items())
    Path("d.toml").write_text(f'name = "d"\nlabel = "y"\n{columns}')
    output("train", "d.csv", "--schema", "d.toml", "--epsilon", 100, "--out", "d.veil")
    output("predict", "d.veil", "d.csv", "--out", "p.csv")
    with open("p.csv", newline="") as stream:
        assert {row["prediction"] for row in csv.DictReader(stream)} == {"'=1+1", "-1"}


def test_a_place_that_cannot_be_written_costs_nothing(files):
    Ledger.create("l.ledger", 1, "fair")
    with pytest.raises(BadInput, match="cannot be written"):
        train("--ledger", "l.ledger", out="nowhere/model.veil")
    with pytest.raises(BadInput, match="cannot be written"):
        train("--ledger", "l.ledger", "--report", "nowhere/report.html")
    assert Ledger.open("l.ledger").spent == 0 and not list(files.glob("*model*"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--method": "oracle"}, "there is no method 'oracle'"),
        ({"--epsilon": "0"}, "greater than zero"),
        ({"--epsilon": "nan"}, "finite number"),
        ({"--schema": "none.toml"}, "cannot be read"),
        ({"--ledger": "none.ledger"}, "there is no ledger"),
    ],
)
def test_bad_input_is_one_sentence(files, start, change, message):
    options = {"--schema": "fair.toml", "--epsilon": "1", "--out": "model.veil", **change}
    code, _, said = start("train", "fair.csv", *(word for pair in options.items() for word in pair))
    assert code == 2 and message in said and said.count("\n") == 1
    assert not list(files.glob("*model*"))


def test_a_missing_column_or_file_is_named_before_anything_is_charged(files, fair, start):
    Ledger.create("l.ledger", 1, "fair")
    fair[0].drop(columns="age").to_csv("short.csv", index=False)
    more = ["--schema", "fair.toml", "--epsilon", 1, "--out", "m.veil", "--ledger", "l.ledger"]
    assert start("train", "short.csv", *more)[0] == 2
    assert start("train", "none.csv", *more)[0] == 2
    assert Ledger.open("l.ledger").spent == 0
    train("--seed", 0)
    code, _, said = start("predict", "model.veil", "short.csv", "--out", "p.csv")
    assert code == 2 and "no column 'age'" in said and not Path("p.csv").exists()
    assert start("predict", "fair.csv", "fair.csv", "--out", "p.csv")[0] == 2


def test_another_data_sets_ledger_is_refused(files):
    Ledger.create("other.ledger", 1, "other")
    with pytest.raises(BadInput, match="'other'"):
        train("--ledger", "other.ledger")
    assert Ledger.open("other.ledger").spent == 0 and not list(files.glob("*model*"))


def test_a_model_that_was_paid_for_is_kept_if_its_report_fails(files, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr("veil.report.report", fail)
    with pytest.raises(RuntimeError):
        train()
    assert load_model("model.veil").private_ and not Path("model.html").exists() and not list(files.glob(".model*"))


def test_a_public_schema_is_said(files, fair):
    Path("fair.toml").write_text(fair[1].model_copy(update={"public": True}).to_toml())
    said = train()
    assert "declares the rows public: the model is NOT private" in said and "may be published" not in said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_the_charge_and_no_file_and_says_what_was_charged(files, number, code):
    """A signal once the charge is on the disk: the fit never ends, because its noise waits for ever."""
    Ledger.create("l.ledger", 1, "fair")
    script = (
        "import sys, time; import veil.kernel.verbs.count as c; c.counts_of_each = lambda *a: time.sleep(600);"
        "from veil.cli import main; sys.argv = ['veil', *sys.argv[1:]]; main()"
    )
    words = "train fair.csv --schema fair.toml --epsilon 1 --out model.veil --ledger l.ledger".split()
    words += ["--method", "naive-bayes"]
    process = subprocess.Popen([sys.executable, "-c", script, *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.time() + 60
    while Ledger.open("l.ledger").spent == 0 and time.time() < deadline:
        time.sleep(0.1)
    assert list(files.glob(".model*"))  # the drafts
    os.kill(process.pid, number)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == code
    assert said == b"veil: stopped; epsilon 0.98 was charged to the ledger since the start, and stays charged\n"
    assert (
        Ledger.open("l.ledger").spent == Fraction(49, 50)
        and not list(files.glob("*model*"))
        and not list(files.glob(".model*"))
    )


@pytest.mark.parametrize("ledger", [(), ("--ledger", "l.ledger")])
def test_what_stops_after_a_charge_says_what_was_charged(files, start, monkeypatch, ledger):
    def fail(*_, **__):
        raise BadInput("the disk is full")

    Ledger.create("l.ledger", 3, "fair")
    monkeypatch.setattr("veil.models.files.write_model", fail)
    code, _, said = start(
        "train", "fair.csv", "--schema", "fair.toml", "--epsilon", "1", "--out", "model.veil", *ledger
    )
    charged = "veil: epsilon 1 was charged to the ledger since the start, and stays charged\n" if ledger else ""
    assert code == 2 and said == f"{charged}veil: the disk is full\n"


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE"])
def test_json_is_json_whatever_the_environment_says_of_terminals(files, variable):
    words = "train fair.csv --schema fair.toml --epsilon 1 --out model.veil --json".split()
    process = [sys.executable, "-c", "from veil.cli import main; main()", *words]
    done = subprocess.run(process, capture_output=True, env={**os.environ, variable: "1"}, timeout=60)
    assert json.loads(done.stdout)["epsilon"] == 1 and done.stderr == b""


def test_no_value_reaches_a_stream_or_a_file(files, fair):
    secret = "SECRET-7391"
    fair[0].head(50).assign(age=secret, affair=secret).to_csv("odd.csv", index=False)
    common = ["--schema", "fair.toml", "--epsilon", 1, "--out"]
    result = run("train", "odd.csv", *common, "odd.veil")
    assert result.exit_code == 0 and secret not in result.output
    assert secret.encode() not in Path("odd.veil").read_bytes() and secret not in Path("odd.html").read_text()


def test_the_demo_trains_measures_and_reports(files):
    shown = output("demo")
    for words in (
        "gradient boosting, NOT private",
        "always the larger class",
        "1 of 1 spent, 0 left",
        "veil-demo.html",
    ):
        assert words in shown
    assert "<html" in Path("veil-demo.html").read_text() and "the model is NOT private" not in shown


def test_a_seeded_demo_is_repeatable_and_says_that_it_is_not_private(files):
    first, again, other = (without_the_clock(output("demo", "--seed", seed)) for seed in (7, 7, 8))
    assert first == again != other
    assert "the model is NOT private" in first and "not private: 1 of 1" in first


def test_a_short_budget_is_refused_by_the_library_too(files, fair):
    from veil import NaiveBayesClassifier

    with pytest.raises(BudgetRefused):
        NaiveBayesClassifier(epsilon=2, schema=fair[1], ledger=Ledger(1, "fair")).fit(fair[0])


def test_the_help_names_every_method():
    shown = output("train", "--help")
    assert all(method in shown for method in METHODS)


def test_a_note_and_the_file_are_in_the_ledger(files):
    Ledger.create("l.ledger", 1, "fair")
    asked = ("train", "fair.csv", "--schema", "fair.toml", "--epsilon", "1/2", "--ledger", "l.ledger")
    output(*asked, "--method", "naive-bayes", "--out", "model.veil", "--note", "for the annual report")
    (run,) = Ledger.open("l.ledger").runs()
    assert (run.purpose, run.file, run.note) == ("train naive-bayes", "model.veil", "for the annual report")
    assert (run.answers, run.epsilon, run.private) == (2, Fraction(1, 2), True)
    shown = output("ledger", "show", "l.ledger")
    assert "train naive-bayes" in shown and "for the annual report" in shown and len(shown.splitlines()) < 12
