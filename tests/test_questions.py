"""Questions: every row is in exactly one cell, by a rule about that row alone, and scores are whole numbers."""

from collections.abc import Mapping
from functools import reduce
from itertools import product
from math import prod
from operator import and_
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import (
    WHOLE,
    Axis,
    BadInput,
    Binned,
    Categorical,
    CellScores,
    Grid,
    Linear,
    Numeric,
    Predicted,
    Schema,
    Sum,
    Text,
    Tree,
    axis,
    grid,
)
from veil.questions import fixed_point
from veil.questions.grids import join
from veil.questions.scorers import UNIT

SIZES = {"a": 2, "b": 3, "c": 5, "d": 300}
SCHEMA = Schema(
    name="small",
    column=[
        Categorical(name="a", values=["x", "y"], missing="y"),
        Categorical(name="b", values=["p", "q"], groups={"both": ["p", "q"]}),
        Numeric(name="c", bounds=(0, 1), bins=4),
        Numeric(name="d", bounds=(0, 1), bins=300, missing=0),
        Text(name="words"),
    ],
)
Codes = dict[str, Any]


def codes_of(rows: list[tuple[int, ...]]) -> Codes:
    """Rows of codes as columns, in the types that an encoded table has."""
    columns = zip(*rows, strict=True) if rows else [()] * len(SIZES)
    types = [np.min_scalar_type(size - 1) for size in SIZES.values()]
    return {name: np.array(column, kind) for name, column, kind in zip(SIZES, columns, types, strict=True)}


ROWS = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES.values())), min_size=1, max_size=20)
FEW = st.lists(st.sampled_from(sorted(SIZES)), max_size=3, unique=True)
WEIGHTS = st.floats(allow_nan=False) | st.integers(-5, 5).map(float)


@st.composite
def grids(draw: Any, most: int = 10**9) -> Grid:
    """A grid over some of the columns, at any of their levels."""
    names = draw(FEW)
    axes = [axis(SCHEMA.get(name), draw(st.integers(0, len(SCHEMA.get(name).levels) - 1))) for name in names]
    found = reduce(and_, axes, WHOLE)
    return found if found.size <= most else WHOLE


@st.composite
def scorers(draw: Any, classes: int = 3) -> CellScores | Linear | Sum:
    constant = draw(st.lists(WEIGHTS, min_size=classes, max_size=classes))
    shape = st.lists(WEIGHTS, min_size=classes, max_size=classes)
    if cells := draw(st.integers(0, 3)):
        chosen = [draw(grids(most=12)) for _ in range(cells)]
        parts = tuple(CellScores(partition, [draw(shape) for _ in range(partition.size)]) for partition in chosen)
        return parts[0] if cells == 1 else Sum(parts)
    seed = draw(st.integers(0, 9))
    weights = {name: np.random.default_rng(seed).normal(size=(SIZES[name], classes)) for name in draw(FEW)}
    return Linear(weights, constant)


@st.composite
def partitions(draw: Any, depth: int = 2) -> Any:
    """Any of the four kinds; trees up to a depth."""
    kind = draw(st.sampled_from(["grid", "binned", "predicted", "tree"] if depth else ["grid", "binned", "predicted"]))
    if kind == "grid":
        return draw(grids())
    if kind == "binned":
        edges = draw(st.lists(st.integers(-9, 9), unique=True).map(sorted))
        return Binned(draw(scorers()), edges, draw(st.integers(-3, 2)))
    if kind == "predicted":
        return Predicted(draw(scorers()))
    cut = draw(grids(most=4) | st.builds(Predicted, scorers()))
    return Tree(cut, tuple(draw(partitions(depth - 1)) for _ in range(cut.size)))


