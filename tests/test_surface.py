"""What a newcomer meets: names to complete, warnings, progress, and what notebooks show."""

import subprocess
import sys

import pytest

import veil
from veil.progress import told as progress_told


def test_everything_that_is_offered_can_be_completed_and_had():
    assert {*veil.__all__} <= {*dir(veil)}
    assert all(getattr(veil, name) is not None for name in veil.__all__)
    assert veil.datasets.load("iris")


def test_listing_the_names_loads_nothing_heavy():
    program = "import veil, sys; dir(veil); assert 'sklearn' not in sys.modules and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="no attribute 'METHODS'"):
        veil.METHODS  # noqa: B018


def told_while(work):
    told = []
    with progress_told(lambda *step: told.append(step)):
        work()
    return told


@pytest.mark.parametrize(
    "model", [veil.PrivPfCClassifier, veil.DecisionTreeClassifier, veil.LogisticRegressionClassifier]
)
def test_progress_tells_the_same_of_a_table_and_of_its_neighbour(model):
    """Of the same answers: with seeded noise and so large an epsilon that one row changes none of them."""
    rows, schema = veil.datasets.load("iris")
    settings = {"epsilon": 10**6, "schema": schema, "random_state": 0}
    whole, fewer = (told_while(lambda part=part: model(**settings).fit(part)) for part in (rows, rows[:-1]))
    assert whole == fewer and len(whole) > 3
    assert all(0 <= done <= total for _, done, total in whole if total)


def test_scoring_candidates_moves_in_shares_of_their_public_number():
    rows, schema = veil.datasets.load("iris")
    told = told_while(lambda: veil.publish(rows, schema, epsilon=1, random_state=0))
    scored = [(done, total) for work, done, total in told if work == "scoring candidates"]
    assert [done for done, _ in scored] == list(range(1, scored[0][1] + 1))


def test_a_progress_bar_is_shown_on_a_terminal_and_nowhere_else(capfd, monkeypatch):
    rows, schema = veil.datasets.load("iris")
    with veil.progress():
        veil.publish(rows, schema, epsilon=1, random_state=0)
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with veil.progress(), veil.progress():
        veil.publish(rows, schema, epsilon=1, random_state=0)
    assert "scoring candidates" in capfd.readouterr().err
