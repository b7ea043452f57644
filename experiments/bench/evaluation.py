"""Evaluation on a million private rows: a ROC curve and an AUC, beside scikit-learn's exact ones."""

from collections.abc import Iterator
from statistics import median

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from veil import private_auc, private_roc_curve

from .measure import Result, compare, seconds

ROWS = 1_000_000


def evaluation() -> Iterator[Result]:
    """From arrays of scores and labels to the result, noise intervals included."""
    chance = np.random.default_rng(0)
    truth = chance.random(ROWS) < 0.3
    scores = 1 / (1 + np.exp(-chance.normal(1.5 * truth)))
    asked = {"y": truth, "epsilon": 1, "classes": (False, True)}
    name = "ROC curve, 10^6 rows / sklearn's roc_curve"
    yield compare(name, lambda: private_roc_curve(scores, **asked), lambda: roc_curve(truth, scores), "< 5", 5)
    taken = median(seconds(lambda: private_roc_curve(scores, **asked)) for _ in range(3))
    yield Result("the same / 2 s", taken * 1e3, 2e3, "ms", "< 1")
    name = "AUC alone, 10^6 rows / sklearn's roc_auc_score"
    yield compare(name, lambda: private_auc(scores, **asked), lambda: roc_auc_score(truth, scores), "< 5", 5)
