"""Trees drawn by public coins: a row finds its leaf by itself, and any number of leaves can be counted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import BadInput, Budget, Categorical, Ledger, Numeric, Predicted, Schema, Sum, open_source
from veil.kernel import Owner
from veil.plans.trees.coins import deepest_drawn, unlisted
from veil.questions import Axis, Drawn, PathScores
from veil.questions.drawn import WIDEST, node_numbers

SCHEMA = Schema(
    name="toy",
    label="y",
    column=[
        Categorical(name="a", values=("u", "v", "w")),
        Categorical(name="b", values=("p", "q"), missing="p"),
        Numeric(name="x", bounds=(0, 8), bins=8),
        Categorical(name="y", values=("no", "yes")),
    ],
)
TREE = unlisted(SCHEMA, 5, 1.0, 0.0, None, 7)
MASK = 2**64 - 1


def codes_of(size, seed=0):
    draws = np.random.default_rng(seed)
    return {column.name: draws.integers(column.size, size=size) for column in SCHEMA.features}


def frame(size, seed=0):
    draws = np.random.default_rng(seed)
    a, b, x = draws.choice(list("uvw"), size), draws.choice(list("pq"), size), draws.uniform(0, 8, size)
    return {"a": a, "b": b, "x": x, "y": np.where(x > 4, "yes", "no")}


def mixed(number):
    number = (number + 0x9E3779B97F4A7C15) & MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK
    return number ^ (number >> 31)


def leaf_of(tree, row):
    """The leaf of one row, node by node, in Python's integers."""
    reach = [(0, axis.size) for axis in tree.axes]
    leaf, parts = 0, 1
    for level in range(tree.depth):
        able = [place for place, (low, high) in enumerate(reach) if high - low > 1]
        coin = mixed(mixed(leaf) ^ mixed((tree.seed + level) & MASK))
        place = tree.first if level == 0 and tree.first >= 0 else able[coin % len(able)] if able else None
        if place not in able or parts >= tree.most:
            leaf *= tree.width
            continue
        axis, (low, high) = tree.axes[place], reach[place]
        group = axis.groups[row[axis.column]]
        if tree.halved[place]:
            edge = low + 1 + mixed(coin) % (high - low - 1) if high - low > 1 else low + 1
            branch, parts = int(group >= edge), parts * 2
            reach[place] = (edge, high) if branch else (low, edge)
        else:
            branch, parts = group, parts * (high - low)
            reach[place] = (group, group + 1)
        leaf = leaf * tree.width + branch
    return leaf


@given(
    seed=st.integers(0, 2**40),
    depth=st.integers(1, 12),
    most=st.sampled_from([1, 2, 5, 40, WIDEST]),
    first=st.integers(-1, 2),
)
def test_leaves_are_those_that_each_row_finds_by_itself(seed, depth, most, first):
    tree, codes = replace(TREE, seed=seed, depth=depth, most=most, first=first), codes_of(30, seed)
    cells = tree.cells(codes)
    rows = [{name: column[place] for name, column in codes.items()} for place in range(30)]
    assert cells.tolist() == [leaf_of(tree, row) for row in rows]
    assert ((cells >= 0) & (cells < tree.size)).all()


def test_nodes_choose_their_columns_by_themselves():
    """A tree that took one column a level would have no more than one column on each level; this one has several."""
    tree = replace(TREE, depth=2)
    seconds = set()
    for group in range(4):
        codes = {"a": np.full(16, group), "b": np.tile([0, 1], 8), "x": np.repeat(np.arange(8), 2)}
        leaves = replace(tree, first=0).cells(codes)
        seconds.add("b" if len(set(leaves[::2])) == 1 else "x")
    assert seconds == {"b", "x"}


