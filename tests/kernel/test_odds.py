"""The odds of a class against all others: near what floats say, whole, and of each row by itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from veil import BadInput, Binned, Budget, Categorical, Linear, Numeric, Schema
from veil.kernel import Owner
from veil.questions import Odds
from veil.questions.odds import STEPS
from veil.questions.scorers import UNIT
from veil.schema.bags import Bags

SCHEMA = Schema(
    name="t",
    label="y",
    column=[
        Categorical(name="a", values=tuple("abcdefghi"), missing="a"),
        Numeric(name="x", bounds=(0, 1), bins=4, missing=0),
        Categorical(name="y", values=("p", "q", "r")),
    ],
)
WEIGHTS = np.random.default_rng(0).normal(size=(9, 5)) * [[1], [1], [3], [10], [10], [30], [100], [0], [0]]
CODES = {"a": np.arange(9), "x": np.zeros(9, np.int64)}


@pytest.mark.parametrize("label", range(5))
def test_odds_are_those_of_the_probabilities(label):
    scorer = Linear({"a": WEIGHTS}, [0.5, 0, 0, 0, -1])
    scores = scorer.scores(CODES) / UNIT
    exact = scores[:, label] - logsumexp(np.delete(scores, label, axis=1), axis=1)
    found = Odds(scorer, label).scores(CODES)
    assert found.dtype == np.int64 and found.shape == (9, 1)
    assert found[:, 0] / UNIT == pytest.approx(exact, abs=3 / STEPS)


@given(st.lists(st.integers(-(2**50), 2**50), min_size=2, max_size=2), st.integers(0, 1))
def test_between_two_classes_odds_are_the_difference_of_the_scores(scores, label):
    scorer = Linear({}, np.array(scores) / UNIT)
    assert Odds(scorer, label).scores({"": np.zeros(1)}).tolist() == [[scores[label] - scores[1 - label]]]


@given(st.lists(st.integers(0, 8), max_size=30), st.integers(0, 4))
def test_the_odds_of_a_row_depend_on_that_row_alone(rows, label):
    odds = Odds(Linear({"a": WEIGHTS}, np.zeros(5)), label)
    together = odds.scores({"a": np.array(rows, np.int64)})
    assert together.tolist() == [odds.scores({"a": np.array([row])})[0].tolist() for row in rows]


def test_scores_far_apart_and_many_classes_do_not_overflow():
    scorer = Linear({}, [2.0**30, -(2.0**30), *[0.0] * 1000])
    found = [int(Odds(scorer, label).scores({"": np.zeros(1)})[0, 0]) for label in (0, 1, 2)]
    assert found[0] == pytest.approx((2**30 - np.log(1000)) * UNIT, rel=1e-9)
    assert found[1:] == [-(2**51), -(2**50)]


THREE = Linear({}, [0, 0, 0])
WRONG = {
    "a label that there is not": Odds(THREE, 3),
    "a negative label": Odds(THREE, -1),
    "a label that is no whole number": Odds(THREE, 0.5),
    "odds of a single class": Odds(Linear({}, [0]), 0),
    "odds of odds": Odds(Odds(THREE, 0), 0),
    "odds of what is no scorer": Odds(len, 0),
    "weights that do not fit": Odds(Linear({"a": np.zeros((2, 3))}, [0, 0, 0]), 0),
}


@pytest.mark.parametrize("odds", WRONG.values(), ids=WRONG)
def test_odds_that_make_no_sense_are_refused(odds):
    with pytest.raises(BadInput):
        Owner(SCHEMA)(Binned(odds, [0.0]))


def test_a_source_cuts_rows_by_their_odds(source):
    scorer = Linear({}, [0.0] * len(source.schema.classes))
    counts = source.count(Binned(Odds(scorer, 0), [-9.0, 9.0]), Budget(50)).value
    assert counts.shape == (3, len(source.schema.classes)) and counts.sum() == counts[1].sum() > 0


@pytest.mark.parametrize("words", [0, 1, 4000, 5000, 9000])
def test_no_number_of_words_is_too_large_for_odds(words):
    scorer = Linear({"w": np.full((9000, 3), [0, 2.0**30, -(2.0**30)])}, [0.0, 0.0, 0.0])
    codes = {"w": Bags(np.array([0, words]), np.arange(words))}
    assert Odds(scorer, 0).scores(codes).shape == (1, 1)  # and no failure that would tell of a row
