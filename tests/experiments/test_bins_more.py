"""What else is measured of found bins: the tables that are made, and what is kept of them."""

import numpy as np
import pandas as pd

from experiments import bins_more
from veil import Categorical, Numeric, Schema
from veil.compare.data import Data

COLUMNS = [
    Numeric(name="x", bounds=(0, 1)),
    Numeric(name="z", bounds=(-5, 9)),
    Categorical(name="y", values=("a", "b")),
]
SCHEMA = Schema(name="made", label="y", column=COLUMNS)
DATA = Data("made", SCHEMA, pd.DataFrame({"x": np.zeros(4000), "z": 1.0, "y": ["a", "b"] * 2000}))


def apart(data):
    """How far the classes are apart in the ten most frequent codes, in rows of 2,000."""
    counts = pd.crosstab(data.frame.code, data.frame.y).loc[[f"code {place}" for place in range(10)]]
    return (counts.a - counts.b).abs().sum()


def test_useless_codes_are_drawn_alike_for_both_classes_and_useful_ones_are_not():
    useless, useful = (bins_more.with_codes(DATA, kind, 2) for kind in (False, True))
    assert 2 * apart(useless) < apart(useful)
    assert useless.schema.get("code").size == bins_more.CODES + 1 and useless.schema.label == "y"


def test_one_range_reaches_from_the_least_to_the_largest_bound():
    assert {one.bounds for one in bins_more.one_range(SCHEMA).features} == {(-5, 9)}


def test_edges_by_hand_come_without_taxonomies():
    features = bins_more.edges_by_hand().features
    assert not any(getattr(one, "groups", None) for one in features) and not any(
        one.searched for one in features if isinstance(one, Numeric)
    )


def test_all_that_is_wanted_was_measured_once():
    found = pd.read_parquet(bins_more.FILE)[bins_more.KEY]
    assert sorted(found.itertuples(index=False, name=None)) == sorted(bins_more.wanted())
