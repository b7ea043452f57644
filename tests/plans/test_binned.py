"""What people are told of a search for bins: which were found, which are public or declared, and what it cost."""

import re
from fractions import Fraction

import numpy as np
import pytest

from veil import (
    AutoClassifier,
    Categorical,
    Ledger,
    NaiveBayesClassifier,
    Numeric,
    PrivatePipeline,
    PrivateSelectKBest,
    Schema,
    load_model,
)
from veil.cli.bounds import careless
from veil.cli.charge import facts
from veil.evaluate.together import rehearse_both
from veil.plans.binned import DECLARED, FOUND, NOT_TRIED, PUBLIC, bins_of, in_short, search_cost
from veil.verdicts import of_answers

CHANCE = np.random.default_rng(3)
ROWS = 4000
LABEL = Categorical(name="y", values=("no", "yes"))
WIDE = {"bounds": (0, 1e6)}


def schema_of(*columns):
    return Schema(name="t", label="y", column=(*columns, LABEL))


def fitted(*columns, rows=ROWS, epsilon=1, model=NaiveBayesClassifier, seed=None):
    """A model of columns whose values are all about a thousandth of a per cent of a million."""
    y = CHANCE.integers(2, size=rows)
    values = {column.name: CHANCE.lognormal(2 + y, 0.5) for column in columns}
    ledger = Ledger(epsilon, "t")
    made = model(epsilon=epsilon, schema=schema_of(*columns), ledger=ledger, random_state=seed)
    return made.fit({**values, "y": np.where(y, "yes", "no")})


@pytest.fixture(scope="module")
def mixed():
    return fitted(
        Numeric(name="wide, too", **WIDE),
        Numeric(name="edges", edges=(0, 10, 20, 1e6)),
        Numeric(name="kept", **WIDE, bins="public"),
        Numeric(name="log", bounds=(1, 1e6), scale="log"),
        Numeric(name="few", bounds=(1, 5), integer=True),
    )


def ways(model):
    return {one.column.name: one.how for one in bins_of(model.outcome_)}


def test_each_column_has_its_bins_found_public_or_declared(mixed):
    others = {"edges": DECLARED, "kept": PUBLIC, "log": DECLARED, "few": DECLARED}
    assert ways(mixed) == {"wide, too": FOUND, **others}


def test_the_cost_is_that_of_the_choices(mixed):
    spent = sum(receipt.epsilon for receipt in mixed.receipts_ if receipt.verb == "choose_bins")
    assert 0 < search_cost(mixed.outcome_) == spent == sum(one.epsilon for one in bins_of(mixed.outcome_))
    assert in_short(mixed.outcome_) == f"bins of 1 column found for epsilon {float(spent):.3g} of 1"
    assert in_short(mixed.outcome_) in mixed._repr_html_()


def test_the_answers_of_the_search_are_kept_beside_those_of_the_plan(mixed):
    assert [release.receipt.verb for release in mixed.searched_] == ["count", "choose_bins"]
    assert mixed.searched_ == mixed.outcome_.searched


def test_columns_that_were_cut_alike_are_all_told_though_a_receipt_names_three():
    model = fitted(*(Numeric(name=f"x{place}", **WIDE) for place in range(5)), rows=300, epsilon=2)
    (receipt,) = [receipt for receipt in model.receipts_ if receipt.verb == "choose_bins"]
    assert receipt.question.endswith("x0, x1, x2 and others")
    assert {*ways(model).values()} <= {FOUND, PUBLIC} and len({one.column.cuts for one in bins_of(model.outcome_)}) == 1
    assert [one.epsilon for one in bins_of(model.outcome_)] == [receipt.epsilon / 5] * 5


def test_a_name_that_looks_like_several_columns_takes_no_cost_from_them():
    model = fitted(*(Numeric(name=name, **WIDE) for name in ("a", "b", "a, b", "b and others", "b, and others")))
    choices = [receipt.epsilon for receipt in model.receipts_ if receipt.verb == "choose_bins"]
    assert len(choices) == 5 and [one.epsilon for one in bins_of(model.outcome_)] == choices


def test_declared_edges_are_not_taken_for_found_ones_beside_columns_that_were_cut_alike():
    alike = [Numeric(name=f"x{place}", **WIDE) for place in range(4)]
    model = fitted(*alike, Numeric(name="own", edges=(0, 5e5, 1e6)), rows=300, epsilon=2)
    assert ways(model)["own"] == DECLARED


