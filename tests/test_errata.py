"""Every number on the page of errata is computed here."""

from math import ceil, exp, log, sqrt
from pathlib import Path

import numpy as np
import pytest

from veil.plans.histograms.projection import LOSS, TO_CHOOSE, share_to_count

PAGE = (Path(__file__).parent.parent / "docs" / "errata.md").read_text(encoding="utf-8")


def line(number):
    """The line of the page about one erratum."""
    return next(text for text in PAGE.splitlines() if text.startswith(f"| {number} |"))


def below(x, scale):
    """The chance that Laplace noise is below x."""
    return np.where(x < 0, np.exp(np.minimum(x, 0) / scale) / 2, 1 - np.exp(-np.maximum(x, 0) / scale) / 2)


def log_chance(above, under, scale=2.0):
    """The logarithm of the chance that noisy queries with these true values are above, and under, a noisy threshold at
    0; epsilon 1 is halved between the threshold and every query."""
    places = np.linspace(-80, 80, 160_001)
    found = -np.abs(places) / scale - log(2 * scale)
    for values, outcome in ((above, 1), (under, 0)):
        for value in values:
            found += np.log(below(value - places if outcome else places - value, scale))  # the noise is symmetric
    return found.max() + log(np.exp(found - found.max()).sum() * (places[1] - places[0]))


def test_threshold_testing_without_noise_on_queries_has_answers_of_no_probability():
    """Counts 0 and 0, or 1 and 0: "first above, second not" needs a threshold in [0, 1), or one that cannot be."""
    assert f"{float(below(1, 1) - below(0, 1)):.3f}" == "0.316" and "0.316" in PAGE and "Corollary 3.4" in line(1)
    assert float(below(1, 1) - below(0, 1)) == pytest.approx((1 - exp(-1)) / 2)


def test_the_loss_without_a_cap_grows_with_the_queries():
    losses = {}
    for many in (5, 20):
        low, high = [0] * many, [1] * many
        losses[many] = (
            abs(log_chance(high, low) - log_chance(low, high)),
            abs(log_chance(low, low) - log_chance(low, high)),
        )
    assert losses[20][0] > 4 * losses[5][0] and losses[20][1] > 4 * losses[5][1]
    both, raised = losses[20]
    assert f"{both:.1f}" in line(2) and f"{raised:.1f}" in line(2)


def test_the_share_of_pairs_that_a_choice_loses_falls_with_its_epsilon():
    """So the printed value is the least epsilon for a loss l, not the most."""
    rows, columns, available, classes = 6435, 4, 36, 6
    pairs = rows * (classes - 1) / (2 * classes)  # over rows, unordered
    loss = [TO_CHOOSE * columns**2 * log(available) / (epsilon * pairs) for epsilon in (0.1, 0.2, 0.4)]
    assert loss == sorted(loss, reverse=True) and loss[0] == pytest.approx(2 * loss[1])
    least = TO_CHOOSE * columns**2 * log(available) / (LOSS * pairs)
    assert f"{least:.3f}" == "0.214" and "0.214" in line(10)
    assert share_to_count(rows, available, columns, classes, 2) == pytest.approx(0.23, abs=0.006)


def test_a_squared_error_is_more_than_the_variance_of_the_noise_where_points_are_uneven():
    """One cell of 100 points, all in its left half; a query for that half, prorated by area, is 50 off."""
    epsilon, points = 1.0, 100
    noise = np.random.default_rng(0).laplace(0, 1 / epsilon, 200_000)
    answers = (points + noise) / 2
    variance, squared = 2 / epsilon**2 / 4, ((answers - points) ** 2).mean()
    assert squared == pytest.approx(variance + 50**2, rel=0.01) and "2,500" in line(24)


def test_the_first_level_of_an_adaptive_grid_can_be_finer_than_a_uniform_grid():
    signal, uneven = 100, 10
    uniform, first = ceil(sqrt(signal / uneven)), max(10, ceil(sqrt(signal / uneven) / 4))
    assert (uniform, first) == (4, 10)
    assert "10 x 10 against 4 x 4" in line(25)
