"""The sketch of PrivTree, and its place beside the methods of Veil."""

import numpy as np
import pandas as pd
import pytest

from experiments.pages.range_more import PRIVTREE, widths
from experiments.pages.range_regret import OURS, WORKLOADS, geometric, hindsight, kept
from experiments.privtree import blocks, privtree, wider


@pytest.mark.parametrize("shape", [(64,), (16, 16)])
def test_with_a_huge_epsilon_every_cell_that_holds_rows_is_exact(shape):
    table = np.random.default_rng(0).poisson(3, shape)
    assert privtree(table, 1e9, np.random.default_rng(1)) == pytest.approx(table, abs=1e-3)


def test_with_a_tiny_epsilon_the_tree_is_small_and_its_leaves_are_even():
    found = privtree(np.full((64,), 5), 1e-6, np.random.default_rng(2))
    assert len(np.unique(found)) < 40


def test_blocks_add_up_and_are_spread_to_their_parts():
    table = np.arange(16).reshape(4, 4)
    assert blocks(table, 2).tolist() == [[10, 18], [42, 50]] and blocks(table, 4).tolist() == table.tolist()
    assert wider(np.array([[1, 2], [3, 4]]), 4)[1].tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize("kind", WORKLOADS, ids=str)
def test_the_regret_of_the_default_stays_as_low_with_the_sketch_to_choose_from(kind):
    sketch = pd.read_parquet(PRIVTREE).groupby(["axes", "workload", "signal", "table"])["rmse"].mean()
    assert geometric(hindsight(kept(kind).assign(privtree=sketch.loc[kind]))[OURS]) <= 1.12


def test_widths_that_are_not_held_as_they_should_be_are_named():
    many = 100
    rows = [
        {"axes": "1D", "halvings": width, "held": place < held, "some": True}
        for width, held in {0: 50, 1: 95, 2: 99}.items()
        for place in range(many)
    ]
    said = widths(pd.DataFrame(rows))
    assert "Of 2 widths of the four domains 1 are held" in said and "width 1/4: 99.00" in said
