"""Running a plan: what it cost, and a rehearsal that opens and charges nothing."""

from dataclasses import replace

import pytest

from veil import Budget, Categorical, Ledger, LedgerProblem, Numeric, Schema, Text, grid
from veil.plans.run import MOST_ROWS, guessed_rows, made_up, opened, rehearse, run


def run_rows(plan, rows, schema, budget, *, method="", settings=None, **how):
    return run(opened(rows, schema, budget, **how), plan, budget, method=method, settings=settings)


def schema(**more):
    columns = [
        Categorical(name="c", values=["a", "b"]),
        Numeric(name="n", bounds=(0, 10), integer=True),
        Text(name="t"),
        Categorical(name="y", values=["no", "yes"]),
    ]
    return Schema(name="made", label="y", column=columns, person="who", **more)


def plan(source, budget):
    return source.count(grid(source.schema, "c", "n"), budget)


def test_a_rehearsal_makes_up_as_many_rows_as_the_schema_guesses():
    (release,) = rehearse(plan, schema(rows=4000), Budget(100))
    assert abs(release.value.sum() - 4000) < 40 and not release.receipt.private
    assert release.value[:, 0].sum() == pytest.approx(2000, abs=200)  # even draws
    assert guessed_rows(schema(rows=10**9)) == MOST_ROWS and guessed_rows(schema(rows=0)) == 0


def test_made_up_rows_have_every_column_within_its_domain():
    rows = made_up(schema(), 50)
    assert set(rows) == {"c", "n", "t", "y", "who"} and {len(column) for column in rows.values()} == {50}
    assert set(rows["c"].to_pylist()) == {"a", "b"} and rows["n"].min() >= 0 and rows["n"].max() <= 10


def test_a_run_says_what_it_made_released_and_cost(tmp_path):
    path = tmp_path / "l.ledger"
    Ledger.create(path, 2, "made")
    found = run_rows(plan, made_up(schema(), 9), schema(), Budget(1), ledger=path, method="counts", settings={"a": 1})
    assert found.releases == (found.made,) and found.receipts == (found.made.receipt,)
    assert found.epsilon == Ledger.open(path).spent == 1 and found.private
    assert (found.method, found.settings, found.schema) == ("counts", {"a": 1}, schema())
    assert repr(found) == "Outcome of counts on 'made' for epsilon 1"
    with pytest.raises(LedgerProblem, match="'other'"):
        run_rows(plan, made_up(schema(), 9), schema(), Budget(1), ledger=Ledger(1, "other"))


def test_an_outcome_of_disjoint_parts_costs_the_dearest_and_of_the_same_rows_the_sum():
    def both(source, budget):
        for part, cost in zip(source.split_at_random(1, 1), budget.split(1, 2), strict=True):
            plan(part, cost)
        return plan(source, budget)

    found = run_rows(both, made_up(schema(), 9), schema(), Budget(3), ledger=Ledger(5, "made"))
    assert [receipt.epsilon for receipt in found.receipts] == [1, 2, 3] and found.epsilon == 2 + 3


def test_an_outcome_is_private_if_all_of_it_is():
    rows, ledger = made_up(schema(), 9), Ledger(9, "made")
    found = run_rows(plan, rows, schema(), Budget(1), ledger=ledger)
    assert found.private and not run_rows(plan, rows, schema(), Budget(1), ledger=ledger, noise=1).private
    assert not replace(found, schema=schema(public=True)).private
    assert not replace(found, receipts=()).private  # answers that nobody paid for
    assert replace(found, releases=(), receipts=()).private  # nothing was asked


def test_what_was_asked_of_a_source_before_is_not_part_of_an_outcome():
    source = opened(made_up(schema(), 9), schema(), Budget(3), ledger=Ledger(3, "made"))
    first, second = (run(source, plan, Budget(cost)) for cost in (1, 2))
    assert (first.epsilon, second.epsilon) == (1, 2) and first.releases + second.releases == (first.made, second.made)