def test_without_a_search_nothing_is_said():
    model = fitted(Numeric(name="x", **WIDE, bins="public"))
    assert bins_of(model.outcome_) == [] and in_short(model.outcome_) == ""
    assert model.searched_ == () and "<h2>Bins</h2>" not in model.report()


def test_where_nothing_is_to_be_searched_rows_are_not_called_too_few():
    page = fitted(Numeric(name="x", bounds=(1, 5), integer=True), model=AutoClassifier).report()
    assert "Nothing was searched" in page and "too few" not in page


@pytest.mark.filterwarnings("ignore::veil.LittleLearned")
def test_too_few_rows_are_said_with_how_many_would_do():
    model = fitted(Numeric(name="x", **WIDE), rows=5, seed=1)
    assert ways(model) == {"x": NOT_TRIED} and in_short(model.outcome_) == ""
    assert "for which about 150 would be needed" in model.report()


def test_a_report_shows_the_bins_and_says_that_careless_bounds_are_fine(mixed):
    page = mixed.report()
    shown = page[page.index("<h2>Bins</h2>") : page.index("<h2>What it cost")]
    assert "Careless bounds" in shown and 'bins = "public"' in shown and "found in the rows, privately" in shown
    assert re.search(r"\d+ bins from 0 to 1,000,000, (most )?edges between [\d.]+ and [\d.]+", shown)
    assert shown.count("<svg") == 1


def test_a_report_from_a_file_says_the_same(mixed, tmp_path):
    mixed.save(tmp_path / "m.veil")
    assert load_model(tmp_path / "m.veil").report() == mixed.report(ledger=False)


def test_a_report_names_no_files_to_read_that_a_search_does_not_need(mixed):
    page = mixed.report()
    assert "kernel/verbs/bins.py" in page and "schema/moments.py" not in page


def test_a_pipeline_has_the_search_of_all_its_steps():
    steps = [PrivateSelectKBest(k=1), NaiveBayesClassifier()]
    columns = [Numeric(name=name, **WIDE) for name in "ab"]
    y = CHANCE.integers(2, size=ROWS)
    rows = {name: CHANCE.lognormal(2 + y, 0.5) for name in "ab"} | {"y": np.where(y, "yes", "no")}
    model = PrivatePipeline(steps, epsilon=2, schema=schema_of(*columns), ledger=Ledger(2, "t")).fit(rows)
    paid = {receipt.number for receipt in model.receipts_}
    assert paid == {release.receipt.number for release in (*model.searched_, *model.releases_)}
    assert "<h2>Bins</h2>" in model.report()


def test_machines_are_told_too(mixed):
    found = facts(mixed, mixed.ledger)["bins"]
    assert found["found"] == ["wide, too"] and found["public"] == ["kept"]
    assert Fraction(found["epsilon_exact"]) == search_cost(mixed.outcome_)


def test_a_rehearsal_with_test_rows_shows_the_search_and_all_that_is_paid():
    model = NaiveBayesClassifier(epsilon=1, schema=schema_of(Numeric(name="x", **WIDE)))
    plan = rehearse_both(model, share="0.3", epsilon=1)
    training = [release for release in plan if release.receipt.account == plan[0].receipt.account]
    assert [release.receipt.verb for release in training] == ["count", "choose_bins", "count"]
    assert sum(release.receipt.epsilon for release in training) == 1


def test_advice_goes_by_all_that_was_paid_the_search_too():
    columns = [Numeric(name=f"x{place}", bounds=(0, 1e6 + place)) for place in range(7)]
    model = fitted(*columns, rows=3000)
    assert (
        model.searched_[1:]
        and sum({one.receipt.number: one.receipt.epsilon for one in model.outcome_.answers}.values()) == 1
    )
    assert model.verdict_ == of_answers(model.outcome_.answers, model.schema_)


CARELESS = {
    (0, 1_000_000): "a power of ten",
    (1, 1e300): "a power of ten",
    (0, 99_999): "nines only",
    (0, 65_535): "the end of a type",
    (-(2**31), 2**31 - 1): "the end of a type",
    (-50_000, 50_000): "as far below zero as above",
    (0, 3e6): "many sizes",
    (0, 120): "",
    (0, 100): "",
    (-10, 10): "",
    (1900, 2100): "",
    (1e6, 2e6): "",
    (-8e307, 8e307): "as far below zero as above",
    (-5e-324, 0): "",
}


@pytest.mark.parametrize(("bounds", "why"), CARELESS.items())
def test_careless_bounds_are_known_by_themselves(bounds, why):
    assert careless(Numeric.model_construct(name="x", bounds=bounds)) == why
