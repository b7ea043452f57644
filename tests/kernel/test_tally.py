"""Counting many grids together gives what counting each of them gives, however they are nested and however large."""

import os
import random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import (
    WHOLE,
    BadInput,
    Budget,
    Categorical,
    Discernibility,
    Grid,
    Ledger,
    Majority,
    Numeric,
    Rows,
    Schema,
    Tree,
    axis,
    open_source,
    threads,
)
from veil.kernel import tally
from veil.kernel.tally import Tally
from veil.kernel.verbs import choose as choosing
from veil.plans.histograms.grids import grids, level_axes
from veil.questions import covering
from veil.questions.bundling import merging

REAL = threads.ThreadpoolController
SCHEMA = Schema(
    name="many",
    label="y",
    column=[
        Categorical(name="a", values=list("pqrstu"), groups={"first": ["p", "q"], "second": {"odd": ["s", "u"]}}),
        Numeric(name="b", bounds=(0, 12), bins=12),
        Numeric(name="c", bounds=(0, 5), integer=True),
        Categorical(name="y", values=("no", "yes", "perhaps")),
    ],
)
AXES = [axis(column, level).axes[0] for column in SCHEMA.features for level in range(len(column.levels))]
EVERY = [Grid((one,)) for one in AXES] + [
    Grid(pair) for pair in ((one, two) for one in AXES for two in AXES) if pair[0].column != pair[1].column
]
TRIPLES = [
    Grid((one, two, three))
    for one in AXES if one.column == "a" for two in AXES if two.column == "b" for three in AXES if three.column == "c"
]  # fmt: skip


def table(rows, seed=0):
    draw = np.random.default_rng(seed)
    columns = {
        "a": draw.choice([*"pqrstu", "?"], rows),
        "b": draw.random(rows) * 13,
        "c": draw.integers(0, 7, rows),
        "y": draw.choice(["no", "yes", "perhaps"], rows),
    }
    return open_source(columns, SCHEMA, Ledger(10**9, "many"), noise=0)._table


@given(st.lists(st.sampled_from([Grid(), *EVERY, *TRIPLES]), min_size=1, max_size=12), st.integers(0, 40))
def test_many_grids_have_the_counts_of_each(grids, rows):
    one = table(rows)
    together = dict(Tally(one).each(grids))
    assert sorted(together) == list(range(len(grids)))
    assert all((together[place] == one.tabulate(grid)).all() for place, grid in enumerate(grids))


def test_a_part_counts_its_own_rows():
    part = (one := table(500)).split(one.cell_of_each(EVERY[2]), EVERY[2].size)[1]
    assert all((counts == part.tabulate(TRIPLES[place])).all() for place, counts in Tally(part).each(TRIPLES))


def looks_of(monkeypatch):
    """The grids that are counted from the rows, as they are."""
    looks, count = [], tally.Tally._count
    monkeypatch.setattr(tally.Tally, "_count", lambda self, grid: looks.append(grid) or count(self, grid))
    return looks


def test_coarser_grids_are_added_up_without_the_rows(monkeypatch):
    """Of all levels of three columns, one look at the rows serves those nested in the finest."""
    looks = looks_of(monkeypatch)
    dict(Tally(table(10_000)).each(TRIPLES))
    assert looks == [max(TRIPLES, key=lambda grid: grid.size)]


def test_grids_of_different_columns_are_added_up_from_one_over_all_of_them(monkeypatch):
    looks, one, (a, b, c) = looks_of(monkeypatch), table(10_000), (axis(column) for column in SCHEMA.features)
    for asked, seen in (([WHOLE, a, b], [a & b]), ([a & b, a & c], [a & b & c]), ([b & a, a & b], [b & a, a & b])):
        assert all((counts == one.tabulate(asked[place])).all() for place, counts in Tally(one).each(asked))
        assert {*looks} == {*seen}
        looks.clear()
    dict(Tally(table(30)).each([a, b]))
    assert looks == [a, b]  # adding up would take longer than the rows do


