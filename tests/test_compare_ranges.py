"""Workloads of ranges, and how far off answers to them are."""

import json

import numpy as np
import pytest

from shell import output
from veil import BadInput
from veil.compare.ranges import compare_ranges, errors, prefixes, rectangles
from veil.plans.ranges.boxes import random_boxes, sums_in


def test_workloads_lie_within_the_cells():
    for boxes, shape in ((prefixes(9), (9,)), (rectangles((40, 33), 50), (40, 33)), (random_boxes((7, 1), 90), (7, 1))):
        assert boxes.shape[1:] == (len(shape), 2) and (boxes[..., 0] < boxes[..., 1]).all()
        assert boxes.min() >= 0 and (boxes[..., 1].max(axis=0) <= shape).all()


def test_rectangles_double_six_times_up_to_half_of_each_side():
    lengths = np.diff(rectangles((64, 128), 1), axis=2)[:, :, 0]
    assert lengths.tolist() == [[1, 2], [2, 4], [4, 8], [8, 16], [16, 32], [32, 64]]


def test_sums_are_those_of_the_cells():
    table = np.random.default_rng(0).integers(0, 9, (6, 5))
    boxes = random_boxes(table.shape, 40)
    assert sums_in(table, boxes).tolist() == [table[a:b, c:d].sum() for (a, b), (c, d) in boxes]
    assert sums_in(table[:, 0], prefixes(6)).tolist() == np.cumsum(table[:, 0]).tolist()


def test_errors_are_in_rows_and_in_shares_of_them():
    found = errors(np.array([0.0, 100.0]), np.array([3.0, 96.0]), 1000)
    assert found["mae"] == 3.5 and found["msae"] == 12.5 and found["mre"] == pytest.approx((3 / 1 + 4 / 100) / 2)
    assert found["rmse"] == pytest.approx(12.5**0.5 / 1000) and found["mean"] == pytest.approx(0.0035)
    assert found["p95"] == pytest.approx(0.00395)


def test_methods_for_histograms_are_compared_on_public_rows():
    found, _ = compare_ranges("fair", ["age", "affair"], ["adaptive-tree", "uniform"], [0.1, 1000], 2)
    assert [(row["method"], row["epsilon"]) for row in found] == [
        (method, epsilon) for method in ("adaptive-tree", "uniform") for epsilon in (0.1, 1000)
    ]
    best, worst = found[1], found[3]
    assert best["rmse"] < 1e-5 < worst["rmse"] and best["runs"] == 2 and best["mae"] < 0.1
    assert found[0]["rmse"] > best["rmse"] and found[0]["p95"] >= found[0]["mean"]


def test_the_command_prints_errors_and_refuses_what_no_histogram_can_hold():
    said = output(
        "compare", "--ranges", "age", "--epsilons", "1", "--seeds", "1", "--methods", "adaptive-tree,identity"
    )
    assert "Ranges of age in fair" in said and "identity" in said and "protects nobody" in said
    rows = json.loads(output("compare", "--ranges", "age", "--epsilons", "1", "--seeds", "1", "--json"))
    assert {row["method"] for row in rows} >= {"adaptive-tree", "uniform"}
    with pytest.raises(BadInput, match="nowhere"):
        output("compare", "--ranges", "nowhere")
