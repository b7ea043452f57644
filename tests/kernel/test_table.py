"""Exact counts: one added row, anywhere, adds one to one count, whatever the order and the size of the blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import (
    WHOLE,
    Binned,
    Categorical,
    CellScores,
    Grid,
    Ledger,
    Linear,
    Majority,
    Numeric,
    Predicted,
    Schema,
    SeededNoise,
    Source,
    Tree,
    axis,
    grid,
    open_source,
)
from veil.kernel import table as tables
from veil.kernel.reading import read_table
from veil.kernel.recoding import Recoded
from veil.kernel.table import Table
from veil.kernel.verbs.count import TOGETHER, bundles, counts_of_each
from veil.kernel.verbs.sparse import occupied

SCHEMA = Schema(
    name="toy",
    label="y",
    column=[
        Categorical(name="a", values=("u", "v", "w"), groups={"uv": ["u", "v"]}),
        Numeric(name="x", bounds=(0, 1), bins=5),
        Categorical(name="y", values=("p", "q", "r")),
    ],
)
WEIGHTS = np.random.default_rng(0)
LINEAR = Linear({"a": WEIGHTS.normal(size=(4, 3)), "x": WEIGHTS.normal(size=(6, 3))}, [0.1, 0.0, -0.1])
CELLS = CellScores(grid(SCHEMA, "a", "x"), WEIGHTS.random((24, 3)))
PARTITIONS = {
    "whole": WHOLE,
    "one column": grid(SCHEMA, "x"),
    "two columns": grid(SCHEMA, "a", "x"),
    "groups": axis(SCHEMA.get("a"), 1) & axis(SCHEMA.get("x"), 2),
    "tree": Tree(
        axis(SCHEMA.get("a"), 1), (axis(SCHEMA.get("x"), 1), Tree(grid(SCHEMA, "x"), (WHOLE,) * 6), grid(SCHEMA, "a"))
    ),
    "binned": Binned(LINEAR, [-1.5, -0.5, 0, 0.25, 1]),
    "binned cells": Binned(CELLS, np.linspace(0.1, 0.9, 7), label=0),
    "predicted": Predicted(LINEAR),
    "predicted cells": Predicted(CELLS),
}
row = st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 2))


def table_of(rows):
    codes = np.array(rows, np.uint8).reshape(-1, 3).T
    return Table({"a": codes[0], "x": codes[1], "y": codes[2]}, codes[2], 3)


@pytest.mark.parametrize("partition", PARTITIONS.values(), ids=PARTITIONS)
@given(rows=st.lists(row, max_size=12), added=row, where=st.integers(0, 12), shuffle=st.randoms())
def test_an_added_row_adds_one_to_one_count(partition, rows, added, where, shuffle):
    before = table_of(rows).tabulate(partition)
    after_rows = [*rows[:where], added, *rows[where:]]
    shuffle.shuffle(after_rows)
    after = table_of(after_rows).tabulate(partition)
    assert before.shape == (partition.size, 3) and before.sum() == len(rows)
    assert (after - before).min() >= 0 and (after - before).sum() == 1


@pytest.mark.parametrize("partition", PARTITIONS.values(), ids=PARTITIONS)
@pytest.mark.parametrize("block", [1, 2, 7, 1000])
def test_the_size_of_the_blocks_changes_nothing(partition, block, monkeypatch):
    rows = np.random.default_rng(1).integers(0, 3, (100, 3))
    whole = table_of(rows).tabulate(partition)
    monkeypatch.setattr(tables, "BLOCK", block)
    assert (table_of(rows).tabulate(partition) == whole).all()


@pytest.mark.parametrize("by_class", [True, False])
@given(rows=st.lists(row, max_size=12), asked=st.lists(st.sampled_from([*PARTITIONS.values()]), max_size=8))
def test_partitions_counted_together_are_counted_as_one_by_one(by_class, rows, asked):
    together, table = counts_of_each(table_of(rows), asked, by_class), table_of(rows)
    assert len(together) == len(asked)
    assert all(np.array_equal(found, table.tabulate(one, by_class)) for found, one in zip(together, asked, strict=True))


def test_small_grids_of_different_columns_are_counted_as_one():
    a, x, both = (grid(SCHEMA, *names) for names in ("a", "x", "ax"))
    asked = [WHOLE, a, x, x, a, both, PARTITIONS["tree"], a]
    assert bundles(asked, range(len(asked)), TOGETHER) == [[0], [1, 2], [3, 4], [5], [6], [7]]
    assert bundles([a, x], range(2), a.size * x.size - 1) == [[0], [1]]
    assert bundles([a & x, Grid((*x.axes, *a.axes)), both], range(3), 10**6) == [[0], [1], [2]]


def test_columns_of_one_value_are_no_limit_to_how_many_are_counted():
    names = [f"c{i}" for i in range(70)]
    schema = Schema(name="t", column=[Categorical(name=name, values=("v",), missing="v") for name in names])
    source = open_source({name: ["v"] * 3 for name in names}, schema, Ledger(1, "t"))
    assert all((counts == 3).all() for counts in counts_of_each(source._table, [grid(schema, name) for name in names]))
    assert source.choose([grid(schema, name) for name in names], Majority(), 1).value.size == 1


@given(rows=st.lists(row, max_size=20))
def test_occupied_cells_are_the_nonzero_counts_in_order(rows):
    question = grid(SCHEMA, "a", "x")
    dense = table_of(rows).tabulate(question).ravel()
    codes, counts = occupied(table_of(rows), question, len(SCHEMA.classes))
    assert list(codes) == list(np.flatnonzero(dense)) and list(counts) == list(dense[dense > 0])


def divided(table, partition):
    return table.split(table.cell_of_each(partition), partition.size)


@given(rows=st.lists(row, max_size=20))
def test_parts_are_disjoint_and_complete_however_deep(rows):
    parts = divided(table_of(rows), grid(SCHEMA, "a"))
    assert len(parts) == 4
    deeper = [divided(part, axis(SCHEMA.get("x"), 1)) for part in parts]
    total = sum(leaf.tabulate(grid(SCHEMA, "a", "x")) for leaves in deeper for leaf in leaves)
    assert (total == table_of(rows).tabulate(grid(SCHEMA, "a", "x"))).all()


def test_random_parts_follow_the_weights():
    source = Source(table_of(np.zeros((30000, 3), int)), SCHEMA, SCHEMA, Ledger(1, SCHEMA.name).account, SeededNoise(0))
    sizes = [len(part._table) for part in source.split_at_random(1, 2, 3)]
    assert sum(sizes) == 30000 and np.abs(np.array(sizes) - [5000, 10000, 15000]).max() < 400


def test_a_schema_without_a_label_has_one_nameless_class():
    schema = Schema(name="plain", column=[Numeric(name="x", bounds=(0, 1), bins=2)])
    table = read_table({"x": [0.1, 0.9, None]}, schema, SeededNoise(0))
    assert (table.tabulate(grid(schema, "x")) == [[1], [1], [1]]).all()


def test_grids_of_every_width_agree_with_ravel_multi_index():
    draw = np.random.default_rng(2)
    for sizes in [(1, 256), (256, 1), (255, 2), (16, 16), (17, 16, 1), (2,) * 9, (256, 256), (300, 300), (3, 5000, 7)]:
        columns = [
            Categorical(name=f"c{i}", values=tuple(map(str, range(n))), missing="0") for i, n in enumerate(sizes)
        ]
        schema = Schema(name="wide", column=columns)
        codes = {f"c{i}": draw.integers(0, n, 50).astype(np.min_scalar_type(n - 1)) for i, n in enumerate(sizes)}
        expected = np.ravel_multi_index(list(codes.values()), sizes)
        assert (grid(schema, *codes).cells(codes) == expected).all()


@given(st.data())
def test_parts_are_the_same_by_numbers_and_by_indices(data):
    """A few parts have a number for each row, more have indices: whoever is split again, the rows are the same."""
    size = data.draw(st.integers(1, 40))
    first = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    codes = np.arange(size, dtype=np.uint8)
    whole = Table(Recoded({"a": codes}, {}, {}), np.zeros(size, np.uint8), 1)
    for few in (16, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("veil.kernel.table.FEW", few)
            for number, part in enumerate(whole.split(first, 4)):
                rows = np.flatnonzero(first == number)
                assert part.column("a").tolist() == rows.tolist() and len(part) == len(rows)
                assert np.concatenate([part.column("a", block) for block in part.blocks(3)]).tolist() == rows.tolist()
                again = part.split(rows % 3, 3)
                assert [one.column("a").tolist() for one in again] == [rows[rows % 3 == i].tolist() for i in range(3)]
