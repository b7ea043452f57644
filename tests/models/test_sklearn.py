"""The estimators keep scikit-learn's contract, on public rows and inside its tools."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from veil.models import METHODS

# a generous budget: the checks ask for accuracy on a hundred rows
SETTINGS = {
    "privpfc": {"pool": 1000},  # of a hundred thousand candidates, which take a minute for columns of objects
    "privgene": {"population": 30},
}
MODELS = [
    kind(epsilon=1000, schema="public", random_state=0, **SETTINGS.get(name, {})) for name, kind in METHODS.items()
]


@parametrize_with_checks(MODELS)
def test_every_check_of_scikit_learn_passes_without_exception(estimator, check):
    check(estimator)