@pytest.mark.parametrize("together", [1, 40, 400, tally.TOGETHER])
@pytest.mark.parametrize("few", [0, covering.FEW])
def test_however_many_cells_are_counted_together_counts_are_the_same(monkeypatch, together, few):
    monkeypatch.setattr(tally, "TOGETHER", together)
    monkeypatch.setattr(covering, "FEW", few)
    one, grids = table(2000), [*TRIPLES, *EVERY, WHOLE, *TRIPLES[:5]]
    found = list(Tally(one).each(grids))
    assert sorted(place for place, _ in found) == list(range(len(grids)))
    for place, counts in found:
        assert counts.dtype == np.int64 and np.array_equal(counts, one.tabulate(grids[place]))


def random_grids(seed, columns):
    """A schema of random columns, rows of it, and random grids at random levels, in any order of columns."""
    draw = np.random.default_rng(seed)
    numbers = [Numeric(name=f"x{i}", bounds=(0, 1), bins=int(draw.integers(2, 17))) for i in range(columns)]
    words = [Categorical(name=f"c{i}", values=tuple(map(str, range(draw.integers(2, 9))))) for i in range(columns)]
    kinds = Categorical(name="y", values=tuple(map(str, range(draw.integers(2, 5)))))
    schema = Schema(name="r", label="y", column=[*numbers, *words, kinds])
    rows = {one.name: draw.random(3000) ** 2 for one in numbers}
    rows |= {one.name: draw.integers(0, len(one.values) + 1, 3000).astype(str) for one in (*words, kinds)}
    levels = [level_axes(column) for column in schema.features]
    picked = [draw.permutation(len(levels))[: draw.integers(0, 6)] for _ in range(80)]
    asked = [Grid(tuple(levels[c][draw.integers(len(levels[c]))] for c in some if levels[c])) for some in picked]
    return open_source(rows, schema, Ledger(10**9, "r"), noise=0)._table, schema, asked


@pytest.mark.parametrize("seed", range(6))
def test_random_grids_of_random_tables_have_the_counts_of_each(monkeypatch, seed):
    monkeypatch.setattr(covering, "FEW", 1)
    one, schema, asked = random_grids(seed, 3)
    asked += random.Random(seed).sample(candidates := grids(schema, 200, 400), min(len(candidates), 200))
    found = dict(Tally(one).each(asked))
    assert all(np.array_equal(found[place], one.tabulate(grid)) for place, grid in enumerate(asked))


def test_candidates_are_counted_with_few_looks_at_the_rows(monkeypatch):
    looks, (one, schema, _) = looks_of(monkeypatch), random_grids(0, 4)
    monkeypatch.setattr(covering, "FEW", 1)
    asked = grids(schema, 200, 2000)
    assert len(dict(Tally(one).each(asked))) == len(asked) > 1000
    assert len(looks) < len(asked) / 10


def test_a_table_without_rows_is_counted_like_any_other():
    assert all(not counts.any() for _, counts in Tally(table(0)).each(TRIPLES))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(1, 4), st.integers(1, 3))
def test_groups_that_are_added_up_are_each_added_to_one(groups, before, after):
    counts = np.arange(2.0 * before * len(groups) * after).reshape(2, -1)
    plain = np.zeros((2, before, max(groups) + 1, after))
    for at, group in enumerate(groups):
        plain[:, :, group] += counts.reshape(2, before, len(groups), after)[:, :, at]
    assert np.array_equal(tally.merged(counts, before, tuple(groups)), plain.reshape(2, -1))


@given(st.lists(st.lists(st.integers(0, 30), min_size=4, max_size=4), min_size=1, max_size=40), st.integers(1, 90))
def test_covers_hold_every_grid_once_and_grow_no_larger_than_they_may(weights, most):
    weights = np.array(weights, np.int32).T
    found = list(covering.covers(weights, most))
    assert sorted(at for _, inside in found for at in inside) == list(range(weights.shape[1]))
    for finest, inside in found:
        assert (weights[:, inside].max(axis=1) == finest).all()
        assert finest.sum() <= most or (weights[:, inside] == finest[:, None]).all(axis=0).any()


def test_blocks_of_rows_change_nothing(monkeypatch):
    whole = dict(Tally(table(300)).each(TRIPLES))
    monkeypatch.setattr(tally, "BLOCK", 7)
    assert all((counts == whole[place]).all() for place, counts in Tally(table(300)).each(TRIPLES))


