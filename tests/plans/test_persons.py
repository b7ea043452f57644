"""Epsilon is for a person: a plan that derives its settings from it must take it per row."""

from fractions import Fraction

import numpy as np
import pytest

from veil import Categorical, Schema, datasets, private_roc_curve
from veil.models import METHODS


@pytest.mark.parametrize(
    "method", ["naive-bayes", "privpfc", "diffgen", "projected", "privgene", "logistic", "svm", "tree", "forest"]
)
def test_ten_rows_a_person_at_ten_times_epsilon_is_the_same_plan_as_one_row(method):
    """Both have the same noise, so both must ask for the same: a plan that forgets the unit would not."""
    rows, schema = datasets.load("fair")
    rows = {**rows, "who": np.arange(len(rows))}
    few = {"privpfc": {"pool": 1000}, "privgene": {"population": 10}}.get(method, {})  # candidates, which take time
    found = []
    for most in (1, 10):
        people = schema.model_copy(update={"person": "who", "rows_per_person": most})
        model = METHODS[method](epsilon=Fraction(3 * most, 10), schema=people, random_state=4, **few).fit(rows)
        found.append([repr(release.value) for release in model.releases_])
    assert found[0] == found[1]


def test_a_curve_of_ten_rows_a_person_at_ten_times_epsilon_is_that_of_one_row():
    chance = np.random.default_rng(0)
    scores, truth = chance.random(3000), chance.integers(0, 2, 3000)
    found = []
    for most in (1, 10):
        schema = Schema(
            name="t", label="y", person="who", rows_per_person=most, column=[Categorical(name="y", values=["0", "1"])]
        )
        rows = {"who": np.arange(3000), "y": truth}
        curve = private_roc_curve(scores, rows, epsilon=Fraction(3 * most, 10), schema=schema, random_state=4)
        found.append((curve.tpr.tolist(), tuple(curve.auc_interval)))
    assert found[0] == found[1]
