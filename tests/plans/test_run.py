"""Running a plan: what it cost, and a rehearsal that opens and charges nothing."""

import pytest

from veil import Budget, Categorical, Ledger, LedgerProblem, Numeric, Schema, Text, grid
from veil.plans.run import MOST_ROWS, guessed_rows, made_up, rehearse, run


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
    assert set(rows["c"]) == {"a", "b"} and rows["n"].min() >= 0 and rows["n"].max() <= 10


def test_a_run_says_what_it_made_released_and_cost(tmp_path):
    path = tmp_path / "l.ledger"
    Ledger.create(path, 2, "made")
    found = run(plan, made_up(schema(), 9), schema(), Budget(1), ledger=path, method="counts", settings={"a": 1})
    assert found.releases == (found.made,) and found.receipts == (found.made.receipt,)
    assert found.epsilon == Ledger.open(path).spent == 1 and found.private
    assert (found.method, found.settings, found.schema) == ("counts", {"a": 1}, schema())
    assert repr(found) == "Outcome of counts on 'made' for epsilon 1"
    with pytest.raises(LedgerProblem, match="'other'"):
        run(plan, made_up(schema(), 9), schema(), Budget(1), ledger=Ledger(1, "other"))