@given(partitions(), ROWS, st.data())
def test_the_cell_of_a_row_depends_on_that_row_alone(
    partition: Any, rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    cells = partition.cells(codes_of(rows)).tolist()
    assert len(cells) == len(rows) and all(0 <= cell < partition.size for cell in cells)
    assert cells == [int(partition.cells(codes_of([row]))[0]) for row in rows]
    order = data.draw(st.permutations(range(len(rows))))
    assert partition.cells(codes_of([rows[i] for i in order])).tolist() == [cells[i] for i in order]
    cut = data.draw(st.integers(0, len(rows)))
    halves = (partition.cells(codes_of(half)).tolist() for half in (rows[:cut], rows[cut:]))
    assert sum(halves, []) == cells
    padding = data.draw(ROWS)
    assert partition.cells(codes_of(rows + padding)).tolist()[: len(rows)] == cells


@given(scorers(), ROWS, st.data())
def test_the_scores_of_a_row_are_whole_and_depend_on_that_row_alone(
    scorer: Any, rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    scores = scorer.scores(codes_of(rows))
    assert scores.dtype == np.int64 and scores.shape == (len(rows), scorer.classes)
    assert scores.tolist() == [scorer.scores(codes_of([row]))[0].tolist() for row in rows]
    order = data.draw(st.permutations(range(len(rows))))
    assert scorer.scores(codes_of([rows[i] for i in order])).tolist() == scores[order].tolist()


@given(partitions())
def test_a_partition_says_which_columns_it_needs_and_what_it_is(partition: Any) -> None:
    needed = {name: codes for name, codes in codes_of([(1, 2, 4, 299)]).items() if name in partition.columns}
    assert len(partition.cells(needed or {"": np.zeros(1)})) == 1
    assert set(partition.columns) <= set(SIZES) and len(set(partition.columns)) == len(partition.columns)
    assert isinstance(partition.describe(), str) and "\n" not in partition.describe()


@given(FEW)
def test_cells_of_a_grid_are_mixed_radix_numbers_the_last_column_fastest(names: list[str]) -> None:
    names = [name for name in names if name != "d"]
    combinations = list(product(*(range(SIZES[name]) for name in names)))
    full = [tuple(dict(zip(names, codes, strict=True)).get(name, 0) for name in SIZES) for codes in combinations]
    found = grid(SCHEMA, *names)
    assert found.size == len(combinations)
    assert found.cells(codes_of(full)).tolist() == list(range(found.size))


@given(grids())
def test_the_names_of_a_cell_lead_back_to_it(found: Grid) -> None:
    places = [{name: place for place, name in enumerate(one.names)} for one in found.axes]
    for cell in {0, found.size // 2, found.size - 1}:
        back = 0
        for size, place, name in zip(map(len, places), places, found.names(cell), strict=True):
            back = back * size + place[name]
        assert back == cell


def test_groups_are_gathered_along_an_axis() -> None:
    both = axis(SCHEMA.get("b"), 1)
    assert both.cells({"b": np.array([0, 1, 2], np.uint8)}).tolist() == [0, 0, 1]
    assert both.axes[0].names == ("both", "(missing)")
    assert axis(SCHEMA.get("b"), 0).size == 1


def test_no_axis_is_the_whole_table() -> None:
    assert WHOLE.size == 1 and WHOLE.columns == () and WHOLE.names(0) == () and WHOLE.describe() == "all rows"
    assert WHOLE.cells(codes_of([(0, 0, 0, 0)] * 3)).tolist() == [0, 0, 0]


@given(st.lists(st.integers(1, 400), min_size=1, max_size=7), st.data())
def test_joined_parts_are_exact_in_the_narrowest_type(sizes: list[int], data: st.DataObject) -> None:
    parts = [data.draw(st.integers(0, size - 1)) for size in sizes]
    arrays = [np.array([part], np.min_scalar_type(size - 1)) for part, size in zip(parts, sizes, strict=True)]
    cells = join(list(zip(arrays, sizes, strict=True)))
    assert int(cells[0]) == reduce(lambda cell, pair: cell * pair[1] + pair[0], zip(parts, sizes, strict=True), 0)
    assert cells.dtype.kind == "u"


@pytest.mark.parametrize(
    "sizes", [(2, 128), (16, 16), (255, 257), (256, 256), (2**16, 2**16), (2**31, 2**31), (1, 256)]
)
def test_the_last_cell_of_a_type_does_not_wrap_around(sizes: tuple[int, int]) -> None:
    parts = [(np.array([size - 1], np.min_scalar_type(size - 1)), size) for size in sizes]
    assert int(join(parts)[0]) == prod(sizes) - 1


def test_a_grid_of_more_than_2_to_the_63_cells_has_an_exact_size() -> None:
    names = [f"x{i}" for i in range(50)]
    schema = Schema(name="wide", column=[Numeric(name=name, bounds=(0, 1), bins=9) for name in names])
    wide = grid(schema, *names)
    assert wide.size == 10**50 and isinstance(wide.size, int)
    assert wide.names(10**50 - 1) == ("(missing)",) * 50
    assert wide.names(10**49)[0] == schema.get("x0").names[1]


def test_a_tree_numbers_the_leaves_of_its_branches_in_turn() -> None:
    tree = Tree(grid(SCHEMA, "a"), (grid(SCHEMA, "b"), WHOLE))
    assert tree.size == 4 and tree.columns == ("a", "b")
    assert tree.cells(codes_of([(0, 0, 0, 0), (0, 2, 0, 0), (1, 0, 0, 0), (1, 2, 4, 0)])).tolist() == [0, 2, 3, 3]


@st.composite
def walks(draw: Any, depth: int = 3) -> Any:
    """A tree whose cuts are of one column each."""
    column = SCHEMA.get(draw(st.sampled_from(list("abc"))))
    cut = axis(column, draw(st.integers(0, len(column.levels) - 1)))
    below = walks(depth - 1) if depth else st.just(WHOLE)
    return Tree(cut, tuple(draw(below | st.just(WHOLE) | st.just(cut)) for _ in range(cut.size)))


@given(walks(), ROWS)
def test_walking_down_a_tree_ends_where_its_branches_say(tree: Any, rows: list[tuple[int, ...]]) -> None:
    def leaf(part: Any, codes: Any) -> int:
        if not isinstance(part, Tree):
            return int(part.cells(codes)[0])
        taken = int(part.cut.cells(codes)[0])
        return sum(branch.size for branch in part.branches[:taken]) + leaf(part.branches[taken], codes)

    assert tree.flat is not None
    assert tree.cells(codes_of(rows)).tolist() == [leaf(tree, codes_of([row])) for row in rows]


def test_leaves_are_numbered_beyond_the_type_of_a_branch() -> None:
    schema = Schema(name="t", column=[SCHEMA.get("a"), Numeric(name="n", bounds=(0, 1), bins=199)])
    tree = Tree(grid(schema, "a"), (grid(schema, "n"), grid(schema, "n")))
    codes = {"a": np.array([0, 1, 1], np.uint8), "n": np.array([199, 0, 199], np.uint8)}
    assert tree.cells(codes).tolist() == [199, 200, 399]


def test_the_first_class_wins_a_tie() -> None:
    scorer = CellScores(grid(SCHEMA, "a"), [[1, 1, 1], [0, 2, 2]])
    assert Predicted(scorer).cells(codes_of([(0, 0, 0, 0), (1, 0, 0, 0)])).tolist() == [0, 1]
    almost = CellScores(WHOLE, [[0, 0.4 / UNIT, 0.6 / UNIT]])
    assert Predicted(almost).cells(codes_of([(0, 0, 0, 0)])).tolist() == [2]
    tied = CellScores(WHOLE, [[0, 0.4 / UNIT, 0.3 / UNIT]])
    assert Predicted(tied).cells(codes_of([(0, 0, 0, 0)])).tolist() == [0]


def test_intervals_of_a_score_hold_their_lower_edge() -> None:
    scorer = CellScores(grid(SCHEMA, "c"), [[0.0], [1.0], [1.5], [2.0], [9.0]])
    cells = Binned(scorer, [1, 2]).cells(codes_of([(0, 0, code, 0) for code in range(5)]))
    assert cells.tolist() == [0, 1, 1, 2, 2]
    assert Binned(scorer, []).size == 1


def test_the_binned_class_is_the_last_unless_said() -> None:
    scorer = CellScores(WHOLE, [[5, 0, -5]])
    row = codes_of([(0, 0, 0, 0)])
    assert [int(Binned(scorer, [0.5], label).cells(row)[0]) for label in (0, 1, 2)] == [1, 0, 0]
    assert int(Binned(scorer, [0.5]).cells(row)[0]) == 0


def test_linear_scores_add_up() -> None:
    scorer = Linear({"a": [[1, 0], [2, 0]], "b": [[0, 0.5]] * 3}, [10, 20])
    assert (scorer.scores(codes_of([(0, 0, 0, 0), (1, 2, 0, 0)])) / UNIT).tolist() == [[11, 20.5], [12, 20.5]]
    assert scorer.classes == 2 and scorer.columns == ("a", "b")


@given(st.floats(-1000, 1000))
def test_fixed_point_is_the_nearest_whole_number_of_units(value: float) -> None:
    assert abs(int(fixed_point([value])[0]) - value * UNIT) <= 0.5


def test_infinite_scores_are_clipped() -> None:
    low, high = fixed_point([-np.inf, np.inf]).tolist()
    assert low == -high == -(2**50)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_fixed_point_keeps_the_order(first: float, second: float) -> None:
    low, high = sorted([first, second])
    assert fixed_point([low])[0] <= fixed_point([high])[0]


MISTAKES: Mapping[str, tuple[Any, str]] = {
    "a column twice": (lambda: grid(SCHEMA, "a", "a"), "only once"),
    "a grid and itself": (lambda: grid(SCHEMA, "a") & grid(SCHEMA, "a"), "only once"),
    "free text": (lambda: grid(SCHEMA, "words"), "column 'words' is free text"),
    "no such column": (lambda: grid(SCHEMA, "z"), "no column 'z'"),
    "too few branches": (lambda: Tree(grid(SCHEMA, "a"), (WHOLE,)), "one branch for every cell"),
    "edges that fall": (lambda: Binned(CellScores(WHOLE, [[0.0]]), [2, 1]).size, "edges must increase"),
    "edges too close": (lambda: Binned(CellScores(WHOLE, [[0.0]]), [1, 1 + 1e-9]).size, "edges must increase"),
    "edges in a table": (lambda: Binned(CellScores(WHOLE, [[0.0]]), [[1.0]]).size, "edges must increase"),  # type: ignore[list-item]
    "an edge that is no number": (lambda: Binned(CellScores(WHOLE, [[0.0]]), [float("nan")]).size, "not a number"),
    "too few cells": (lambda: CellScores(grid(SCHEMA, "a"), [[0.0]]).table, "one row for each cell"),
    "a score for no class": (lambda: CellScores(WHOLE, [0.0]).table, "one column for each class"),
    "a score that is no number": (lambda: CellScores(WHOLE, [[float("nan")]]).table, "not a number"),
    "a weight that is no number": (lambda: Linear({"a": [[float("nan")]] * 2}, [0]).tables, "not a number"),
}


@pytest.mark.parametrize("ask, reason", MISTAKES.values(), ids=MISTAKES)
def test_a_question_of_the_wrong_shape_is_refused(ask: Any, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        ask()


def test_axes_are_equal_if_they_group_alike() -> None:
    assert Axis("a", (0, 1), ("x", "y")) == Axis("a", (0, 1), ("one", "two"))
    assert Axis("a", (0, 1), ("x", "y")) != Axis("a", (0, 0), ("x",))
    assert grid(SCHEMA, "a", "b") == axis(SCHEMA.get("a")) & axis(SCHEMA.get("b"))


def test_groups_are_called_what_their_owner_calls_them() -> None:
    jobs = Categorical(
        name="job",
        values=("nurse", "doctor", "clerk", "cook", "thief"),
        groups={"care": ["nurse", "doctor"], "trade": {"paper": ["clerk"], "food": ["cook"]}},
    )
    assert axis(jobs, 0).axes[0].names == ("all",)
    assert axis(jobs, 1).axes[0].names == ("care", "trade", "thief", "(missing)")
    ages = Numeric(name="age", bounds=(0, 7), integer=True)
    assert axis(ages, 1).axes[0].names == ("0 to 3", "4 to 7", "(missing)")
    incomes = Numeric(name="income", bounds=(0, 1), bins=4, missing=0)
    assert axis(incomes, 1).axes[0].names == ("0 to 0.5", "0.5 to 1")


def test_a_sum_adds_up_the_scores_of_its_parts() -> None:
    parts = CellScores(grid(SCHEMA, "a"), [[1, 2], [3, 4]]), CellScores(WHOLE, [[10, 20]])
    codes = codes_of([(0, 0, 0, 0), (1, 0, 0, 0)])
    assert (Sum(parts).scores(codes) == np.array([[11, 22], [13, 24]]) * UNIT).all()
    assert Sum(parts).columns == ("a",) and Sum(parts).classes == 2
