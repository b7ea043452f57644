"""The choice among histograms: its metafeatures, what every path costs, what it depends on, and when none is made."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from veil import BadInput, BudgetRefused, Ledger, Numeric, Schema, load_synopsis, open_source, publish
from veil.choice import ChoiceMaker, look, train
from veil.choice.ranges import (
    ADAPTIVE_TREE,
    DAWA,
    MWEM,
    NO_CHOICE,
    ROWS,
    SIGNAL,
    SPARSITY,
    UNIFORMITY,
    option,
    public_histograms,
    quality,
)
from veil.kernel import Budget
from veil.plans.ranges.domain import Domain
from veil.plans.ranges.identity import identity
from veil.plans.ranges.spread import Spread
from veil.synopsis import Histogram

CELLS = 64
PLACES = np.arange(CELLS)
SHAPES = {
    "bell": np.exp(-(((PLACES - 20) / 6) ** 2)),
    "even": np.ones(CELLS),
    "steps": np.repeat([1, 8, 2, 0.1], 16),
    "decay": 0.9**PLACES,
}
FACTS = [ROWS, SIGNAL, SPARSITY, UNIFORMITY]
PRICE = Fraction(5, 100)
HUGE = Budget(10**6)


def schema_of(*sizes, **more):
    columns = [Numeric(name=f"x{i}", bounds=(0, n - 1), integer=True, bins=n) for i, n in enumerate(sizes)]
    return Schema(name="cells", column=columns, **more)


def opened(table, limit=10**9, seed=1, **more):
    """A source over rows that lie in these cells."""
    table = np.asarray(table)
    codes = np.unravel_index(np.repeat(np.arange(table.size), table.ravel()), table.shape)
    rows = {f"x{i}": code for i, code in enumerate(codes)} | {"who": np.arange(len(codes[0]))}
    return open_source(rows, schema_of(*table.shape, **more), Ledger(limit, "cells"), seed)


def facts_of(table, budget=HUGE, metafeatures=FACTS):
    return {fact.name: fact.value for fact in look(metafeatures, opened(table), budget).facts}


@pytest.fixture(scope="module")
def traces():
    return train([DAWA, MWEM, ADAPTIVE_TREE], FACTS, public_histograms(SHAPES, (500, 20_000)), epsilons=(0.1, 1.0))


# --- metafeatures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(64,), (50,), (8, 8), (13, 7), (2,)], ids=str)
def test_with_a_huge_epsilon_facts_are_the_textbook_ones(shape):
    table = np.random.default_rng(4).poisson(0.9, shape)
    found = facts_of(table)
    assert found["rows"] == table.sum() and found["signal"] == pytest.approx(np.log10(table.sum() * 10**6))
    assert found["sparsity"] == pytest.approx(np.mean(table > 0))


def test_uniformity_is_the_deviation_of_block_sums():
    table = np.random.default_rng(3).poisson(5, CELLS)
    sums = table.reshape(8, 8).sum(axis=1)
    assert facts_of(table)["uniformity"] == pytest.approx(sums.std() / (table.sum() * np.sqrt(7) / 8), rel=1e-3)


def test_uniformity_runs_from_even_rows_to_all_in_one_block():
    alone = 500 * (PLACES == 3)
    assert facts_of(np.full(CELLS, 7))["uniformity"] == pytest.approx(0, abs=1e-4)
    assert facts_of(alone)["uniformity"] == pytest.approx(1)


def test_uniformity_is_without_the_deviation_of_the_noise():
    """Even rows: what the noise adds to the deviation of the blocks is taken off on average."""
    found = [look(FACTS, opened(np.full(CELLS, 30), seed=seed), Budget(20)).facts[3].value for seed in range(60)]
    assert np.mean(found) < 0.02  # the noise alone has a deviation of 1.9 % of the rows, at scale 5 and in 8 blocks


def test_facts_without_rows_are_finite():
    assert {*map(np.isfinite, facts_of(np.zeros(CELLS, int), Budget("1/100")).values())} == {True}


def test_uniformity_alone_needs_no_other_fact():
    assert facts_of(500 * (PLACES == 3), HUGE, [UNIFORMITY])["uniformity"] == pytest.approx(1)


@pytest.mark.parametrize(("fact", "verb"), [(ROWS, "count"), (SPARSITY, "occupied"), (UNIFORMITY, "count")])
def test_every_question_costs_its_percent_and_has_noise(fact, verb):
    source = opened(np.full(CELLS, 3))
    seen = look([fact], source, Budget(1))
    (receipt,) = source.record.receipts
    assert receipt.verb == verb and receipt.epsilon == Fraction(fact.percent, 100) == 1 - seen.left.epsilon
    assert source.record.releases[0].scale == pytest.approx(100 / fact.percent)


def test_the_signal_is_free():
    assert SIGNAL.ask is None and SIGNAL.percent == 0


def test_the_epsilon_of_a_row_counts_where_a_person_has_several():
    source = opened(np.full(CELLS, 3), person="who", rows_per_person=4)
    facts = {fact.name: fact.value for fact in look([ROWS, SIGNAL], source, Budget(400)).facts}
    assert facts["signal"] == pytest.approx(np.log10(facts["rows"] * 100))


# --- the choice ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", [DAWA, MWEM, ADAPTIVE_TREE], ids=lambda one: one.name)
@pytest.mark.parametrize("epsilon", ["1/7", "3"])
def test_every_path_costs_the_budget_exactly(traces, one, epsilon):
    source = opened(np.random.default_rng(2).poisson(20, CELLS), limit=Fraction(epsilon))
    choose = ChoiceMaker([one], FACTS, traces=traces)
    spread = choose(source, Budget(epsilon))
    assert type(spread) is Spread and choose.trace.chosen == one.name
    assert source._account.ledger.spent == Fraction(epsilon)
    assert choose.trace.price == PRICE * Fraction(epsilon)


def test_the_example_of_the_paper_by_its_formulas_alone():
    """Dense rows: MWEM is predicted 1 - 1, DAWA uniformity x 0, and the first of equals is taken; sparse ones: MWEM."""
    choose = ChoiceMaker([DAWA, MWEM], FACTS)
    dense, sparse = np.full(CELLS, 90), 3_000 * (PLACES == 3)
    choose(opened(dense), HUGE)
    assert choose.trace.chosen == "dawa"
    choose(opened(sparse), Budget(50))
    assert choose.trace.chosen == "mwem"
    said = {one.option: one.value for one in choose.trace.predictions}
    facts = {fact.name: fact.value for fact in choose.trace.facts}
    assert said["mwem"] == pytest.approx(1 - facts["sparsity"] ** 2)
    assert said["dawa"] == pytest.approx(facts["uniformity"] * (1 - facts["sparsity"]))


def test_formulas_are_corrected_by_traces(traces):
    """What is predicted of an option is near to what it did on like tables, which no formula alone is."""
    corrected = ChoiceMaker([DAWA, MWEM, ADAPTIVE_TREE], FACTS, traces=traces)
    off = []
    for place in range(len(traces)):
        facts = dict(zip(traces.fact_names, traces.facts[place].tolist(), strict=True))
        found = corrected.predict(facts, corrected.options)
        off += [found[name][0].value - traces.quality["quality"][place, i] for i, name in enumerate(traces.options)]
    alone = np.abs(traces.quality["quality"][:, :2] - 0.5).mean()
    assert np.abs(off).mean() < 0.3 * alone


def test_the_same_releases_give_the_same_choice(traces):
    """Neighbouring tables: where the paid answers agree, so do facts, predictions and choice."""
    choose = ChoiceMaker([DAWA, MWEM, ADAPTIVE_TREE], FACTS, traces=traces)
    table = np.random.default_rng(2).poisson(2, CELLS)
    more, answers = table + (PLACES == 9), dict()
    for neighbour in (table, more):
        for seed in range(120):
            source = opened(neighbour, seed=seed)
            choose(source, Budget(400))  # of so little noise that many answers are the same on both
            paid = tuple(release.value.tobytes() if hasattr(release.value, "tobytes") else release.value
                         for release in source.record.releases[:3])  # fmt: skip
            answers.setdefault(paid, set()).add(str(choose.trace.to_dict()))
    assert len(answers) < 240 and all(len(told) == 1 for told in answers.values())


def test_nothing_is_charged_when_the_ledger_is_short(traces):
    source = opened(np.full(CELLS, 3), limit=Fraction(1, 200))
    with pytest.raises(BudgetRefused):
        ChoiceMaker([DAWA, MWEM], FACTS, traces=traces)(source, Budget(1))
    assert source._account.ledger.spent == 0


def test_an_option_that_cannot_hold_so_many_cells_is_left_out_before_a_charge():
    source = opened(np.zeros(20_000, int))
    with pytest.raises(BadInput, match="at most"):
        ChoiceMaker([DAWA, MWEM], FACTS)(source, Budget(1))
    assert not source.record.receipts
    choose = ChoiceMaker([DAWA, option("identity", identity, lambda facts: 0.0)], FACTS)
    choose(source, Budget(1))
    assert choose.trace.chosen == "identity" and "at most" in choose.trace.left_out["dawa"]


# --- training --------------------------------------------------------------------------------------------------


def test_public_histograms_are_tables_of_the_sizes_asked_for():
    found = public_histograms({"map": np.ones((4, 8))}, (10, 200))
    assert [len(database.rows["x0"]) for database in found] == [10, 200]
    assert all(database.schema.public and database.family == "map" for database in found)
    assert Domain(found[0].schema).shape == (4, 8)


@pytest.mark.parametrize("wrong", [[], 3, [1, -1], [0, 0], [1, np.nan], [np.inf, 1]], ids=str)
def test_what_is_no_histogram_is_refused(wrong):
    with pytest.raises(BadInput, match="'mine'"):
        public_histograms({"mine": wrong})


def test_quality_is_minus_the_logarithm_of_the_error():
    table = np.random.default_rng(1).poisson(9, CELLS)
    exact, off = Spread(table.astype(float), 0.0), Spread(table + 1.0, 0.0)
    twice = Spread(table + 2.0, 0.0)
    assert quality(table, exact) == pytest.approx(-np.log(1e-9))
    assert quality(table, off) - quality(table, twice) == pytest.approx(np.log(2))


def test_no_two_lines_of_traces_have_the_same_noise(traces):
    rows = traces.facts[:, traces.fact_names.index("rows")]
    exact = np.array([float(name.split()[1]) for name in traces.databases])
    assert len({*(rows - exact)}) > len(traces) / 2


# --- auto ------------------------------------------------------------------------------------------------------

AGES = Schema(name="ages", column=[Numeric(name="age", bounds=(0, 99), integer=True, bins=100)])
PEOPLE = {"age": np.random.default_rng(0).integers(0, 100, 2_000)}


def test_auto_makes_no_choice_and_pays_for_none():
    ledger = Ledger(1, "ages")
    made = publish(PEOPLE, AGES, columns=["age"], epsilon="1/3", method="auto", ledger=ledger, random_state=4)
    named = publish(PEOPLE, AGES, columns=["age"], epsilon="1/3", ledger=Ledger(1, "ages"), random_state=4)
    assert ledger.spent == Fraction(1, 3) and made.method == "adaptive-tree"
    assert made.trace_ == NO_CHOICE and made.trace_.price == 0 and "no choice is needed" in str(made.trace_)
    assert np.array_equal(made.table, named.table) and named.trace_ is None


def test_a_file_tells_how_the_method_was_chosen(tmp_path):
    made = publish(PEOPLE, AGES, columns=["age"], epsilon=1, method="auto", random_state=4)
    made.save(tmp_path / "h.veil")
    assert load_synopsis(tmp_path / "h.veil").trace_ == NO_CHOICE


@pytest.mark.parametrize("change", [{"chosen": "mwem"}, {"facts": 3}, {"version": 2}, {"why": None}], ids=str)
def test_a_file_with_a_damaged_trace_is_refused(tmp_path, change):
    made = publish(PEOPLE, AGES, columns=["age"], epsilon=1, method="auto", random_state=4)
    damaged = replace(made.outcome_, trace={**NO_CHOICE.to_dict(), **change})
    Histogram(damaged).save(tmp_path / "h.veil")
    with pytest.raises(BadInput):
        load_synopsis(tmp_path / "h.veil")


def test_auto_is_for_histograms_alone():
    labelled = AGES.model_copy(update={"label": "age"})
    with pytest.raises(BadInput, match="there is no method 'auto'"):
        publish(PEOPLE, labelled, epsilon=1, method="auto")
