"""The reproduction of papers, on small tables: folds, methods, what is shared, the command and its complaints."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.papers import grids as reproduce
from experiments.papers.trees import LAX, PUBLISHED, SEEDS, printed
from veil import BadInput
from veil.compare import runs
from veil.compare.data import FOLDS, fold, load
from veil.compare.methods import Method, find, in_order
from veil.models import PrivPfCClassifier

RESULTS = Path(__file__).parents[2] / "experiments" / "results"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The experiments on embedded tables, with a peer that guesses."""
    monkeypatch.setattr(reproduce, "TABLES", {"projected": ("iris",), "privpfc": ("iris",), "trees": ("iris",)})
    monkeypatch.setattr(reproduce, "find", lambda name: guess(name) if name in reproduce.PEERS else find(name))


def guess(name: str) -> Method:
    return Method(name, lambda split, epsilon, seed: (np.full((len(split.test), 3), 1 / 3), 0.0, 1.0))


def test_folds_are_stratified_and_hold_every_row_once() -> None:
    data = load("iris")
    parts = [fold(data, number) for number in range(FOLDS)]
    assert all(list(np.bincount(part.truth)) == [5, 5, 5] and len(part.train) == 135 for part in parts)
    held_out = Counter(tuple(row) for part in parts for row in part.test.to_numpy())
    assert held_out == Counter(tuple(row) for row in data.frame.drop(columns="target").to_numpy())


def test_folds_of_classes_that_ten_does_not_divide_differ_by_one_row() -> None:
    data = load("wine")
    tests = np.array([np.bincount(fold(data, number).truth, minlength=3) for number in range(FOLDS)])
    assert (np.ptp(tests, axis=0) <= 1).all() and tests.sum() == len(data.frame)


def test_all_experiments_give_a_tidy_table_and_are_not_repeated(small: None, tmp_path: Path) -> None:
    out, seen = tmp_path / "results.parquet", []
    table = reproduce.reproduce(quick=True, out=out, progress=lambda name, done, total: seen.append((done, total)))
    assert table.schema == runs.COLUMNS and pq.read_table(out).equals(table)
    assert set(table["status"].to_pylist()) == {"done"} and table["m"].null_count == 0
    rows = table.to_pylist()
    assert len({tuple(row[name] for name in runs.KEY) for row in rows}) == len(rows) == len(seen)
    methods = {row["method"] for row in rows}
    assert {"projected-paper k=4", "projected-veil gamma=0.35", "privpfc-svm", "logistic-regression"} <= methods
    assert {*PUBLISHED, "mohammed depth=2", printed("fletcher-islam"), LAX, "tree", "forest"} <= methods
    assert "projected-paper k=5" not in methods  # Iris has four columns
    assert {row["epsilon"] for row in rows} == {0.1, 1, math.inf} and {row["seed"] for row in rows} == {0, 1}
    again = reproduce.reproduce(quick=True, out=out, progress=lambda *_: pytest.fail("a run was repeated"))
    assert again.equals(table)


def test_a_full_plan_has_every_fold_and_epsilon(small: None) -> None:
    plan = reproduce._plan("privpfc", {"iris": load("iris")}, quick=False)
    privpfc = [(run.epsilon, run.seed) for run in plan if run.method.name == "privpfc"]
    assert len(set(privpfc)) == len(privpfc) == reproduce.USED["privpfc"] * len(reproduce.EPSILONS["privpfc"])


def test_rivals_that_exist_are_tried_on_the_first_folds(small: None) -> None:
    plan = reproduce._plan("privpfc", {"iris": load("iris")}, quick=False)
    tried = {run.method.name: [] for run in plan}
    for run in plan:
        tried[run.method.name].append((run.epsilon, run.seed))
    for name in ("diffgen", "privgene", "private-erm", "diffgen-tree", "projected-svm", "privbayes-tree"):
        assert len(tried[name]) == reproduce.RIVAL_FOLDS * len(reproduce.EPSILONS["privpfc"])


@pytest.mark.parametrize("name", ["diffgen-tree", "projected-svm", "privbayes-svm", "private-erm"])
def test_rivals_predict(small: None, name: str) -> None:
    plan = reproduce._plan("privpfc", {"iris": load("iris")}, quick=True)
    method = next(run.method for run in plan if run.method.name == name)
    probabilities = method.run(fold(load("iris"), 0), 50.0, 0)[0]
    assert probabilities.shape == (15, 3)


