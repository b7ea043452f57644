"""One forecast for dry runs, notebooks and pages; rehearsals are quick and still tell what would be asked."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from experiments.bench.scale import KEPT, RUNS, fitted
from tests.shell import output
from veil import NaiveBayesClassifier, PrivGeneClassifier, PrivPfCClassifier, Schema
from veil.display import number
from veil.explore.foreseeing import Asked, foreseen
from veil.forecast import Forecast, forecast
from veil.kernel import Budget
from veil.models import METHODS
from veil.plans.catalogue import NAMES, megabytes, seconds
from veil.plans.effort import CHOOSING, COLUMNS, EACH, EFFORTS, grids
from veil.plans.rehearsal import FEW, drawn, quickly

SEARCHED = (
    'name = "s"\nlabel = "y"\nrows = 40000\n{}[[column]]\nname = "y"\nkind = "categorical"\nvalues = ["a", "b"]\n'
)


@pytest.mark.parametrize("method", ["auto", "naive-bayes", "privpfc", "blend"])
def test_a_forecast_costs_what_the_run_would_and_names_every_question(fair: Any, method: str) -> None:
    found = METHODS[method](epsilon="1/2", schema=fair[1]).rehearse().forecast()
    assert isinstance(found, Forecast) and found.cost == Fraction(1, 2)
    assert all(row.answer and row.about for row in found.asked) and found.verdict.words
    assert found.seconds > 0 and found.megabytes >= 1 and (found.trace is not None) == (method == "auto")
    assert {one.option for one in found.quality} == {found.known} and "nothing was opened" in repr(found)
    assert "<table>" in found._repr_html_()


def test_a_dry_run_prints_the_same_forecast(files: Any, fair: Any) -> None:
    asked = ["--schema", "fair.toml", "--epsilon", "0.5", "--method", "naive-bayes"]
    told = json.loads(output("train", "fair.csv", *asked, "--dry-run", "--json"))
    found = forecast(NaiveBayesClassifier(epsilon=0.5, schema="fair.toml").rehearse(), fair[1])
    assert [row["about"] for row in told["plan"]] == [row.about for row in found.asked]
    assert [row["within"] for row in told["plan"]] == [row.within for row in found.asked]
    assert told["verdict"]["level"] == found.verdict.level


@pytest.mark.parametrize("method", ["auto", "tree", "logistic", "privpfc"])
def test_dry_run_notebook_and_page_say_the_same(files: Any, fair: Any, method: str) -> None:
    schema = fair[1].model_copy(update={"public": False, "rows": 10**7})
    Path("large.toml").write_text(schema.to_toml(), encoding="utf-8")
    told = output("train", "fair.csv", "--schema", "large.toml", "--epsilon", "0.5", "--method", method, "--dry-run")
    plain = json.loads(
        output(
            "train", "fair.csv", "--schema", "large.toml", "--epsilon", 0.5, "--method", method, "--dry-run", "--json"
        )
    )
    rehearsed = METHODS[method](epsilon="0.5", schema="large.toml").rehearse()
    found, page = rehearsed.forecast(), foreseen(Asked(schema, Path("large.toml"), 0, 10**7, Budget("0.5")), method)
    assert isinstance(page, Forecast) and found.quality == page.quality == rehearsed.quality
    assert (plain["seconds"], plain["megabytes"]) == (found.seconds, found.megabytes) == (page.seconds, page.megabytes)
    assert [one["value"] for one in plain["expected"]] == [one.value for one in found.quality]
    assert f"{found.known} takes about {number(found.seconds)} s" in " ".join(told.split())
    line = next(
        one
        for one in json.loads(output("plan", "--schema", "large.toml", "--epsilon", 0.5, "--json"))["methods"]
        if one["method"] == found.known
    )
    assert (line["seconds"], line["megabytes"]) == (found.seconds, found.megabytes)


def test_what_a_run_takes_is_what_was_measured_within_a_factor_of_two() -> None:
    """Beyond a start, for every method and number of rows that `make bench-scale` kept."""
    kept = json.loads(KEPT.read_text())
    measured = [(one, run) for one in kept for run in RUNS if "," not in run and f"{run}, s" in one]
    assert len(measured) == 12 and {run for _, run in measured} == {run for run in RUNS if "," not in run}
    for one, run in measured:
        rows = int(one["rows"])
        assert 1 / 2 < seconds(run, rows, COLUMNS) / one[f"{run}, s"] < 2, (run, rows)
        assert 1 / 2 < megabytes(run, rows) / (one[f"{run}, MB"] - one["start, MB"]) < 2, (run, rows)


def test_the_constants_follow_from_what_was_measured_by_the_rule() -> None:
    for run, effort in fitted(json.loads(KEPT.read_text())).items():
        own = EFFORTS[run]
        assert [own.megabytes, own.held] == pytest.approx([effort.megabytes, effort.held], rel=0.05)
        if run not in CHOOSING:
            assert own == pytest.approx(effort, rel=0.05)
        else:  # of which the choice is the most
            rest = seconds(run, 0, COLUMNS), (seconds(run, 10**9, COLUMNS) - seconds(run, 10**8, COLUMNS)) / 9e8
            assert rest[1] == pytest.approx(effort.each, rel=0.05)
            assert EACH * grids(10**6, COLUMNS) + own.seconds == pytest.approx(effort.seconds, rel=0.05)


def test_small_tables_take_little_and_more_rows_never_less() -> None:
    for method in NAMES:
        sizes = [10**power for power in range(2, 10)]
        assert sorted(seconds(method, rows, 10) for rows in sizes) == [seconds(method, rows, 10) for rows in sizes]
        assert sorted(megabytes(method, rows) for rows in sizes) == [megabytes(method, rows) for rows in sizes]
        assert 1 <= megabytes(method, 1000) < 10 and seconds(method, 1000, 10) < 1


def test_a_rehearsal_draws_few_candidates_and_tells_of_all(fair: Any) -> None:
    choices = [row for row in PrivPfCClassifier(epsilon=0.5, schema=fair[1]).rehearse() if row.receipt.verb == "choose"]
    assert len(choices) == 1 and int(choices[0].receipt.question.split()[4]) > FEW
    fitted = PrivPfCClassifier(epsilon=0.5, schema=fair[1], random_state=1, pool=500).fit(fair[0].head(400))
    asked = [one.receipt.question for one in fitted.releases_ if one.receipt.verb == "choose"]
    assert asked == ["one of 500 by ExpectedCorrect"]  # outside of rehearsals the whole pool is drawn


def test_a_rehearsal_tells_of_all_candidates_where_bins_are_searched_for_first() -> None:
    """The trial on no rows draws candidates too, of which a rehearsal once told instead."""
    text = SEARCHED.format("".join(f'[[column]]\nname = "c{i}"\nkind = "numeric"\nbounds = [0, 9]\n' for i in range(6)))
    asked = [one.receipt for one in PrivPfCClassifier(epsilon=1, schema=Schema.loads(text)).rehearse()]
    assert "choose_bins" in {one.verb for one in asked}
    said = next(one.question for one in asked if one.verb == "choose")
    assert int(said.split()[4]) > 10_000, said  # of no rows it would be about a hundred


def test_a_rehearsal_of_breeding_scores_few_and_tells_of_the_population(fair: Any) -> None:
    asked = [one.receipt.question for one in PrivGeneClassifier(epsilon=0.5, schema=fair[1]).rehearse()]
    said = [question for question in asked if question.endswith(" by Correct")]
    assert len(said) > 1 and {*said[:-1]} == {"2 of 100 by Correct"} and said[-1] == "1 of 100 by Correct"


def test_only_a_rehearsal_draws_few() -> None:
    assert drawn(5000) == 5000
    with quickly():
        assert drawn(5000) == FEW and drawn(7) == 7
    assert drawn(5000) == 5000
