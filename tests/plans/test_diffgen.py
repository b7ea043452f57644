"""DiffGen: without noise the greedy cut of the paper's algorithm, one cut for all rows, exactly as dear as asked."""

from fractions import Fraction

import numpy as np
import pytest

from veil import BadInput, Budget, Categorical, Ledger, Numeric, Schema, load_synopsis, open_source, publish
from veil.plans.histograms.diffgen import anything, diffgen, grid_of, specialised, usable_levels

HUGE = 10**6
PLACES = {"north": ["a", "b"], "south": {"coast": ["c", "d"], "hills": ["e"]}}
SCHEMA = Schema(
    name="made",
    label="y",
    column=[
        Categorical(name="place", values=tuple("abcdef"), groups=PLACES),
        Numeric(name="x", bounds=(0, 8), bins=8),
        Categorical(name="b", values=("p", "q"), missing="p"),
        Categorical(name="y", values=("no", "yes")),
    ],
)


def table(size=400, seed=0):
    draw = np.random.default_rng(seed)
    place, x, b = draw.choice(list("abcdef"), size), draw.uniform(0, 8, size), draw.choice(list("pq"), size)
    chance = 0.1 + 0.5 * np.isin(place, ["c", "d"]) + 0.3 * (x > 5) - 0.1 * (b == "q")
    return {"place": place, "x": x, "b": b, "y": np.where(draw.random(size) < chance, "yes", "no")}


def ask(rows, epsilon, schema=SCHEMA, seed=0, **settings):
    source = open_source(rows, schema, Ledger(epsilon, schema.name), noise=seed)
    return diffgen(source, Budget(epsilon), **settings), source


def below(name, codes):
    """The specialisations of a set of codes of the made table, written out by hand: what a taxonomy says, any edge."""
    if name == "x":  # missing values, code 8, stay with the first bin
        bins = sorted(code for code in codes if code < 8)
        lower = [8] if 8 in codes else []
        return [({*bins[:edge], *lower}, {*bins[edge:]}) for edge in range(1, len(bins))]
    if name == "b":
        return [({0}, {1})] if len(codes) > 1 else []
    first = {0, 1, 6}  # north, with the extra code for missing values
    tree = {
        frozenset(range(7)): [(first, {2, 3, 4}, {5})],
        frozenset(first): [({0, 6}, {1})],
        frozenset({2, 3, 4}): [({2, 3}, {4})],
        frozenset({2, 3}): [({2}, {3})],
    }
    return tree.get(frozenset(codes), [])


def textbook(codes, labels, steps, worth):
    """The algorithm of the paper in plain NumPy; the set of columns' values after the last step, or None on a tie."""
    cut = {"place": [set(range(7))], "x": [set(range(9))], "b": [{0, 1}]}
    for _ in range(steps):
        found = []
        for name, values in cut.items():
            for place, value in enumerate(values):
                for parts in below(name, value):
                    finer = {**cut, name: [*values[:place], *map(set, parts), *values[place + 1 :]]}
                    found.append((worth(cells(codes, finer), labels), finer))
        best = max(score for score, _ in found)
        top = [finer for score, finer in found if score > best - 1e-9]
        if len(top) > 1:
            return None
        cut = top[0]
    return cut


def cells(codes, cut):
    number = np.zeros(len(codes["x"]), int)
    for name, values in cut.items():
        group = {code: place for place, value in enumerate(values) for code in value}
        number = number * len(values) + np.array([group[int(code)] for code in codes[name]])
    return number


def right(number, labels):
    return sum(max(np.bincount(labels[number == cell], minlength=2)) for cell in np.unique(number))


def sureness(number, labels):
    """Minus the bits that the classes of all rows take, given their cells."""
    total = 0.0
    for cell in np.unique(number):
        counts = np.bincount(labels[number == cell], minlength=2)
        shares = counts[counts > 0] / counts.sum()
        total += float(counts.sum() * (shares * np.log2(shares)).sum())
    return total


