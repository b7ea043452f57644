"""How good probabilities are: AUC, Hand and Till's M, accuracy and log loss. Classes that no row has are left out."""

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

Numbers = npt.NDArray[np.float64]
LEAST = 1e-15  # a probability below this counts as this, so that one row cannot cost infinitely much


def measures(truth: npt.NDArray[Any], probabilities: Numbers) -> dict[str, float]:
    """All measures by name; `probabilities` has a column for every class, `truth` the true column of every row."""
    right = np.take_along_axis(probabilities, truth[:, None].astype(np.intp), axis=1)
    return {
        "auc": auc(truth, probabilities),
        "m": hand_till(truth, probabilities),
        "accuracy": float(np.mean(probabilities.argmax(axis=1) == truth)),
        "log_loss": float(-np.log(right.clip(LEAST, 1)).mean()),
    }


def auc(truth: npt.NDArray[Any], probabilities: Numbers) -> float:
    """The area under the ROC curve; of several classes, each against the rest, weighted by its share of the rows.

    Two classes are ranked by their odds: a model may be so sure that one probability rounds to 1, never the other to 0.
    """
    if probabilities.shape[1] == 2:
        no, yes = np.log(probabilities.clip(np.finfo(float).tiny)).T
        return area(truth == 1, yes - no)
    present, rows = np.unique(truth, return_counts=True)
    areas = [area(truth == code, probabilities[:, code]) for code in present]
    return float(np.average(areas, weights=rows))


def hand_till(truth: npt.NDArray[Any], probabilities: Numbers) -> float:
    """The mean area over all pairs of classes, each by both columns (Hand and Till 2001); of two, the AUC."""
    if probabilities.shape[1] == 2:
        return auc(truth, probabilities)
    areas = []
    for pair in combinations(np.unique(truth), 2):
        among = np.isin(truth, pair)
        areas += [area(truth[among] == code, probabilities[among, code]) for code in pair]
    return float(np.mean(areas)) if areas else np.nan


def area(positive: npt.NDArray[np.bool_], scores: Numbers) -> float:
    """The chance that a positive row scores higher than a negative one, ties being half; NaN if there is no pair."""
    ones, zeros = int(positive.sum()), int((~positive).sum())
    if not ones or not zeros:
        return np.nan
    return float((rankdata(scores)[positive].sum() - ones * (ones + 1) / 2) / (ones * zeros))
