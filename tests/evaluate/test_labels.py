"""Confusion matrices, accuracy and calibration of private rows."""

import re
from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix

from veil import (
    BadInput,
    Ledger,
    NaiveBayesClassifier,
    private_accuracy,
    private_calibration_curve,
    private_confusion_matrix,
)
from veil.evaluate.intervals import Interval
from veil.evaluate.result import spoken

CHANCE = np.random.default_rng(0)
NAMES = ("a", "b", "c")
TRUTH = np.array(NAMES)[CHANCE.integers(0, 3, 600)]
GUESS = np.where(CHANCE.random(600) < 0.7, TRUTH, "b")
ODDS = CHANCE.random(2000)
HIT = CHANCE.random(2000) < ODDS
HUGE = 10**9


def test_with_a_huge_epsilon_the_matrix_and_the_accuracy_are_exact():
    found = private_confusion_matrix(GUESS, y=TRUTH, epsilon=HUGE, classes=NAMES)
    assert (found.counts == confusion_matrix(TRUTH, GUESS, labels=NAMES)).all()
    assert found.shares().sum(axis=1) == pytest.approx(1)
    exact = accuracy_score(TRUTH, GUESS)
    assert found.accuracy == pytest.approx(exact)
    assert private_accuracy(GUESS, y=TRUTH, epsilon=HUGE, classes=NAMES).accuracy == pytest.approx(exact)


@pytest.mark.parametrize(
    ("interval", "said"),
    [((0.55, 0.77), "0.69 (95 % from 0.55 to 0.77)"), ((0.6712, 0.7099), "0.694 (95 % from 0.671 to 0.710)"),
     ((0.69402, 0.69438), "0.6942 (95 % from 0.6940 to 0.6944)"), ((0.0, 1.0), "0.69 (95 % from 0.00 to 1.00)")],
)  # fmt: skip
def test_a_number_has_no_more_digits_than_its_interval_tells(interval, said):
    assert spoken(0.6942345, Interval(*interval)) == said


def test_results_of_few_rows_show_two_digits_everywhere():
    found = private_accuracy(GUESS[:60], y=TRUTH[:60], epsilon=0.5, classes=NAMES, random_state=1)
    assert re.search(r"accuracy 0\.\d\d \(95 % from 0\.\d\d to \d\.\d\d\)", repr(found))
    assert {len(text) for text in found.table()[1][0]} == {4}


@pytest.mark.parametrize("function", [private_confusion_matrix, private_accuracy])
def test_accuracy_intervals_hold_the_exact_one_and_the_ledger_is_exact(function):
    exact, ledger = accuracy_score(TRUTH, GUESS), Ledger(1000, "t")
    held = 0
    for seed in range(150):
        found = function(GUESS, y=TRUTH, epsilon="1/10", classes=NAMES, ledger=ledger, random_state=seed)
        held += found.accuracy_interval.low <= exact <= found.accuracy_interval.high
    assert 0.9 < held / 150 and ledger.spent == 150 * Fraction(1, 10)


def test_calibration_with_a_huge_epsilon_is_the_share_in_each_interval():
    found = private_calibration_curve(ODDS, y=HIT, epsilon=HUGE, classes=(False, True), n_bins=5)
    places = np.minimum((ODDS * 5).astype(int), 4)
    assert found.prob_true == pytest.approx([HIT[places == place].mean() for place in range(5)], abs=0.01)
    assert found.prob_pred == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])
    prob_true, prob_pred = found
    assert len(prob_true) == len(prob_pred) == 5 and found.rows.sum() == 2000


def test_calibration_intervals_widen_with_noise_and_hold_the_share():
    places = np.minimum((ODDS * 10).astype(int), 9)
    exact = np.array([HIT[places == place].mean() for place in range(10)])
    held = []
    for seed in range(40):
        found = private_calibration_curve(ODDS, y=HIT, epsilon=0.2, classes=(False, True), random_state=seed)
        held.append((found.low <= exact) & (exact <= found.high))
    assert np.mean(held) > 0.9
    with pytest.raises(BadInput):
        private_calibration_curve(ODDS, y=HIT, epsilon=1, classes=NAMES)
    with pytest.raises(BadInput):
        private_calibration_curve(ODDS, y=HIT, epsilon=1, classes=(False, True), n_bins=0)


def test_models_are_judged_by_what_they_predict(fair):
    rows, schema = fair
    model = NaiveBayesClassifier(epsilon=1, schema=schema).fit(rows)
    exact = accuracy_score(rows[schema.label].astype(str), model.predict(rows).astype(str))
    assert private_accuracy(model, rows, epsilon=HUGE).accuracy == pytest.approx(exact)
    assert private_confusion_matrix(model, rows, epsilon=HUGE).accuracy == pytest.approx(exact)

    class Stubborn:
        def predict(self, row):
            if row[0, 0] < 0:
                raise ValueError("a private value")
            return ["b"]

    found = private_accuracy(Stubborn(), np.array([[1.0], [-1.0]] * 30), ["b", "b"] * 30, epsilon=HUGE, classes=NAMES)
    assert found.accuracy == pytest.approx(0.5)


def test_odd_predictions_are_left_out_or_wrong(all_odd_values):
    labels = np.resize(np.array(["a", "b"], object), len(all_odd_values))
    found = private_confusion_matrix(all_odd_values, y=labels, epsilon=HUGE, classes=("a", "zz", "b"))
    assert found.counts.sum() <= len(labels)
    assert private_accuracy(all_odd_values, y=labels, epsilon=HUGE, classes=("a", "zz", "b")).accuracy < 0.2


@pytest.mark.parametrize("classes", [(False, True), (0, 1), (True, False)])
@pytest.mark.parametrize("kinds", [(int, bool), (bool, int), (float, bool), (bool, str)])
def test_zero_and_one_stand_for_false_and_true(classes, kinds):
    truth, guess = HIT.astype(kinds[0]), (ODDS > 0.5).astype(kinds[1])
    exact = accuracy_score(HIT, ODDS > 0.5)
    assert float(private_accuracy(guess, y=truth, epsilon=HUGE, classes=classes)) == pytest.approx(exact)
    assert private_confusion_matrix(guess, y=truth, epsilon=HUGE, classes=classes).counts.sum() == len(HIT)


def test_scores_are_no_predictions_and_cost_nothing():
    ledger = Ledger(1, "evaluation")
    with pytest.raises(BadInput, match="scores > 0.5"):
        private_accuracy(ODDS, y=HIT, epsilon=1, classes=(False, True), ledger=ledger)
    assert ledger.spent == 0
