"""Histograms for range queries: public cells, the tree above them, and the adaptive tree that counts it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.kernel import Budget, Ledger, open_source
from veil.plans.outcome import total
from veil.plans.ranges.adaptive_tree import adaptive_tree, counted, joined
from veil.plans.ranges.domain import Domain
from veil.plans.ranges.evenness import DEVIATIONS, deviation, room
from veil.plans.ranges.slopes import _neighbours, expected_shares
from veil.schema import Categorical, Date, Numeric, Schema


def domain_of(*sizes):
    columns = [
        Numeric(name=f"c{place}", bounds=(0, size), bins=size, scale="linear") for place, size in enumerate(sizes)
    ]
    return Domain(Schema(name="points", column=columns))


def points(domain, rows, seed=0):
    """Made-up rows, most of them in a corner, and their exact histogram."""
    chance = np.random.default_rng(seed)
    values = [size * chance.beta(1, 3, rows) for size in domain.shape]
    edges = [np.arange(size + 1) for size in domain.shape]
    truth = np.histogramdd(np.stack(values, axis=1), edges)[0].ravel()
    return {f"c{place}": column for place, column in enumerate(values)}, truth


def source_of(domain, rows, epsilon, seed=1):
    return open_source(rows, domain.schema, Ledger(epsilon, "points"), seed)


shapes = pytest.mark.parametrize("sizes", [(64,), (100,), (1,), (3,), (16, 16), (7, 40), (5, 4, 9), (2, 1, 3)])


@shapes
def test_every_cell_has_a_place_of_its_own_and_levels_halve(sizes):
    domain = domain_of(*sizes)
    assert len(set(domain.places.tolist())) == domain.size and domain.places.max() < 1 << domain.depth
    for level, held in enumerate(domain.held):
        assert len(held) == 1 << level and held.sum() == domain.size
    assert (domain.leaves >= 0).sum() == domain.size and domain.leaves.shape == (domain.grid.size,)


def test_a_square_is_halved_across_then_down():
    assert domain_of(4, 4).order == (0, 1, 0, 1) and domain_of(2, 8).order == (1, 1, 0, 1)
    assert domain_of(4, 4).places.reshape(4, 4)[0].tolist() == [0, 1, 4, 5]


def test_categories_lie_as_their_taxonomy_groups_them():
    column = Categorical(
        name="fruit",
        values=("apple", "carrot", "pear", "leek"),
        groups={"f": ("apple", "pear"), "v": ("carrot", "leek")},
    )
    places = Domain(Schema(name="food", column=[column])).places
    assert sorted(places[[0, 2]]) == [0, 1] and sorted(places[[1, 3]]) == [2, 3]


@shapes
@pytest.mark.parametrize("epsilon", ["1/7", 3])
def test_each_row_pays_all_of_epsilon_on_whichever_path(sizes, epsilon):
    domain = domain_of(*sizes)
    rows, _ = points(domain, 3000)
    source = source_of(domain, rows, epsilon)
    spread = adaptive_tree(source, Budget(epsilon), domain)
    receipts = source.record.receipts
    assert total(receipts) == total(receipts, pick=min) == Fraction(epsilon)
    assert spread.cells.shape == (domain.size,) and np.isfinite(spread.cells).all() and (spread.cells >= 0).all()


@shapes
def test_a_huge_epsilon_gives_the_exact_histogram(sizes):
    domain = domain_of(*sizes)
    rows, truth = points(domain, 2000)
    rows["c0"][:5] = np.nan
    kept = {name: values[5:] for name, values in rows.items()}
    edges = [np.arange(size + 1) for size in domain.shape]
    truth = np.histogramdd(np.stack([*kept.values()], axis=1), edges)[0].ravel()
    spread = adaptive_tree(source_of(domain, rows, 10**6), Budget(10**6), domain)
    assert spread.cells == pytest.approx(truth, abs=1e-6) and spread.missing == pytest.approx(5)


@pytest.mark.parametrize("rows", [0, 1])
@shapes
def test_no_row_and_one_row_are_tables_too(sizes, rows):
    domain = domain_of(*sizes)
    spread = adaptive_tree(source_of(domain, points(domain, rows)[0], 1), Budget(1), domain)
    assert spread.cells.sum() < 60 and np.isfinite(spread.cells).all()


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 9)), min_size=16, max_size=16), st.integers(1, 3))
@settings(max_examples=50)
def test_nodes_that_stopped_are_counted_once_whether_joined_or_not(nodes, highest):
    stopped, rows = np.array([stop for stop, _ in nodes]), np.array([count for _, count in nodes])
    found = joined(stopped.copy(), rows.copy(), 8.0, highest)
    covered = np.zeros(16, int)
    for level, some in found.items():
        assert level >= highest or not len(some)
        covered.reshape(1 << level, -1)[some] += 1
    assert covered.tolist() == stopped.astype(int).tolist()


def test_what_is_found_is_nearer_to_the_truth_than_an_even_spread():
    domain = domain_of(64, 64)
    rows, truth = points(domain, 20_000)
    spread = adaptive_tree(source_of(domain, rows, 0.5), Budget(0.5), domain)
    even = np.full(domain.size, len(rows["c0"]) / domain.size)
    prefix = lambda cells: cells.reshape(domain.shape).cumsum(0).cumsum(1)  # noqa: E731
    error = np.abs(prefix(spread.cells) - prefix(truth)).mean()
    assert error < 0.01 * len(rows["c0"]) and error < 0.1 * np.abs(prefix(even) - prefix(truth)).mean()


@pytest.mark.parametrize(
    "column",
    [
        *(Numeric(name="x", bounds=(0, 1), bins=bins) for bins in (1, 2, 3, 7, 50, 64)),
        Numeric(name="x", bounds=(0, 1), bins=13, missing=0),
        Date(name="x", bounds=("2020-01-01", "2021-01-01"), bins=37),
        Date(name="x", unit="weekday"),
        Date(name="x", bounds=("2020-01-01", "2021-01-01"), unit="month"),
    ],
    ids=str,
)
def test_numbers_and_dates_lie_in_the_order_of_their_codes_as_their_halvings_do(column):
    ranks = Domain(Schema(name="s", column=[column])).ranks[0]
    assert np.array_equal(ranks, np.argsort(np.lexsort(column.levels[::-1])))


@shapes
def test_neighbours_are_one_step_away_along_the_axis_that_is_halved(sizes):
    domain = domain_of(*sizes)
    for level, axis in enumerate(domain.order):
        before, behind = _neighbours(domain, level)
        at = np.zeros((1 << level, len(sizes)), np.int64)
        for place, halved in enumerate(domain.order[:level]):
            at[:, halved] = 2 * at[:, halved] + (np.arange(1 << level) >> (level - 1 - place) & 1)
        step, last = np.eye(len(sizes), dtype=int)[axis], at.max(axis=0)[axis]
        assert (at[behind] - at == step * (at[:, axis] < last)[:, None]).all()
        assert (at - at[before] == step * (at[:, axis] > 0)[:, None]).all()


def test_a_share_is_expected_to_follow_the_slope_between_neighbours_but_not_over_a_peak_or_among_categories():
    domain = domain_of(16)
    rising, peak = (
        expected_shares(domain, 2, np.array([1.0, 2, 3, 4])),
        expected_shares(domain, 2, np.array([1, 9, 1, 1])),
    )
    assert (rising[[0, 3]] == 0.5).all() and (rising[1:3] < 0.5).all() and rising[1] < rising[2]
    assert (peak == 0.5).all()
    names = Categorical(name="fruit", values=tuple(map(str, range(16))))
    assert (expected_shares(Domain(Schema(name="food", column=[names])), 2, np.array([1.0, 2, 3, 4])) == 0.5).all()


def test_a_box_around_a_smooth_peak_is_not_low_each_time():
    domain, chance = domain_of(256, 256), np.random.default_rng(0)
    rows = {f"c{place}": np.clip(chance.normal(100 + 30 * place, 4, 6_000), 0, 255) for place in range(2)}
    inside = [(np.arange(256) >= 92 + 30 * place) & (np.arange(256) < 109 + 30 * place) for place in range(2)]
    truth = np.all([inside[place][rows[f"c{place}"].astype(int)] for place in range(2)], axis=0).sum()
    found = []
    for seed in range(8):
        cells = adaptive_tree(source_of(domain, rows, 1, seed), Budget("0.5"), domain).cells.reshape(256, 256)
        found.append(cells[np.ix_(*inside)].sum() / truth)
    assert abs(np.mean(found) - 1) < 0.01  # 0.03 low if rows are taken to be even where nothing tells


@pytest.mark.parametrize("size", [64, 100, 96, 3])
def test_halves_that_hold_rows_as_they_hold_cells_are_alike_and_others_are_not(size):
    domain = domain_of(size)
    level = min(domain.depth, 4)
    nodes = np.flatnonzero(domain.held[level] > 0)
    cells, noise = domain.held[level][nodes], np.full(len(nodes), 1e-6)
    assert deviation(domain, level, nodes, 1000 * cells, noise).argmax() == len(DEVIATIONS) - 1
    alternating = 1000 * cells * (1 + np.arange(len(nodes)) % 2 * 9)
    assert DEVIATIONS[deviation(domain, level, nodes, alternating, noise).argmax()] >= 0.3
    assert room(domain, level, nodes, alternating, noise) == (1, 1)
    likely, hardly = room(domain, level, nodes, 1000 * cells, noise)
    assert min(likely, hardly) >= 1 and (len(nodes) < 8 or min(likely, hardly) > 4)


def test_noise_alone_never_joins_more_than_usual():
    domain, nodes, chance = domain_of(4096), np.arange(16), np.random.default_rng(0)
    found = [room(domain, 4, nodes, chance.laplace(0, 30, 16) + 1, np.full(16, 1800.0)) for _ in range(300)]
    assert np.mean([join > 1.5 for _, join in found]) < 0.1
    assert np.isfinite(found).all() and np.min(found) >= 1


def test_nodes_that_were_not_counted_say_nothing_about_halves():
    domain = domain_of(64)
    alone = deviation(domain, 4, np.array([3]), np.array([500.0]), np.array([2.0]))
    assert alone == pytest.approx(1 / len(DEVIATIONS))


@pytest.mark.parametrize("epsilon", ["1/7", "1/2", 3])
def test_even_rows_are_found_even_and_cost_all_of_epsilon(epsilon):
    domain, rows = domain_of(4096), np.random.default_rng(0).integers(0, 4096, 4_000)
    source = source_of(domain, {"c0": rows}, epsilon)
    spread = adaptive_tree(source, Budget(epsilon), domain)
    receipts = source.record.receipts
    assert total(receipts) == total(receipts, pick=min) == Fraction(epsilon)
    prefix, even = spread.cells.cumsum(), np.arange(1, 4097) * len(rows) / 4096
    assert np.abs(prefix - even).max() < 0.1 * len(rows)


def test_even_rows_of_one_column_are_counted_in_fewer_nodes_than_by_the_usual_limits(monkeypatch):
    domain, rows = domain_of(4096), {"c0": np.random.default_rng(0).integers(0, 4096, 10_000)}
    many = []
    for found in (room, lambda *_: (1.0, 1.0)):
        monkeypatch.setattr("veil.plans.ranges.adaptive_tree.room", found)
        measured = counted(source_of(domain, rows, 1), Budget("0.1"), domain)
        many.append(sum((level > 0).sum() for level in measured.precision))
    assert many[0] < many[1] / 5
