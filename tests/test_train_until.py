"""veil train --goal: what it says before and after, what it charges, and what it refuses."""

import json
import re
from pathlib import Path

import pytest

from shell import output
from veil import BadInput, BudgetRefused, Ledger, load_model
from veil.display import amount

pytestmark = pytest.mark.usefixtures("wide_terminal")
LEVELS = ["1/2", "5/7", "1", "10/7", "2", "20/7", "4"]


@pytest.fixture
def survey(tmp_path, fair, monkeypatch):
    """A folder, and the current one, with every fifth row of the survey, its schema and a ledger."""
    rows, schema = fair
    rows.iloc[::5].to_csv(tmp_path / "fair.csv", index=False)
    (tmp_path / "fair.toml").write_text(schema.to_toml())
    monkeypatch.chdir(tmp_path)
    Ledger.create("fair.ledger", 10, "fair")
    return tmp_path


def train(*more, goal="accuracy=0.4", at_most=4):
    given = ["--ledger", "fair.ledger", "--out", "model.veil"]
    return output("train", "fair.csv", "--schema", "fair.toml", "--goal", goal, "--at-most", at_most, *given, *more)


def left():
    return Ledger.open("fair.ledger").left


def test_it_says_what_it_charges_before_and_what_was_lost_after(survey):
    said = train("--seed", 1)
    before, _, after = said.partition("Wrote model.veil")
    assert "charges all of epsilon 4 before it starts" in before and "whether or not accuracy=0.4 is reached" in before
    assert "The goal accuracy=0.4 was reached" in after and "Ex-post, what was looked at lost epsilon" in after
    assert "all of 4 was reserved before, and stays charged" in after and left() == 6
    assert load_model("model.veil").outcome_.ex_post < 4
    assert "Ex-post" in Path("model.html").read_text()


def test_a_goal_out_of_reach_costs_what_was_reserved_and_says_so(survey):
    said = train(goal="auc=0.999")
    assert "whether or not auc=0.999 is reached" in said and "was NOT reached" in said and left() == 6
    assert "held back a model that exceeds it by" in said and "passed a model" not in said


def test_a_dry_run_shows_the_worst_case_and_every_level_and_charges_nothing(survey):
    said = train("--dry-run")
    assert "all of epsilon 4" in said and "0.5, 5/7, 1, 10/7, 2, 20/7, 4" in said and "together" in said
    assert re.search(r"misses the goal by 0\.\d\d in accuracy with [\d,]+ rows \(95 %\)", said)
    planned = json.loads(train("--dry-run", "--json"))
    assert planned["levels"] == LEVELS and planned["at_most"] == "4" and planned["test"] == "1/2"
    assert left() == 10 and not Path("model.veil").exists()


def test_json_tells_reserved_and_ex_post_amounts(survey):
    told = json.loads(train("--json", "--seed", 1))
    assert told["epsilon_exact"] == "4" and told["until"]["reached"] is True
    assert told["until"]["ex_post"] == told["until"]["level"] in LEVELS


def test_the_ledger_shows_the_goal_and_all_that_was_reserved(survey):
    train("--seed", 1)
    shown = output("ledger", "show", "fair.ledger")
    assert "train naive-bayes until accuracy=0.4" in shown and "4 of 10 spent, 6 left" in shown


def test_the_ledger_shows_what_was_lost_ex_post_beside_what_was_reserved(survey):
    train("--seed", 1)
    ex_post = load_model("model.veil").outcome_.ex_post
    (run,) = Ledger.open("fair.ledger").runs()
    assert (run.epsilon, run.ex_post) == (4, ex_post) and ex_post < 4
    assert re.search(
        rf"ex-post.*\n.*4 +.*{amount(ex_post)} ", output("ledger", "show", "fair.ledger").replace("\u2502", " "), re.S
    )
    told = json.loads(output("ledger", "show", "fair.ledger", "--json"))
    assert told["runs"][0]["ex_post"] == str(ex_post) and told["spent_exact"] == "4" and left() == 6


def test_the_share_of_rows_that_judge_can_be_given(survey):
    train("--test-share", "0.5", "--seed", 1)
    assert load_model("model.veil").outcome_.until["share"] == "1/2" and not list(survey.glob("*evaluation*"))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--epsilon", "1"], "leave out --epsilon"),
        (["--test-share", "0.5", "--test-epsilon", "1"], "leave out --epsilon and --test-epsilon"),
        (["--method", "tree"], "tree cannot be fitted until a goal is met"),
        (["--test-share", "2"], "share"),
    ],
)
def test_options_that_do_not_go_together_are_refused_before_any_charge(survey, more, said):
    with pytest.raises(BadInput, match=said):
        train(*more)
    assert left() == 10 and not Path("model.veil").exists()


def test_half_a_goal_or_none_at_all_is_refused(survey):
    asked = ["train", "fair.csv", "--schema", "fair.toml", "--out", "model.veil"]
    for more, said in ((["--goal", "auc=0.7"], "go together"), (["--at-most", 1], "go together"), ([], "--epsilon 1")):
        with pytest.raises(BadInput, match=said):
            output(*asked, *more)


def test_more_than_is_left_is_refused_before_it_starts(survey):
    with pytest.raises(BudgetRefused):
        train(at_most=11)
    assert left() == 10
