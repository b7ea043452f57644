"""The pool of candidate grids: all that is small, nothing that is too large, no column favoured by its name."""

import tracemalloc

import numpy as np
import pytest

from veil import Categorical, Numeric, Schema, datasets
from veil.plans.histograms.grids import grids, level_axes


def wide(columns, values=3):
    names = [f"c{i:02}" for i in range(columns)]
    return Schema(
        name="w",
        label="y",
        column=[
            *(Categorical(name=name, values=tuple(map(str, range(values))), missing="0") for name in names),
            Categorical(name="y", values=("no", "yes")),
        ],
    )


def test_the_coarsest_level_of_every_column_is_a_candidate_whatever_its_size():
    schema = wide(4, values=9)
    assert {grid.columns for grid in grids(schema, 2, 1000)} == {(f"c{i:02}",) for i in range(4)}


def test_missing_values_go_with_the_first_group_unless_the_schema_declares_them():
    found = level_axes(Numeric(name="x", bounds=(0, 4), bins=4))
    assert [one.groups for one in found] == [(0, 0, 1, 1, 0), (0, 1, 2, 3, 0)]
    assert [one.names[0] for one in found] == ["0 to 2 or (missing)", "0 to 1 or (missing)"]
    declared = Categorical(name="c", values=("a", "b", "?"), missing="?", groups={"known": ["a", "b"]})
    assert [one.groups for one in level_axes(declared)] == [(0, 0, 1), (0, 1, 2)]


def test_a_binary_column_has_two_groups():
    assert [one.size for one in level_axes(Categorical(name="c", values=("a", "b")))] == [2]


def test_half_of_the_large_grids_have_no_room_for_a_finer_one():
    _, schema = datasets.load("fair")
    large = [grid for grid in grids(schema, 100, 3000) if len(grid.axes) >= 3]
    assert np.mean([grid.size > 50 for grid in large]) > 0.4


def test_grids_of_more_columns_keep_the_limit_and_come_once():
    _, schema = datasets.load("fair")
    found = grids(schema, 200, 5000)
    assert all(grid.size <= 200 for grid in found if len(grid.axes) > 1)
    assert len({grid.axes for grid in found}) == len(found) > 400
    assert {len(grid.axes) for grid in found} >= {1, 2, 3, 4}


def test_the_pool_is_as_large_as_wanted_and_the_same_for_everyone():
    schema = wide(20)
    assert len(grids(schema, 1000, 700)) == 700
    assert grids(schema, 1000, 300) == grids(schema, 1000, 300)


def test_no_column_is_left_to_chance_by_its_name():
    """The published enumeration takes columns in the order of their names until the pool is full."""
    used = np.zeros(20)
    for grid in grids(wide(20), 1000, 2000):
        for axis in grid.axes:
            used[int(axis.column[1:])] += 1
    assert used.min() > 0.8 * used.max()


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_narrow_tables_have_a_pool_too(columns):
    assert max(len(grid.axes) for grid in grids(wide(columns), 100, 50)) == columns


def test_a_column_of_one_value_and_one_of_thousands_do_no_harm():
    many = Categorical(name="many", values=tuple(map(str, range(5000))))
    one = Categorical(name="one", values=("only",), missing="only")
    number = Numeric(name="x", bounds=(0, 1))
    schema = Schema(name="w", label="y", column=[many, one, number, Categorical(name="y", values=("a", "b"))])
    found = grids(schema, 100, 500)
    assert {"many", "x"} <= {name for grid in found for name in grid.columns}
    assert not any("many" in grid.columns for grid in found if len(grid.axes) > 1)


@pytest.mark.slow
def test_a_table_of_many_columns_has_a_pool_in_little_memory():
    tracemalloc.start()
    found = grids(wide(800, values=6), 2000, 20_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 20_000 and peak < 1e9
    assert {len(grid.axes) for grid in found} >= {1, 2, 3, 4}


def test_a_small_pool_leaves_out_no_column():
    """Otherwise the first columns of the schema would be the only ones that can be chosen."""
    label = Categorical(name="y", values=("no", "yes"))
    columns = [Numeric(name=f"c{i}", bounds=(0, 1)) for i in range(120)]
    found = grids(Schema(name="wide", label="y", column=[*columns, label]), 100, 100)
    assert {name for one in found for name in one.columns} == {column.name for column in columns}
