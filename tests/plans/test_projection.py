"""The public numbers of a projected histogram: those of the paper, with its errata."""

from math import log

import numpy as np
import pytest

from pairs import undiscerned
from veil.plans.histograms.projection import (
    LEFT_OUT,
    bins_for,
    columns_for,
    same_bin,
    share_to_count,
)


def columns_in_public(codes, labels, left_out=LEFT_OUT):
    """The columns that a greedy choice on public rows needs to separate 90 % of the pairs that all separate."""
    blocks, unused, chosen = np.zeros(len(labels), np.int64), dict(codes), 0
    for column in codes.values():
        blocks = np.unique(blocks * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    least, everything = undiscerned(blocks, labels), undiscerned(np.zeros(len(labels), np.int64), labels)
    blocks = np.zeros(len(labels), np.int64)
    while unused and undiscerned(blocks, labels) - least > left_out * (everything - least):
        refined = {name: blocks * (int(column.max()) + 1) + column for name, column in unused.items()}
        best = min(refined, key=lambda name: undiscerned(refined[name], labels))
        blocks, chosen = np.unique(refined[best], return_inverse=True)[1], chosen + 1
        del unused[best]
    return max(chosen, 1)


@pytest.mark.parametrize(
    ("rows", "available", "classes", "columns", "bins", "share"),
    [
        (150, 4, 3, 3, 2, 0.14),
        (6435, 36, 6, 4, 4, 0.23),
        (1753, 44, 2, 4, 3, 0.05),
        (45_083, 14, 2, 4, 5, 0.09),
    ],
    ids=["Iris", "Satellite", "Infarct", "Adult"],
)
def test_the_numbers_of_the_papers_tables(rows, available, classes, columns, bins, share):
    assert columns_for(available, rows) == columns
    assert bins_for(rows, columns) == bins
    assert share_to_count(rows, available, columns, classes, 2) == pytest.approx(share, abs=0.006)


def test_the_bandwidth_never_leaves_a_single_bin():
    """As printed, 36 columns of 6,435 rows would be cut into one bin each, and all information be lost."""
    assert (6435 / log(6435)) ** (1 / 37) - 0.5 < 1
    assert bins_for(6435, 36) == 2


@pytest.mark.parametrize("rows", [0, 1, 2, 10, 10**9])
@pytest.mark.parametrize("available", [1, 2, 40])
def test_any_number_of_rows_and_columns_has_an_answer(rows, available):
    columns = columns_for(available, rows)
    assert 1 <= columns <= available and bins_for(rows, columns) >= 2
    assert 0.05 <= share_to_count(rows, available, columns, 1, 2) <= 0.95


def test_two_halves_of_a_normal_variable_are_equally_likely():
    assert same_bin(2) == pytest.approx(0.5)
    assert same_bin(1) == pytest.approx(1)


def test_public_rows_tell_how_many_columns_are_needed():
    draw = np.random.default_rng(0)
    first, second = draw.integers(0, 2, (2, 400))
    noise = {f"n{i}": np.zeros(400, int) for i in range(5)}
    assert columns_in_public({"a": first, **noise}, first) == 1
    assert columns_in_public({"a": first, "b": second, **noise}, 2 * first + second, left_out=0.01) == 2


def test_independent_columns_of_simulated_rows_agree_with_the_closed_form():
    draw = np.random.default_rng(0)
    columns = {f"x{i}": draw.integers(0, 2, 4000) for i in range(12)}
    assert columns_in_public(columns, draw.integers(0, 2, 4000)) == columns_for(12, 4000) == 4


def test_undiscerned_pairs_are_counted_one_by_one():
    blocks, labels = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 1, 0, 0, 1])
    pairs = [(a, b) for a in range(6) for b in range(6)]
    assert undiscerned(blocks, labels) == sum(blocks[a] == blocks[b] and labels[a] != labels[b] for a, b in pairs)
