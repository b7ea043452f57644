"""Trees and forests as models: files, reports and commands work for every preset, and costs are exact."""

from fractions import Fraction

import numpy as np
import pytest

from shell import output
from veil import (
    BadInput,
    Budget,
    Categorical,
    DecisionTreeClassifier,
    Ledger,
    RandomForestClassifier,
    Schema,
    datasets,
    grid,
    load_model,
    open_source,
)
from veil.plans.outcome import total
from veil.plans.trees.trees import FORESTS, TREES
from veil.report import report

MODELS = [(DecisionTreeClassifier, preset) for preset in (*TREES, "jostle")] + [
    (RandomForestClassifier, p) for p in FORESTS
]


@pytest.fixture(scope="module")
def iris():
    return datasets.load("iris")


@pytest.mark.parametrize(("kind", "preset"), MODELS)
def test_every_preset_is_kept_in_a_file_and_has_a_report(kind, preset, iris, tmp_path):
    rows, schema = iris
    ledger = Ledger(3, schema.name)
    model = kind(epsilon=2, schema=schema, ledger=ledger, preset=preset).fit(rows)
    assert total(model.receipts_) == 2 and ledger.left == 1 and model.private_
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()
    assert again.settings_["preset"] == preset
    assert kind.method in report(again) and "NOT private" not in report(again)
    assert len(model.rehearse()) > 0


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
def test_values_that_no_row_had_are_predicted(kind, iris):
    rows, schema = iris
    model = kind(epsilon=10, schema=schema, random_state=0).fit(rows)
    strange = rows.drop(columns=schema.label).head(3).astype(float) * np.nan
    assert np.isfinite(model.predict_proba(strange)).all() and set(model.predict(strange)) <= set(schema.classes)


@pytest.mark.usefixtures("wide_terminal")
def test_the_command_line_takes_a_preset_and_refuses_one_where_there_are_none(files):
    said = ["train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--out", "tree.veil", "--method"]
    output(*said, "tree", "--preset", "friedman-schuster")
    assert load_model("tree.veil").settings_["preset"] == "friedman-schuster"
    with pytest.raises(BadInput, match="no presets"):
        output(*said, "naive-bayes", "--preset", "veil", "--force")


def test_a_tree_can_be_read_and_its_lines_say_what_it_predicts(iris):
    rows, schema = iris
    model = DecisionTreeClassifier(epsilon=1000, schema=schema, random_state=0).fit(rows)
    lines = model.export_text().splitlines()
    leaves = [line for line in lines if line.endswith(")") and ": " in line]
    assert len(leaves) == model.scorer_.partition.size
    assert {line.split(": ")[-1].split(" (")[0] for line in leaves} == set(schema.classes)
    assert not lines[0].startswith(" ") and " is " in lines[0]


def test_a_tree_of_one_leaf_says_its_class(iris):
    rows, schema = iris
    model = DecisionTreeClassifier(epsilon="1/1000", schema=schema, random_state=0, preset="friedman-schuster").fit(
        rows
    )
    assert model.export_text().startswith("all rows: ")


def test_a_forest_with_more_leaves_than_can_be_listed_is_kept_in_a_file_and_has_a_report(tmp_path):
    values = tuple(map(str, range(20)))
    columns = [Categorical(name=f"c{i}", values=values, missing="0") for i in range(8)]
    schema = Schema(name="wide", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
    draws = np.random.default_rng(0)
    rows = {**{c.name: draws.choice(values, 300) for c in columns}, "y": draws.choice(["no", "yes"], 300)}
    model = RandomForestClassifier(epsilon=5, schema=schema, preset="jagannathan", depth=8).fit(rows)
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all() and total(again.receipts_) == 5
    assert "drawn tree of depth 8" in report(again) and "count_sparse" in model._html_repr()
    assert (tmp_path / "model.veil").stat().st_size < 10**6


@pytest.mark.parametrize(("kind", "preset"), MODELS)
def test_the_report_says_that_every_path_of_the_budget_costs_epsilon(kind, preset, iris):
    rows, schema = iris
    model = kind(epsilon=6, schema=schema, random_state=0, preset=preset).fit(rows)
    assert total(model.receipts_, pick=min) == total(model.receipts_) == 6
    said = report(model)
    assert "On every path they add up to 6." in said or "about all rows, so they add up" in said


def test_paths_that_cost_less_are_told_apart():
    rows, schema = datasets.load("iris")
    source = open_source(rows, schema, Ledger(3, schema.name), noise=0)
    first, second, *_ = source.split(grid(schema, "petal length (cm)"))
    for part, cost in ((source, 1), (first, 2), (second, "1/2")):
        part.count(grid(schema, "sepal length (cm)"), Budget(cost))
    receipts = source.record.receipts
    assert (total(receipts), total(receipts, pick=min)) == (3, Fraction(3, 2))


def test_a_tree_with_settings_of_its_own_is_kept_and_drawn_again(iris, tmp_path):
    rows, schema = iris
    model = DecisionTreeClassifier(
        epsilon=20, schema=schema, random_state=0, preset="sulq", criterion="majority", shares=(1, 2, 3), depth=2
    ).fit(rows)
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert again.export_text() == model.export_text() and again.get_params()["shares"] == [1, 2, 3]
    assert (again.set_params(random_state=0).fit(rows).predict(rows) == model.predict(rows)).all()


def test_a_tree_that_decides_by_itself_has_no_shares(iris):
    rows, schema = iris
    ledger = Ledger(1, schema.name)
    with pytest.raises(BadInput, match="decides by itself"):
        DecisionTreeClassifier(schema=schema, ledger=ledger, preset="jostle", shares=(1, 1, 1)).fit(rows)
    assert ledger.left == 1
