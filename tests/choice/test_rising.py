"""What is told of a table does not fall as rows times epsilon grow."""

import numpy as np
import pytest

from veil.choice.classifiers import EPSILONS, expect
from veil.choice.nearby import Nearby
from veil.choice.rising import Rising, never_falling
from veil.choice.traces import Traces
from veil.schema import Categorical, Numeric, Schema

LABEL = Categorical(name="y", values=("no", "yes"))
SCHEMA = Schema(name="t", label="y", column=[*(Numeric(name=f"x{i}", bounds=(0, 1)) for i in range(3)), LABEL])


def test_what_never_falls_is_the_mean_over_places_that_would():
    assert never_falling(np.array([1.0, 3.0, 2.0, 2.0, 5.0])) == pytest.approx([1, 7 / 3, 7 / 3, 7 / 3, 5])
    assert never_falling(np.array([4.0, 3.0, 2.0])).tolist() == [3, 3, 3]
    assert np.isnan(never_falling(np.array([1.0, np.nan, 2.0]))).all()


def test_what_rises_stays_as_it_is():
    values = np.sort(np.random.default_rng(0).random((9, 2, 3)), axis=0)
    assert np.allclose(never_falling(values), values)


def test_a_mean_and_its_ends_stay_in_order():
    values = np.sort(np.random.default_rng(1).random((9, 4, 3)), axis=2)
    assert (np.diff(never_falling(values), axis=2) >= 0).all() and (np.diff(never_falling(values), axis=0) >= 0).all()


@pytest.mark.parametrize("measure", ["auc", "accuracy"])
def test_more_epsilon_makes_no_method_worse(measure):
    found = [expect(SCHEMA, 20_000, epsilon) for epsilon in (1e-12, *EPSILONS, 1e9)]
    for option in found[0].options:
        said = [one.of(option, measure) for one in found]
        for end in ("value", "low", "high"):
            assert (np.diff([getattr(one, end) for one in said]) >= -1e-12).all()
        assert all(one.low <= one.value <= one.high for one in said)


def test_between_two_places_predictions_are_on_a_line_and_beyond_them_as_at_the_end():
    facts, quality = np.array([[0.0], [1.0]]), {"auc": np.array([[0.5], [0.7]])}
    traces = Traces(("a", "b"), ("a", "b"), ("signal",), ("one",), facts, quality)
    rising = Rising(Nearby(traces, width=1e-3), [{"signal": 0.0}, {"signal": 1.0}])
    low, middle, high, beyond = (rising.predict({"signal": at})["auc"][0, 0] for at in (0, 0.25, 1, 9))
    assert middle == pytest.approx(0.75 * low + 0.25 * high) and beyond == high > low


def test_intervals_have_margins_by_a_fact():
    facts, quality = np.array([[0.0], [1.0]]), {"auc": np.array([[0.5], [0.5]])}
    traces = Traces(("a", "b"), ("a", "b"), ("many",), ("one",), facts, quality)
    nearby = Nearby(traces, kept=0.0, margins={"auc": {0.0: (0.1, 0.2), 1.0: (0.3, 0.4)}}, apart="many")
    assert nearby.predict({"many": 0.0})["auc"][0] == pytest.approx([0.5, 0.4, 0.7])
    assert nearby.predict({"many": 1.0})["auc"][0] == pytest.approx([0.5, 0.2, 0.9])
