"""What rows within one part of the score leave open about an area."""

import numpy as np
import pytest

from veil.evaluate.intervals import Interval, partly_missed, share_interval, within

NOISE = np.random.default_rng(0).normal(size=100_000)


def share_held(draws: np.ndarray, missed: float) -> float:
    """How often value - noise + [low, high] holds a value of which so much was missed."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(((low <= NOISE - missed) & (NOISE - missed <= high)).mean())


@pytest.mark.parametrize("most", [0.1, 1.0, 10.0])
def test_an_interval_holds_as_often_as_it_says_whether_nothing_was_missed_or_all(most):
    draws = partly_missed(NOISE, most, Interval(0.6, 0.9))
    assert share_held(draws, 0) == pytest.approx(0.95, abs=0.004)
    assert share_held(draws, most) == pytest.approx(0.95, abs=0.004)
    assert share_held(draws, most / 2) >= 0.95


def test_below_one_half_the_order_goes_the_other_way_and_around_it_either_way():
    below = partly_missed(NOISE, 3.0, Interval(0.1, 0.4))
    either = partly_missed(NOISE, 3.0, Interval(0.4, 0.6))
    assert share_held(below, -3.0) == pytest.approx(0.95, abs=0.004)
    assert share_held(either, -3.0) == pytest.approx(share_held(either, 3.0), abs=0.004)
    assert share_held(below, 3.0) < 0.1 < 0.94 < share_held(either, 3.0)


def test_one_part_can_hide_a_perfect_order_and_a_tie_hides_none():
    assert within(np.array([10.0]), np.array([10.0]), np.inf) == 0.5
    tied = np.array([1000.0, 1, 1, 1, 1, 1])
    assert within(tied, tied, tied=500) < 1e-4 < within(tied, tied, tied=np.inf)


@pytest.mark.parametrize("apart", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("parts", [4, 8, 16])
def test_smooth_scores_hide_no_more_than_is_reckoned_with(apart, parts):
    chance = np.random.default_rng(1)
    negatives, positives = chance.normal(size=200_000), chance.normal(apart, size=200_000)
    edges = np.quantile(np.concatenate([negatives, positives]), np.arange(1, parts) / parts)
    counts = [np.bincount(np.searchsorted(edges, scores), minlength=parts) / 1.0 for scores in (positives, negatives)]
    exact = (np.searchsorted(np.sort(negatives), positives)).mean() / len(negatives)
    shown = (counts[0] * (np.cumsum(counts[1]) - counts[1] / 2)).sum() / 200_000**2
    assert 0 < exact - shown <= within(*counts, np.inf)


@pytest.mark.parametrize("share", [np.nextafter(1, 2), -1e-17])
def test_a_share_that_rounding_led_beyond_its_ends_has_an_interval(share):
    low, high = share_interval(share, 10.0, 10.0, NOISE[:100], NOISE[100:200], 0.95)
    assert 0 <= low <= min(max(share, 0), 1) <= high <= 1
