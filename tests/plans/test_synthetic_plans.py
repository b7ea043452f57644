"""Synthetic tables: the textbook model without noise, exactly as dear as asked, sane on any table."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veil import BadInput, Budget, BudgetRefused, Categorical, Ledger, Numeric, Schema, datasets, open_source
from veil.plans.synthesis.forest import Forest, Measured, fit
from veil.plans.synthesis.grouping import coarser, grouped
from veil.plans.synthesis.marginals import marginals
from veil.plans.synthesis.network import Network
from veil.plans.synthesis.privbayes import privbayes
from veil.questions import Axis

PLANS = [marginals, privbayes]
HUGE = 10**7
NAMES = "abcde"
CODES = Schema(name="codes", column=[Categorical(name=name, values=(0, 1, 2), missing=0) for name in NAMES])


def chain(size=3000, seed=0):
    """Five columns, each most often equal to the one before it."""
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, 3, size)]
    for keep in (0.9, 0.6, 0.8, 0.5):
        columns.append(np.where(draw.random(size) < keep, columns[-1], draw.integers(0, 3, size)))
    return dict(zip(NAMES, columns, strict=True))


def ask(plan, rows, schema, epsilon, seed=0, **settings):
    source = open_source(rows, schema, Ledger(epsilon, schema.name), noise=seed)
    return plan(source, Budget(epsilon), **settings), source


def exact(rows, *names):
    table = np.zeros([3] * len(names))
    np.add.at(table, tuple(rows[name] for name in names), 1)
    return table


def linked(network):
    """The pairs of columns that depend on each other."""
    names = [axis.column for axis in network.axes]
    return {frozenset((names[place], names[parent])) for place, some in enumerate(network.parents) for parent in some}


def spanning_tree(rows):
    """The textbook's maximum spanning tree, by how far each pair is from independent."""
    size = len(rows["a"])
    scores = {
        (one, other): np.abs(exact(rows, one, other) - np.outer(exact(rows, one), exact(rows, other)) / size).sum()
        for one, other in combinations(NAMES, 2)
    }
    tree, found = {name: name for name in NAMES}, set()
    for one, other in sorted(scores, key=scores.get, reverse=True):
        if tree[one] != tree[other]:
            found.add(frozenset((one, other)))
            tree = {name: tree[other] if root == tree[one] else root for name, root in tree.items()}
    return found


def test_without_noise_the_links_are_the_maximum_spanning_tree_and_its_tables_are_exact():
    rows = chain()
    network, source = ask(marginals, rows, CODES, HUGE)
    assert linked(network) == spanning_tree(rows)
    places = {axis.column: place for place, axis in enumerate(network.axes)}
    for pair in linked(network):
        one, other = sorted(pair)
        assert network.counts([places[one], places[other]]) == pytest.approx(exact(rows, one, other), abs=30)
    for release in source.record.releases:
        if release.receipt.verb == "count" and release.question.columns:
            assert (release.value[:, 0] == exact(rows, *release.question.columns).ravel()).all()


def test_without_noise_the_links_of_a_focus_are_those_that_it_does_not_explain():
    rows = chain()
    network, _ = ask(marginals, rows, CODES, HUGE, focus="c")
    assert network.axes[0].column == "c" and all(0 in parents for parents in network.parents[1:])
    assert frozenset("ab") in linked(network) and frozenset("de") in linked(network)
    places = [[axis.column for axis in network.axes].index(name) for name in ("c", "a", "b")]
    assert network.counts(places) == pytest.approx(exact(rows, "c", "a", "b"), abs=40)


def test_without_noise_privbayes_is_the_greedy_network_with_exact_tables():
    rows, size = chain(), 3000
    network, _ = ask(privbayes, rows, CODES, HUGE)
    names = [axis.column for axis in network.axes]
    for place, (parents, table) in enumerate(zip(network.parents, network.tables, strict=True)):
        counts = exact(rows, *(names[parent] for parent in parents), names[place])
        sums = counts.sum(axis=-1, keepdims=True)
        assert table[sums[..., 0] > 0] == pytest.approx((counts / np.maximum(sums, 1))[sums[..., 0] > 0], abs=1e-6)
    second = {
        name: np.abs(exact(rows, "a", name) - np.outer(exact(rows, "a"), exact(rows, name)) / size).sum()
        for name in "bcde"
    }
    assert names[:2] == ["a", max(second, key=second.get)]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("focus", [None, "c"])
