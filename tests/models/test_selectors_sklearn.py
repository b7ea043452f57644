"""The selectors keep scikit-learn's contract, on public rows and inside its tools."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from veil.models.selectors import (
    KDiscernibilitySelect,
    PrivateClusterSelect,
    PrivateSelectKBest,
    PrivateSelectThreshold,
)

COMMON = {"epsilon": 1000, "schema": "public", "random_state": 0}
SELECTORS = [
    PrivateSelectKBest(k=1, **COMMON),
    PrivateSelectKBest(k=1, how="perturb", **COMMON),
    PrivateSelectThreshold(score="majority", threshold=1, **COMMON),
    PrivateClusterSelect(k=1, **COMMON),
    KDiscernibilitySelect(k=1, **COMMON),
]


REASON = "the check takes `score`, here the name of a score, for a method that gives one"
EXCEPT = dict.fromkeys(
    ("check_fit_score_takes_y", "check_n_features_in_after_fitting", "check_pipeline_consistency"), REASON
)


def exceptions(selector):
    return EXCEPT if "score" in selector.get_params() else {}


@parametrize_with_checks(SELECTORS, expected_failed_checks=exceptions)
def test_every_check_of_scikit_learn_passes_but_those_listed(estimator, check):
    check(estimator)
