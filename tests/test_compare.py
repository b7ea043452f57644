"""The comparison: its measures, its table, what it repeats and what it does not, peers, and the command."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from typer.testing import CliRunner

import experiments.peers  # noqa: F401  adds peers to what can be compared
from veil import BadInput
from veil.cli import app
from veil.compare import compare, plot, runs, summary
from veil.compare.data import load, shortened, split
from veil.compare.measures import auc, hand_till, measures
from veil.compare.methods import find
from veil.kernel import VERSION
from veil.results import interval, student

CHEAP = ("majority", "naive-bayes-exact")
ROOT = Path(__file__).parent.parent


@st.composite
def predictions(draw: st.DrawFn, most: int = 5) -> tuple[Any, Any]:
    """True classes, at least two of them, and probabilities with many ties."""
    classes = draw(st.integers(2, most))
    rows = draw(st.integers(2, 40))
    chance = np.random.default_rng(draw(st.integers(0, 10**6)))
    truth = chance.integers(0, classes, rows)
    assume(len(set(truth)) > 1)
    weights = chance.integers(1, draw(st.sampled_from([3, 1000])), (rows, classes))
    return truth, weights / weights.sum(axis=1, keepdims=True)


@given(predictions(most=2))
def test_measures_of_two_classes_are_scikit_learns(drawn: tuple[Any, Any]) -> None:
    truth, probabilities = drawn
    found = measures(truth, probabilities)
    assert found["auc"] == found["m"] == pytest.approx(roc_auc_score(truth, probabilities[:, 1]))
    assert found["accuracy"] == accuracy_score(truth, probabilities.argmax(axis=1))
    assert found["log_loss"] == pytest.approx(log_loss(truth, probabilities, labels=[0, 1]))


@given(predictions())
def test_measures_of_many_classes_are_scikit_learns(drawn: tuple[Any, Any]) -> None:
    truth, probabilities = drawn
    assume(len(set(truth)) == probabilities.shape[1] > 2)
    one_by_one = roc_auc_score(truth, probabilities, multi_class="ovo", average="macro")
    against_rest = roc_auc_score(truth, probabilities, multi_class="ovr", average="weighted")
    assert hand_till(truth, probabilities) == pytest.approx(one_by_one)
    assert auc(truth, probabilities) == pytest.approx(against_rest)


@given(predictions())
def test_m_is_the_share_of_pairs_in_order(drawn: tuple[Any, Any]) -> None:
    truth, probabilities = drawn
    assume(probabilities.shape[1] > 2)  # classes without rows included
    areas = []
    for i in set(truth):
        for j in set(truth) - {i}:
            own, other = probabilities[truth == i, i], probabilities[truth == j, i]
            areas.append(np.mean((own[:, None] > other) + (own[:, None] == other) / 2))
    assert hand_till(truth, probabilities) == pytest.approx(np.mean(areas))


def test_sure_models_are_ranked_by_the_smaller_probability() -> None:
    probabilities = np.array([[1e-30, 1.0], [1e-20, 1.0], [1.0, 1e-20], [1.0, 1e-30]])
    assert auc(np.array([1, 0, 1, 0]), probabilities) == 0.75
    assert np.isfinite(list(measures(np.array([0, 1]), np.array([[0.0, 1.0], [1.0, 0.0]])).values())).all()


def test_a_test_set_of_one_class_has_no_area_but_an_accuracy() -> None:
    found = measures(np.zeros(3, int), np.full((3, 3), 1 / 3))
    assert math.isnan(found["auc"]) and math.isnan(found["m"]) and found["accuracy"] == 1


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=12))
def test_the_interval_is_students(values: list[float]) -> None:
    assume(np.std(values) > 1e-3)
    mean, margin = interval(values)
    known = ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean is not None and margin is not None
    assert (mean - margin, mean + margin) == pytest.approx((known.low, known.high))


def test_too_few_values_have_no_interval() -> None:
    assert interval([]) == (None, None) and interval([0.5]) == (0.5, None)


def test_a_split_holds_out_a_share_of_every_class_and_depends_on_the_seed_alone() -> None:
    data = load("iris")
    first, again, other = split(data, 0), split(data, 0), split(data, 1)
    assert list(np.bincount(first.truth)) == [15, 15, 15] and len(first.train) == 105
    assert first.test.equals(again.test) and not first.test.equals(other.test)
    both = pd.concat([first.train, first.test]).sort_values(list(first.test), ignore_index=True)
    assert both.equals(data.frame.drop(columns="target").sort_values(list(first.test), ignore_index=True))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows with odd values and their schema, as real data are kept."""
    rows = pd.DataFrame(
        {"town": ["a", "b", "c", "?"] * 10, "age": ["1", "99", "x", "5"] * 10, "sick": list("nyyn") * 10}
    )
    rows.loc[0, "sick"] = "unknown"
    rows.to_csv(tmp_path / "small.csv.gz", index=False)
    (tmp_path / "small.schema.toml").write_text(
        'name = "small"\nlabel = "sick"\npublic = true\n'
        '[[column]]\nname = "town"\nkind = "categorical"\nvalues = ["a", "b", "c"]\n'
        '[[column]]\nname = "age"\nkind = "numeric"\nbounds = [0, 50]\nmissing = 7\n'
        '[[column]]\nname = "sick"\nkind = "categorical"\nvalues = ["n", "y"]\n'
    )
    monkeypatch.setenv("VEIL_DATA", str(tmp_path))
    return tmp_path