@pytest.mark.parametrize("epsilon", ["1/1000", "1/3", 2, 100])
@pytest.mark.parametrize("size", [0, 40, 3000])
def test_they_spend_exactly_their_budget_and_give_shares(plan, focus, epsilon, size):
    rows = {name: values[:size] for name, values in chain().items()}
    network, source = ask(plan, rows, CODES, Fraction(epsilon), focus=focus)
    assert sum(receipt.epsilon for receipt in source.record.receipts) == Fraction(epsilon)
    assert sorted(axis.column for axis in network.axes) == [*NAMES]
    for table in network.tables:
        assert (table >= 0).all() and table.sum(axis=-1) == pytest.approx(1)


def test_the_tables_of_privbayes_fit_into_a_file_however_many_rows_there_are(monkeypatch):
    free, _ = ask(privbayes, chain(), CODES, HUGE)
    monkeypatch.setattr("veil.plans.synthesis.privbayes.MOST_CELLS", 40)
    bound, _ = ask(privbayes, chain(), CODES, HUGE)
    cells = [sum(table.size for table in network.tables) for network in (free, bound)]
    assert cells[1] <= 40 < cells[0]


@pytest.mark.parametrize("plan", PLANS)
def test_one_column_is_enough(plan):
    schema = Schema(name="one", column=[CODES.column[0]])
    rows = {"a": chain()["a"]}
    for focus in (None, "a"):
        network, source = ask(plan, rows, schema, 1, focus=focus)
        assert sum(receipt.epsilon for receipt in source.record.receipts) == 1
        assert network.counts([0]) == pytest.approx(exact(rows, "a"), rel=0.1)


@pytest.mark.parametrize("plan", PLANS)
def test_they_are_refused_when_the_ledger_is_short_and_without_a_charge_for_an_unknown_focus(plan):
    source = open_source(chain(), CODES, Ledger("0.99", "codes"), noise=0)
    with pytest.raises(BudgetRefused):
        plan(source, Budget(1))
    with pytest.raises(BadInput, match="no column 'z'"):
        plan(open_source(chain(), CODES, (ledger := Ledger(1, "codes")), noise=0), Budget(1), focus="z")
    assert ledger.spent == 0


@pytest.mark.parametrize("plan", PLANS)
def test_they_ask_the_same_questions_of_a_table_and_of_its_neighbour(plan):
    """With so much epsilon and so little between them that all answers to choices are the same."""
    rows = chain()
    fewer = {name: values[:-1] for name, values in rows.items()}
    asked = [
        [(one.verb, one.question, one.epsilon) for one in ask(plan, some, CODES, 1000)[1].record.receipts]
        for some in (rows, fewer)
    ]
    assert asked[0] == asked[1]


def test_little_signal_means_no_links_rather_than_links_by_chance():
    rows = {name: values[:300] for name, values in chain().items()}
    network, source = ask(marginals, rows, CODES, 1, focus="c")
    assert all(receipt.verb == "count" for receipt in source.record.receipts)
    assert all(len(parents) <= 1 for parents in network.parents)


@given(arrays(np.int64, (3, 3), elements=st.integers(1, 500)), arrays(np.int64, (3, 3), elements=st.integers(1, 500)))
def test_a_forest_agrees_with_exact_tables(first, second):
    """Two tables that share a column, made to agree on it."""
    second = second * (first.sum(axis=0) / second.sum(axis=1))[:, None]
    tables = [
        Measured(pair, (np.arange(3), np.arange(3)), table.astype(float), np.full((3, 3), 1e-3))
        for pair, table in (((0, 1), first), ((1, 2), second))
    ]
    alone = [np.full(3, 1 / 3)] * 3
    fitted = fit(Forest((3, 3, 3), None, ((0, 1), (1, 2))), tables, float(first.sum()), 0.01, alone)
    found = fitted.pairs[1][0].T if 1 in fitted.pairs else fitted.pairs[0][0]
    assert found * first.sum() == pytest.approx(first, rel=0.02, abs=1)


