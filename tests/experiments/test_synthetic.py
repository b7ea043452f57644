"""Judging synthetic tables: distances between tables, and what is learned from rows."""

import numpy as np
import pandas as pd
import pytest

from experiments import synthetic
from veil import Categorical, Numeric, Schema
from veil.compare.data import Data, split

SCHEMA = Schema(
    name="made",
    label="y",
    column=[Numeric(name="x", bounds=(0, 16)), Categorical(name="y", values=("0", "1"))],
)
CHANCE = np.random.default_rng(0)
LABELS = CHANCE.integers(0, 2, 1500)
FRAME = pd.DataFrame({"x": LABELS * 8 + CHANCE.uniform(0, 8, 1500), "y": LABELS.astype(str)})


def test_distances_are_shares_of_rows_that_would_have_to_move():
    assert synthetic.apart(np.array([1, 3]), np.array([2, 2])) == 0.25
    assert synthetic.apart(np.array([5]), np.array([0, 0, 7])) == 1
    assert synthetic.distances(FRAME, FRAME, SCHEMA) == (0, 0)
    mixed = FRAME.assign(y=CHANCE.permutation(FRAME.y))
    one, two = synthetic.distances(FRAME, mixed, SCHEMA)
    assert one == 0 and two == pytest.approx(0.5, abs=0.05)


def test_whole_numbers_that_became_floats_are_the_same_categories():
    assert synthetic.as_text(pd.Series([1.0, 0.0, None])).tolist()[:2] == ["1", "0"]
    assert synthetic.as_text(pd.Series(["a", "b"])).tolist() == ["a", "b"]


@pytest.mark.parametrize("method", [*synthetic.OURS, synthetic.OPEN])
def test_a_run_learns_from_synthetic_rows_what_is_in_the_real_ones(method):
    found = synthetic.run(Data("made", SCHEMA, FRAME), method, 20, 0)
    assert found["auc"] > 0.98 and found["two_way"] < 0.1


def test_clipped_counts_are_the_nearest_that_are_not_negative_and_add_up():
    assert synthetic.clipped(np.array([5.0, 3.0, -4.0]), 4).tolist() == [3, 1, 0]
    assert synthetic.clipped(np.array([1.0, 2.0]), 5).tolist() == [2, 3]


def test_the_floor_of_one_way_tables_falls_in_proportion_to_epsilon():
    parts = split(Data("made", SCHEMA, FRAME), 0)
    means = [np.mean([synthetic.floor(parts, e, np.random.default_rng(i)) for i in range(40)]) for e in (1.0, 4.0)]
    assert means[0] == pytest.approx(4 * means[1], rel=0.15) and means[1] > 0


def test_45222_rows_of_15_columns_took_less_than_20_seconds():
    kept = pd.read_parquet(synthetic.TIME)
    assert (kept["rows"] == 45_222).all() and (kept["columns"] == 15).all() and kept.seconds.max() < 20
