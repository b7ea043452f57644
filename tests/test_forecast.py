"""One forecast for dry runs, notebooks and pages; rehearsals are quick and still tell what would be asked."""

import json
from fractions import Fraction
from typing import Any

import pytest

from tests.shell import output
from veil import NaiveBayesClassifier, PrivPfCClassifier
from veil.forecast import Forecast, forecast
from veil.models import METHODS
from veil.plans.rehearsal import FEW, drawn, quickly


@pytest.mark.parametrize("method", ["auto", "naive-bayes", "privpfc", "blend"])
def test_a_forecast_costs_what_the_run_would_and_names_every_question(fair: Any, method: str) -> None:
    found = METHODS[method](epsilon="1/2", schema=fair[1]).rehearse().forecast()
    assert isinstance(found, Forecast) and found.cost == Fraction(1, 2)
    assert all(row.answer and row.about for row in found.asked) and found.verdict.words
    assert found.seconds > 0 and found.megabytes >= 1 and (found.trace is not None) == (method == "auto")
    assert bool(found.quality) == (method == "auto") and "nothing was opened" in repr(found)
    assert "<table>" in found._repr_html_()


def test_a_dry_run_prints_the_same_forecast(files: Any, fair: Any) -> None:
    asked = ["--schema", "fair.toml", "--epsilon", "0.5", "--method", "naive-bayes"]
    told = json.loads(output("train", "fair.csv", *asked, "--dry-run", "--json"))
    found = forecast(NaiveBayesClassifier(epsilon=0.5, schema="fair.toml").rehearse(), fair[1])
    assert [row["about"] for row in told["plan"]] == [row.about for row in found.asked]
    assert [row["within"] for row in told["plan"]] == [row.within for row in found.asked]
    assert told["verdict"]["level"] == found.verdict.level


def test_a_rehearsal_draws_few_candidates_and_tells_of_all(fair: Any) -> None:
    choices = [row for row in PrivPfCClassifier(epsilon=0.5, schema=fair[1]).rehearse() if row.receipt.verb == "choose"]
    assert len(choices) == 1 and int(choices[0].receipt.question.split()[4]) > FEW
    fitted = PrivPfCClassifier(epsilon=0.5, schema=fair[1], random_state=1, pool=500).fit(fair[0].head(400))
    asked = [one.receipt.question for one in fitted.releases_ if one.receipt.verb == "choose"]
    assert asked == ["one of 500 by ExpectedCorrect"]  # outside of rehearsals the whole pool is drawn


def test_only_a_rehearsal_draws_few() -> None:
    assert drawn(5000) == 5000
    with quickly():
        assert drawn(5000) == FEW and drawn(7) == 7
    assert drawn(5000) == 5000
