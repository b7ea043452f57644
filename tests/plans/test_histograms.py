"""PrivPfC, DiffGen and projected histograms: the textbook answer without noise, exactly as dear as asked."""

from fractions import Fraction

import numpy as np
import pytest

from pairs import undiscerned
from veil import WHOLE, BadInput, Budget, BudgetRefused, Categorical, Ledger, Numeric, Schema, datasets, open_source
from veil.kernel import SparseCounts
from veil.kernel.verbs.sparse import occupied
from veil.plans.histograms.diffgen import diffgen
from veil.plans.histograms.grids import grids
from veil.plans.histograms.privpfc import class_weights, privpfc
from veil.plans.histograms.projected_histogram import cut_into, projected_histogram
from veil.plans.histograms.projection import columns_for

PLANS = [privpfc, projected_histogram, diffgen]
HUGE = 10**6


def ask(plan, rows, schema, epsilon=1, limit=None, seed=0, **settings):
    """A release, and the source that gave it."""
    source = open_source(rows, schema, Ledger(limit or epsilon, schema.name), noise=seed)
    return plan(source, Budget(epsilon), **settings).table, source


def table(size=300, seed=0):
    """A label that two of four columns decide, and a column like an identifier."""
    draw = np.random.default_rng(seed)
    a, b = draw.integers(0, 2, (2, size))
    columns = {"a": a, "b": b, "x": draw.random(size), "n": draw.integers(0, 3, size), "id": np.arange(size)}
    schema = Schema(
        name="made",
        label="y",
        column=[
            Categorical(name="a", values=(0, 1), missing=0),
            Categorical(name="b", values=(0, 1), missing=0),
            Numeric(name="x", bounds=(0, 1)),
            Categorical(name="n", values=(0, 1, 2), missing=0),
            Categorical(name="id", values=tuple(range(size)), missing=0),
            Categorical(name="y", values=("no", "yes")),
        ],
    )
    return {**columns, "y": np.where(a | b, "yes", "no")}, schema


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("epsilon", ["1/3", "0.7", 2])
def test_they_spend_exactly_their_budget(plan, epsilon):
    rows, schema = datasets.load("iris")
    ledger = Ledger(10, schema.name)
    plan(open_source(rows, schema, ledger, noise=1), Budget(epsilon))
    assert 10 - ledger.left == Fraction(epsilon)


@pytest.mark.parametrize("plan", PLANS)
def test_they_are_refused_when_the_ledger_is_short(plan):
    rows, schema = datasets.load("iris")
    with pytest.raises(BudgetRefused):
        ask(plan, rows, schema, epsilon=1, limit="0.99")


def test_privpfc_without_noise_publishes_the_grid_that_gets_most_rows_right():
    rows, schema = table()
    release, source = ask(privpfc, rows, schema, HUGE)
    candidates = grids(schema, 2000, 100_000)
    best = max(source._table.tabulate(grid).max(axis=1).sum() for grid in candidates)
    exact = source._table.tabulate(release.question)
    assert (release.value == exact).all() and exact.max(axis=1).sum() == best == 300


def test_a_projected_histogram_without_noise_is_the_greedy_histogram():
    """The greedy choice of the paper, by counting pairs; then every count as it is."""
    rows, schema = table()
    release, source = ask(projected_histogram, rows, schema, HUGE, criterion="discernibility", columns=2, bins=4)
    codes = schema.encode(rows)
    best, blocks = [], np.zeros(300, int)
    for _ in range(2):
        left = {
            c.name: undiscerned(blocks * 1000 + cut_into(c, 4).cells(codes), codes["y"])
            for c in schema.features
            if c.name not in (*best, "id")  # which would tell all rows apart, and has a handicap for it
        }
        best.append(min(left, key=left.get))
        blocks = blocks * 1000 + cut_into(schema.get(best[-1]), 4).cells(codes)
    assert list(release.question.columns) == best
    found, counts = occupied(source._table, release.question, len(source.schema.classes))
    assert isinstance(release.value, SparseCounts)
    assert dict(zip(release.value.codes, release.value.counts, strict=True)) == dict(zip(found, counts, strict=True))