@given(st.integers(1, 4))
def test_a_smaller_depth_is_the_same_tree_cut_off(depth):
    codes, top = codes_of(200), replace(TREE, depth=depth)
    assert (TREE.cells(codes) // TREE.width ** (TREE.depth - depth) == top.cells(codes)).all()
    numbers = node_numbers(TREE, TREE.cells(codes), depth)
    assert (numbers == node_numbers(top, top.cells(codes), depth)).all()


def test_a_sparse_count_of_leaves_is_the_exact_one_for_a_huge_budget():
    rows = frame(500)
    release = open_source(rows, SCHEMA, Ledger(10**7, "toy"), noise=0).count_sparse(TREE, Budget(10**6))
    codes = SCHEMA.encode(rows)
    expected = np.bincount(TREE.cells(codes) * 2 + codes["y"], minlength=TREE.size * 2)
    assert release.value.codes.tolist() == np.flatnonzero(expected).tolist()
    assert release.value.counts.tolist() == expected[expected > 0].tolist()


def test_a_sparse_count_of_leaves_has_the_law_of_the_dense_one():
    rows, counts = frame(40), []
    tree, codes = replace(TREE, depth=2), SCHEMA.encode(frame(40))
    exact = np.bincount(tree.cells(codes) * 2 + codes["y"], minlength=tree.size * 2)
    for seed in range(400):
        source = open_source(rows, SCHEMA, Ledger(10, "toy"), noise=seed)
        value, dense = source.count_sparse(tree, Budget(1), threshold=0).value, source.count(tree, Budget(1)).value
        counts.append((len(value.codes), int(value.counts.sum()), (dense > 0).sum(), dense[dense > 0].sum()))
    sparse_size, sparse_sum, dense_size, dense_sum = np.mean(counts, axis=0)
    assert abs(sparse_size - dense_size) < 0.5 and abs(sparse_sum - dense_sum) < 2
    assert exact.sum() == 40


def test_a_row_is_answered_by_the_last_known_node_on_its_path():
    codes, leaves = codes_of(100), TREE.cells(codes_of(100))
    known = np.unique(node_numbers(TREE, leaves[:1], TREE.depth))
    middle = np.unique(node_numbers(TREE, leaves[1:2], 2))
    nodes = np.unique(np.concatenate([[0], middle, known]))
    values = np.arange(2 * len(nodes)).reshape(-1, 2).astype(float)
    scores = PathScores(TREE, nodes, values).scores(codes) >> 20
    for place in range(100):
        path = [node_numbers(TREE, leaves[place : place + 1], level)[0] for level in range(1, TREE.depth + 1)]
        last = max([0, *(int(np.flatnonzero(nodes == number)[0]) for number in path if number in nodes)])
        assert scores[place].tolist() == values[last].tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        {"depth": 0},
        {"depth": 61},
        {"depth": 50},
        {"depth": 2.0},
        {"depth": np.int64(2)},
        {"seed": -1},
        {"most": 0},
        {"first": 3},
        {"halved": (False, False)},
        {"halved": (0, 0, 1)},
        {"halved": [False, False, True]},
        {"axes": TREE.axes[:2]},
        {"axes": (TREE.axes[0], TREE.axes[0], TREE.axes[2])},
        {"axes": (Axis("a", (0, 1), ("u", "v")), *TREE.axes[1:])},
    ],
)
def test_a_drawn_tree_that_cannot_be_evaluated_is_refused_before_the_charge(wrong):
    source = open_source(frame(10), SCHEMA, Ledger(1, "toy"), noise=0)
    with pytest.raises(BadInput):
        source.count_sparse(replace(TREE, **wrong), Budget(1))
    assert source._account.ledger.left == 1


@pytest.mark.parametrize("forged", [{"size": 3}, {"width": 2}, {"columns": ("a",)}, {"cells": lambda codes: 0}])
def test_a_size_that_was_changed_has_no_say(forged):
    tree = replace(TREE)
    tree.__dict__.update(forged)
    asked = Owner(SCHEMA)(tree, dense=False)
    assert asked is not tree and not {*forged} & {*vars(asked)} - {"size", "width", "columns"}
    assert (asked.size, asked.width, asked.columns) == (TREE.size, TREE.width, TREE.columns)


@pytest.mark.parametrize("nodes", [[1], [0, 5, 5], [0.0], [[0]], []])
def test_path_scores_need_sorted_nodes_from_the_root_on(nodes):
    scorer = PathScores(TREE, np.array(nodes), np.zeros((len(nodes), 2)))
    with pytest.raises(BadInput, match="path scores"):
        Owner(SCHEMA)(Predicted(scorer))
    with pytest.raises(BadInput, match="one row for each node"):
        Owner(SCHEMA)(Predicted(PathScores(TREE, np.zeros(1, np.int64), np.zeros((2, 2)))))


def test_predictions_of_a_drawn_tree_can_be_counted_and_sums_need_parts():
    scorer = Sum((PathScores(TREE, np.zeros(1, np.int64), [[0.0, 1.0]]),))
    source = open_source(frame(50), SCHEMA, Ledger(10**6, "toy"), noise=0)
    assert source.count(Predicted(scorer), Budget(10**5)).value.sum(axis=1).tolist() == [0, 50]
    with pytest.raises(BadInput, match="a sum needs"):
        Owner(SCHEMA)(Predicted(Sum(())))


def test_the_deepest_drawn_tree_can_be_numbered_and_one_more_level_cannot():
    values = tuple(map(str, range(20)))
    columns = [Categorical(name=f"c{i}", values=values, missing="0") for i in range(20)]
    schema = Schema(name="toy", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
    depth = deepest_drawn(schema)
    Owner(schema)(unlisted(schema, depth, 1.0, 0.0, None, 1), dense=False)
    with pytest.raises(BadInput, match="smaller depth"):
        Owner(schema)(replace(unlisted(schema, depth, 1.0, 0.0, None, 1), depth=depth + 1), dense=False)
    drawn = unlisted(schema, 99, 1.0, 0.0, "c3", 1)
    assert (drawn.depth, drawn.first, type(drawn)) == (depth, 3, Drawn)
