"""Published algorithms for histograms: what they spend, what comes out without noise, and which cells they take."""

from fractions import Fraction

import numpy as np
import pytest

from veil import BadInput, Categorical, Ledger, Numeric, Schema, publish
from veil.kernel import Budget, open_source
from veil.plans.outcome import total
from veil.plans.ranges.adaptive_grid import finer
from veil.plans.ranges.ahp import gathered, least_errors
from veil.plans.ranges.boxes import random_boxes, sums_in
from veil.plans.ranges.dawa import prices
from veil.plans.ranges.domain import Domain, numbered
from veil.plans.ranges.hierarchy import branches, height, levels
from veil.plans.ranges.layers import Layers
from veil.plans.ranges.mwem import mwem, replayed, rounds
from veil.plans.ranges.orders import hilbert, order_of
from veil.plans.ranges.uniform_grid import blocks, parts_of_an_axis
from veil.synopsis.histogram.publishing import HISTOGRAMS, find_histogram

HUGE = Budget(10**9)
EXACT = [name for name in HISTOGRAMS if name not in ("uniform", "mwem")]
SHAPES = [(1,), (2,), (50,), (64,), (13, 7), (16, 16), (5, 1), (4, 3, 6)]
PEOPLE = ("nurse", "cook", "clerk", "smith", "baker")


def schema_of(*sizes, **more):
    columns = [Numeric(name=f"x{i}", bounds=(0, max(n - 1, 1)), integer=n > 1, bins=n) for i, n in enumerate(sizes)]
    return Schema(name="cells", column=columns, **more)


