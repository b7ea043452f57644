"""The decisions inside a tree, as ChoiceMakers: those that are shipped are those that the kept traces propose."""

from pathlib import Path

import pytest

from veil import BadInput, Budget, DecisionTreeClassifier, Ledger, datasets, load_model, open_source
from veil.choice.synthesis import Formula, Rule
from veil.choice.trees import TO_SPLIT, TO_STOP, jostle, splitting, stopping
from veil.plans.outcome import total
from veil.plans.trees.jostle import jostle_tree
from veil.plans.trees.learner import WAYS

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "experiments" / "results" / "choice-trees-train.parquet"


@pytest.fixture(scope="module")
def iris():
    return datasets.load("iris")


def test_the_shipped_rules_are_those_that_the_kept_traces_propose():
    pandas, trees = pytest.importorskip("pandas"), pytest.importorskip("experiments.choice.trees")
    frame = pandas.read_parquet(KEPT)
    assert trees.propose(trees.traces_of_splits(frame)).rule == TO_SPLIT
    assert trees.propose(trees.traces_of_stops(frame)).rule == TO_STOP


def test_the_guide_shows_the_results_that_are_kept():
    trees = pytest.importorskip("experiments.choice.trees")
    assert trees.page() in (ROOT / "docs" / "guide" / "choice-trees.md").read_text(encoding="utf-8")


def test_gini_is_for_deep_trees_of_tables_with_a_large_class_and_majority_for_the_rest():
    split = splitting()
    assert split.pick({"height": 5, "largest": 0.9}) == "gini" == split.trace.chosen
    assert split.pick({"height": 2, "largest": 0.9}) == "majority"
    assert split.pick({"height": 5, "largest": 0.4}) == "majority"
    assert stopping().pick({"height": 1, "largest": 0.9}) == "divide"
    assert {one.option for one in split.trace.predictions} == {*WAYS}


def test_a_programmer_replaces_a_decision(iris):
    rows, schema = iris
    by_rows = Rule("divide", "stop", Formula((("rows", 1),), 100.0))
    source, noted = open_source(rows, schema, Ledger(5, schema.name), noise=0), []
    learner = jostle(3, stop=stopping(by_rows), split=splitting(Rule("random")))
    jostle_tree(source, Budget(5), learner, noted=noted)
    assert [decided for _, decided in noted][0] == "random" and "stop" in {decided for _, decided in noted}
    assert all((decided == "stop") == (facts["rows"] < 100) for facts, decided in noted)
    assert total(source.record.receipts) == 5


def test_a_model_tells_what_was_decided_also_after_it_was_in_a_file(iris, tmp_path):
    rows, schema = iris
    model = DecisionTreeClassifier(epsilon=4, schema=schema, random_state=0, preset="jostle").fit(rows)
    assert {decided for _, decided in model.decisions_} == {"majority"}
    assert model.decisions_[0].facts["classes"] == 3 and model.decisions_[0].facts["depth"] == 0
    model.save(tmp_path / "model.veil")
    assert load_model(tmp_path / "model.veil").decisions_ == model.decisions_
    other = DecisionTreeClassifier(epsilon=4, schema=schema, random_state=0).fit(rows)
    assert other.decisions_ == []


def test_a_preset_that_does_not_exist_is_refused_with_those_that_do(iris):
    rows, schema = iris
    with pytest.raises(BadInput, match="choose one of veil, friedman-schuster, mohammed, sulq, jostle"):
        DecisionTreeClassifier(epsilon=1, schema=schema, random_state=0, preset="quinlan").fit(rows)