def test_data_are_found_by_name_or_path_and_come_clean(folder: Path) -> None:
    data = load("small")
    assert len(data.frame) == 39 and set(data.frame["town"]) == {"a", "b", "c", "(missing)"}
    assert set(data.frame["age"]) == {1, 50, 7, 5}
    assert load(str(folder / "small.csv.gz")).frame.equals(data.frame)


def test_majority_and_ceiling_are_sane() -> None:
    table = compare(("majority", "ceiling"), ("iris",), (1,), 2, jobs=1)
    worst, best = summary(table).to_pylist()
    assert (worst["auc"], worst["m"]) == (0.5, 0.5) and worst["accuracy"] == pytest.approx(1 / 3)
    assert worst["log_loss"] == pytest.approx(math.log(3)) and best["accuracy"] > 0.85 and best["auc"] > 0.95
    assert best["epsilon"] == math.inf and not best["private"] and best["seconds"] > 0 and best["peak_memory"] > 10


def test_the_table_is_tidy_and_results_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "results.parquet"
    first = compare(("naive-bayes", *CHEAP), ("iris",), (0.5, 1), 2, out=out, jobs=2)
    assert pq.read_table(out).schema == first.schema == runs.COLUMNS
    assert len(first) == 8 and set(first["status"].to_pylist()) == {"done"} and first["auc"].null_count == 0
    assert first["epsilon"].to_pylist()[:4] == [0.5, 1, math.inf, math.inf]
    ran = []
    counted = lambda todo, jobs: (ran.append(run.key) or runs.result_of(run) for run in todo)  # noqa: E731
    monkeypatch.setattr(runs, "_results", counted)
    again = compare(("naive-bayes", *CHEAP), ("iris",), (0.5, 1), 2, out=out)
    assert again.equals(first) and ran == []
    wider = compare(("naive-bayes", "majority"), ("iris",), (1, 2), 3, out=out)
    assert len(wider) == 9 and sorted(ran) == sorted(
        [
            *(("iris", "naive-bayes", 2, seed, None) for seed in range(3)),
            ("iris", "naive-bayes", 1, 2, None),
            ("iris", "majority", math.inf, 2, None),
        ]
    )
    assert len(pq.read_table(out)) == 8 + 5


def test_what_is_done_when_it_is_stopped_is_not_done_again(tmp_path: Path) -> None:
    out, seen = tmp_path / "results.parquet", []

    def stop_after_three(name: str, done: int, total: int) -> None:
        seen.append(total)
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(CHEAP, ("iris",), (1,), 4, out=out, jobs=2, progress=stop_after_three)
    assert len(pq.read_table(out)) == 3 and seen == [8, 8, 8]
    counts = []
    compare(CHEAP, ("iris",), (1,), 4, out=out, jobs=2, progress=lambda name, done, total: counts.append(done))
    assert counts == [4, 5, 6, 7, 8] and not list(tmp_path.glob("*.draft"))


