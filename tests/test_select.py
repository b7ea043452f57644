"""veil select: what it lists, what it costs, how it refuses."""

import json
from pathlib import Path

import pytest

from shell import run
from veil import Ledger, Schema, VeilError

pytestmark = pytest.mark.usefixtures("wide_terminal")

MAIL = """name = "mail"
label = "kind"

[[column]]
name = "text"
kind = "text"
words = ["free", "prize", "meeting", "noon", "other"]
words_per_row = 3

[[column]]
name = "kind"
kind = "categorical"
values = ["ham", "spam"]
"""
TABLE = """name = "mail"
label = "kind"

[[column]]
name = "size"
kind = "numeric"
bounds = [0, 10]
bins = 5

[[column]]
name = "day"
kind = "categorical"
values = ["mon", "tue"]

[[column]]
name = "kind"
kind = "categorical"
values = ["ham", "spam"]
"""


def veil(*arguments):
    """The exit code of a command, and what it prints."""
    try:
        result = run(*arguments)
    except VeilError as refusal:
        return refusal.exit_code, str(refusal)
    return result.exit_code, result.output


@pytest.fixture
def mail(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        "text,size,day,kind",
        *["a free prize,9,mon,spam", "meeting at noon,2,tue,ham", "free noon,1,mon,ham"] * 80,
    ]
    (tmp_path / "mail.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "mail.toml").write_text(MAIL)
    (tmp_path / "table.toml").write_text(TABLE)
    return ("select", "mail.csv", "--schema", "mail.toml", "--epsilon", "1000")


def test_the_words_that_tell_the_classes_apart_are_listed(mail):
    code, shown = veil(*mail, "--k", "2")
    assert code == 0 and "prize" in shown and "It cost epsilon 1000; no ledger was charged." in shown


def test_machines_get_scores_where_they_were_paid_for(mail):
    peeled = json.loads(veil(*mail, "--k", "2", "--json")[1])
    counted = json.loads(veil(*mail, "--k", "2", "--how", "perturb", "--score", "count", "--json")[1])
    above = json.loads(
        veil(*mail, "--threshold", "100", "--score", "count", "--at-most", "3", "--how", "peel", "--json")[1]
    )
    assert peeled["scores"] is None and len(peeled["selected"]) == 2 and peeled["private"]
    assert set(counted["selected"]) == {"free", "noon"} == set(above["selected"])
    assert [round(score) for score in above["scores"]] == [160, 160] and above["epsilon"] == 1000


def test_columns_of_a_table_are_selected_and_the_schema_of_them_is_written(mail):
    given = ("select", "mail.csv", "--schema", "table.toml", "--epsilon", "1000")
    assert veil(*given, "--k", "1", "--out", "narrow.toml")[0] == 0
    assert [column.name for column in Schema.read("narrow.toml").features] == ["size"]
    assert json.loads(veil(*given, "--k", "1", "--how", "discernibility", "--json")[1])["selected"] == ["size"]
    assert veil(*given, "--k", "1", "--out", "narrow.toml")[0] == 2  # it exists


def test_a_schema_of_selected_words_can_be_trained_on(mail):
    assert veil(*mail, "--k", "3", "--out", "narrow.toml")[0] == 0
    train = ("train", "mail.csv", "--schema", "narrow.toml", "--epsilon", "1", "--method", "sparse-naive-bayes")
    assert veil(*train, "--out", "model.veil")[0] == 0
    assert veil("predict", "model.veil", "mail.csv", "--out", "predictions.csv")[0] == 0


def test_the_plan_is_shown_and_nothing_is_charged(mail):
    code, shown = veil(*mail, "--k", "2", "--dry-run")
    assert code == 0 and "choose_best" in shown and "Nothing was charged" in shown


def test_the_plan_of_a_selection_of_everything_costs_nothing(mail):
    shown = veil("select", "mail.csv", "--schema", "table.toml", "--epsilon", "1", "--k", "2", "--dry-run")[1]
    assert [line.split() for line in shown.splitlines() if "together" in line] == [["together", "0"]]
    assert "stands for" not in shown


def test_a_ledger_is_charged_once_and_refuses_the_rest(mail):
    Ledger.create("mail.ledger", 3, "mail")
    given = ("select", "mail.csv", "--schema", "mail.toml", "--epsilon", "2", "--ledger", "mail.ledger")
    code, shown = veil(*given, "--k", "2")
    assert code == 0 and "the ledger has 1 of 3 left" in shown
    assert veil(*given, "--k", "2")[0] == 3


@pytest.mark.parametrize(
    "wrong",
    [
        ("--k", "2", "--threshold", "3"),
        ("--score", "chi2"),
        ("--how", "magic"),
        ("--k", "0"),
        ("--how", "discernibility"),
        ("--threshold", "-5", "--at-most", "0"),
        ("--threshold", "0.1"),
    ],
)
def test_bad_input_is_refused(mail, wrong):
    assert veil(*mail, *wrong)[0] == 2


def test_an_unknown_way_to_choose_is_refused_with_all_that_are_known(mail):
    code, said = veil(*mail, "--how", "magic")
    assert code == 2 and said == "--how must be one of auto, peel, perturb, cluster, discernibility"
    code, said = veil(*mail, "--threshold", "5", "--how", "discernibility")
    assert code == 2 and said == "--how must be one of auto, peel, perturb, sieve, cluster with a threshold"


def test_seeded_noise_is_marked(mail):
    assert "NOT private" in veil(*mail, "--k", "2", "--seed", "1")[1]


def test_a_threshold_that_nothing_reaches_lists_nothing(mail):
    code, shown = veil(*mail, "--threshold", "100000", "--score", "count", "--json")
    assert code == 0 and json.loads(shown)["selected"] == []


def test_a_selection_of_nothing_is_an_answer_with_its_cost_and_without_a_file(mail):
    given = (*mail, "--threshold", "100000", "--score", "count", "--out", "narrow.toml")
    code, shown = veil(*given, "--json")
    assert code == 0 and json.loads(shown)["selected"] == [] and json.loads(shown)["epsilon"] == 1000
    code, shown = veil(*given)
    assert code == 0 and "It cost epsilon 1000" in shown and "Nothing was selected" in shown
    assert [path.name for path in Path().iterdir() if "narrow" in path.name] == []