def test_what_noise_hides_is_drawn_to_independence():
    counts, alone = np.array([[60.0, 40.0], [40.0, 60.0]]), [np.full(2, 0.5)] * 2
    for scale, kept in ((0.01, 0.99), (10_000.0, 0.05)):
        table = Measured((0, 1), (np.arange(2), np.arange(2)), counts, np.full((2, 2), scale))
        fitted = fit(Forest((2, 2), None, ((0, 1),)), [table], 200.0, 0.01, alone)
        lead = next(iter(fitted.pairs.values()))[0]
        assert (lead[0, 0] - lead[0, 1] > 0.1 * kept) == (kept > 0.5)


def test_rare_bins_are_gathered_with_their_neighbours_and_never_with_a_large_one():
    column = Numeric(name="x", bounds=(0, 8), bins=8, missing=0)
    axis = grouped(column, np.array([1.0, 2, 500, 3, 90, 2, 1, 2]), 50)
    assert axis.groups == (0, 0, 1, 2, 3, 4, 4, 4)


def test_rare_categories_are_one_group_and_missing_values_stand_apart_only_if_they_are_many():
    column = Categorical(name="x", values=tuple("pqrs"))
    few = grouped(column, np.array([90.0, 1, 2, 80, 60]), 50)
    assert few.groups == (0, 1, 1, 2, 0)
    assert grouped(column, np.array([90.0, 1, 2, 80, 200]), 50).groups == (0, 1, 1, 2, 3)


def test_coarser_groups_are_runs_of_equal_mass_or_the_largest_ones():
    mass = np.array([4.0, 1, 1, 1, 1, 4])
    assert coarser(True, mass, 3).tolist() == [0, 1, 1, 1, 1, 2]
    assert coarser(False, mass, 3).tolist() == [0, 2, 2, 2, 2, 1]
    assert coarser(False, mass, 9).tolist() == [0, 1, 2, 3, 4, 5]


def made_network():
    axes = tuple(Axis(name, (0, 1, 2), ("x", "y", "z")) for name in "abc")
    draw = np.random.default_rng(0)
    tables = [draw.random(3), draw.random((3, 3)), draw.random((3, 3, 3))]
    return Network(axes, ((), (0,), (0, 1)), tuple(one / one.sum(axis=-1, keepdims=True) for one in tables), 100.0)


def test_a_network_counts_what_its_tables_multiply_to():
    network = made_network()
    first, second, third = network.tables
    joint = 100 * first[:, None, None] * second[:, :, None] * third
    assert network.counts([0, 1, 2]) == pytest.approx(joint)
    assert network.counts([2, 0]) == pytest.approx(joint.sum(axis=1).T)
    weights = {1: np.array([1.0, 0, 0.5])}
    assert network.counts([], weights) == pytest.approx((joint * weights[1][None, :, None]).sum())


def test_a_network_draws_what_it_counts():
    network = made_network()
    drawn = np.array(network.draw(200_000, np.random.default_rng(1)), np.int64)
    seen = np.bincount(drawn[0] * 9 + drawn[1] * 3 + drawn[2], minlength=27) / 2000
    assert seen == pytest.approx(network.counts([0, 1, 2]).ravel(), abs=0.5)


def test_a_model_of_iris_without_a_label_in_focus_is_made_too():
    rows, schema = datasets.load("iris")
    public = schema.model_copy(update={"label": None})
    network, _ = ask(marginals, rows, public, 50)
    assert len(network.axes) == len(schema.column)


@pytest.mark.parametrize("most", [20_000, 200])
def test_more_pairs_than_can_be_compared_are_no_refusal_after_a_charge(monkeypatch, most):
    """Tables of all pairs by a hub of many values may have more cells together than the kernel compares at once, which
    is 2^24: 35 columns by a hub of 40 values do."""
    monkeypatch.setattr("veil.kernel.verbs.apart.MOST_COUNTS", most)
    monkeypatch.setattr("veil.plans.synthesis.marginals.MOST_COUNTS", most, raising=False)
    rows, draw = 600, np.random.default_rng(0)
    kinds = [Numeric(name=f"x{i}", bounds=(0, 1), bins=16) for i in range(8)]
    schema = Schema(name="wide", column=[*kinds, Categorical(name="hub", values=range(10))])
    columns = {column.name: draw.random(rows) for column in kinds} | {"hub": draw.integers(0, 10, rows)}
    _, source = ask(marginals, columns, schema, 100, focus="hub")
    receipts = source.record.receipts
    assert "choose_apart" in [receipt.verb for receipt in receipts]
    assert sum(receipt.epsilon for receipt in receipts) == 100
