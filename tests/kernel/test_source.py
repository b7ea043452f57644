"""The verbs: right with a huge epsilon, exactly as dear as asked, and refused when the ledger is short."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil import (
    WHOLE,
    Axis,
    BadInput,
    Binned,
    Budget,
    BudgetRefused,
    Categorical,
    CellScores,
    Correct,
    Dependence,
    Discernibility,
    Gini,
    Grid,
    Ledger,
    LedgerProblem,
    Linear,
    Majority,
    Numeric,
    Predicted,
    Rows,
    Schema,
    Tree,
    axis,
    grid,
    open_source,
)
from veil.kernel import Logistic

HUGE = Budget(10**6)
SCHEMA = Schema(
    name="toy",
    label="y",
    column=[
        Categorical(name="a", values=("u", "v")),
        Numeric(name="x", bounds=(0, 8), bins=8),
        Categorical(name="y", values=("no", "yes")),
    ],
)
ROWS = pd.DataFrame(
    {
        "a": ["u", "u", "v", "v", None, "u", "v", "w", "u", "u"],
        "x": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, np.nan, 99.0],
        "y": ["no", "yes", "no", "yes", "no", "yes", "no", "yes", "yes", "no"],
    }
)


def source_of(rows=ROWS, limit=10**9, schema=SCHEMA, seed=0):
    ledger = Ledger(limit, schema.name)
    return open_source(rows, schema, ledger, noise=seed), ledger


def brute_force(rows, column):
    table = np.zeros((column.size, 2), int)
    for value, label in zip(rows[column.name], rows["y"], strict=True):
        table[column.encode(np.array([value], object))[0], ("no", "yes").index(label)] += 1
    return table


@pytest.mark.parametrize("name", ["a", "x"])
def test_a_count_with_a_huge_epsilon_is_the_exact_table(name):
    source, _ = source_of()
    assert (source.count(grid(SCHEMA, name), HUGE).value == brute_force(ROWS, SCHEMA.get(name))).all()


def test_counts_over_several_columns_agree_with_pandas():
    source, _ = source_of()
    value = source.count(grid(SCHEMA, "a", "x"), HUGE).value.reshape(3, 9, 2)
    codes = SCHEMA.encode(ROWS)
    expected = pd.crosstab([codes["a"], codes["x"]], codes["y"])
    for (a, x), row in expected.iterrows():
        assert list(value[a, x]) == [row.get(0, 0), row.get(1, 0)]
    assert value.sum() == len(ROWS)


def test_a_count_without_classes_is_the_sum_over_them():
    source, _ = source_of()
    assert (source.count(WHOLE, HUGE, by_class=False).value == [[10]]).all()
    assert source.count(grid(SCHEMA, "a"), HUGE, by_class=False).value.shape == (3, 1)


def test_the_noise_of_a_count_has_the_scale_it_states():
    source, _ = source_of(ROWS[:0])
    release = source.count(Grid((Axis("a", (0, 0, 0), ("all",)),)) & grid(SCHEMA, "x"), Budget("1/4"), by_class=False)
    assert release.scale == 4
    draws = np.concatenate([source.count(WHOLE, Budget("1/4")).value.ravel() for _ in range(3000)])
    assert np.mean(np.abs(draws) <= release.error(0.95)) >= 0.94
    assert np.mean(np.abs(draws) <= release.error(0.95) - 1) <= 0.96


def test_several_counts_share_one_charge_in_the_chosen_proportions():
    source, ledger = source_of()
    first, second = source.count_each([WHOLE, grid(SCHEMA, "a")], Budget(1), shares=[1, 3])
    assert (first.scale, second.scale) == (4, float(Fraction(4, 3)))
    assert ledger.spent == 1 and len(ledger.receipts()) == 1 and first.receipt == second.receipt


def test_choose_with_a_huge_epsilon_takes_the_best():
    source, _ = source_of()
    candidates = [WHOLE, axis(SCHEMA.get("a")), axis(SCHEMA.get("x"))]
    for score in (Majority(), Gini()):
        assert source.choose(candidates, score, HUGE).value is candidates[2]


def test_choose_says_nothing_but_the_winner():
    source, _ = source_of()
    release = source.choose([WHOLE, axis(SCHEMA.get("a"))], Majority(), Budget(1))
    assert release.question is None and release.scale == 1
    assert release.receipt.question == "one of 2 by Majority"


def test_choose_by_right_predictions_takes_the_best_model():
    source, _ = source_of()
    scores = np.eye(2)[[0, 1, 0, 1, 0, 1, 0, 1, 1]]
    good, bad = (Predicted(CellScores(grid(SCHEMA, "x"), values)) for values in (scores, 1 - scores))
    assert source.choose([bad, good], Correct(), HUGE).value is good


def test_a_sieve_finds_what_is_above_and_closes_after_its_hits():
    source, ledger = source_of()
    sieve = source.above(Rows(0), 5, HUGE, hits=2)
    assert ledger.spent == HUGE.epsilon  # charged whole when opened
    assert not sieve.ask(Grid((Axis("a", (1, 0, 1), ("v", "rest")),)))  # three rows have v
    assert sieve.ask(WHOLE) and sieve.ask(axis(SCHEMA.get("a")))  # ten rows; five have u
    with pytest.raises(BudgetRefused, match="all its hits"):
        sieve.ask(WHOLE)
    assert ledger.spent == HUGE.epsilon


@pytest.mark.parametrize("q", ["1/10", 0.25, 0.5, "2/3", 0.9])
def test_a_quantile_with_a_huge_epsilon_is_the_nearest_cut(q):
    values = pd.Series(np.repeat([0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5], [3, 1, 4, 1, 5, 9, 2, 6]))
    rows = pd.DataFrame({"a": "u", "x": values, "y": "no"})
    source, _ = source_of(rows)
    share = Fraction(str(q))
    gaps = {cut: abs((values < cut).sum() - share * len(values)) for cut in range(1, 8)}
    assert gaps[int(source.quantile("x", q, HUGE).value)] == min(gaps.values())


def test_a_quantile_ignores_missing_values_and_works_on_scores():
    source, _ = source_of()
    assert source.quantile("x", 0.5, HUGE).value in (4.0, 5.0)  # nine values, 4.5 in the middle
    score = Linear({"x": np.column_stack([np.zeros(9), np.arange(9)])}, [0, 0])
    assert source.quantile(score, 0.5, HUGE, grid=np.array([0.5, 4.5, 7.5])).value == 4.5


def test_an_empty_table_answers_like_any_other():
    source, _ = source_of(ROWS[:0])
    assert source.count(grid(SCHEMA, "a"), Budget(1)).value.shape == (3, 2)
    assert source.choose([WHOLE, axis(SCHEMA.get("a"))], Majority(), Budget(1)).value is not None
    assert {source.quantile("x", 0.5, Budget(1)).value for _ in range(200)} == set(range(1, 8))
    assert len(source.split(grid(SCHEMA, "a"))) == 3 and len(source.split_at_random(1, 1)) == 2
    assert source.count_sparse(grid(SCHEMA, "a", "x"), Budget(1)).value.counts.min(initial=99) > 0


def test_a_table_of_one_class_gives_a_full_table():
    source, _ = source_of(ROWS.assign(y="no"))
    assert (source.count(WHOLE, HUGE).value == [[10, 0]]).all()


def test_rows_whose_label_is_no_class_are_left_out():
    source, _ = source_of(ROWS.assign(y=["no", "maybe", None, "yes", "", "no", "yes", "no", 3, "no"]))
    assert (source.count(WHOLE, HUGE).value == [[4, 2]]).all()


def test_parts_cost_what_the_dearest_costs_and_hold_every_row_once():
    source, ledger = source_of()
    parts = source.split(axis(SCHEMA.get("a")))
    totals = [part.count(WHOLE, Budget(epsilon)).value for part, epsilon in zip(parts, (10**6, 5, 7), strict=True)]
    assert totals[0].sum() == 5 and ledger.spent == 10**6
    assert parts[0].split(axis(SCHEMA.get("x")))[0].count(WHOLE, HUGE).value.sum() == 1
    assert ledger.spent == 2 * 10**6


def test_a_part_answers_for_its_own_rows_only():
    source, _ = source_of()
    whole = source.count(grid(SCHEMA, "a", "x"), HUGE).value.reshape(3, 9, 2)
    for code, part in enumerate(source.split(axis(SCHEMA.get("a")))):
        inside = part.count(grid(SCHEMA, "x"), HUGE).value
        assert (inside == whole[code]).all()


def test_a_random_split_keeps_every_row_in_one_part_for_good():
    rows = pd.concat([ROWS] * 200)
    source, ledger = source_of(rows)
    train, test = source.split_at_random(4, 1)
    first, again = (train.count(grid(SCHEMA, "x"), HUGE).value for _ in range(2))
    assert (first == again).all()
    assert first.sum() + test.count(WHOLE, HUGE).value.sum() == len(rows)
    assert 1500 < first.sum() < 1700
    assert ledger.spent == 2 * 10**6


def test_a_tree_counts_its_leaves():
    source, _ = source_of()
    tree = Tree(axis(SCHEMA.get("a")), (axis(SCHEMA.get("x"), 1), WHOLE, WHOLE))
    value = source.count(tree, HUGE).value
    assert value.shape == (5, 2) and value.sum() == 10 and value[3].sum() == 3


def test_a_sparse_count_with_a_huge_epsilon_is_the_occupied_cells():
    source, _ = source_of()
    release = source.count_sparse(grid(SCHEMA, "a", "x"), HUGE, threshold=0)
    dense = source.count(grid(SCHEMA, "a", "x"), HUGE).value.ravel()
    assert list(release.value.codes) == list(np.flatnonzero(dense))
    assert list(release.value.counts) == list(dense[dense > 0])


def wide_schema(columns):
    return Schema(
        name="wide", column=[Categorical(name=f"c{i}", values=tuple("abcdefgh"), missing="a") for i in range(columns)]
    )


@pytest.mark.parametrize("columns", [20, 21, 24, 60, 400])
def test_a_sparse_count_works_beyond_two_to_the_sixty_three(columns):
    schema = wide_schema(columns)
    rows = {f"c{i}": ["h"] * 50 + ["b"] * 70 for i in range(columns)}
    source, _ = source_of(rows, schema=schema)
    cells = 8**columns
    release = source.count_sparse(grid(schema, *rows), Budget(20), threshold=None, spurious=0.001)
    named = dict(
        zip([tuple(n) for n in map(release.question.names, release.value.codes)], release.value.counts, strict=True)
    )
    assert release.question.size == cells
    assert release.value.codes.dtype == (object if cells >= 2**62 else np.int64)
    if release.value.threshold < 40:
        assert abs(named[("h",) * columns] - 50) < 3 and abs(named[("b",) * columns] - 70) < 3


def test_spurious_cells_of_a_huge_domain_are_as_many_as_expected():
    schema = wide_schema(24)  # 2^72 cells
    source, _ = source_of({f"c{i}": [] for i in range(24)}, schema=schema)
    sizes = [
        len(source.count_sparse(grid(schema, *(f"c{i}" for i in range(24))), Budget(1), spurious=20).value.codes)
        for _ in range(30)
    ]
    assert 7 < np.mean(sizes) < 22  # the threshold is whole: between 20/e and 20 are expected


def test_a_sparse_count_that_would_explode_is_refused_before_the_charge():
    schema = wide_schema(24)
    source, ledger = source_of({f"c{i}": ["a"] for i in range(24)}, schema=schema)
    with pytest.raises(BadInput, match="at least"):
        source.count_sparse(grid(schema, *(f"c{i}" for i in range(24))), Budget(1), threshold=3)
    with pytest.raises(BadInput, match="count_sparse"):
        source.count(grid(schema, *(f"c{i}" for i in range(24))), Budget(1))
    assert ledger.spent == 0


PERSONS = Schema(name="people", person="id", rows_per_person=2, column=[Categorical(name="a", values=("u", "v"))])


def test_a_person_keeps_at_most_the_declared_rows_and_costs_one_division():
    rows = {"id": ["p", "p", "p", "q", None, "r", "r", " r"], "a": list("uuuvuvvv")}
    source, ledger = source_of(rows, schema=PERSONS)
    release = source.count(grid(PERSONS, "a"), Budget(2 * 10**6))
    assert list(release.value.ravel()) == [2, 3, 0]
    assert release.scale == pytest.approx(1e-6) and ledger.spent == 2 * 10**6
    assert release.receipt.protects == "one person, at most 2 rows"


def test_which_rows_of_a_person_stay_is_drawn_at_random():
    rows = {"id": ["p", "p", "p"], "a": ["u", "v", "w"]}
    seen = {
        tuple(source_of(rows, schema=PERSONS, seed=s)[0].count(grid(PERSONS, "a"), Budget(10**7)).value.ravel())
        for s in range(60)
    }
    assert seen == {(1, 1, 0), (1, 0, 1), (0, 1, 1)}


@pytest.mark.parametrize("ids", [["p"], ["p", "q", "r"], []])
def test_a_person_column_of_another_length_is_refused(ids):
    with pytest.raises(BadInput, match="column 'id' and the others have different lengths"):
        source_of({"id": ids, "a": ["u", "v"]}, schema=PERSONS)


class Crowd(Axis):
    """An axis whose groups depend on how many rows there are."""

    def pick(self, codes):
        return np.full(len(codes), len(codes) % 2)


QUESTIONS = {
    "count": lambda source, budget: source.count(WHOLE, budget),
    "count_each": lambda source, budget: source.count_each([WHOLE, grid(SCHEMA, "a")], budget),
    "count_sparse": lambda source, budget: source.count_sparse(grid(SCHEMA, "a"), budget),
    "occupied": lambda source, budget: source.occupied(grid(SCHEMA, "a"), budget),
    "choose": lambda source, budget: source.choose([WHOLE, grid(SCHEMA, "a")], Majority(), budget),
    "choose by pairs": lambda source, budget: source.choose([WHOLE, grid(SCHEMA, "a")], Discernibility(), budget),
    "choose by number": lambda source, budget: source.choose([WHOLE, grid(SCHEMA, "a")], Rows(), budget),
    "choose by dependence": lambda source, budget: source.choose([WHOLE, grid(SCHEMA, "a")], Dependence(), budget),
    "choose_apart": lambda source, budget: source.choose_apart([WHOLE, WHOLE], [[1], [2]], budget),
    "above": lambda source, budget: source.above(Majority(), 3, budget),
    "quantile": lambda source, budget: source.quantile("x", 0.5, budget),
    "quantiles": lambda source, budget: source.quantiles("x", 2, budget),
    "misordered": lambda source, budget: source.misordered("x", 1, budget),
    "minimise": lambda source, budget: source.minimise(Logistic(), [grid(SCHEMA, "a")], budget, label=1),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
@given(epsilon=st.fractions(Fraction(1, 10**6), 100))
@settings(max_examples=20)
def test_every_verb_spends_exactly_its_budget(ask, epsilon):
    source, ledger = source_of()
    ask(source, Budget(epsilon))
    assert ledger.spent == epsilon


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_every_verb_is_refused_without_an_answer_when_the_ledger_is_short(ask):
    source, ledger = source_of(limit=1)
    with pytest.raises(BudgetRefused):
        ask(source, Budget("1.0000001"))
    assert ledger.spent == 0
    ask(source, Budget(1))
    with pytest.raises(BudgetRefused):
        ask(source, Budget("0.0000001"))


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_every_verb_charges_before_it_reads_a_row(ask, monkeypatch):
    source, ledger = source_of()
    seen = []
    for name in ("tabulate", "column"):
        real = getattr(type(source._table), name)
        watch = lambda self, *args, real=real, **kw: seen.append(ledger.spent) or real(self, *args, **kw)  # noqa: E731
        monkeypatch.setattr(type(source._table), name, watch)
    answer = ask(source, Budget(2))
    if hasattr(answer, "ask"):
        answer.ask(WHOLE)
    assert seen and set(seen) == {2}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_a_failure_after_the_charge_still_costs(ask, monkeypatch):
    source, ledger = source_of()

    def fail(*args, **kwargs):
        raise MemoryError

    for name in ("tabulate", "column"):
        monkeypatch.setattr(type(source._table), name, fail)
    with pytest.raises(MemoryError):
        answer = ask(source, Budget(2))
        answer.ask(WHOLE)
    assert ledger.spent == 2


BAD = {
    "not a partition": lambda s: s.count("a", Budget(1)),
    "unknown column": lambda s: s.count(Grid((Axis("zzz", (0,), ("all",)),)), Budget(1)),
    "too few groups": lambda s: s.count(Grid((Axis("a", (0, 1), ("u", "v")),)), Budget(1)),
    "gap in groups": lambda s: s.count(Grid((Axis("a", (0, 2, 2), ("u", "v", "w")),)), Budget(1)),
    "an axis of its own": lambda s: s.count(Grid((Crowd("a", (0, 1, 0), ("u", "v")),)), Budget(1)),
    "axes in a list": lambda s: s.count(Grid([Axis("a", (0, 1, 0), ("u", "v"))]), Budget(1)),
    "groups in a list": lambda s: s.count(Grid((Axis("a", [0, 1, 0], ("u", "v")),)), Budget(1)),
    "a class of its own": lambda s: s.count(type("Mine", (Grid,), {})(), Budget(1)),
    "small weights": lambda s: s.count(Predicted(Linear({"a": np.zeros((2, 2))}, [0, 0])), Budget(1)),
    "odd scorer": lambda s: s.count(Predicted(lambda codes: codes), Budget(1)),
    "short cell scores": lambda s: s.count(Predicted(CellScores(grid(SCHEMA, "a"), np.zeros((2, 2)))), Budget(1)),
    "score not listed": lambda s: s.choose([WHOLE], lambda counts: 0, Budget(1)),
    "cell outside": lambda s: s.choose([WHOLE], Rows(3), Budget(1)),
    "no candidates": lambda s: s.choose([], Majority(), Budget(1)),
    "no hits": lambda s: s.above(Majority(), 3, Budget(1), hits=0),
    "threshold not a number": lambda s: s.above(Majority(), float("nan"), Budget(1)),
    "quantile of words": lambda s: s.quantile("a", 0.5, Budget(1)),
    "quantiles of words": lambda s: s.quantiles("a", 2, Budget(1)),
    "no depth": lambda s: s.quantiles("x", 0, Budget(1)),
    "half a depth": lambda s: s.quantiles("x", 1.5, Budget(1)),
    "occupied words": lambda s: s.occupied("a", Budget(1)),
    "occupied cells of too few groups": lambda s: s.occupied(Grid((Axis("a", (0, 1), ("u", "v")),)), Budget(1)),
    "occupied at no price": lambda s: s.occupied(grid(SCHEMA, "a"), Budget("1e-30")),
    "order of words": lambda s: s.misordered("a", 1, Budget(1)),
    "no such class": lambda s: s.misordered("x", 7, Budget(1)),
    "order at no price": lambda s: s.misordered("x", 1, Budget("1e-8")),
    "q outside": lambda s: s.quantile("x", 1, Budget(1)),
    "no grid": lambda s: s.quantile(Linear({}, [0, 0]), 0.5, Budget(1)),
    "edges that fall": lambda s: s.count(Binned(Linear({}, [0, 0]), [1, 0]), Budget(1)),
    "binned label outside": lambda s: s.count(Binned(Linear({}, [0, 0]), [0], label=7), Budget(1)),
    "wrong shares": lambda s: s.count_each([WHOLE], Budget(1), shares=[1, 2]),
    "negative share": lambda s: s.count_each([WHOLE, WHOLE], Budget(1), shares=[-1, 2]),
    "tiny epsilon": lambda s: s.count(WHOLE, Budget("1e-30")),
    "epsilon zero": lambda s: s.count(WHOLE, 0),
    "weights": lambda s: s.split_at_random(1, 0),
    "fraction of a cell": lambda s: s.choose([WHOLE], Rows(0.5), Budget(1)),
    "fraction of a threshold": lambda s: s.count_sparse(grid(SCHEMA, "a"), Budget(1), threshold=2.5),
    "spurious without bound": lambda s: s.count_sparse(grid(SCHEMA, "a"), Budget(1), spurious=float("inf")),
    "spurious not a number": lambda s: s.count_sparse(grid(SCHEMA, "a"), Budget(1), spurious=float("nan")),
    "sparse words": lambda s: s.count_sparse("a", Budget(1)),
    "sparse tree": lambda s: s.count_sparse(Tree(WHOLE, (WHOLE,)), Budget(1)),
    "weights that are words": lambda s: s.count(Predicted(Linear({}, ["a", "b"])), Budget(1)),
    "negative threshold": lambda s: s.count_sparse(grid(SCHEMA, "a"), Budget(1), threshold=-5),
}


@pytest.mark.parametrize("ask", BAD.values(), ids=BAD)
def test_a_question_that_cannot_be_asked_is_refused_before_the_charge(ask):
    source, ledger = source_of()
    with pytest.raises(BadInput) as problem:
        ask(source)
    assert ledger.spent == 0 and len(str(problem.value)) > 10


def test_a_ledger_of_another_data_set_is_refused():
    with pytest.raises(LedgerProblem, match="'other'"):
        open_source(ROWS, SCHEMA, Ledger(1, "other"))


def test_releases_read_well():
    source, _ = source_of()
    release = source.count(grid(SCHEMA, "a"), Budget("1/2"))
    assert "count a[3] for epsilon 0.5, noise scale 2 (95 % of counts within 6); NOT private" in repr(release)
    assert "<table>" in release._repr_html_() and list(release.columns()) == ["a", "class", "count"]
    assert len(pd.DataFrame(release.columns())) == 6
    assert "x[9]" in repr(source.choose([axis(SCHEMA.get("x"))], Majority(), Budget(1)))
    with pytest.raises(TypeError):
        source.quantile("x", 0.5, Budget(1)).error()