@pytest.mark.parametrize(("criterion", "worth"), [("majority", right), ("entropy", sureness)])
def test_without_noise_it_is_the_greedy_cut_of_the_paper_with_exact_counts(criterion, worth):
    compared = 0
    for seed in range(8):
        rows = table(seed=seed)
        codes = {name: np.asarray(column) for name, column in SCHEMA.encode(rows).items()}
        wanted = textbook(codes, codes["y"], 4, worth)
        if wanted is None:  # two cuts are equally good
            continue
        compared += 1
        found, source = ask(rows, HUGE, steps=4, criterion=criterion)
        said = {axis.column: axis.groups for axis in found.table.question.axes}
        for name, values in wanted.items():
            groups = said.get(name, (0,) * len(set().union(*values)))
            assert {frozenset(np.flatnonzero(np.array(groups) == group)) for group in set(groups)} == {
                frozenset(value) for value in values
            }
        assert (found.table.value == source._table.tabulate(found.table.question)).all()
    assert compared >= 3


def test_a_cut_is_specialised_at_one_value_of_one_column():
    start, levels = anything(SCHEMA.features), [*map(usable_levels, SCHEMA.features)]
    candidates = [*specialised(SCHEMA.features, levels, start)]
    assert len(candidates) == 1 + 7 + 1  # a taxonomy's first level, seven edges, two categories
    assert all(sum(one != other for one, other in zip(start, cut, strict=True)) == 1 for cut in candidates)
    assert {grid_of(cut).columns for cut in candidates} == {("place",), ("x",), ("b",)}
    names = {axis.names for cut in candidates for axis in cut if axis.size > 1}
    assert ("north or (missing)", "south", "f") in names and ("0 to 3 or (missing)", "3 to 8") in names


@pytest.mark.parametrize("steps", [1, 3, 50])
@pytest.mark.parametrize("epsilon", ["1/3", 2, HUGE])
def test_half_is_for_the_counts_and_steps_with_nothing_to_specialise_leave_them_more(steps, epsilon):
    _, source = ask(table(100), epsilon, steps=steps)
    receipts = source.record.receipts
    assert sum(receipt.epsilon for receipt in receipts) == Fraction(epsilon)
    each, rest = Fraction(epsilon) * Fraction(97, 200) / steps, Fraction(epsilon) * Fraction(97, 100)
    chosen = [receipt.epsilon for receipt in receipts if receipt.verb == "choose"]
    assert chosen == [each] * len(chosen) and 1 <= len(chosen) <= steps
    assert receipts[-1].verb == "count" and receipts[-1].epsilon == rest - each * len(chosen)
    assert len(chosen) == steps or steps == 50 or epsilon != HUGE  # few rows have room for few cells


def test_with_room_for_all_cells_everything_is_specialised_to_the_end():
    found, _ = ask(table(2000), HUGE, steps=50, most_cells=10**6)
    assert found.table.question.size == 6 * 8 * 2


def test_the_rows_bound_the_cells():
    found, _ = ask(table(50), "1/2", steps=50)
    assert found.table.question.size <= 0.4 * 100 * 0.25
    found, _ = ask(table(50), HUGE, most_cells=5)
    assert 2 <= found.table.question.size <= 5


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"steps": 2.5}, {"criterion": "gini"}, {"most_cells": 0}])
def test_settings_that_cannot_be_are_refused_before_the_charge(wrong):
    ledger = Ledger(1, "made")
    with pytest.raises(BadInput):
        diffgen(open_source(table(), SCHEMA, ledger), Budget(1), **wrong)
    assert ledger.left == 1


def test_a_column_of_very_many_bins_is_cut_between_runs_of_them():
    schema = Schema(name="made", label="y", column=[Numeric(name="x", bounds=(0, 1), bins=5000), SCHEMA.get("y")])
    draw = np.random.default_rng(0).random(3000)
    rows = {"x": draw, "y": np.where(draw > 0.61, "yes", "no")}
    found, source = ask(rows, 50, schema, steps=3)
    assert found.table.question.size == 4 and sum(r.epsilon for r in source.record.receipts) == 50
    assert any(abs(float(name.split()[0]) - 0.61) < 0.01 for name in found.table.question.axes[0].names)


def test_a_published_table_answers_queries_and_can_be_kept(tmp_path):
    rows = table(3000)
    made = publish(rows, SCHEMA, epsilon=20, method="diffgen", ledger=Ledger(20, "made"))
    made.save(tmp_path / "s.veil")
    again = load_synopsis(tmp_path / "s.veil")
    exact = int((rows["y"] == "yes").sum())
    assert again.query(y="yes").count == pytest.approx(exact, rel=0.05) and again.method == "diffgen"
