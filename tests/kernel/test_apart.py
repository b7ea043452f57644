"""choose_apart, and choices by dependence: their laws, what a row can change, and what is refused."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import WHOLE, BadInput, Budget, Categorical, Dependence, Ledger, Schema, SeededNoise, grid, open_source
from veil.kernel.table import Table
from veil.kernel.verbs.apart import distances

BITS = Schema(name="bits", column=[Categorical(name=name, values=(0, 1, 2), missing=0) for name in "abc"])
AB, AC, BC = grid(BITS, "a", "b"), grid(BITS, "a", "c"), grid(BITS, "b", "c")
HUGE = Budget(10**6)


def source_of(rows, schema=BITS, noise=0):
    return open_source(rows, schema, Ledger(10**9, schema.name), noise=noise)


def table_of(*listed):
    return {name: [row[place] for row in listed] for place, name in enumerate("abc")}


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=20), st.tuples(*[st.integers(0, 2)] * 3))
def test_a_row_moves_every_distance_by_one(listed, row):
    expected = [np.arange(9) - 3, np.zeros(9, np.int64), np.array([7])]

    def scores(some):
        columns = {name: np.array([one[place] for one in some], np.uint8) for place, name in enumerate("abc")}
        return distances(Table(columns, np.zeros(len(some), np.uint8), 1), [AB, BC, WHOLE], expected)

    assert set(np.abs(scores([*listed, row]) - scores(listed)).tolist()) == {1}


def test_the_table_that_is_farthest_from_what_is_expected_is_chosen():
    source = source_of(table_of(*[(0, 0, 0), (1, 1, 0), (2, 2, 0)] * 5))
    expected = [np.eye(3, dtype=np.int64).ravel() * 5, np.full(9, 2), np.array([5, 0, 0, 5, 0, 0, 5, 0, 0])]
    release = source.choose_apart([AB, BC, AC], expected, HUGE)
    assert release.value is BC and release.receipt.epsilon == 10**6 and release.scale == pytest.approx(2e-6)
    handicapped = source.choose_apart([AB, BC, AC], expected, HUGE, handicaps=[-100, 0, 0])
    assert handicapped.value is AB


def test_its_law_is_permute_and_flip_with_half_of_epsilon_for_each_unit():
    source = source_of(table_of((0, 0, 0), (0, 0, 0)), noise=SeededNoise(1))
    won = [source.choose_apart([WHOLE, AB], [[0], [2, *[0] * 8]], Budget(1)).value is WHOLE for _ in range(4000)]
    other = exp(-2 / 2)  # two rows apart against none
    assert np.mean(won) == pytest.approx(1 - other / 2, abs=0.02)


def test_rows_of_a_person_make_the_noise_larger():
    schema = BITS.model_copy(update={"person": "who", "rows_per_person": 4})
    source = source_of({**table_of((0, 0, 0)), "who": [1]}, schema)
    assert source.choose_apart([WHOLE], [[0]], Budget(1)).scale == 8


@pytest.mark.parametrize(
    ("partitions", "expected", "handicaps"),
    [
        ([], [], None),
        ([WHOLE], [], None),
        ([WHOLE], [[1, 2]], None),
        ([WHOLE], [[0.5]], None),
        ([WHOLE], [[2**37]], None),
        ([WHOLE], [["many"]], None),
        ([AB], [[[0] * 9]], None),
        ([WHOLE], [[1]], [1, 2]),
        ([grid(Schema(name="x", column=[Categorical(name="z", values=(0, 1))]), "z")], [[0, 0, 0]], None),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_before_a_charge(partitions, expected, handicaps):
    source = source_of(table_of((0, 0, 0)))
    with pytest.raises(BadInput):
        source.choose_apart(partitions, expected, Budget(1), handicaps=handicaps)
    assert not source.record.receipts


def test_without_classes_the_last_axis_is_compared_with_the_others():
    listed = [(a, a, c) for a in range(3) for c in range(3)] * 4
    source = source_of(table_of(*listed))
    assert source.choose([AC, BC, AB], Dependence(), HUGE).value is AB
    both = grid(BITS, "a", "c", "b")
    assert source.choose([both, AC], Dependence(), HUGE).value is both


def test_with_classes_cells_are_compared_with_them():
    schema = BITS.model_copy(update={"label": "c"})
    source = source_of(table_of(*[(a, b, b) for a in range(3) for b in range(3)] * 4), schema)
    assert source.choose([grid(schema, "a"), grid(schema, "b")], Dependence(), HUGE).value.columns == ("b",)
