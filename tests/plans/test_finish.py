"""Post-processing of noisy counts: totals are kept, nothing is negative or infinite, more rows mean more weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veil import Categorical, Numeric
from veil.plans.finish import (
    class_prior,
    class_totals,
    column_shares,
    log_likelihoods,
    merge,
    probabilities,
    reliability,
    side_by_side,
    smooth,
    smooth_with_errors,
)

COLUMNS = (
    Numeric(name="x", bounds=(0, 8), bins=8),
    Numeric(name="x", bounds=(0, 5), bins=5, missing=0),
    Categorical(name="x", values=["a", "b", "c", "d"], groups={"vowels": ["a"], "rest": ["b", "c", "d"]}),
    Categorical(name="x", values=["only"], missing="only"),
)
scales = st.floats(1e-9, 1e9)


@st.composite
def released(draw, low=-(10**6)):
    """A column, its counts by class, and their scale."""
    column, classes = draw(st.sampled_from(COLUMNS)), draw(st.integers(1, 5))
    counts = draw(arrays(np.int64, (column.size, classes), elements=st.integers(low, 10**6)))
    return column, counts, draw(scales)


@st.composite
def priors(draw, classes):
    return class_prior(draw(arrays(np.float64, classes, elements=st.floats(-1e9, 1e9))), draw(scales))


def test_shares_grow_with_the_columns_but_more_slowly():
    small, large = column_shares([3, 24])
    assert large / small == pytest.approx(4, rel=0.01)
    assert all(share > 0 for share in column_shares(range(1, 50)))


@given(st.data())
def test_tables_that_agree_on_the_totals_keep_them(data):
    counts = data.draw(arrays(np.int64, (6, 3), elements=st.integers(-1000, 1000)))
    groups = data.draw(arrays(np.int64, 6, elements=st.integers(0, 3)))
    totals, deviation = class_totals([counts, merge(counts, groups)], [data.draw(scales), data.draw(scales)])
    assert totals == pytest.approx(counts.sum(axis=0), abs=1e-6)
    assert 0 < deviation < np.inf


def test_totals_trust_small_tables_and_small_noise():
    few, many = np.full((2, 1), 50), np.full((8, 1), 0)
    assert class_totals([few, many], [1, 1])[0] == pytest.approx([80])  # variances 2 and 8
    assert class_totals([few, many[:2]], [2, 1])[0] == pytest.approx([20])  # variances 4 and 1
    assert class_totals([few], [3])[1] == pytest.approx(np.sqrt(2 * 2 * 9))  # two counts of variance 2 scale^2


def test_the_deviation_of_the_totals_is_what_noise_makes_it():
    random = np.random.default_rng(1)
    scales, shapes = [5.0, 9.0], [(4, 1), (7, 1)]
    draws = [class_totals([random.laplace(0, s, z) for s, z in zip(scales, shapes, strict=True)], scales)
             for _ in range(3000)]  # fmt: skip
    assert np.std([totals[0] for totals, _ in draws]) == pytest.approx(draws[0][1], rel=0.05)


@given(st.data(), st.integers(1, 6))
def test_a_prior_is_above_zero_and_adds_up_to_one(data, classes):
    prior = data.draw(priors(classes))
    assert prior.min() > 0
    assert prior.sum() == pytest.approx(1)


@given(arrays(np.float64, 4, elements=st.floats(-1e6, 1e6)), scales)
def test_a_larger_class_never_has_a_smaller_prior(totals, deviation):
    assert (np.diff(class_prior(np.sort(totals), deviation)) >= 0).all()


def test_classes_that_differ_by_noise_only_have_equal_shares():
    assert class_prior(np.array([90.0, 100, 110]), 20) == pytest.approx([1 / 3] * 3)
    assert class_prior(np.array([900.0, 100]), 1) == pytest.approx([0.9, 0.1], abs=0.002)


@given(released(), st.data())
def test_smoothed_counts_are_above_zero_and_keep_their_shape(release, data):
    column, counts, scale = release
    smoothed = smooth(counts, scale, column.levels, data.draw(priors(counts.shape[1])))
    assert smoothed.shape == counts.shape
    assert (smoothed > 0).all() and np.isfinite(smoothed).all()
    assert (smoothed >= counts).all()


@given(released(low=0), st.data())
def test_counts_without_noise_stay_as_they_are(release, data):
    column, counts, _ = release
    smoothed = smooth(counts, 1e-12, column.levels, data.draw(priors(counts.shape[1])))
    assert smoothed == pytest.approx(counts, abs=1e-9)


@given(released(), st.data())
def test_one_row_more_raises_the_share_of_its_class_in_its_cell(release, data):
    column, counts, scale = release
    prior = data.draw(priors(counts.shape[1]))
    cell, label = data.draw(st.integers(0, column.size - 1)), data.draw(st.integers(0, counts.shape[1] - 1))
    more = counts.copy()
    more[cell, label] += 1
    before, after = (smooth(table, scale, column.levels, prior)[cell] for table in (counts, more))
    assert after[label] / after.sum() >= before[label] / before.sum() * (1 - 1e-9)


def test_a_cell_within_the_noise_has_nearly_the_shares_of_its_neighbours():
    column = Numeric(name="x", bounds=(0, 4), bins=4, missing=0)
    counts = np.array([[900, 100], [2, 1], [500, 500], [1, 2]])
    smoothed = smooth(counts, 10.0, column.levels, np.array([0.6, 0.4]))
    shares = smoothed[:, 0] / smoothed.sum(axis=1)
    assert shares[0] == pytest.approx(0.9, abs=0.02)
    assert shares[1] > 0.7 > 0.6 > shares[3]


@given(st.data())
def test_columns_side_by_side_come_out_as_each_does_alone(data):
    columns, classes = (
        data.draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=5)),
        data.draw(st.integers(1, 4)),
    )
    cells = st.integers(-(10**6), 10**6)
    tables = [data.draw(arrays(np.int64, (column.size, classes), elements=cells)) for column in columns]
    noise, prior = [data.draw(scales) for _ in columns], data.draw(priors(classes))
    sizes, levels = [column.size for column in columns], [column.levels for column in columns]
    together = smooth_with_errors(
        np.concatenate(tables), np.repeat(noise, sizes), side_by_side(levels), prior, smoothing=1.0
    )
    alone = [smooth_with_errors(*one, prior, smoothing=1.0) for one in zip(tables, noise, levels, strict=True)]
    for all_columns, each in zip(together, zip(*alone, strict=True), strict=True):
        assert all_columns == pytest.approx(np.concatenate(each), rel=1e-9, abs=1e-9)
    logs = log_likelihoods(np.concatenate(tables), together[0], 1.0, sizes)
    each_log = [log_likelihoods(table, smoothed, 1.0) for table, (smoothed, _) in zip(tables, alone, strict=True)]
    assert logs == pytest.approx(np.concatenate(each_log), rel=1e-9, abs=1e-9)


@given(released())
def test_merging_keeps_the_totals(release):
    column, counts, _ = release
    for groups in column.levels:
        merged = merge(counts, groups)
        assert (merged.sum(axis=0) == counts.sum(axis=0)).all()
        assert len(merged) == max(groups) + 1
    assert (merged == counts).all()


@given(released(), st.floats(1e-3, 10), st.data())
def test_likelihoods_are_finite_and_add_up_to_one(release, smoothing, data):
    column, counts, scale = release
    smoothed = smooth(counts, scale, column.levels, data.draw(priors(counts.shape[1])))
    logs = log_likelihoods(counts, smoothed, smoothing)
    assert np.isfinite(logs).all()
    assert np.exp(logs).sum(axis=0) == pytest.approx(np.ones(counts.shape[1]))


def test_pseudo_rows_of_empty_codes_take_nothing_from_a_small_class():
    counts = np.array([[900, 90], *[[0, 0]] * 50])
    logs = log_likelihoods(counts, counts + 10.0, 0.01)
    assert np.exp(logs)[0] == pytest.approx([1, 1], abs=0.01)


@pytest.mark.parametrize("count", [-30, 0, 30, 300])
def test_errors_of_logarithms_are_about_what_noise_makes_them(count):
    random = np.random.default_rng(1)
    scale, prior, levels = 10.0, np.array([0.5, 0.5]), [(0,)]
    logs = [np.log(smooth(count + random.laplace(0, scale, (1, 2)), scale, levels, prior) + 1) for _ in range(3000)]
    error = smooth_with_errors(np.full((1, 2), count), scale, levels, prior, 1.0)[1]
    assert error == pytest.approx(np.std(logs, axis=0), rel=0.4, abs=0.15)


def test_reliability_is_one_without_noise_and_falls_as_noise_takes_over():
    prior, column = np.array([0.7, 0.3]), Numeric(name="x", bounds=(0, 8), bins=8)
    random = np.random.default_rng(1)

    def kept(counts, scale):
        tables = [counts + np.rint(random.laplace(0, scale, counts.shape)) for _ in range(20)]
        logs = [log_likelihoods(table, smooth(table, scale, column.levels, prior), 1.0) for table in tables]
        return reliability(
            logs, [smooth_with_errors(table, scale, column.levels, prior, 1.0)[1] for table in tables], prior
        )

    empty, told = np.outer(np.ones(column.size), 100 * prior), np.outer(np.arange(column.size), [100, -50]) + [0, 400]
    assert kept(told, 1e-6) == pytest.approx(1)
    assert kept(told, 100) > kept(told, 300) > kept(empty, 300)
    assert 0.4 < kept(empty, 300) < 0.75


@given(arrays(np.int64, (5, 3), elements=st.integers(-(2**52), 2**52)))
def test_probabilities_add_up_to_one_in_the_order_of_the_scores(scores):
    shares = probabilities(scores)
    assert shares.sum(axis=1) == pytest.approx(np.ones(5))
    assert (shares >= 0).all()
    assert (np.take_along_axis(shares, scores.argmax(axis=1)[:, None], 1)[:, 0] == shares.max(axis=1)).all()


def test_probabilities_are_those_of_the_logarithms():
    assert probabilities(np.array([[0, round(np.log(3) * 2**20)]])) == pytest.approx(np.array([[0.25, 0.75]]), abs=1e-6)
