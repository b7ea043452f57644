"""How results look in notebooks: their numbers, and what they cost; every text is escaped."""

import numpy as np
import pytest

from veil import private_accuracy, private_auc, private_calibration_curve, private_confusion_matrix, private_roc_curve

CHANCE = np.random.default_rng(0)
TRUTH = np.where(CHANCE.random(300) < 0.4, "<b>", "a")
GUESS = np.where(CHANCE.random(300) < 0.7, TRUTH, "a")
SCORE = CHANCE.random(300)
SETTINGS = {"y": TRUTH, "classes": ("a", "<b>"), "epsilon": 1}


@pytest.mark.parametrize("function", [private_roc_curve, private_auc, private_calibration_curve, private_accuracy])
def test_every_result_is_a_table_in_a_notebook(function):
    found = function(GUESS if function is private_accuracy else SCORE, **SETTINGS)
    shown = found._repr_html_()
    assert "<table><caption>" in shown and "epsilon 1" in shown and "<b>" not in shown
    assert shown.count("<tr>") > 1


def test_a_matrix_shows_its_counts_in_a_notebook():
    found = private_confusion_matrix(GUESS, **SETTINGS)
    shown = found._repr_html_()
    assert "predicted &lt;b&gt;" in shown and all(f"<td>{count}</td>" in shown for count in found.counts.ravel())
