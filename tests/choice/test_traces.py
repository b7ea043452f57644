"""Traces and predictions from them: files, calibration of intervals, and what is far from everything known."""

import numpy as np
import pytest

from veil import BadInput, Traces, read_traces
from veil.choice import Nearby, calibrated
from veil.choice.classifiers import FILE, NAMES, OPTIONS, expect, facts_of, known, least_epsilon
from veil.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    name="survey",
    label="sick",
    column=[
        *(Numeric(name=f"x{place}", bounds=(0, 10)) for place in range(6)),
        Categorical(name="sick", values=("no", "yes")),
    ],
)


def simulated(number=400, noise=0.02, seed=0):
    """Traces of two options whose quality is a known function of one fact, in eight families."""
    coins = np.random.default_rng(seed)
    signal, families = coins.uniform(0, 10, number), coins.integers(8, size=number)
    shift = coins.normal(0, noise, 8)[families]
    low = 0.7 + shift + coins.normal(0, noise, number)
    rising = 0.5 + 0.04 * signal + shift + coins.normal(0, noise, number)
    return Traces(
        tuple(f"made {place}" for place in range(number)),
        tuple(f"family {one}" for one in families),
        ("signal", "idle"),
        ("low", "rising"),
        np.column_stack([signal, coins.random(number)]),
        {"auc": np.column_stack([low, rising])},
    )


def test_predictions_follow_the_facts():
    nearby = Nearby(simulated())
    for signal, best in ((1.0, 0), (9.0, 1)):
        found = nearby.predict({"signal": signal, "idle": 0.5})["auc"]
        assert found[:, 0].argmax() == best
        assert found[1, 0] == pytest.approx(0.5 + 0.04 * signal, abs=0.05)


def test_intervals_hold_nine_of_ten_on_families_that_were_left_out():
    whole = simulated(800, seed=1)
    for family in ("family 0", "family 5"):
        nearby = calibrated(Nearby(whole.without(family)))
        places = [place for place, one in enumerate(whole.families) if one == family]
        inside = []
        for place in places:
            said = nearby.predict(dict(zip(whole.fact_names, whole.facts[place], strict=True)))["auc"]
            truth = whole.quality["auc"][place]
            inside += ((said[:, 1] <= truth) & (truth <= said[:, 2])).tolist()
        assert 0.8 < np.mean(inside) <= 1


def test_facts_that_are_not_known_are_left_out_of_the_distance():
    nearby = Nearby(simulated())
    assert np.isfinite(nearby.predict({"signal": 5.0})["auc"]).all()


def test_what_no_database_is_like_is_far():
    nearby = Nearby(simulated())
    assert nearby.far({"signal": 1000.0, "idle": 0.5}) and not nearby.far({"signal": 5.0, "idle": 0.5})


def test_an_option_that_was_refused_near_by_has_no_prediction_from_there():
    traces = simulated()
    traces.quality["auc"][:, 0] = np.nan
    found = Nearby(traces).predict({"signal": 5.0, "idle": 0.5})["auc"]
    assert np.isnan(found[0]).all() and np.isfinite(found[1]).all()


def test_traces_read_back_what_was_written(tmp_path):
    traces = simulated(20)
    traces.write(tmp_path / "traces.csv", digits=6)
    again = read_traces(tmp_path / "traces.csv")
    assert again.databases == traces.databases and again.options == traces.options
    assert np.allclose(again.quality["auc"], traces.quality["auc"], atol=1e-6)


MADE = "# traces of Veil, version 1\ndatabase,family,a,x:auc\n"


@pytest.mark.parametrize(
    "text",
    [
        *("", "a,b\n1,2\n", "# traces of Veil, version 9\n", "# traces of Veil, version 1\nx\n"),
        *(f"{MADE}d,f,1,inf\n", f"{MADE}d,f,nan,1\n", f"{MADE}{'d' * 200_000},f,1,1\n"),
    ],
)
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "odd.csv").write_text(text)
    with pytest.raises(BadInput, match="holds no traces, or those of another version"):
        read_traces(tmp_path / "odd.csv")
    with pytest.raises(BadInput, match="there is no file of traces"):
        read_traces(tmp_path / "absent.csv")


def test_the_shipped_traces_are_small_and_know_every_option():
    assert FILE.stat().st_size < 200_000
    traces = known().traces
    assert {*OPTIONS} <= {*traces.options} and traces.fact_names == NAMES
    assert len(traces) > 1000 and len({*traces.families}) >= 8


def test_more_rows_and_more_epsilon_are_expected_to_be_better():
    few, many = (expect(SCHEMA, rows, 0.5).best("auc").value for rows in (300, 30_000))
    dear, cheap = (expect(SCHEMA, 5000, epsilon).best("auc").value for epsilon in (1.0, 0.02))
    assert few < many and cheap < dear


def test_a_person_with_many_rows_gets_a_part_of_epsilon():
    people = SCHEMA.model_copy(update={"rows_per_person": 10})
    assert facts_of(people, 1000, 1.0)["signal"] == pytest.approx(facts_of(SCHEMA, 1000, 0.1)["signal"])


def test_a_goal_has_a_least_epsilon_or_none():
    found = least_epsilon(SCHEMA, 20_000, "auc", 0.6)
    assert found is not None and found < 1
    assert least_epsilon(SCHEMA, 100, "auc", 0.999) is None
    sure = least_epsilon(SCHEMA, 20_000, "auc", 0.6, sure=True)
    assert sure is None or sure >= found
