"""segments and choose_range: their laws on small tables, what a row can change, and what is refused."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil.errors import BadInput
from veil.kernel import Budget, Ledger, open_source
from veil.kernel.verbs.ranges import rows_in
from veil.kernel.verbs.segments import cheapest, deviations, lengths_of, moves_of, own_prices
from veil.questions import grid
from veil.schema import Numeric, Schema

HUGE = Budget(10**6)
REACH = 20  # of the geometric noise of a single cell that is summed over


def source_of(cells, seed=1, **more):
    schema = Schema(
        name="cells", column=[Numeric(name="x", bounds=(0, len(cells) - 1), integer=True, bins=len(cells))], **more
    )
    rows = {"x": np.repeat(np.arange(len(cells)), cells), "who": np.arange(sum(cells))}
    source = open_source(rows, schema, Ledger(10**9, "cells"), seed)
    return source, grid(schema, "x")


def cut(cells, budget=HUGE, prices=None, seed=1):
    source, line = source_of(cells, seed)
    prices = [0.25] * len(lengths_of(len(cells))) if prices is None else prices
    return source.segments(line, len(cells), budget, prices=prices)


def partitions(cells):
    """Every way to cut cells into buckets, as lists of lengths, those with the shortest last buckets first."""
    if cells == 0:
        return [[]]
    found = [(*rest, last) for last in lengths_of(cells) for rest in partitions(cells - last)]
    return sorted(found, key=lambda lengths: lengths[::-1])


def starts_of(lengths):
    return [0, *np.cumsum(lengths)[:-1].tolist()]


def cost_of(lengths, costs, cells):
    kinds = dict(zip(lengths_of(cells), costs, strict=True))
    return sum(kinds[length][start] for start, length in zip(starts_of(lengths), lengths, strict=True))


counts = st.lists(st.one_of(st.integers(0, 5), st.integers(0, 10**6)), min_size=1, max_size=9)


@given(counts, st.data())
def test_a_row_moves_a_bucket_by_no_more_than_the_argument_says(cells, data):
    """L dev(b) by 2 (L - L/|b|) if the row is in it, else not at all."""
    row = data.draw(st.integers(0, len(cells) - 1))
    longest = lengths_of(len(cells))[-1]
    more = np.array(cells) + (np.arange(len(cells)) == row)
    for length in lengths_of(len(cells)):
        before, after = (deviations(np.array(table), length, longest) for table in (cells, more))
        inside = np.array([start <= row < start + length for start in range(len(cells) - length + 1)])
        assert np.abs(after - before).max(initial=0, where=inside) <= 2 * (longest - longest // length)
        assert not np.any((after != before) & ~inside)


def test_the_bound_is_reached():
    """One row among equal cells, and one into the largest of them."""
    longest = 8
    for length in (2, 4, 8):
        flat, spike = np.zeros(length, int), np.eye(length, dtype=int)[0]
        assert deviations(spike, length, longest)[0] - deviations(flat, length, longest)[0] == 2 * (
            longest - longest // length
        )


@given(counts)
def test_deviations_are_the_textbook_ones(cells):
    longest = lengths_of(len(cells))[-1]
    for length in lengths_of(len(cells)):
        textbook = [
            sum(abs(x - Fraction(sum(part), length)) for x in part) * longest
            for part in (cells[start : start + length] for start in range(len(cells) - length + 1))
        ]
        assert deviations(np.array(cells), length, longest).tolist() == textbook


def test_moves_are_those_of_the_argument():
    lengths = lengths_of(9)
    assert lengths == [1, 2, 4, 8]
    assert moves_of(lengths) == [2 * (8 - 8 // length) + 2 * (8 - 1) for length in lengths]
    assert moves_of(lengths_of(1)) == [1]


@given(st.integers(1, 7), st.randoms(use_true_random=False))
def test_the_cheapest_partition_is_the_first_of_the_cheapest(cells, chance):
    """Against every partition, in the fixed order; few different costs, so that many are equal."""
    costs = [[chance.randint(-2, 2) for _ in range(cells - length + 1)] for length in lengths_of(cells)]
    best = min(partitions(cells), key=lambda lengths: cost_of(lengths, costs, cells))
    assert cheapest(costs, lengths_of(cells), cells) == starts_of(best)


def law(cells, epsilon, prices):
    """The exact law of the partition of three cells: single cells 0, 1, 2 and pairs 01, 12, each with its noise.

    Given the noise of cells 0 and 2, the three partitions differ by noise of their own: that of cell 1, of 01, of 12.
    """
    lengths = lengths_of(3)
    rates = [epsilon / move for move in moves_of(lengths)]
    (a, b, c), (ab, bc) = (
        deviations(np.array(cells), length, 2) + mark
        for length, mark in zip(lengths, own_prices(prices, lengths), strict=True)
    )
    first, third, own = np.ogrid[:REACH, :REACH, : 2 * REACH]
    weights = np.exp(-rates[0] * (first + third)) * (1 - np.exp(-rates[0])) ** 2
    bases = (
        a + b + c - first - third,
        a + bc - first + 0 * third,
        ab + c - third + 0 * first,
    )  # 1 1 1, then 1 2, then 2 1
    order, rate_of, chances = (0, 2, 1), (rates[0], rates[1], rates[1]), []  # 2 1 has a shorter last bucket than 1 2
    for place in range(3):
        chance = weights * np.exp(-rate_of[place] * own) * (1 - np.exp(-rate_of[place]))
        for other in {0, 1, 2} - {place}:
            most = bases[other] - (bases[place] - own) - (order[other] < order[place])  # of the other's own noise
            chance = chance * -np.expm1(-rate_of[other] * np.maximum(most + 1, 0))
        chances.append(chance.sum())
    return np.array(chances)


@pytest.mark.parametrize("prices", [(0, 0), (1, 1), (0, 2), (2, 0)])
def test_the_exact_law_loses_no_more_than_epsilon(prices):
    """Every table of three cells with up to two rows in each, and every row more, at epsilon 4."""
    laws, worst = {}, 0.0
    for cells in product(range(3), repeat=3):
        for more in [np.zeros(3, int), *np.eye(3, dtype=int)]:
            key = tuple((np.array(cells) + more).tolist())
            laws.setdefault(key, law(key, 4.0, prices))
            worst = max(worst, np.abs(np.log(laws[key] / laws[cells])).max())
    assert 1 < worst <= 4 + 1e-6


def test_the_verb_has_the_law(prices=(1, 1), cells=(2, 0, 1)):
    source, line = source_of(cells, seed=3)
    drawn = [source.segments(line, 3, Budget(4), prices=prices).value.tolist() for _ in range(4000)]
    seen = np.array([drawn.count(starts) for starts in ([0, 1, 2], [0, 1], [0, 2])]) / 4000
    assert seen == pytest.approx(law(cells, 4.0, prices), abs=0.03)


def test_runs_of_equal_cells_are_found():
    assert cut([9, 9, 9, 9, 0, 0, 7, 7]).value.tolist() == [0, 4, 6]
    source, line = source_of([5, 6])
    assert source.segments(line, 1, HUGE, prices=[1]).value.tolist() == [0]
    assert cut([0, 0, 0], prices=[1, 1]).value.tolist() in ([0, 1], [0, 2])


def test_a_price_makes_runs_longer():
    cells = [3, 4, 3, 4]
    assert cut(cells, prices=[0, 9, 9]).value.tolist() == [0, 1, 2, 3]
    assert cut(cells, prices=[9, 9, 9]).value.tolist() == [0]


def test_segments_are_charged_and_frozen():
    source, line = source_of([3, 1, 4, 1, 5])
    release = source.segments(line, 5, Budget("1/3"), prices=[1, 1, 1])
    assert release.receipt.epsilon == Fraction(1, 3) and release.receipt.verb == "segments"
    assert release.value.dtype == np.int64 and not release.value.flags.writeable
    assert release.scale == pytest.approx(3 * 2 * (2 * 4 - 1 - 1) / 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"prices": [1, 1]},
        {"prices": [1, 1, -1]},
        {"prices": [1, 1, float("nan")]},
        {"prices": [1, 1, 2**41]},
        {"cells": 0},
        {"cells": 8},
        {"cells": 2.5},
        {"budget": Budget("1e-12")},
    ],
    ids=str,
)
def test_segments_that_make_no_sense_are_refused_before_a_charge(wrong):
    source, line = source_of([3, 1, 4, 1, 5])
    asked = {"cells": 5, "budget": Budget(1), "prices": [1, 1, 1], **wrong}
    with pytest.raises(BadInput):
        source.segments(line, asked["cells"], asked["budget"], prices=asked["prices"])
    assert not source.record.receipts


def test_rows_in_boxes_are_counted():
    table = np.random.default_rng(0).integers(0, 9, (5, 4, 3))
    boxes = np.array([[[0, 5], [0, 4], [0, 3]], [[1, 3], [2, 4], [0, 1]], [[2, 2], [0, 4], [0, 3]]])
    expected = [table.sum(), table[1:3, 2:4, :1].sum(), 0]
    assert rows_in(table, boxes).tolist() == expected


@given(st.lists(st.integers(0, 9), min_size=6, max_size=6), st.integers(0, 5), st.integers(-20, 40))
def test_a_row_moves_the_score_of_a_range_by_one_at_most(cells, row, target):
    boxes = np.array([[[a, b]] for a in range(7) for b in range(a, 7)])
    before, after = (np.abs(rows_in(np.array(cells) + more, boxes) - target) for more in (0, np.eye(6, dtype=int)[row]))
    assert set(np.unique(after - before)) <= {-1, 0, 1}


def test_the_range_that_is_farthest_from_its_target_is_chosen():
    source, line = source_of([5, 0, 0, 5])
    ranges, targets = [[[0, 1]], [[1, 3]], [[0, 4]]], [5, 9, 12]
    release = source.choose_range(line, [4], ranges, targets, HUGE)
    assert release.value == 1 and release.receipt.epsilon == 10**6 and release.scale == pytest.approx(2e-6)


def test_rows_of_a_person_make_the_noise_larger():
    source, line = source_of([5, 0], person="who", rows_per_person=4)
    assert source.choose_range(line, [2], [[[0, 1]]], [0], Budget(1)).scale == 8
    assert source.segments(line, 2, Budget(1), prices=[0, 0]).scale == pytest.approx(4 * 2 * (4 - 1 - 1) / 2)


@pytest.mark.parametrize(
    ("shape", "ranges", "targets"),
    [
        ([5], [[[0, 1]]], [0.5]),
        ([5], [[[0, 1]]], [0, 1]),
        ([5], [[[0, 1]]], [2**41]),
        ([5], [[[0, 6]]], [0]),
        ([5], [[[2, 1]]], [0]),
        ([5], [[[-1, 1]]], [0]),
        ([5], [[[0.0, 1.0]]], [0]),
        ([5], [], []),
        ([5], [[0, 1]], [0]),
        ([9], [[[0, 1]]], [0]),
        ([3, 3], [[[0, 1], [0, 1]]], [0]),
        ([], [[[0, 1]]], [0]),
    ],
    ids=str,
)
def test_ranges_that_make_no_sense_are_refused_before_a_charge(shape, ranges, targets):
    source, line = source_of([3, 1, 4, 1, 5])
    with pytest.raises(BadInput):
        source.choose_range(line, shape, ranges, targets, Budget(1))
    assert not source.record.receipts
