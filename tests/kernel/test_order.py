"""Rows in the order of a score: even cuts and misordered rows, exactly and on all small tables."""

from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from veil import Budget, Categorical, CellScores, Ledger, Numeric, Schema, grid, open_source
from veil.kernel import SeededNoise
from veil.kernel.verbs.order import PARTS_OF_A_ROW, even_cuts, misordered_rows

SCHEMA = Schema(
    name="t",
    label="y",
    column=[Numeric(name="x", bounds=(0, 15), integer=True), Categorical(name="y", values=("no", "yes"))],
)
HUGE = Budget(10**9)
counts = st.lists(st.integers(0, 6), min_size=1, max_size=6).map(np.array)


def source_of(x, y=None, noise=1):
    return open_source({"x": x, "y": ["no"] * len(x) if y is None else y}, SCHEMA, Ledger(10**12, "t"), noise=noise)


@given(counts, st.data())
def test_one_row_moves_misordered_rows_by_one_at_most(positives, data):
    negatives = np.array(data.draw(st.lists(st.integers(0, 6), min_size=len(positives), max_size=len(positives))))
    place = data.draw(st.integers(0, len(positives) - 1))
    more = np.eye(len(positives), dtype=np.int64)[place]
    before = misordered_rows(positives, negatives)
    for after in (misordered_rows(positives + more, negatives), misordered_rows(positives, negatives + more)):
        assert -PARTS_OF_A_ROW <= after - before <= PARTS_OF_A_ROW


def test_one_row_moves_misordered_rows_by_one_at_most_on_all_small_tables_and_that_is_reached():
    moves = set()
    for cells in product(range(4), repeat=6):
        positives, negatives = np.array(cells[:3]), np.array(cells[3:])
        before = misordered_rows(positives, negatives)
        for more in np.eye(3, dtype=np.int64):
            moves |= {misordered_rows(positives + more, negatives) - before}
            moves |= {misordered_rows(positives, negatives + more) - before}
    assert max(moves) == PARTS_OF_A_ROW and min(moves) >= -PARTS_OF_A_ROW


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_misordered_rows_are_those_of_the_auc(rows):
    x, y = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    if 0 < y.sum() < len(y):
        tables = [np.bincount(x[y == kind], minlength=6) for kind in (True, False)]
        exact = min(y.sum(), (~y).sum()) * (1 - roc_auc_score(y, x))
        assert misordered_rows(*tables) / PARTS_OF_A_ROW == pytest.approx(exact, abs=1 / PARTS_OF_A_ROW)


def test_a_single_class_has_no_misordered_rows():
    assert misordered_rows(np.array([3, 1]), np.zeros(2, np.int64)) == 0
    assert misordered_rows(np.zeros(2, np.int64), np.zeros(2, np.int64)) == 0


def test_even_cuts_with_a_huge_epsilon_divide_rows_evenly():
    table = np.full(64, 3)
    assert even_cuts(table, 3, Fraction(10**9), SeededNoise(1)) == list(range(8, 64, 8))
    tied = np.zeros(64, np.int64)
    tied[20] = 99
    found = even_cuts(tied, 4, Fraction(10**9), SeededNoise(2))
    assert found == sorted(set(found)) and 0 < found[0] and found[-1] < 64


def test_parts_of_a_single_value_are_not_cut():
    assert even_cuts(np.array([5]), 3, Fraction(1), SeededNoise(1)) == []
    assert even_cuts(np.array([5, 5]), 3, Fraction(1), SeededNoise(1)) == [1]


def median_law(table, rate):
    """The law of permute-and-flip on -|2 L - n|, by all orders' inclusion: exact for few cuts."""
    from itertools import permutations

    sums = np.cumsum(table)
    scores = -np.abs(2 * sums[:-1] - sums[-1])
    stops = np.exp(rate * (scores - scores.max()))
    law = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for place in order:
            law[place] += left * stops[place] / len(orders)
            left *= 1 - stops[place]
    return law


def cuts_law(table, low, high, depth, rate):
    """The law of all cuts between two ends, as a dict."""
    if depth == 0 or high - low < 2:
        return {(): 1.0}
    found = {}
    for place, chance in enumerate(median_law(table[low:high], rate)):
        cut = low + place + 1
        left, right = (cuts_law(table, *ends, depth - 1, rate) for ends in ((low, cut), (cut, high)))
        for (a, p), (b, q) in product(left.items(), right.items()):
            found[(*a, cut, *b)] = found.get((*a, cut, *b), 0) + chance * p * q
    return found


def test_the_exact_law_of_even_cuts_loses_no_more_than_epsilon():
    epsilon, depth, worst = 1.0, 2, 0.0
    for cells in product(range(3), repeat=4):
        before = cuts_law(np.array(cells), 0, 4, depth, epsilon / depth / 2)
        for more in np.eye(4, dtype=np.int64):
            after = cuts_law(np.array(cells) + more, 0, 4, depth, epsilon / depth / 2)
            worst = max(worst, *(abs(log(after[cuts] / before[cuts])) for cuts in before))
    assert 0.5 < worst <= epsilon + 1e-9


def test_even_cuts_have_that_law():
    table, runs, noise = np.array([2, 0, 1, 3]), 20_000, SeededNoise(3)
    law = cuts_law(table, 0, 4, 2, 0.25)
    seen = [tuple(even_cuts(table, 2, Fraction(1), noise)) for _ in range(runs)]
    for cuts, chance in law.items():
        assert seen.count(cuts) / runs == pytest.approx(chance, abs=5 * (chance / runs) ** 0.5 + 1e-3)


def test_quantiles_are_cut_points_of_the_grid_in_order():
    x = np.repeat(np.arange(16), 10)
    assert source_of(x).quantiles("x", 2, HUGE).value == (4.0, 8.0, 12.0)
    score = CellScores(grid(SCHEMA, "x"), np.append(np.arange(16.0), 0)[:, None])
    assert source_of(x).quantiles(score, 1, HUGE, grid=[3.5, 7.5, 9.5]).value == (7.5,)
    assert source_of([]).quantiles("x", 3, Budget(1)).value == tuple(
        sorted(source_of([]).quantiles("x", 3, Budget(1)).value)
    )


def test_misordered_is_the_exact_value_with_a_huge_epsilon_and_has_the_scale_of_a_count():
    x, y = [1, 2, 3, 4], ["yes", "no", "yes", "no"]
    release = source_of(x, y).misordered("x", 1, HUGE)
    assert release.value == 2 * 0.75
    assert source_of(x, y).misordered("x", 1, Budget("1/2")).scale == 2
    values = [source_of(x, y, noise=seed).misordered("x", 1, Budget(1)).value for seed in range(300)]
    assert np.mean(values) == pytest.approx(1.5, abs=0.3) and np.std(values) == pytest.approx(2**0.5, abs=0.4)


def test_pairs_of_billions_of_rows_do_not_overflow():
    many = 6 * 10**9
    rows, more = (misordered_rows(np.array([many, 0]), np.array([0, many + one])) for one in (0, 1))
    assert rows == many * PARTS_OF_A_ROW and abs(more - rows) <= PARTS_OF_A_ROW
