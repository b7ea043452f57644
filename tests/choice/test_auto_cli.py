"""veil publish --method auto: a histogram by the method that no choice does better than, and the trace of that."""

import json
from pathlib import Path

import pytest

from shell import output, run
from veil import BadInput, Ledger, load_synopsis
from veil.choice.ranges import NO_CHOICE

pytestmark = pytest.mark.usefixtures("wide_terminal")
SCHEMA = """
name = "ages"

[[column]]
name = "age"
kind = "numeric"
bounds = [0, 99]
integer = true
"""


@pytest.fixture
def ages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ages.csv").write_text("age\n" + "\n".join(str(row % 60) for row in range(3_000)) + "\n")
    Path("ages.toml").write_text(SCHEMA)
    output("ledger", "create", "ages.ledger", "--limit", 1, "--name", "ages")


def command(*more, out="h.veil"):
    given = ["--out", out] if out else []
    asked = ["--columns", "age", "--method", "auto", "--epsilon", "1/2", "--ledger", "ages.ledger"]
    return output("publish", "ages.csv", "--schema", "ages.toml", *asked, *given, *more)


def test_it_says_that_no_choice_is_needed_and_charges_for_the_histogram_alone(ages):
    said = command()
    assert f"Chosen: adaptive-tree, {NO_CHOICE.why}; the choice cost epsilon 0." in said
    assert Ledger.open("ages.ledger").spent == Ledger.open("ages.ledger").limit / 2
    made = load_synopsis("h.veil")
    assert made.method == "adaptive-tree" and made.trace_ == NO_CHOICE
    assert "no choice is needed" in Path("h.html").read_text(encoding="utf-8")


def test_json_has_the_trace(ages):
    said = json.loads(command("--json"))
    assert said["method"] == "adaptive-tree" and said["trace"]["chosen"] == "adaptive-tree"
    assert said["trace"]["facts"] == [] and said["epsilon_exact"] == "1/2"


def test_a_method_that_is_named_has_no_trace(ages):
    asked = ["--columns", "age", "--method", "hierarchy", "--epsilon", "1/2", "--out", "h.veil", "--json"]
    assert "trace" not in json.loads(output("publish", "ages.csv", "--schema", "ages.toml", *asked))
    assert load_synopsis("h.veil").trace_ is None


def test_a_dry_run_charges_nothing(ages):
    said = command("--dry-run", out=None)
    assert "Nothing was charged" in said and Ledger.open("ages.ledger").spent == 0


def test_without_columns_there_is_no_auto(ages):
    with pytest.raises(BadInput, match="columns"):
        run("publish", "ages.csv", "--schema", "ages.toml", "--method", "auto", "--epsilon", 1, "--out", "h.veil")
    assert not Path("h.veil").exists()


def test_the_methods_with_columns_are_named_with_it(files):
    with pytest.raises(BadInput, match="with columns, one of auto, adaptive-tree"):
        run("publish", "fair.csv", "--schema", "fair.toml", "--method", "auto", "--epsilon", 1, "--out", "h.veil")
