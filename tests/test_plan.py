"""veil plan: what to expect of every method, before a row is opened."""

import json
import subprocess
import sys

import pytest

from shell import output, run
from veil import BadInput

pytestmark = pytest.mark.usefixtures("wide_terminal")


def test_every_method_is_shown_with_what_to_expect(files):
    shown = output("plan", "--schema", "fair.toml", "--rows", 20000, "--epsilon", 0.5)
    assert "What to expect of 20,000 rows at epsilon 0.5" in shown
    assert all(method in shown for method in ("logistic", "privpfc", "blend", "naive-bayes", "tree", "shares"))
    assert "No row was opened, and nothing was charged." in shown


def test_json_has_intervals_around_what_is_expected(files):
    found = json.loads(output("plan", "--schema", "fair.toml", "--rows", 20000, "--json"))
    assert found["rows"] == 20000 and found["nearest"] and found["far"] is False
    for line in found["methods"]:
        assert line["auc"]["low"] <= line["auc"]["expected"] <= line["auc"]["high"]
        assert line["seconds"] > 0 and line["megabytes"] > 0


def test_a_goal_gives_the_least_epsilon(files):
    found = json.loads(output("plan", "--schema", "fair.toml", "--rows", 20000, "--goal", "auc=0.6", "--json"))
    assert found["goal"] == {"auc": 0.6} and 0 < found["expected_from"] <= 1
    assert "Expect an AUC of 0.6" in output("plan", "--schema", "fair.toml", "--rows", 20000, "--goal", "auc=0.6")
    assert "No epsilon up to 10" in output("plan", "--schema", "fair.toml", "--rows", 50, "--goal", "auc=0.99")


def test_a_list_of_epsilons_is_drawn(files):
    shown = output("plan", "--schema", "fair.toml", "--rows", 20000, "--epsilons", "0.1,1")
    assert shown.count("█") == 2 and "·" in shown
    found = json.loads(output("plan", "--schema", "fair.toml", "--rows", 20000, "--epsilons", "0.1,1", "--json"))
    assert [line["epsilon"] for line in found["curve"]] == [0.1, 1.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--goal", "fame=1"], "a goal is written auc=0.85"),
        (["--goal", "auc=two"], "a goal is written auc=0.85"),
        (["--goal", "auc=0.8", "--epsilons", "1"], "not both"),
        (["--epsilons", ","], "give 1 to 50 epsilons"),
        (["--epsilon", "-1"], "epsilon"),
    ],
)
def test_odd_requests_are_refused_in_a_sentence(files, options, words):
    with pytest.raises(BadInput, match=words):
        run("plan", "--schema", "fair.toml", *options)
    assert run("plan", "--schema", "fair.toml", "--rows", 0).exit_code == 2


def test_a_table_without_a_label_has_nothing_to_predict(files):
    (files / "map.toml").write_text('name = "m"\n[[column]]\nname = "x"\nkind = "numeric"\nbounds = [0, 1]\n')
    with pytest.raises(BadInput, match="there is nothing to predict"):
        run("plan", "--schema", "map.toml")


def test_it_needs_no_scikit_learn(files):
    code = "import sys; sys.argv = ['veil', 'plan', '--schema', 'fair.toml', '--json']\nfrom veil.cli import main\n"
    code += "try: main()\nexcept SystemExit: pass\nprint('sklearn' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("False False")


def test_training_chooses_by_itself_and_says_what_and_why(files):
    shown = output("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 50, "--seed", 1, "--out", "m.veil")
    assert "Chosen: " in shown and "Expect an AUC of" in shown
    found = json.loads(
        output("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--out", "n.veil", "--json")
    )
    assert found["method"] == "auto" and found["choice"]["chosen"] and found["epsilon"] == 1


def test_a_dry_run_says_what_to_expect(files):
    shown = output("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--dry-run")
    assert "an AUC of" in shown
