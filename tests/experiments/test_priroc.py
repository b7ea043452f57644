"""PriROC as published: its smooth sensitivities by brute force, its wavelets, and areas between curves."""

from itertools import combinations_with_replacement

import numpy as np
import pyarrow.parquet
import pytest

from experiments.papers.curves import OURS, PAPER, TEXTS, table_one
from experiments.papers.priroc import (
    PUBLISHED,
    area_between,
    exact_curve,
    privelet,
    published_sensitivity,
    smooth_sensitivity,
)

BETAS = (0.05, 0.2, 0.5, 1.0, 2.5)


def median(table):
    return table[(len(table) + 1) // 2 - 1] if table else 0.5


def local(table, values):
    """How far one row more or less moves the median."""
    more = [tuple(sorted((*table, value))) for value in values]
    less = [table[:i] + table[i + 1 :] for i in range(len(table))]
    return max(abs(median(other) - median(table)) for other in more + less)


@pytest.mark.parametrize("values", [(0.0, 0.2, 0.7, 1.0), (0.0, 0.5, 1.0), (0.0, 0.1, 0.4, 0.9, 1.0)])
def test_smooth_sensitivity_is_that_of_all_tables_under_rows_added_and_removed(values):
    """Brute force over all tables of up to eight rows."""
    tables = [t for size in range(9) for t in combinations_with_replacement(values, size)]
    jumps = np.array([local(table, values) for table in tables])
    sizes = np.array([[table.count(value) for value in values] for table in tables])
    for place, table in enumerate(tables):
        if len(table) <= 4:
            away = np.abs(sizes - sizes[place]).sum(axis=1)
            for beta in BETAS:
                brute = (jumps * np.exp(-beta * away)).max()
                assert smooth_sensitivity(np.array(table), 0, 1, beta) == pytest.approx(brute, abs=1e-12)
                assert published_sensitivity(np.array(table), 0, 1, beta) >= brute - 1e-12


def test_smooth_sensitivities_are_smooth():
    chance = np.random.default_rng(0)
    for _ in range(3000):
        table, beta = chance.random(chance.integers(0, 8)), chance.random() * 2 + 0.01
        larger = np.append(table, chance.choice([0, 1, chance.random()]))
        for bound in (smooth_sensitivity, published_sensitivity):
            ratio = bound(larger, 0, 1, beta) / bound(table, 0, 1, beta)
            assert np.exp(-beta) - 1e-9 <= ratio <= np.exp(beta) + 1e-9


@pytest.mark.parametrize("size", [3, 16, 40, 64])
def test_wavelets_without_noise_are_the_counts(size):
    counts = np.random.default_rng(1).integers(0, 9, size)
    assert privelet(counts, 1e12, np.random.default_rng(0)) == pytest.approx(counts, abs=1e-6)


def test_areas_between_curves():
    flat, corner = (np.array([0.0, 1.0]), np.array([0.0, 1.0])), (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]))
    assert area_between(flat, flat) == 0 and area_between(flat, corner) == pytest.approx(0.5)
    bent = (np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0, 1.0]))
    assert area_between(bent, corner) == pytest.approx(0.75) and area_between(corner, bent) == pytest.approx(0.75)
    crossing = (np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.0, 1.0, 1.0]))
    assert area_between(flat, crossing) == pytest.approx(0.25)


@pytest.mark.parametrize("method", PUBLISHED)
def test_published_methods_with_a_huge_epsilon_are_near_the_exact_curve(method):
    chance = np.random.default_rng(2)
    truth = chance.random(400) < 0.4
    scores = np.clip(chance.normal(0.4 + 0.2 * truth, 0.15), 0.001, 0.999)
    curve = PUBLISHED[method](scores, truth, 1e7, chance)
    assert area_between(exact_curve(scores, truth), curve) < 0.01


def test_ours_is_below_the_medians_of_the_paper_in_all_eight_cells():
    from pathlib import Path

    kept = pyarrow.parquet.read_table(Path(__file__).parents[2] / "experiments" / "results" / "priroc.parquet")
    rows = [row for row in table_one(kept) if row["method"] == OURS]
    assert len(rows) == 8
    for data in TEXTS:
        areas = [row["area"] for row in rows if row["data"] == data]
        assert all(ours < theirs for ours, theirs in zip(areas, PAPER[data]["recursive-medians"], strict=True))


def test_numbers_of_thresholds_are_tried_for_every_method(monkeypatch):
    from experiments.papers import thresholds

    chance = np.random.default_rng(3)
    truth = chance.random(200) < 0.4
    scores = np.clip(chance.normal(0.4 + 0.2 * truth, 0.15), 0.001, 0.999)
    monkeypatch.setattr(thresholds, "scored_texts", lambda data: (scores, truth))
    monkeypatch.setattr(thresholds, "HALVINGS", (2, 4))
    found = thresholds.reproduce_thresholds(quick=True).to_pylist()
    assert len(found) == len(TEXTS) * 3 * 2 * 2 and {row["parts"] for row in found} == {4, 16}
    assert all(0 <= row["area"] <= 1 for row in found)
