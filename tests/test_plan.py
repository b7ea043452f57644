"""veil plan: what to expect of every method, before a row is opened."""

import json
import re
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


def test_texts_have_an_answer_of_their_own(files):
    text = '[[column]]\nname = "t"\nkind = "text"\nwords = ["a", "b"]\nwords_per_row = 2\n'
    label = '[[column]]\nname = "y"\nkind = "categorical"\nvalues = ["no", "yes"]\n'
    (files / "texts.toml").write_text(f'name = "m"\nlabel = "y"\n{text}{label}')
    with pytest.raises(BadInput, match="nothing is known of texts"):
        run("plan", "--schema", "texts.toml")


def test_epsilons_that_no_float_holds_are_planned_for(files):
    found = json.loads(output("plan", "--schema", "fair.toml", "--epsilons", "1e-400,1e400", "--json"))
    assert [line["epsilon_exact"] for line in found["curve"]] == [f"1/{10**400}", str(10**400)]
    assert json.loads(output("plan", "--schema", "fair.toml", "--epsilon", "1e400", "--json"))["epsilon"] == 10**400
    asked = ["--schema", "fair.toml", "--epsilon", "1e400", "--dry-run"]
    assert "an AUC of" in output("train", "fair.csv", *asked, "--method", "logistic")


def test_it_believes_the_number_of_rows_that_a_schema_says(files):
    (files / "many.toml").write_text(f"rows = 5_000_000\n{(files / 'fair.toml').read_text()}")
    assert "What to expect of 5,000,000 rows" in output("plan", "--schema", "many.toml")
    assert "10,000 is a guess" in output("plan", "--schema", "fair.toml")


def test_it_needs_no_scikit_learn(files):
    code = "import sys; sys.argv = ['veil', 'plan', '--schema', 'fair.toml', '--json']\nfrom veil.cli import main\n"
    code += "try: main()\nexcept SystemExit: pass\nprint('sklearn' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("False False")


@pytest.fixture
def mixed(files, fair):
    """The folder with a file of rows of both classes, from which something is learned."""
    fair[0].sample(3000, random_state=0).to_csv(files / "fair.csv", index=False)


def test_training_chooses_by_itself_and_says_what_and_why(mixed):
    shown = output("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 2, "--out", "m.veil")
    assert "Chosen: " in shown and "Expect an AUC of" in shown
    found = json.loads(
        output("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--out", "n.veil", "--json")
    )
    assert found["method"] == "auto" and found["trace"]["chosen"] and found["epsilon"] == 1


def test_a_dry_run_says_what_to_expect(files):
    shown = output("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 1, "--dry-run")
    assert "an AUC of" in shown and re.search(
        r"With [\d,]+ rows, (privpfc|logistic|blend|shares) would be chosen", shown
    )


def test_what_was_measured_is_not_expected(mixed):
    shown = output("train", "fair.csv", "--schema", "fair.toml", "--epsilon", 2, "--out", "m.veil", "--test-share", 0.3)
    assert "Chosen: " in shown and "Expect an AUC of" not in shown
