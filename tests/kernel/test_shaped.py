"""Noise of equal sums: its law by enumeration, its counts and bounds by counting, and wrong laws told apart."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, exp, factorial, prod

import numpy as np
import pytest
from scipy.stats import chi2

from veil.kernel import SeededNoise
from veil.kernel.shaped import _column, _parts, _subset, _ways, equal_sums


def points(size, radius):
    """All vectors of whole numbers whose sizes add up to no more than the radius."""
    return [v for v in product(range(-radius, radius + 1), repeat=size) if sum(map(abs, v)) <= radius]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_vectors_are_counted_as_there_are(size):
    for radius in range(6):
        found = Counter(sum(one) for one in points(size, radius))
        assert {total: sum(_ways(size, radius, total)) for total in range(radius + 1)} == {
            total: found[total] for total in range(radius + 1)
        }


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 100])
@pytest.mark.parametrize("radius", [0, 1, 5, 50, 10**4, 10**12])
def test_no_column_has_more_vectors_than_the_proposal_allows_for(size, radius):
    most = Fraction(comb(2 * size - 2, size - 1), 2 ** (size - 1) * factorial(size - 1))
    counts = [sum(_ways(size, radius, radius * part // 16)) for part in range(17)]
    assert max(counts) <= most * (radius + size - 1) ** (size - 1)
    if radius == 10**12:
        assert counts[0] > most * radius ** (size - 1) * (1 - Fraction(1, 10**9))  # and the bound is sharp


def too_far(found, expected):
    """Whether frequencies differ from expected ones by more than one time in a hundred thousand."""
    statistic = ((found - expected) ** 2 / expected).sum()
    return statistic > chi2.isf(1e-5, len(expected) - 1)


@pytest.mark.parametrize(
    ("size", "radius", "total"), [(3, 4, 0), (3, 5, 1), (4, 3, 2), (2, 4, 0), (4, 4, 4), (1, 3, 2)]
)
def test_all_vectors_of_a_column_are_alike(size, radius, total):
    noise, runs = SeededNoise(1), 5_000
    seen = Counter(tuple(_column(size, radius, total, noise).tolist()) for _ in range(runs))
    possible = [one for one in points(size, radius) if sum(one) == total]
    assert set(seen) <= set(possible)
    assert not too_far(np.array([seen[one] for one in possible]), np.full(len(possible), runs / len(possible)))


RATE, RUNS = 0.5, 6000


def mass(sizes, rate, norm, radius=30):
    """The weight of all points of equal sums, if sizes of columns count by their `norm`."""
    columns = [Counter((sum(one), sum(map(abs, one))) for one in points(size, radius)) for size in sizes]
    return sum(
        exp(-rate * norm([length for _, length in choice]))
        * prod(c[key] for c, key in zip(columns, choice, strict=True))
        for choice in product(*columns)
        if len({total for total, _ in choice}) == 1
    )


def expected(keys, sizes, rate=RATE, norm=max):
    """How often each of these points should come, and any other."""
    lengths = [[np.abs(part).sum() for part in np.split(np.array(key), np.cumsum(sizes)[:-1])] for key in keys]
    shares = np.array([exp(-rate * norm(one)) for one in lengths]) / mass(sizes, rate, norm)
    return np.append(shares, 1 - shares.sum()) * RUNS


@pytest.mark.parametrize("sizes", [[2, 2], [1, 3]])
@pytest.mark.slow
def test_its_law_is_the_one_it_claims(sizes):
    """Points of radius 3 each, of all others only how many; and wrong laws are told apart by the same runs."""
    noise = SeededNoise(2)
    seen = Counter(tuple(equal_sums(sizes, Fraction(RATE), noise).tolist()) for _ in range(RUNS))
    near = [sum(one, ()) for one in product(*(points(size, 3) for size in sizes)) if len({*map(sum, one)}) == 1]
    inside = np.array([seen[key] for key in near])
    found = np.append(inside, RUNS - inside.sum())
    assert not too_far(found, expected(near, sizes))
    assert too_far(found, expected(near, sizes, norm=sum)) and too_far(found, expected(near, sizes, rate=RATE * 1.2))


def test_a_fine_lattice_s_noise_has_the_spread_of_ideal_noise():
    """The norm of ideal noise is a Gamma variable of its dimension, here 1 + 16 + 4 + 2."""
    sizes, rate, noise = [17, 5, 3], Fraction(1, 2**30), SeededNoise(3)
    draws = np.array([equal_sums(sizes, rate, noise) for _ in range(500)])
    columns = np.split(draws, np.cumsum(sizes)[:-1], axis=1)
    sums = np.array([column.sum(axis=1) for column in columns])
    norms = np.max([np.abs(column).sum(axis=1) for column in columns], axis=0) * float(rate)
    assert (sums == sums[0]).all()
    assert norms.mean() == pytest.approx(23, abs=5 * np.sqrt(23 / 500))
    assert norms.var() == pytest.approx(23, rel=0.4)
    assert draws.mean(axis=0) == pytest.approx(0, abs=5 * draws.std() / np.sqrt(500) * 3)


@pytest.mark.parametrize("sizes", [[2] * 40, [100] * 3, [1, 1], [9] * 36, [1, 100]])
def test_any_group_is_drawn(sizes):
    drawn = equal_sums(sizes, Fraction(1, 2**31), SeededNoise(0))
    assert len(drawn) == sum(sizes) and np.abs(drawn).max() < 2**50


def test_sums_and_subsets_are_alike():
    noise, runs = SeededNoise(4), 12_000
    seen = Counter(tuple(_parts(5, 3, noise).tolist()) for _ in range(runs))
    assert len(seen) == 6 and not too_far(np.array([*seen.values()]), np.full(6, runs / 6))
    for among in (4, 5):  # by a permutation, and by drawing again
        seen = Counter(tuple(sorted(_subset(among, 2, noise).tolist())) for _ in range(runs))
        ways = comb(among, 2)
        assert len(seen) == ways and not too_far(np.array([*seen.values()]), np.full(ways, runs / ways))
    assert _parts(0, 0, noise).tolist() == [] and _parts(3, 1, noise).tolist() == [3]


def test_places_are_picked_by_weights_of_any_length():
    noise, long = SeededNoise(5), 3**400
    seen = np.bincount([noise.pick([long, 0, 2 * long, long]) for _ in range(8000)], minlength=4)
    assert seen[1] == 0 and not too_far(seen[[0, 2, 3]], np.array([2000, 4000, 2000]))
    assert noise.pick([0, 7]) == 1


class Words(SeededNoise):
    """Words that are told."""

    def __init__(self, *told):
        super().__init__(0)
        self.told = list(told)

    def words(self, size):
        return np.array([self.told.pop(0) for _ in range(size)], np.uint64)


def test_a_pick_that_is_not_decided_draws_more_bits():
    third = 2**64 // 3
    assert Words(third, 2**63).pick([1, 2]) == 1 and Words(third, 2**62).pick([1, 2]) == 0
