"""Every score stays within its declared range when a row is added, for every table."""

from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veil import BadInput, Correct, Entropy, Gini, Majority, Rows
from veil.kernel.checks import SCORES
from veil.kernel.scores import UNIT

ALL = [Rows(), Rows(1, 2), Majority(), Correct(), Gini(), Entropy(most=5), Entropy(most=1000), Entropy()]
counts = st.integers(1, 4).flatmap(
    lambda size: arrays(np.int64, (max(size, 2), 3), elements=st.one_of(st.integers(0, 6), st.integers(0, 10**6)))
)


def changes(score, table):
    """How far each possible added row moves the score."""
    before = score(table)
    for cell, label in product(*map(range, table.shape)):
        after = table.copy()
        after[cell, label] += 1
        yield score(after) - before


def test_every_score_on_the_closed_list_is_tested():
    assert {type(score) for score in ALL} == set(SCORES)


@pytest.mark.parametrize("score", ALL, ids=repr)
@given(table=counts)
def test_an_added_row_moves_a_score_within_its_declared_range(score, table):
    moves = list(changes(score, table))
    assert score.low <= min(moves) and max(moves) <= score.high


@pytest.mark.parametrize("score", ALL, ids=repr)
def test_the_declared_range_is_nearly_reached(score):
    """A range that is too wide would waste budget: some table comes within a hundredth of each end."""
    sizes = [0, 1, 2, 5, 6, 300, getattr(score, "most", 0), 10**6]
    tables = [np.array([[a, b, 0], [0, 0, 1]]) for a in sizes for b in sizes]
    moves = [move for table in tables for move in changes(score, table)]
    width = score.high - score.low
    assert min(moves) <= score.low + width / 100 and max(moves) >= score.high - width / 100


@pytest.mark.parametrize("score", [Gini(), Entropy(most=3), Entropy(most=100)], ids=repr)
def test_ranges_hold_on_every_small_cell(score):
    for cell in product(range(9), repeat=3):
        moves = list(changes(score, np.array([cell])))
        assert score.low <= min(moves) and max(moves) <= score.high


@given(table=counts)
def test_gini_is_the_textbook_impurity(table):
    rows = table.sum(axis=1, keepdims=True)
    shares = table / np.maximum(rows, 1)
    textbook = -(rows[:, 0] * (1 - (shares**2).sum(axis=1)) * (rows[:, 0] > 0)).sum()
    assert Gini()(table) / UNIT == pytest.approx(textbook, rel=1e-9, abs=1e-5)


def test_entropy_is_the_textbook_entropy_up_to_its_size():
    table = np.array([[3, 5, 0], [7, 0, 0], [40, 1, 19]])
    textbook = sum(n * log2(cell.sum() / n) for cell in table for n in cell if n)
    assert -Entropy(most=100)(table) / UNIT == pytest.approx(textbook, rel=1e-5)


def test_entropy_keeps_its_range_far_beyond_its_size():
    score = Entropy(most=50)
    table = np.array([[10**9, 3 * 10**8, 0]])
    assert score.low <= min(changes(score, table)) and max(changes(score, table)) <= 0


def test_gini_does_not_overflow_with_billions_of_rows():
    table = np.array([[2**40, 2**40, 0]])
    assert Gini()(table) == -(2**40) * UNIT
    assert Gini.low <= min(changes(Gini(), table)) and max(changes(Gini(), table)) <= 0


def test_an_entropy_without_a_usable_size_is_refused():
    with pytest.raises(BadInput, match="most"):
        Entropy(most=0)