def test_of_a_huge_grid_the_cells_with_rows_are_counted(monkeypatch):
    monkeypatch.setattr(tally, "MOST_CELLS", 10)
    one, grid = table(200), TRIPLES[-1]
    ((_, found),) = Tally(one).each([grid])
    dense = one.tabulate(grid)
    assert (found == dense[dense.any(axis=1)]).all() and len(found) < grid.size


def test_a_group_that_lies_in_two_groups_is_not_merged():
    crossing = Grid((AXES[0],)).axes[0].__class__("b", (0, 1) * 6 + (2,), ("even", "odd", "none"))
    half = next(one for one in AXES if one.column == "b" and one.size == 3)
    assert merging(half, crossing) is None and merging(crossing, half) is None
    assert merging(half, axis(SCHEMA.get("b")).axes[0]).tolist() == [0] * 6 + [1] * 6 + [2]


def wide(columns, values):
    names = [f"c{i}" for i in range(columns)]
    texts = tuple(map(str, range(values)))
    return Schema(name="w", label="y", column=[*(Categorical(name=n, values=texts) for n in names),
                                               Categorical(name="y", values=("no", "yes"))])  # fmt: skip


def test_a_choice_among_grids_beyond_two_to_the_sixty_three_cells():
    schema = wide(30, 40)
    rows = {name: ["1", "1", "2", "3"] for name in [f"c{i}" for i in range(30)]} | {"y": ["no", "yes", "no", "yes"]}
    source = open_source(rows, schema, Ledger(10**9, "w"), noise=0)
    most = Grid(sum((axis(column).axes for column in schema.features), ()))
    few = axis(schema.features[0], 0)
    for score in (Majority(), Discernibility()):
        assert source.choose([few, most], score, Budget(10**6)).value is most
    with pytest.raises(BadInput, match="too many cells"):
        source.choose([few, most], Rows(), Budget(1))


@pytest.mark.parametrize("most", [0, tally.MOST_GATHERED])
def test_groups_in_a_cell_are_the_same_from_a_sparse_matrix(monkeypatch, most):
    monkeypatch.setattr(tally, "MOST_GATHERED", most)
    one, cells = table(300), EVERY[2]
    found = {}
    for places, starts, counts in Tally(one).within(one.cell_of_each(cells), cells.size, AXES):
        found.update(zip(places, np.split(counts, starts[1:]), strict=True))
    for place, counts in found.items():
        parts = [part.tabulate(Grid((AXES[place],))) for part in one.split(one.cell_of_each(cells), cells.size)]
        assert (np.moveaxis(counts, 1, 0) == parts).all()
    assert sorted(found) == list(range(len(AXES)))


def test_a_choice_by_a_hundred_thousand_categories_needs_no_square_of_them():
    schema = wide(2, 100_000)
    rows = {"c0": ["7", "8"] * 50, "c1": ["7"] * 100, "y": ["no", "yes"] * 50}
    source = open_source(rows, schema, Ledger(10**9, "w"), noise=0)
    candidates = [axis(column) for column in schema.features]
    assert source.choose_each(WHOLE, candidates, Majority(), Budget(10**6)).value.tolist() == [0]


def test_a_handicap_turns_a_close_choice():
    source = open_source({"c0": ["1"] * 9 + ["2"] * 9, "c1": ["1", "2"] * 9, "y": ["no"] * 9 + ["yes"] * 9},
                         wide(2, 4), Ledger(10**9, "w"), noise=0)  # fmt: skip
    first, second = (axis(column) for column in source.schema.features)
    for score in (Majority(), Discernibility()):
        assert source.choose([first, second], score, Budget(10**6)).value is first
        assert source.choose([first, second], score, Budget(10**6), handicaps=[100, 0]).value is second
    for wrong in ([1], [0.5, 1], [2**31, 0]):
        with pytest.raises(BadInput, match="handicap"):
            source.choose([first, second], Majority(), Budget(1), handicaps=wrong)


def test_discernible_pairs_are_weighed_by_the_number_of_rows():
    """With weight exp(epsilon (pairs / rows) / 2) for each candidate, as the exponent is proved for."""
    rows = {"c0": ["1"] * 3 + ["2"] * 3, "c1": ["1"] * 6, "y": ["no"] * 3 + ["yes"] * 3}
    source = open_source(rows, wide(2, 4), Ledger(10**9, "w"), noise=0)
    candidates = [axis(column) for column in source.schema.features]
    first = sum(
        source.choose(candidates, Discernibility(), Budget("1/2")).value is candidates[0] for _ in range(20_000)
    )
    lose = np.exp(-0.5 / 2 * 18 / 6)  # all 18 ordered pairs, of 6 rows: permute-and-flip stops at the worse with this
    assert first / 20_000 == pytest.approx(1 - lose / 2, abs=5 * (0.25 / 20_000) ** 0.5)