def rows_in(sizes, count, seed=0):
    """Rows at random cells, not evenly; the first value of the last row is missing."""
    chance = np.random.default_rng(seed)
    rows = {f"x{i}": (n * chance.random(count) ** 2).astype(float) // 1 for i, n in enumerate(sizes)}
    rows["x0"][-1:] = np.nan
    return rows


def true_cells(rows, sizes):
    known = ~np.isnan(rows["x0"])
    codes = [rows[f"x{i}"][known].astype(int) for i in range(len(sizes))]
    return np.bincount(np.ravel_multi_index(codes, sizes), minlength=int(np.prod(sizes)))


def ran(method, rows, schema, budget=HUGE, seed=1):
    source = open_source(rows, schema, Ledger(10**10, schema.name), seed)
    spread = HISTOGRAMS[method](source, Budget(budget), Domain(schema))
    return spread, source.record


@pytest.mark.parametrize("method", HISTOGRAMS)
@pytest.mark.parametrize("sizes", SHAPES, ids=str)
@pytest.mark.parametrize("count", [0, 1, 300])
def test_it_costs_its_budget_exactly(method, sizes, count):
    for epsilon in ("1/7", 3 if method == "mwem" else 10**9):  # mwem has many rounds where there is little noise
        spread, record = ran(method, rows_in(sizes, count), schema_of(*sizes), Budget(epsilon))
        assert total(record.receipts) == Fraction(epsilon)
        assert spread.cells.shape == (np.prod(sizes),) and np.isfinite([*spread.cells, spread.missing]).all()


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("sizes", SHAPES, ids=str)
@pytest.mark.parametrize("count", [0, 1, 300])
def test_without_noise_it_is_the_histogram(method, sizes, count):
    rows = rows_in(sizes, count)
    spread, _ = ran(method, rows, schema_of(*sizes))
    assert spread.cells == pytest.approx(true_cells(rows, sizes), abs=1e-6)
    assert spread.missing == pytest.approx(min(count, 1), abs=1e-6)


def test_without_noise_uniform_is_the_mean():
    rows = rows_in((10, 4), 81)
    spread, _ = ran("uniform", rows, schema_of(10, 4))
    assert spread.cells == pytest.approx(np.full(40, 2.0)) and spread.missing == pytest.approx(1)


def test_without_noise_mwem_agrees_with_the_rows_in_its_ranges():
    rows = rows_in((40,), 5000)
    spread, _ = ran("mwem", rows, schema_of(40), Budget(20))
    boxes, truth = random_boxes((40,), 300, seed=5), true_cells(rows, (40,))
    assert np.abs(sums_in(spread.cells, boxes) - sums_in(truth, boxes)).max() < 25
    assert spread.cells.sum() == pytest.approx(4999, abs=10) and spread.missing == pytest.approx(1, abs=5)


@pytest.mark.parametrize("method", HISTOGRAMS)
def test_the_same_seed_gives_the_same_answer(method):
    rows, schema = rows_in((20, 9), 500), schema_of(20, 9)
    one, again, other = (ran(method, rows, schema, Budget(1), seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(one.cells, again.cells) and one.missing == again.missing
    assert not np.array_equal(one.cells, other.cells)


@pytest.mark.parametrize("method", EXACT)
def test_categories_are_cells_too(method):
    schema = Schema(
        name="cells",
        column=[Categorical(name="job", values=PEOPLE), Numeric(name="age", bounds=(0, 8), integer=True, bins=9)],
    )
    chance = np.random.default_rng(0)
    jobs, ages = chance.integers(0, 5, 200), chance.integers(0, 9, 200)
    spread, _ = ran(method, {"job": np.array(PEOPLE)[jobs], "age": ages}, schema)
    assert spread.cells == pytest.approx(np.bincount(jobs * 9 + ages, minlength=45), abs=1e-6)


@pytest.mark.parametrize("method", HISTOGRAMS)
def test_a_person_with_several_rows_costs_no_more(method):
    schema = schema_of(30, person="who", rows_per_person=3)
    rows = {**rows_in((30,), 200), "who": np.arange(200) // 4}
    spread, record = ran(method, rows, schema, Budget("1/2"))
    assert total(record.receipts) == Fraction(1, 2) and np.isfinite(spread.cells).all()


@pytest.mark.parametrize(("method", "most"), [("mwem", 1 << 14), ("dawa", 1 << 14)])
def test_more_cells_than_it_can_hold_are_refused_before_a_charge(method, most):
    schema, ledger = schema_of(most + 1), Ledger(1, "cells")
    with pytest.raises(BadInput, match=f"{most + 1:,}"):
        publish(rows_in((most + 1,), 10), schema, epsilon=1, columns=["x0"], method=method, ledger=ledger)
    assert ledger.spent == 0
    source = open_source(rows_in((most + 1,), 10), schema, ledger, 1)
    with pytest.raises(BadInput, match="adaptive-tree"):
        find_histogram(method, schema)(source, Budget(1))
    assert ledger.spent == 0


@pytest.mark.parametrize("method", HISTOGRAMS)
def test_a_histogram_can_be_saved_and_read(method, tmp_path):
    from veil import load_synopsis

    made = publish(rows_in((32,), 900), schema_of(32), epsilon=5, columns=["x0"], method=method, random_state=1)
    made.save(tmp_path / "made.veil")
    again = load_synopsis(tmp_path / "made.veil")
    assert np.array_equal(again.table, made.table) and again.method == method
    assert made.epsilon == 5 and made.query(x0=(3, 20)).count == pytest.approx(again.query(x0=(3, 20)).count)


def test_consistent_counts_are_the_least_squares_of_all_counts():
    """Against the normal equations, over nested groups of unequal size."""
    domain, chance = Domain(schema_of(12)), np.random.default_rng(0)
    fine = np.array([0, 0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7])
    groupings = [np.zeros(12, int), np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]), fine]
    layers = Layers(domain)
    layers.count(open_source({"x0": chance.integers(0, 12, 90)}, domain.schema, Ledger(9, "cells"), 1), Budget("1/3"),
                 groupings, [1, 2, 5])  # fmt: skip
    first = np.array([np.flatnonzero(fine == group)[0] for group in range(8)])
    design = np.concatenate([np.eye(layer.groups.max() + 1)[layer.groups[first]].T for layer in layers.layers])
    weights = np.concatenate([np.full(len(layer.counts), 1 / layer.variance) for layer in layers.layers])
    counts = np.concatenate([layer.counts for layer in layers.layers])
    best = np.linalg.solve((design.T * weights) @ design, (design.T * weights) @ counts)
    assert layers.settled() == pytest.approx(best)


def test_the_adaptive_grid_weighs_its_levels_as_published():
    """v' = (a m2)^2 v / ((1-a)^2 + (a m2)^2) + (1-a)^2 sum u / ..., with a = 1/2: m2^2 parts against one."""
    domain = Domain(schema_of(8))
    layers = Layers(domain)
    source = open_source({"x0": [1, 2, 5]}, domain.schema, Ledger(9, "cells"), 1)
    layers.count(source, Budget(1), [np.zeros(8, int), np.arange(8) // 2])
    whole, parts = (layer.counts for layer in layers.layers)
    assert layers.settled().sum() == pytest.approx(4 / 5 * whole[0] + 1 / 5 * parts.sum())


def test_the_size_of_a_grid_is_the_published_one():
    line, map_, solid = (Domain(schema_of(*sizes)) for sizes in ((4096,), (128, 128), (8, 8, 8)))
    assert parts_of_an_axis(1000, map_, 10) == 10 and parts_of_an_axis(10**5, map_, 10) == 100
    assert parts_of_an_axis(10**4, line, 10) == 100 and parts_of_an_axis(0, solid, 10) == 1
    assert np.bincount(blocks(map_, 10)).max() == 12 * 12 and blocks(line, 3).max() == 3


def test_finer_grids_lie_within_their_blocks():
    domain = Domain(schema_of(20, 15))
    coarse = blocks(domain, 4)
    fine = finer(domain, coarse, np.linspace(0, 500, coarse.max() + 1))
    for group in range(fine.max() + 1):
        assert len(set(coarse[fine == group])) == 1
    assert len(set(fine[coarse == 0])) == 1 and len(set(fine[coarse == coarse.max()])) > 1


def test_the_number_of_branches_is_the_published_one():
    def slowly(cells):
        def cost(many):
            tall = height(cells, many)
            return (many - 1) * tall**3 - 2 * (many + 1) * tall**2 / 3

        return min(range(2, cells + 1), key=cost)

    assert branches(4096) == 16 and height(4096, 16) == 3
    assert all(branches(cells) == slowly(cells) for cells in (2, 3, 16, 17, 100, 200, 1000, 1024, 5000))


@pytest.mark.parametrize("sizes", [(17,), (13, 7), (9, 2, 4)])
def test_levels_are_nested_and_end_with_single_cells(sizes):
    domain = Domain(schema_of(*sizes))
    found = levels(domain.along, domain.shape, 3)
    for coarse, fine in zip(found, found[1:], strict=False):
        assert len(set(zip(coarse, fine, strict=True))) == fine.max() + 1
    assert sorted(found[-1]) == [*range(domain.size)]


@pytest.mark.parametrize("sizes", [(8, 8), (16, 4), (5, 7), (1, 9)])
def test_hilbert_order_visits_every_cell_once(sizes):
    order = order_of(Domain(schema_of(*sizes)))
    assert sorted(order) == [*range(sizes[0] * sizes[1])]


def test_hilbert_steps_go_to_a_neighbour():
    x, y = np.indices((16, 16)).reshape(2, -1)
    order = np.argsort(hilbert(x, y))
    steps = np.abs(np.diff(x[order])) + np.abs(np.diff(y[order]))
    assert (steps == 1).all()


def test_numbers_of_combinations_leave_no_gap():
    assert numbered([np.array([0, 0, 5, 5]), np.array([1, 9, 1, 1])]).tolist() == [0, 1, 2, 2]


def test_rounds_grow_with_the_signal():
    assert [rounds(signal, 2000) for signal in (0, 10, 1000, 10**5, 10**9)] == [1, 1, 8, 60, 200]
    assert rounds(10**9, 3) == 3


def test_replayed_measurements_keep_the_number_of_rows():
    estimate = replayed(np.full((4, 4), 10.0), [((slice(0, 2), slice(0, 4)), 160.0), ((slice(0, 4),) * 2, 0.0)], 160.0)
    assert estimate.sum() == pytest.approx(160) and estimate[:2].sum() > 140


def test_a_run_costs_more_where_less_is_spent():
    cheap, dear = prices(64, 1.0, 1.0), prices(64, 0.1, 1.0)
    assert len(cheap) == 7 and all(a < b for a, b in zip(cheap, dear, strict=True)) and cheap == sorted(cheap)


@pytest.mark.parametrize("seed", range(4))
def test_tiny_budgets_have_few_rounds_and_are_not_refused_on_the_way(seed):
    schema, ledger = Schema(name="t", column=[Numeric(name="x", bounds=(0, 1), bins=32)]), Ledger(1, "t")
    source = open_source({"x": [0.5] * 50}, schema, ledger, seed)
    mwem(source, Budget("1e-8"), Domain(schema))
    assert ledger.spent == Fraction(1, 10**8)


def greedy(ascending, noise):
    """The paper's rule for gathering, word for word: errors of whole groups, and every size of a new one."""

    def error(group):
        return sum((x - np.mean(group)) ** 2 for x in group) + noise / len(group)

    def alone(place):
        sizes = range(1, len(ascending) - place + 1)
        means = [np.mean(ascending[place : place + size]) for size in sizes]
        return min((ascending[place] - mean) ** 2 + noise / size**2 for mean, size in zip(means, sizes, strict=True))

    found = [[ascending[0]]]
    for place, count in enumerate(ascending[1:], 1):
        if error([*found[-1], count]) >= error(found[-1]) + alone(place):
            found.append([count])
        else:
            found[-1].append(count)
    return [len(group) for group in found]


@pytest.mark.parametrize("noise", [0.02, 2.0, 50.0])
def test_ahp_gathers_as_its_paper_says(noise):
    chance = np.random.default_rng(5)
    for _ in range(20):
        counts = np.rint(chance.exponential(9, 4))  # of so few cells every size is tried
        groups = gathered(counts, noise)
        sizes = np.bincount(groups)
        assert sizes.tolist() == greedy(np.sort(counts).tolist(), noise)
        assert (np.diff(groups[np.argsort(counts, kind="stable")]) >= 0).all()


def test_ahp_s_sizes_of_groups_are_close_to_all_sizes():
    ascending, noise = np.sort(np.rint(np.random.default_rng(6).exponential(30, 300))), 40.0
    sums = np.append(0, np.cumsum(ascending))
    for place, found in enumerate(least_errors(ascending, noise)):
        sizes = np.arange(1, len(ascending) - place + 1)
        errors = (ascending[place] - (sums[place + sizes] - sums[place]) / sizes) ** 2 + noise / sizes**2
        assert errors.min() <= found <= 1.7 * errors.min()
