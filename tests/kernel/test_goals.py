"""Goals: what a sieve compares with zero is at least zero where the goal is met, and how far one row moves it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from veil import BadInput, Budget, Ledger, Predicted, open_source
from veil.audit.tables import COLOURS, LONE, SCHEMA
from veil.kernel import OrderedBeyond, RightBeyond
from veil.questions import CellScores

COUNTS = st.lists(st.lists(st.integers(0, 6), min_size=2, max_size=2), min_size=2, max_size=5)
GOALS = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100)


def rows_of(counts):
    """The rows behind counts, as scores and truths."""
    cells = [(cell, label) for cell, row in enumerate(counts) for label, n in enumerate(row) for _ in range(n)]
    return np.array(cells).reshape(-1, 2).T


@given(COUNTS, GOALS, st.data())
@pytest.mark.parametrize("kind", [RightBeyond, OrderedBeyond])
def test_one_row_moves_a_goal_by_no_more_than_it_declares(kind, counts, goal, data):
    score, table = kind(goal), np.array(counts)
    after = table.copy()
    after[data.draw(st.integers(0, len(counts) - 1)), data.draw(st.integers(0, 1))] += 1
    assert score.low <= score(after) - score(table) <= score.high


def test_the_declared_changes_are_attained():
    right = RightBeyond(Fraction(1, 4))
    tables = np.zeros((2, 2), int), np.eye(2, dtype=int), 1 - np.eye(2, dtype=int)
    assert [right(table) for table in tables] == [0, 2 * right.high, 2 * right.low]
    lone = OrderedBeyond(Fraction(1, 10**3))
    before, after = np.array([[0, 0], [999, 0], [0, 999]]), np.array([[0, 1], [999, 0], [0, 999]])
    assert lone(after) - lone(before) == pytest.approx(lone.low, abs=1)


@given(COUNTS, GOALS)
def test_the_order_is_above_its_goal_exactly_if_the_auc_is(counts, goal):
    scores, truth = rows_of(counts)
    if len({*truth}) == 2:
        smaller, auc = np.bincount(truth).min(), roc_auc_score(truth, scores)
        found = OrderedBeyond(goal)(np.array(counts)) / OrderedBeyond.unit
        assert found == pytest.approx(smaller * (auc - float(goal)), abs=2 / OrderedBeyond.unit)


@given(COUNTS, GOALS)
def test_right_predictions_are_above_their_goal_exactly_if_the_accuracy_is(counts, goal):
    table, score = np.array(counts), RightBeyond(goal)
    assert score(table) == score.unit * (np.trace(table) - goal * table.sum())


def test_a_sieve_says_whether_a_model_meets_a_goal():
    source = open_source(LONE, SCHEMA, Ledger(10**9, "audit"), noise=1)
    says = Predicted(CellScores(COLOURS, [[1.0, 0.0]] * 4))
    assert source.above(RightBeyond("0.9"), 0, Budget(10**6)).ask(says)
    says_not = Predicted(CellScores(COLOURS, [[0.0, 1.0]] * 4))
    assert not source.above(RightBeyond("0.9"), 0, Budget(10**6)).ask(says_not)


@pytest.mark.parametrize("goal", [0, 1, 2, -1, "x", None])
@pytest.mark.parametrize("kind", [RightBeyond, OrderedBeyond])
def test_a_goal_outside_zero_and_one_is_refused(kind, goal):
    with pytest.raises(BadInput, match="goal"):
        kind(goal)


def test_goals_are_not_for_choices_nor_of_a_class_that_there_is_not():
    source = open_source(LONE, SCHEMA, Ledger(9, "audit"), noise=1)
    with pytest.raises(BadInput, match="a score must be one of"):
        source.sift([COLOURS], RightBeyond("0.5"), 0, Budget(1), most=1)
    with pytest.raises(BadInput, match="class"):
        source.above(OrderedBeyond("0.5", label=7), 0, Budget(1)).ask(COLOURS)