def test_a_sieve_refuses_a_score_that_bounds_only_differences():
    source = open_source({"c0": ["1"], "y": ["no"]}, wide(1, 4), Ledger(1, "w"))
    with pytest.raises(BadInput, match="score"):
        source.above(Discernibility(), 3, Budget(1))


@pytest.mark.parametrize("kind", [lambda one: one, lambda one: Tree(WHOLE, (one,))], ids=["grids", "trees"])
def test_billions_of_rows_are_weighed_without_overflow(monkeypatch, kind):
    rows = 2**40
    source = open_source({"c0": ["1"], "c1": ["1"], "y": ["no"]}, wide(2, 4), Ledger(10**9, "w"), noise=0)
    pure, mixed = np.array([[rows // 2, 0], [0, rows // 2]]), np.array([[rows // 2, rows // 2], [0, 0]])

    class Crowd:
        def __len__(self):
            return rows

        def tabulate(self, tree):
            return mixed if tree.columns == candidates[0].columns else pure

    crowded = [mixed, pure]
    monkeypatch.setattr(source, "_table", Crowd())
    monkeypatch.setattr(choosing, "Tally", lambda _: SimpleNamespace(each=lambda grids: enumerate(crowded)))
    candidates = [kind(axis(column)) for column in source.schema.features]
    assert source.choose(candidates, Discernibility(), Budget(1)).value is candidates[1]
    chosen = source.choose(candidates, Discernibility(), Budget(1), handicaps=[-(2**30), 2**30]).value
    assert chosen is candidates[1]  # half a trillion pairs a row against two billion
    for mark in (100, 2**30):
        crowded[:] = [pure, pure]
        monkeypatch.setattr(Crowd, "tabulate", lambda self, tree: pure)
        assert source.choose(candidates, Discernibility(), Budget(1), handicaps=[mark, 0]).value is candidates[1]


def test_many_classes_do_not_multiply_the_counters(monkeypatch):
    monkeypatch.setattr(tally, "MOST_CELLS", 100)
    columns = [Categorical(name=name, values=tuple(map(str, range(9))), missing="0") for name in "ab"]
    many = Categorical(name="y", values=tuple(map(str, range(50))))
    schema = Schema(name="w", label="y", column=[*columns, many])
    rows = {"a": ["1", "2", "2"], "b": ["3", "4", "4"], "y": ["7", "8", "8"]}
    source = open_source(rows, schema, Ledger(1, "w"), noise=0)
    ((_, counts),) = Tally(source._table).each([axis(columns[0]) & axis(columns[1])])
    assert counts.shape == (2, 50) and counts.sum() == 3 and counts.max() == 2


def test_a_coarser_grid_is_not_added_up_from_occupied_cells(monkeypatch):
    one, fine, coarse = table(50), TRIPLES[-1], TRIPLES[-3]
    monkeypatch.setattr(tally, "MOST_CELLS", fine.size)  # enough for its cells, not for their classes
    for place, counts in Tally(one).each([fine, coarse]):
        dense = one.tabulate([fine, coarse][place])
        assert np.array_equal(counts[counts.any(axis=1)], dense[dense.any(axis=1)])


def test_the_libraries_of_products_are_looked_up_once_in_a_process(monkeypatch):
    looked = []
    monkeypatch.setattr(threads, "ThreadpoolController", lambda: looked.append(1) or REAL())
    threads._libraries.cache_clear()
    for _ in range(3):
        with threads.one_thread():
            assert {one["num_threads"] for one in REAL().select(user_api="blas").info()} == {1}
    assert looked == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_holds_its_libraries_to_one_thread():
    with threads.one_thread():
        pass
    child = os.fork()
    if child == 0:  # the child must not return into the test runner, whatever happens
        code = 1
        try:
            with threads.one_thread():
                found = {one["num_threads"] for one in REAL().select(user_api="blas").info()}
            code = 0 if found == {1} else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
