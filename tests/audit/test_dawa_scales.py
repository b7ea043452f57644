"""DAWA's scales and ours on the tables where the scales in use lose more than they claim; by many draws at once."""

import numpy as np
import pytest

from veil.audit.ranges import CELLS, WAYS, dawa_scales, heaped
from veil.kernel import SeededNoise
from veil.kernel.verbs.segments import deviations, lengths_of, moves_of, own_prices

DRAWS = 2_000_000
PAIRS = [  # tables, the price of a run, and a loss that the scales in use exceed
    ((8, 8, 8, 8), (8, 9, 8, 8), 0.5, 2.3),
    ((3, 3, 0, 0), (3, 4, 0, 0), 2, 1.25),
    ((0, 1, 0, 0), (0, 2, 0, 0), 2, 1.7),
    ((0, 1, 0, 0), (0, 2, 0, 0), 5, 1.2),
    ((35, 10, 0, 10_000), (35, 11, 0, 10_000), 25, 1.2),
]


def ours(cells, price, seed):
    """Which way to cut four cells our verb chooses, drawn with NumPy's geometric noise."""
    chance, lengths = np.random.default_rng(seed), lengths_of(CELLS)
    parts = zip(lengths, moves_of(lengths), own_prices([price] * 3, lengths), strict=True)
    costs = {
        length: deviations(np.array(cells), length, CELLS)
        + mark
        - (chance.geometric(-np.expm1(-1 / move), (DRAWS, CELLS - length + 1)) - 1)
        for length, move, mark in parts
    }
    totals = [sum(costs[n][:, start] for n, start in zip(way, np.cumsum([0, *way[:-1]]), strict=True)) for way in WAYS]
    first = np.argsort(np.argsort([[*way[::-1], 0, 0, 0][0] * 100 + len(way) for way in WAYS]))  # short last runs win
    return np.argmin(np.stack(totals) * len(WAYS) + first[:, None], axis=0)


def largest_ratio(one, other, least):
    """The largest log ratio of outcomes that came up so often."""
    counts = np.array([np.bincount(drawn, minlength=16) for drawn in (one, other)])
    often = counts.min(axis=0) > least
    return np.abs(np.log(counts[0, often] / counts[1, often])).max()


@pytest.mark.parametrize(("before", "after", "price", "least"), PAIRS)
def test_the_scales_in_use_lose_more_than_epsilon_and_ours_do_not(before, after, price, least):
    noise = SeededNoise(1)
    theirs = (dawa_scales(heaped(*cells), noise, DRAWS, price) for cells in (before, after))
    assert largest_ratio(*theirs, least=10) > least
    found = (ours(cells, price, seed) for seed, cells in enumerate((before, after)))
    assert largest_ratio(*found, least=400) < 0.95  # a ratio of 400 draws is known to about a tenth
