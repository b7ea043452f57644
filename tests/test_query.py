"""veil publish --columns and veil query: from a file of points to answers, for one payment."""

import json

import numpy as np
import pandas as pd
import pytest

from shell import output, run
from veil import Ledger
from veil.errors import BadInput
from veil.synopsis.where import where as parsed

pytestmark = pytest.mark.usefixtures("wide_terminal")
SCHEMA = """
name = "trips"
rows = 3000
[[column]]
name = "east"
kind = "numeric"
bounds = [0, 100]
[[column]]
name = "north"
kind = "numeric"
bounds = [0, 100]
[[column]]
name = "kind"
kind = "categorical"
values = ["bus", "car"]
"""


@pytest.fixture
def trips(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chance = np.random.default_rng(0)
    rows = pd.DataFrame({"east": chance.normal(30, 9, 3000), "north": chance.normal(60, 9, 3000)})
    rows["kind"] = chance.choice(["bus", "car"], 3000)
    rows.to_csv("trips.csv", index=False)
    (tmp_path / "trips.toml").write_text(SCHEMA)
    Ledger.create("trips.ledger", 5, "trips")
    return rows


def publish(*more, columns="east,north", out="map.veil"):
    given = ["--out", out] if out else []
    return output("publish", "trips.csv", "--schema", "trips.toml", "--columns", columns, "--epsilon", 1, *given, *more)


def test_a_map_is_published_and_answers_for_nothing(trips):
    said = publish("--ledger", "trips.ledger")
    assert "It cost epsilon 1; the ledger has 4 of 5 left" in said and "The table holds east, north." in said
    assert "Nothing of" not in said and "veil query map.veil" in said
    inside = (trips.east.between(20, 40) & trips.north.between(50, 70)).sum()
    found = json.loads(output("query", "map.veil", "--where", "east in 20..40 and north in 50..70", "--json"))
    (answer,) = found["answers"]
    assert answer["low"] < answer["count"] < answer["high"] and answer["count"] == pytest.approx(inside, rel=0.1)
    assert answer["where"] == "east in 20..40 and north in 50..70"
    assert Ledger.open("trips.ledger").spent == 1
    assert "all rows" in (said := output("query", "map.veil")) and "low and high with 95 % confidence" in said


def test_a_file_of_queries_is_answered_line_by_line(trips, tmp_path):
    publish("--json", "--seed", 1, columns="east,kind")
    (tmp_path / "queries.csv").write_text('east,kind\n20..40,bus\n,"bus,car"\n..30,\n')
    said = output("query", "map.veil", "--queries", "queries.csv", "--out", "answers.csv")
    answers = pd.read_csv("answers.csv")
    assert list(answers) == ["count", "low", "high"] and len(answers) == 3 and "Wrote answers.csv" in said
    assert answers["count"][1] == pytest.approx(3000, rel=0.05)
    assert answers["count"][2] == pytest.approx((trips.east <= 30).sum(), rel=0.1)


def test_a_query_that_cannot_be_answered_is_named_by_its_line(trips, tmp_path):
    publish("--seed", 1)
    (tmp_path / "queries.csv").write_text("east\n20..40\n500..600\n")
    said = run_main("query", "map.veil", "--queries", "queries.csv", "--out", "answers.csv")
    assert "queries.csv, line 3 (east in 500..600): column 'east' was declared" in said
    assert not (tmp_path / "answers.csv").exists()


def test_synthetic_points_and_a_report_are_written_too(trips, tmp_path):
    publish("--synthetic", "points.csv", "--rows", 100, "--seed", 1)
    assert pd.read_csv("points.csv").shape == (100, 2)
    page = (tmp_path / "map.html").read_text()
    assert page.index("<svg") < page.index("What it answers") and "east in 0..25" in page


def test_the_plan_is_shown_before_anything_is_charged(trips):
    said = publish("--dry-run", "--ledger", "trips.ledger", out=None)
    assert "groups of the cells of east[257] x north[257]" in said and "a typical range" in said
    assert "together" in said and Ledger.open("trips.ledger").spent == 0


@pytest.mark.parametrize(
    "wrong, said",
    [
        (["--columns", "east,west"], "no column 'west'"),
        (["--columns", "east", "--method", "privpfc"], "for histograms"),
        (["--columns", "east,north", "--resolution", "5000"], "25,000,000 cells"),
        (["--resolution", "10"], "--columns"),
        ([], "--columns age,income"),
    ],
)
def test_what_cannot_be_published_is_refused_before_a_charge(trips, wrong, said):
    given = ["--schema", "trips.toml", "--epsilon", 1, "--ledger", "trips.ledger", "--out", "map.veil"]
    result = run_main("publish", "trips.csv", *given, *wrong)
    assert said in result and Ledger.open("trips.ledger").spent == 0


@pytest.mark.parametrize("wrong", ["east", "west in 1..2", "east in 500..600", "east in a..b", "kind = bus"])
def test_a_condition_that_cannot_be_answered_says_why(trips, wrong):
    publish("--seed", 1)
    assert "condition" in (said := run_main("query", "map.veil", "--where", wrong)) or "column" in said


def run_main(*arguments):
    """What a command that fails says."""
    from veil.errors import VeilError

    with pytest.raises(VeilError) as problem:
        run(*arguments)
    return str(problem.value)


def test_the_word_and_in_a_value_and_the_word_in_in_a_name_are_read_as_they_are_meant():
    names = ["income", "income in euros", "spice", "a (b"]
    assert parsed(["income in euros in 5..9"], names) == {"income in euros": ("5", "9")}
    assert parsed(["income in euros >= 5 and income in 1..2"], names) == {
        "income in euros": ("5", None),
        "income": ("1", "2"),
    }
    assert parsed(["spice = salt and pepper"], names) == {"spice": "salt and pepper"}
    assert parsed(["spice in salt and pepper, mint and a (b <= 3"], names) == {
        "spice": ["salt and pepper", "mint"],
        "a (b": (None, "3"),
    }
    assert parsed(["spice = salt and other = 3"], names) == {"spice": "salt", "other": "3"}  # refused by name later
    with pytest.raises(BadInput, match="is no condition"):
        parsed(["spice"], names)


def test_a_rehearsal_promises_intervals_only_of_the_method_that_has_them(trips):
    assert "Expected with 3,000 rows: a typical range" in publish("--dry-run", out=None)
    said = publish("--dry-run", "--method", "uniform", out=None)
    assert "ow far its answers can be relied on is not known: uniform has no intervals" in said
    assert "a typical range" not in said
