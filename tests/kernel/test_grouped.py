"""Groups of cells as a question: a row lies in one of them, and what does not fit is refused before a charge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil.errors import BadInput
from veil.kernel import Budget, Ledger, open_source
from veil.questions import Grouped, axis, grid
from veil.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    name="points",
    column=[Numeric(name="x", bounds=(0, 4), bins=4), Categorical(name="kind", values=("a", "b"), missing="a")],
)
GRID = grid(SCHEMA, "x", "kind")  # 5 x 2 cells: four bins, the missing ones, and two kinds
HUGE = Budget(10**6)


def source_of(x, kind, limit=10**9):
    return open_source({"x": x, "kind": kind}, SCHEMA, Ledger(limit, "points"), 1)


groups = st.lists(st.integers(0, 3), min_size=10, max_size=10)
rows = st.lists(st.tuples(st.sampled_from([0.5, 1.5, 2.5, 3.5, None]), st.sampled_from("ab")), max_size=8)


@given(groups, rows, st.tuples(st.sampled_from([0.5, 3.5, None]), st.sampled_from("ab")))
def test_one_more_row_adds_one_to_one_group(numbers, table, more):
    asked = Grouped(GRID, np.array(numbers), 4)

    def counted(found):
        return source_of(*map(list, zip(*found, strict=True)) if found else ([], [])).count(asked, HUGE).value[:, 0]

    change = counted([*table, more]) - counted(table)
    assert sorted(change) == [0, 0, 0, 1]


@given(groups, rows)
def test_groups_count_what_their_cells_do(numbers, table):
    columns = [*map(list, zip(*table, strict=True))] if table else [[], []]
    cells = source_of(*columns).count(GRID, HUGE).value[:, 0]
    found = source_of(*columns).count(Grouped(GRID, np.array(numbers, np.uint8), 5), HUGE).value[:, 0]
    assert found.tolist() == np.bincount(numbers, cells, 5).tolist()


@given(rows, st.integers(2, 6))
def test_parts_by_groups_hold_their_rows_whether_few_or_many(table, size):
    columns = [*map(list, zip(*table, strict=True))] if table else [[], []]
    asked = Grouped(GRID, np.arange(10) % size, size)
    source = source_of(*columns)
    whole = source.count(asked, HUGE).value[:, 0]
    parts = source.split(asked)
    assert [int(part.count(asked, HUGE).value.sum()) for part in parts] == whole.tolist()
    nested = parts[0].split(Grouped(GRID, np.arange(10) % 2, 2))
    assert sum(int(part.count(asked, HUGE).value.sum()) for part in nested) == whole[0]


BAD = {
    "too few numbers": (GRID, np.zeros(9, np.int64), 1),
    "a number beyond the groups": (GRID, np.full(10, 3), 3),
    "a number below zero": (GRID, np.full(10, -1), 3),
    "fractions": (GRID, np.zeros(10), 1),
    "objects": (GRID, np.zeros(10, object), 1),
    "a list": (GRID, [0] * 10, 1),
    "two axes of numbers": (GRID, np.zeros((10, 1), np.int64), 1),
    "no groups": (GRID, np.zeros(10, np.int64), 0),
    "far too many groups": (GRID, np.zeros(10, np.int64), 10**9),
    "groups of groups": (Grouped(GRID, np.zeros(10, np.int64), 1), np.zeros(1, np.int64), 1),
    "a grid of another schema": (axis(Numeric(name="z", bounds=(0, 1), bins=2)), np.zeros(3, np.int64), 1),
}


@pytest.mark.parametrize("bad", BAD)
def test_groups_that_do_not_fit_are_refused_and_cost_nothing(bad):
    ledger = Ledger(1, "points")
    source = open_source({"x": [1.0], "kind": ["a"]}, SCHEMA, ledger, 1)
    with pytest.raises(BadInput):
        source.count(Grouped(*BAD[bad]), Budget(1))
    assert ledger.spent == 0


def test_numbers_changed_after_asking_change_nothing():
    numbers = np.zeros(10, np.int64)
    source = source_of([0.5, 1.5], ["a", "b"])
    release = source.count(Grouped(GRID, numbers, 2), HUGE)
    numbers[:] = 1
    assert release.question.numbers.tolist() == [0] * 10 and release.value[:, 0].tolist() == [2, 0]
    assert release.receipt.question == "2 groups of the cells of x[5] x kind[2]"
