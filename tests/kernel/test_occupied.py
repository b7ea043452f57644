"""occupied: the cells that hold a row, what one row can change, its law, and what it costs."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil.errors import BadInput, BudgetRefused
from veil.kernel import Budget, Ledger, open_source
from veil.questions import WHOLE, Grouped, grid
from veil.schema import Categorical, Numeric, Schema

CELLS = 6
HUGE = Budget(10**6)
SCHEMA = Schema(
    name="cells",
    label="kind",
    column=[
        Numeric(name="x", bounds=(0, CELLS - 1), integer=True, bins=CELLS),
        Categorical(name="kind", values=("no", "yes")),
    ],
)
LINE = grid(SCHEMA, "x")
places = st.lists(st.one_of(st.none(), st.integers(0, CELLS - 1)), max_size=12)


def source_of(rows, limit=10**9, seed=1, schema=SCHEMA):
    table = {"x": [*rows], "kind": ["no", "yes"] * (len(rows) // 2) + ["no"] * (len(rows) % 2), "who": [1] * len(rows)}
    return open_source(table, schema, Ledger(limit, "cells"), seed)


@given(places)
def test_with_a_huge_epsilon_it_is_the_number_of_cells_that_hold_a_row(rows):
    assert source_of(rows).occupied(LINE, HUGE).value == len({*rows})


@given(places, st.one_of(st.none(), st.integers(0, CELLS - 1)))
def test_a_row_raises_it_by_one_or_by_nothing(rows, more):
    before, after = (source_of(table).occupied(LINE, HUGE).value for table in (rows, [*rows, more]))
    assert after - before == int(more not in rows)


def test_cells_are_counted_once_whatever_the_classes_in_them():
    assert source_of([0, 0, 0, 3]).occupied(LINE, HUGE).value == 2


def test_groups_of_cells_are_cells_too():
    halves = Grouped(LINE, np.array([0, 0, 0, 1, 1, 1, 2], np.uint8), 3)
    assert source_of([0, 1, 2]).occupied(halves, HUGE).value == 1
    assert source_of([]).occupied(WHOLE, HUGE).value == 0


def test_its_law_is_discrete_laplace_around_the_exact_number():
    source = source_of([0, 1, 1])
    drawn = np.array([source.occupied(LINE, Budget(1)).value for _ in range(4_000)])
    a = exp(-1)
    for value in range(5):
        expected = (1 - a) / (1 + a) * a ** abs(value - 2)
        assert np.mean(drawn == value) == pytest.approx(expected, abs=4.5 * np.sqrt(expected / len(drawn)))
    assert log(np.mean(drawn == 2) / np.mean(drawn == 1)) == pytest.approx(1, abs=0.25)


def test_the_scale_and_the_receipt_say_what_it_cost():
    release = source_of([0]).occupied(LINE, Budget("1/3"))
    assert release.scale == 3 and release.receipt.verb == "occupied" and release.receipt.epsilon == Fraction(1, 3)
    assert type(release.value) is int


def test_the_rows_of_a_person_are_paid_for():
    schema = SCHEMA.model_copy(update={"person": "who", "rows_per_person": 4})
    assert source_of([0, 1], schema=schema).occupied(LINE, Budget(1)).scale == 4


@pytest.mark.parametrize("wrong", [None, "x", [LINE], 3])
def test_what_is_no_partition_is_refused_before_a_charge(wrong):
    source = source_of([0])
    with pytest.raises(BadInput):
        source.occupied(wrong, Budget(1))
    assert not source.record.receipts


def test_it_is_refused_when_the_ledger_is_short():
    source = source_of([0], limit=1)
    with pytest.raises(BudgetRefused):
        source.occupied(LINE, Budget(2))
    assert not source.record.receipts