@pytest.mark.parametrize("criterion", ["majority", "discernibility"])
def test_a_column_like_an_identifier_is_not_chosen(criterion):
    rows, schema = table(2000)
    release, _ = ask(projected_histogram, rows, schema, 100, criterion=criterion, columns=2)
    assert "id" not in release.question.columns


def test_the_rules_of_the_paper_give_its_threshold_and_its_share():
    rows, schema = table(1000)
    release, source = ask(projected_histogram, rows, schema, 1, rules="paper")
    assert release.value.threshold == pytest.approx(np.log(1000) / 2 * release.scale, abs=0.05 * release.scale + 1)
    verbs = [receipt.verb for receipt in source.record.receipts]
    assert verbs == ["count", *["choose"] * columns_for(5, 1000), "count_sparse"]
    assert source.record.receipts[-1].epsilon < Fraction(1, 4)  # most goes to the choice


def test_the_number_of_columns_can_be_chosen_on_held_out_rows_at_no_further_cost():
    rows, schema = table(3000)
    ledger = Ledger(50, schema.name)
    source = open_source(rows, schema, ledger, noise=0)
    release = projected_histogram(source, Budget(50), columns="held-out", bins=2).table
    assert {"a", "b"} <= set(release.question.columns)
    assert ledger.left == 0
    assert len({receipt.account for receipt in source.record.receipts}) > 3


def test_a_table_of_few_columns_has_nothing_to_choose():
    rows, schema = table(500)
    few = Schema(name="made", label="y", column=[schema.get(name) for name in ("a", "b", "y")])
    release, source = ask(projected_histogram, rows, few, 1)
    assert [receipt.verb for receipt in source.record.receipts] == ["count", "count_sparse"]
    assert source.record.receipts[1].epsilon == Fraction(97, 100)


def test_no_room_for_any_grid_leaves_the_class_totals_at_the_whole_budget():
    rows, schema = datasets.load("iris")
    release, source = ask(privpfc, rows, schema, "0.1", most_cells=1)
    assert release.question == WHOLE and release.value.shape == (1, 3)
    assert [receipt.epsilon for receipt in source.record.receipts] == [Fraction(3, 1000), Fraction(97, 1000)]


def test_a_handful_of_rows_gets_a_grid_of_few_cells():
    rows, schema = datasets.load("iris")
    release, _ = ask(privpfc, rows.head(3), schema, "0.01", pool=100)
    assert 2 <= release.question.size < 150


@pytest.mark.parametrize("plan", PLANS)
def test_empty_tables_and_odd_columns_have_answers(plan):
    _, schema = table(5)
    odd = [Categorical(name="one", values=("only",)), Numeric(name="z", bounds=(0, 10**9))]
    wide = Schema(name="made", label="y", column=[*odd, *schema.column])
    nothing = {column.name: [] for column in wide.column}
    release, source = ask(plan, nothing, wide, 1)
    assert sum(receipt.epsilon for receipt in source.record.receipts) == 1
    assert release.question is not None


@pytest.mark.parametrize("plan", PLANS)
def test_a_table_of_the_label_alone_is_refused_before_the_charge(plan):
    schema = Schema(name="made", label="y", column=[Categorical(name="y", values=("no", "yes"))])
    ledger = Ledger(1, "made")
    with pytest.raises(BadInput, match="column"):
        plan(open_source({"y": ["no"]}, schema, ledger), Budget(1))
    assert ledger.left == 1


@pytest.mark.parametrize(
    "wrong",
    [
        *({"columns": 0}, {"columns": 9}, {"columns": 1.5}, {"columns": 2.0}, {"columns": True}, {"columns": "3"}),
        *({"bins": 0}, {"bins": 2.0}, {"share": 1.0}, {"share": "0.5"}, {"rules": "?"}, {"criterion": "?"}),
    ],
)
def test_settings_that_cannot_be_are_refused_before_the_charge(wrong):
    rows, schema = table(50)
    ledger = Ledger(1, "made")
    with pytest.raises(BadInput):
        projected_histogram(open_source(rows, schema, ledger), Budget(1), **wrong)
    assert ledger.left == 1


