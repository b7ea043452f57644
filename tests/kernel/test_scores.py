"""Every score stays within its declared range when a row is added, for every table."""

from fractions import Fraction
from itertools import product
from math import floor, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veil import (
    BadInput,
    Correct,
    Dependence,
    Difference,
    Discernibility,
    Entropy,
    ExpectedCorrect,
    Gini,
    Majority,
    Purity,
    Rows,
)
from veil.kernel import PARTS
from veil.kernel.scores import OF_ROWS, SCORES, UNIT

LOOSE = [ExpectedCorrect(0.5, (PARTS, 2, 5)), ExpectedCorrect(3.0)]  # their ranges hold for any weights and steps
OTHERS = [Dependence()]  # which falls by less than its proof allows
EXPECTED = [ExpectedCorrect(0.5), ExpectedCorrect(0.01), *LOOSE]
ENTROPIES = [Entropy(most=5), Entropy(most=1000), Entropy()]
ALL = [Rows(), Rows(1, 2), Difference(), Purity(), Majority(), Correct(), Gini(), *ENTROPIES, *EXPECTED, *OTHERS]
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
    assert {type(score) for score in ALL} == {*OF_ROWS, Dependence} == {*SCORES} - {Discernibility}


@pytest.mark.parametrize("score", ALL, ids=repr)
@given(table=counts)
def test_an_added_row_moves_a_score_within_its_declared_range(score, table):
    moves = list(changes(score, table))
    assert score.low <= min(moves) and max(moves) <= score.high


@pytest.mark.parametrize("score", [score for score in ALL if score not in LOOSE + OTHERS], ids=repr)
def test_the_declared_range_is_nearly_reached(score):
    """A range that is too wide would waste budget: some table comes within a hundredth of each end."""
    sizes = [0, 1, 2, 5, 6, 300, getattr(score, "most", 0), round(2.73 / getattr(score, "epsilon", 1)), 10**6]
    tables = [np.array([[a, b, 0], [0, 0, 1]]) for a in sizes for b in sizes]
    moves = [move for table in tables for move in changes(score, table)]
    width = score.high - score.low
    assert min(moves) <= score.low + width / 100 and max(moves) >= score.high - width / 100


@pytest.mark.parametrize("score", [Gini(), Entropy(most=3), Entropy(most=100), *EXPECTED], ids=repr)
def test_ranges_hold_on_every_small_cell(score):
    for cell in product(range(9), repeat=3):
        moves = list(changes(score, np.array([cell])))
        assert score.low <= min(moves) and max(moves) <= score.high


@pytest.mark.parametrize("score", [score for score in ALL if score != Correct()], ids=repr)
def test_many_tables_have_the_scores_that_each_has_alone(score):
    tables = np.random.default_rng(0).integers(0, 9, (20, 2, 3))
    assert score.each(tables).tolist() == [score(table) for table in tables]


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


def test_expected_correct_is_what_simulated_noise_leaves_right():
    """The published formula: the chance that Laplace noise of scale 1/epsilon turns the majority of a cell."""
    epsilon, table, draw = 0.7, np.array([[9, 4], [3, 3], [0, 6], [1, 0]]), np.random.default_rng(0)
    noisy = table + draw.laplace(scale=1 / epsilon, size=(200_000, *table.shape))
    right = np.take_along_axis(table[None], noisy.argmax(axis=2)[..., None], axis=2).sum(axis=(1, 2))
    simulated, error = right.mean(), right.std() / len(right) ** 0.5
    assert abs(ExpectedCorrect(epsilon)(table) / UNIT - simulated) < 5 * error


def test_expected_correct_is_the_majority_without_noise():
    table = np.array([[9, 4, 2], [3, 3, 3], [0, 6, 1]])
    assert ExpectedCorrect(1e6)(table) == Majority()(table) * UNIT


def test_the_range_of_expected_correct_is_that_of_the_proof():
    """1.17782 for small epsilon, whatever the weights; less for large ones. 2.2, as published, would be twice that."""
    widths = [(score.high - score.low) / UNIT for score in map(ExpectedCorrect, (0.01, 0.1, 0.6, 2.0))]
    assert all(1.1770 < width < 1.17782 + 1e-3 for width in widths)
    assert ExpectedCorrect(0.1).low / UNIT == pytest.approx(-0.08891, abs=1e-3)


