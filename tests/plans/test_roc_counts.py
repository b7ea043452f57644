"""The counts behind ROC curves: budgets, combination, thresholds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import BadInput, Budget, BudgetRefused, Categorical, Ledger, Numeric, Schema, open_source
from veil.plans.finish import nonnegative
from veil.plans.roc import code_scorer, parts_for, roc_counts

CELLS = 256
SCHEMA = Schema(
    name="t",
    label="y",
    column=[
        Numeric(name="score", bounds=(0, CELLS - 1), integer=True, bins=CELLS, missing=0),
        Categorical(name="y", values=("no", "yes")),
    ],
)
SCALE = code_scorer("score", CELLS)
CHANCE = np.random.default_rng(0)
SCORE = CHANCE.integers(0, CELLS, 4000)
TRUTH = np.where(CHANCE.random(4000) < SCORE / CELLS, "yes", "no")


def source_of(limit=10**12, noise=1):
    ledger = Ledger(limit, "t")
    return open_source({"score": SCORE, "y": TRUTH}, SCHEMA, ledger, noise=noise), ledger


@pytest.mark.parametrize(
    "settings", [{}, {"parts": 64}, {"parts": 64, "counts": "plain"}, {"thresholds": "even", "parts": 8}]
)
@given(epsilon=st.fractions(Fraction(1, 1000), 100))
def test_the_plan_spends_exactly_its_budget(settings, epsilon):
    source, ledger = source_of()
    roc_counts(source, Budget(epsilon), *SCALE, **settings)
    assert ledger.spent == epsilon


@pytest.mark.parametrize("settings", [{}, {"parts": 128}, {"thresholds": "even", "parts": 32}])
def test_with_a_huge_epsilon_counts_are_exact(settings):
    counts = roc_counts(source_of()[0], Budget(10**9), *SCALE, **settings)
    edges = np.searchsorted(counts.cuts, SCORE, side="right")
    for place, name in enumerate(("no", "yes")):
        exact = np.bincount(edges[TRUTH == name], minlength=len(counts.cuts) + 1)
        assert counts.counts[:, place] == pytest.approx(exact, abs=1e-6)
        assert counts.possible([place]) == pytest.approx(exact, abs=1e-6)


def test_a_short_ledger_refuses():
    with pytest.raises(BudgetRefused):
        roc_counts(source_of(limit=1)[0], Budget(2), *SCALE)


@pytest.mark.parametrize(
    "settings", [{"parts": 3}, {"parts": 1}, {"parts": 4096}, {"thresholds": "x"}, {"counts": "x"}]
)
def test_odd_settings_are_refused_before_anything_is_charged(settings):
    source, ledger = source_of()
    with pytest.raises(BadInput):
        roc_counts(source, Budget(1), *SCALE, **settings)
    assert ledger.spent == 0


def test_combined_counts_are_unbiased_and_as_noisy_as_they_say():
    found = [
        roc_counts(source_of(noise=seed)[0], Budget(1), *SCALE, thresholds="even", parts=64) for seed in range(200)
    ]
    errors = (
        np.array([c.counts[:, 1] for c in found])
        - roc_counts(source_of()[0], Budget(10**9), *SCALE, thresholds="even", parts=64).counts[:, 1]
    )
    drawn = found[0].noise(4000, np.random.default_rng(1))
    assert np.abs(errors.mean(axis=0)).max() < 5 * errors.std() / 200**0.5
    assert np.cumsum(errors, axis=1).std() == pytest.approx(np.cumsum(drawn, axis=1).std(), rel=0.1)
    plain = np.cumsum(np.random.default_rng(2).laplace(size=(4000, 64)), axis=1).std()
    assert np.cumsum(drawn, axis=1).std() < plain  # running sums are what a curve is made of


def test_more_rows_bear_more_parts():
    assert [parts_for(rows, 1.0) for rows in (-5, 0, 50, 5_000, 10**6, 10**9)] == [4, 4, 4, 32, 256, 256]


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=20))
def test_nonnegative_counts_keep_their_sum_and_are_the_nearest(values):
    table = np.array(values)[:, None]
    found = nonnegative(table)
    assert (found >= 0).all() and found.sum() == pytest.approx(max(table.sum(), 1))
    if table.min() >= 0 and table.sum() >= 1:
        assert found == pytest.approx(table)