def test_peers_that_were_not_built_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VEIL_PEERS", str(tmp_path))
    monkeypatch.setattr(reproduce, "TABLES", {"projected": ("iris",), "privpfc": ("iris",), "trees": ("iris",)})
    assert reproduce.left_out() == [*reproduce.PEERS]
    plan = reproduce._plan("projected", {"iris": load("iris")}, quick=True)
    assert not {run.method.name for run in plan} & {*reproduce.PEERS}
    command = ["reproduce", "projected", "--quick", "--json", "--out", str(tmp_path / "results.parquet")]
    said = CliRunner().invoke(app, command, catch_exceptions=False)
    assert said.exit_code == 0 and f"Left out: {', '.join(reproduce.PEERS)}" in said.stderr


@pytest.mark.parametrize("name", reproduce.LEARNERS)
def test_a_shared_grid_gives_what_a_fit_with_this_learner_gives(name: str) -> None:
    part, learner = fold(load("iris"), 3), reproduce.LEARNERS[name]
    model = PrivPfCClassifier(epsilon=1, schema=part.schema, random_state=3, learner=clone(learner))
    said = model.fit(part.train, part.labels).predict_proba(part.test)
    expected = in_order(said, model.classes_, part.schema.classes)
    assert (reproduce._learned(learner, part, 1.0, 3)(part.test) == expected).all()


def test_methods_without_privacy_learn_from_all_columns() -> None:
    part = fold(load("iris"), 0)
    for fit in (reproduce._logistic, *(method_of(name) for name in reproduce.LEARNERS)):
        probabilities = fit(part, math.inf, 0)(part.test)
        assert probabilities.shape == (15, 3) and (probabilities.argmax(axis=1) == part.truth).mean() > 0.8


def test_learners_of_trees_are_tried_on_random_splits_with_every_epsilon(small: None) -> None:
    plan = reproduce._plan("trees", {"iris": load("iris")}, quick=False)
    for name in (*PUBLISHED, "tree", "forest"):
        tried = [(run.epsilon, run.seed) for run in plan if run.method.name == name]
        assert len(set(tried)) == len(tried) == SEEDS * len(reproduce.EPSILONS["trees"])
    assert len(plan[0].divide(plan[0].data, 0).test) == 45


def method_of(name: str) -> Any:
    return lambda split, epsilon, seed: reproduce._without_privacy(reproduce.LEARNERS[name], split, epsilon, seed)


def test_the_command_prints_what_it_found(small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veil.cli.output.console._width", 200)
    command = ["reproduce", "projected", "--quick", "--out", str(tmp_path / "results.parquet")]
    said = CliRunner().invoke(app, command, catch_exceptions=False)
    assert said.exit_code == 0 and "Held-out rows of iris" in said.output and "projected-veil k=2" in said.output
    short = json.loads(CliRunner().invoke(app, [*command, "--json"], catch_exceptions=False).output)
    assert {row["runs"] for row in short} == {2}


def test_absent_data_are_all_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VEIL_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="satellite, adult cannot be found: set VEIL_DATA") as refused:
        CliRunner().invoke(app, ["reproduce", "projected"], catch_exceptions=False)
    assert refused.value.exit_code == 2
    with pytest.raises(BadInput, match="choose one of projected, privpfc, trees"):
        reproduce.reproduce(["another"])


def test_the_kept_results_are_those_of_the_plan_and_the_shapes_are_those_of_the_tables() -> None:
    from experiments.pages import reproduced as page
    from experiments.pages import trees

    for paper, names in reproduce.TABLES.items():
        file = "trees.parquet" if paper == "trees" else "reproduction.parquet"
        kept = pq.read_table(RESULTS / file).to_pylist()
        for name in names:
            assert {row["seed"] for row in kept if row["data"] == name} >= set(range(reproduce.USED[paper]))
    for name, shape in {**page.SHAPES, **{name: shape[:3] for name, shape in trees.SHAPES.items()}}.items():
        try:
            data = load(name)
        except BadInput:
            continue
        assert shape == (len(data.frame), len(data.schema.features), len(data.schema.classes))