def test_a_cell_of_a_third_class_is_not_right_by_mistake():
    """The published code ignores the third class of a cell, and rates these two tables alike."""
    mixed, apart = np.array([[10, 10, 10], [0, 0, 0]]), np.array([[10, 10, 0], [0, 0, 10]])
    assert ExpectedCorrect(1.0)(apart) > ExpectedCorrect(1.0)(mixed) + 9 * UNIT


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"epsilon": float("nan")}, {"epsilon": 1, "weights": (0, 3)}])
def test_an_expected_correct_without_a_usable_epsilon_or_weights_is_refused(wrong):
    with pytest.raises(BadInput):
        ExpectedCorrect(**wrong)


def partitions(items):
    """Every way to put the items into blocks."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for place in range(len(rest)):
            yield [*rest[:place], [items[0], *rest[place]], *rest[place + 1 :]]


def discerned(blocks, labels):
    """Ordered pairs of different classes in different blocks, one by one."""
    block = {row: number for number, rows in enumerate(blocks) for row in rows}
    pairs = product(range(len(labels)), repeat=2)
    return sum(labels[a] != labels[b] and block[a] != block[b] for a, b in pairs)


@pytest.mark.parametrize(("rows", "classes"), [(2, 2), (3, 3), (4, 3), (5, 2)])
def test_an_added_row_moves_discernible_pairs_apart_by_less_than_two(rows, classes):
    """Every table of this many rows, every two partitions of it, every place of the added row: pairs / rows."""
    widest, every = 0.0, list(partitions(list(range(rows + 1))))
    for labels in product(range(classes), repeat=rows + 1):
        if labels[rows] != 0:
            continue  # classes are alike, so the added row may have the first
        moves = []
        for blocks in every:
            before = discerned([[row for row in block if row < rows] for block in blocks], labels[:rows]) / rows
            moves.append(discerned(blocks, labels) / (rows + 1) - before)
        widest = max(widest, max(moves) - min(moves))
    assert widest == pytest.approx(2 * rows / (rows + 1))
    assert widest < Discernibility.high - Discernibility.low


def test_discernibility_is_what_is_left_of_all_pairs(table=((3, 1, 0), (0, 2, 2))):
    labels = [label for cell in table for label, n in enumerate(cell) for _ in range(n)]
    blocks = [list(range(4)), list(range(4, 8))]
    pairs = sum(a != b for a, b in product(labels, repeat=2))
    assert pairs + Discernibility()(np.array(table)) == discerned(blocks, labels)


def test_pairs_of_billions_of_rows_do_not_overflow():
    rows = 2**40
    assert Discernibility()(np.array([[rows, rows], [rows, 0]])) == -2 * rows * rows
    assert Discernibility()(np.array([[2**31 - 1, 2**31]])) == -2 * (2**31 - 1) * 2**31


@given(table=counts)
def test_dependence_is_the_textbook_distance_from_independence(table):
    """R of Zhang et al. 2014 times the number of rows, in exact fractions, rounded down to units."""
    rows = int(table.sum())
    products = [
        (int(n), int(x), int(y))
        for line, x in zip(table, table.sum(axis=1), strict=True)
        for n, y in zip(line, table.sum(axis=0), strict=True)
    ]
    exact = sum(abs(Fraction(n) - Fraction(x * y, rows)) for n, x, y in products) / 2 if rows else Fraction(0)
    assert Dependence()(table) == floor(exact * UNIT)


def test_the_range_of_dependence_is_nearly_reached_above_and_kept_far_below():
    alone = max(changes(Dependence(), np.array([[10**6, 0], [0, 0]])))
    assert 1.9999 * UNIT < alone <= Dependence.high
    falls = min(min(changes(Dependence(), np.array([[a, b], [c, 0]]))) for a, b, c in product(range(12), repeat=3))
    assert Dependence.low <= falls < -UNIT


def test_dependence_does_not_overflow_with_billions_of_rows():
    for rows in (2**31 - 2, 2**31, 2**40):
        table = np.array([[rows // 2, 0], [0, rows - rows // 2]])
        assert Dependence()(table) == rows * UNIT // 2
        assert (
            Dependence.low <= min(changes(Dependence(), table)) and max(changes(Dependence(), table)) <= Dependence.high
        )