def test_a_run_that_takes_too_long_or_dies_is_a_row(folder: Path, peer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    peer("import time; time.sleep(60)")
    monkeypatch.setattr(runs, "PATIENCE", 0.5)
    (row,) = compare(("dp-ebm",), ("small",), (1,), 1, jobs=1).to_pylist()
    assert row["status"] == "failed" and row["reason"].startswith("no answer in") and row["auc"] is None
    monkeypatch.setattr(runs, "PATIENCE", 60)
    peer("import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
    (row,) = compare(("dp-ebm",), ("small",), (1,), 1, jobs=1).to_pylist()
    assert row["reason"] == "the process ended with exit code -9"


@pytest.fixture
def peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a peer of a program; its Python is this one."""
    python = tmp_path / ".venv" / "interpret" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (tmp_path / "protocol.py").write_text((ROOT / "experiments" / "peers" / "protocol.py").read_text())
    monkeypatch.setenv("VEIL_PEERS", str(tmp_path))
    return lambda program: (tmp_path / "run_interpret.py").write_text(program)


SHARES = """
from types import SimpleNamespace
import numpy as np
from protocol import serve

def fit(request, train, labels):
    assert (request["method"], request["epsilon"], request["delta"], request["seed"]) == ("dp-ebm", 0.5, 1e-6, 0)
    assert request["columns"][0] == {"name": "town", "values": ["a", "b", "c"]}
    assert request["columns"][1] == {"name": "age", "bounds": [0, 50]} and request["classes"] == 2
    assert set(train[0]) == {"a", "b", "c", "(missing)"} and set(train[1]) == {1, 50, 7, 5}
    odds = lambda rows: np.where(rows[0] == "a", 0.2, 0.6)
    model = SimpleNamespace(classes_=[1, 0], predict_proba=lambda p: np.column_stack([p, 1 - p]))
    return model, odds

serve(fit)
"""


def test_a_peer_gets_what_is_public_and_the_rows_and_gives_probabilities(folder: Path, peer: Any) -> None:
    peer(SHARES)
    (row,) = compare(("dp-ebm",), ("small",), (0.5,), 1, jobs=1).to_pylist()
    assert row["reason"] is None and row["status"] == "done"
    assert row["private"] and row["delta"] == 1e-6 and 0 <= row["seconds"] < 5 and 5 < row["peak_memory"] < 500
    parts = split(load("small"), 0)
    odds = np.where(parts.test["town"] == "a", 0.2, 0.6)
    assert row["auc"] == measures(parts.truth, np.column_stack([1 - odds, odds]))["auc"]


REFUSES = "from protocol import serve\ndef fit(*_): raise ValueError('only two\\nclasses')\nserve(fit)"
NOT_A_NUMBER = SHARES.replace("[p, 1 - p]", "[p, p * np.nan]").replace("0.5, 1e-6", "1, 1e-6")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (REFUSES, "ValueError: only two classes"),
        ("import sys; sys.exit('no memory')", "no memory"),
        ("import sys; sys.exit(3)", "exit code 3"),
        (NOT_A_NUMBER, "the probabilities are not finite"),
    ],
)
def test_what_a_peer_cannot_do_is_a_row_with_a_reason(folder: Path, peer: Any, program: str, reason: str) -> None:
    peer(program)
    table = pa.Table.from_pylist([runs.result_of(runs.Task(load("small"), find("dp-ebm"), 1.0, 0))], runs.COLUMNS)
    (row,) = table.to_pylist()
    assert row["status"] == "failed" and row["reason"].startswith(reason) and row["accuracy"] is None
    (short,) = summary(table).to_pylist()
    assert (short["runs"], short["failed"], short["auc"]) == (0, 1, None) and short["reason"].startswith(reason)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"methods": ["magic"]}, "no method 'magic'"),
        ({"data": ["nowhere"]}, "no data 'nowhere'"),
        ({"epsilons": [0]}, "above zero"),
        ({"epsilons": [math.nan]}, "above zero"),
        ({"methods": []}, "at least one"),
        ({"seeds": 0}, "at least one"),
        ({"methods": ["dp-ebm"]}, "make peers"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    arguments: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEIL_PEERS", str(tmp_path))
    monkeypatch.setattr(runs, "_results", None)
    with pytest.raises(BadInput, match=said):
        compare(**{"methods": ["majority"], "data": ["iris"], **arguments})


def test_files_that_do_not_fit_are_refused(folder: Path) -> None:
    (folder / "results.parquet").write_bytes(b"else")
    with pytest.raises(BadInput, match="holds no results"):
        compare(CHEAP, ("iris",), out=folder / "results.parquet")
    (folder / "small.schema.toml").rename(folder / "other.toml")
    with pytest.raises(BadInput, match="no schema beside"):
        load("small")
    (folder / "small.toml").write_text('name = "small"\npublic = true\n[[column]]\nname = "town"\nkind = "text"\n')
    with pytest.raises(BadInput, match="needs a label"):
        load("small")


@pytest.mark.parametrize("name", ["small", "path"])
def test_rows_that_are_not_declared_public_are_refused_and_the_private_way_is_named(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = folder / "small.schema.toml"
    schema.write_text(schema.read_text().replace("public = true", "public = false"))
    monkeypatch.setattr("veil.compare.data.read_rows", None)  # not even opened
    name = str(folder / "small.csv.gz") if name == "path" else name
    result = CliRunner().invoke(app, ["compare", "--methods", "majority", "--data", name, "--seeds", "1"])
    assert isinstance(result.exception, BadInput) and not result.stdout
    assert "public = true" in str(result.exception) and "veil evaluate" in str(result.exception)


@pytest.fixture(scope="module")
def results() -> pa.Table:
    """Made-up results of two data sets: a private method, one that is not, and one that always failed."""
    chance = np.random.default_rng(1)
    rows = []
    for data in ("one", "two"):
        for seed in range(3):
            for method, epsilon in (("mine", 0.1), ("mine", 1.0), ("ceiling", math.inf), ("theirs", 1.0)):
                known = {"data": data, "method": method, "epsilon": epsilon, "delta": 0.0, "seed": seed}
                failed = method == "theirs"
                measured = {name: None if failed else chance.random() for name in runs.MEASURED}
                state = {"status": "failed", "reason": "cannot"} if failed else {"status": "done", "reason": None}
                rows.append({**known, "private": method != "ceiling", **measured, **state})
    return pa.Table.from_pylist(rows, runs.COLUMNS)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_figure_is_drawn_but_not_over_another(results: pa.Table, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"figure.{kind}"
    plot(results, path)
    start = path.read_bytes()[:5]
    assert start in (b"\x89PNG\r", b"<?xml")
    with pytest.raises(BadInput, match="exists already"):
        plot(results, path)
    plot(results, path, force=True)
    with pytest.raises(BadInput, match=".png or .svg"):
        plot(results, tmp_path / "figure.doc")


def test_the_command_prints_what_a_file_holds(
    results: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veil.cli.output.console._width", 200)
    out, figure = tmp_path / "results.parquet", tmp_path / "figure.svg"
    arguments = ["compare", "--methods", "majority", "--data", "iris", "--seeds", "2", "--jobs", "1", "--out", str(out)]
    first = CliRunner().invoke(app, [*arguments, "--plot", str(figure)], catch_exceptions=False)
    assert first.exit_code == 0 and "0.333 ± 0.000" in first.output and "NOT private" in first.output
    assert "So few runs tell little" in first.output
    monkeypatch.setattr(runs, "_Running", None)
    again = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    (short,) = json.loads(again.output)
    assert short["epsilon"] is None and short["runs"] == 2 and short["auc"] == 0.5
    for wrong in (["--plot", str(figure)], ["--plot", "figure.doc"], ["--epsilons", "0.1,much"]):
        with pytest.raises(BadInput):
            CliRunner().invoke(app, [*arguments, *wrong], catch_exceptions=False)


def test_the_command_tells_what_failed(folder: Path, peer: Any) -> None:
    peer("import sys; sys.exit('no memory')")
    arguments = ["compare", "--methods", "dp-ebm", "--data", "small", "--seeds", "1", "--epsilons", "1", "--jobs", "1"]
    said = CliRunner().invoke(app, [*arguments, "--out", str(folder / "r.parquet")], catch_exceptions=False).output
    assert "FAILED dp-ebm on small: no memory" in said and "dp-ebm (delta 1e-06)" in said


def test_the_quantiles_that_are_written_down_are_students() -> None:
    assert [student(freedom) for freedom in range(1, 60)] == [t.ppf(0.975, freedom) for freedom in range(1, 60)]


def test_rows_are_an_axis_and_all_of_them_are_told_from_a_part(tmp_path: Path) -> None:
    out = tmp_path / "results.parquet"
    found = compare(("naive-bayes",), ("iris",), (1,), 1, rows=(30, None), out=out, jobs=1)
    assert found["rows"].to_pylist() == [30, None] and {*found["version"].to_pylist()} == {f"veil {VERSION}"}
    assert len(found["date"][0].as_py()) == 10
    data = load("iris")
    whole, part = (shortened(split(data, 0), size, 0) for size in (None, 30))
    assert len(part.train) == len(part.labels) == 30 < len(whole.train) and part.test.equals(whole.test)
    with pytest.raises(BadInput, match="above zero"):
        compare(("naive-bayes",), ("iris",), (1,), 1, rows=(0,))