def test_rows_per_person_make_the_grid_coarser():
    """The same budget protects three rows instead of one: noise is three times as large."""
    rows, schema = table(600)
    person = Schema(name="made", label="y", person="who", rows_per_person=3, column=schema.column)
    release, _ = ask(privpfc, {**rows, "who": np.arange(600) // 3}, person, 1)
    assert release.scale == pytest.approx(3 / 0.7275, rel=1e-3)


@pytest.mark.parametrize("wrong", [{"pool": 0}, {"pool": 1.5}, {"pool": 2.0}, {"most_cells": 0}, {"most_cells": 10**7}])
def test_a_pool_or_a_size_that_cannot_be_is_refused_before_the_charge(wrong):
    rows, schema = datasets.load("iris")
    ledger = Ledger(1, schema.name)
    with pytest.raises(BadInput):
        privpfc(open_source(rows, schema, ledger), Budget(1), **wrong)
    assert ledger.left == 1


def test_a_rare_class_is_lifted():
    assert class_weights(np.array([90.0, 10.0])) == (3, 16)
    assert class_weights(np.array([70.0, 30.0])) == ()
    assert class_weights(np.array([90.0, 5.0, 5.0])) == ()


def test_whole_numbers_of_numpy_are_whole_numbers():
    rows, schema = table(100)
    release, _ = ask(projected_histogram, rows, schema, 1, columns=np.int64(2), bins=np.int8(3))
    assert len(release.question.columns) == 2
    assert ask(privpfc, rows, schema, 1, pool=np.int64(9))[0].question.size > 1


@pytest.mark.parametrize("plan", PLANS)
def test_columns_of_one_value_leave_the_class_totals(plan):
    label = Categorical(name="y", values=("no", "yes"))
    same = [Categorical(name="c", values=("all",), missing="all"), Numeric(name="x", bounds=(0, 1), bins=1, missing=0)]
    schema = Schema(name="made", label="y", column=[*same, label])
    release, source = ask(plan, {"c": ["all"] * 9, "x": [1] * 9, "y": ["no"] * 9}, schema, HUGE)
    assert release.question.size == 1 and sum(receipt.epsilon for receipt in source.record.receipts) == HUGE


@pytest.mark.parametrize("rules", ["veil", "paper"])
def test_grids_far_too_large_for_the_threshold_of_the_paper_are_counted_above_a_higher_one(rules):
    many = tuple(map(str, range(1000)))
    columns = [Categorical(name=name, values=many) for name in "abcdef"]
    schema = Schema(name="made", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
    rows = {name: many for name in "abcdef"} | {"y": ["no", "yes"] * 500}
    release, source = ask(projected_histogram, rows, schema, 1, rules=rules, columns=5)
    assert release.question.size > 10**15 and sum(receipt.epsilon for receipt in source.record.receipts) == 1


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("rows", [0, 50])
@pytest.mark.parametrize("epsilon", ["1e-7", "1e400"])
def test_tiny_and_astronomical_budgets_are_spent_to_the_end(plan, rows, epsilon):
    made, schema = table(50)
    for seed in range(5):  # with a tiny one, the noisy number of rows may be in the billions
        _, source = ask(plan, {name: values[:rows] for name, values in made.items()}, schema, epsilon, seed=seed)
        assert sum(receipt.epsilon for receipt in source.record.receipts) == Fraction(epsilon)


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_gives_back_the_class_totals_too_whatever_was_asked_before(plan):
    rows, schema = table()
    source = open_source(rows, schema, Ledger(2, schema.name), noise=0)
    source.count(WHOLE, Budget(1))
    found = plan(source, Budget(1))
    assert found.totals is source.record.releases[1] and found.totals.value.shape == (1, len(schema.classes))
    assert found.table is source.record.releases[-1]
