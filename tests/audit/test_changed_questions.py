"""Questions that were changed after they were made, or change while they are looked at: what is charged and checked
is what must be asked."""

from fractions import Fraction

import numpy as np
import pytest
from exact_laws import Scripted, source_of

from veil import (
    WHOLE,
    Binned,
    Budget,
    CellScores,
    Gini,
    Grid,
    Ledger,
    Linear,
    Numeric,
    Predicted,
    Schema,
    Tree,
    VeilError,
    axis,
    grid,
    open_source,
)
from veil.audit.tables import COLOURS, EMPTY, LONE, RED, SCHEMA, rows
from veil.kernel import Logistic
from veil.questions import Axis, Drawn, Odds, PathScores

TABLES = [EMPTY, LONE, rows(("yes", "red", 1), ("no", "blue", 3), ("yes", "green", 2))]
ONE = Budget(1)


def changed(question, name, value):
    vars(question)[name] = value
    return question


def colours(table):
    (one,) = COLOURS.axes
    return Grid((changed(Axis(one.column, one.groups, one.names), "table", table),))


def astray(codes):
    """Cells or scores that there are not, of rows that nobody may see."""
    return np.full((len(codes["colour"]), 2), -7)[:, 0]


def longer(values, make, more):
    """A question made of a list that has become longer since."""
    question = make(values)
    question.cut.size  # noqa: B018 - it may be kept from here on
    values[:] = more
    return question


DRAWN = Drawn(COLOURS.axes, (False,), 1, 3)
SCORES = Linear({"colour": np.arange(8).reshape(4, 2)}, [0, 0])
CHANGED = {
    "an axis to groups that it has not": lambda: colours(np.full(4, 50)),
    "an axis to fewer codes": lambda: colours(np.zeros(1, np.int64)),
    "a drawn tree's axis": lambda: Drawn(colours(np.full(4, -7)).axes, (False,), 1, 3),
    "a tree to one leaf": lambda: changed(Tree(COLOURS, (WHOLE,) * 4), "size", 1),
    "a tree to no column": lambda: changed(Tree(COLOURS, (WHOLE,) * 4), "columns", ()),
    "the steps of a tree": lambda: changed(
        Tree(COLOURS, (WHOLE,) * 4), "steps", (np.zeros((2, 1), int), np.full(4, ~9))
    ),
    "cell scores to fewer cells": lambda: Predicted(
        changed(CellScores(COLOURS, np.zeros((4, 2))), "table", np.zeros((1, 2), np.int64))
    ),
    "cell scores to many for each row": lambda: Predicted(
        changed(CellScores(COLOURS, np.zeros((4, 2))), "table", np.zeros((4, 2, 7), np.int64))
    ),
    "path scores to fewer nodes": lambda: Predicted(
        changed(PathScores(DRAWN, np.array([0, 1]), np.zeros((2, 2))), "table", np.zeros((1, 2), np.int64))
    ),
    "weights to fewer codes": lambda: Predicted(
        changed(Linear({"colour": np.zeros((4, 2))}, [0, 0]), "tables", {"colour": np.zeros((1, 2), np.int64)})
    ),
    "edges to none": lambda: changed(Binned(Linear({}, [0.0]), [0.0]), "cuts", np.zeros((2, 2))),
    "a grid to a rule of its own": lambda: Predicted(
        CellScores(changed(Grid(COLOURS.axes), "cells", astray), np.zeros((4, 2)))
    ),
    "a drawn tree to a rule of its own": lambda: changed(Drawn(COLOURS.axes, (False,), 1, 3), "cells", astray),
    "odds to a rule of their own": lambda: Binned(changed(Odds(SCORES, 0), "scores", astray), [0.0]),
    "a grid to a column twice": lambda: changed(grid(SCHEMA, "age", "colour"), "axes", COLOURS.axes * 2),
    "the edges of a tree's cut": lambda: longer([0.5], lambda v: Tree(Binned(SCORES, v), (WHOLE,) * 2), [0.5, 2.5]),
    "the scores of a tree's cut": lambda: longer(
        [[0, 1]] * 4, lambda v: Tree(Predicted(CellScores(COLOURS, v)), (WHOLE,) * 2), [[0, 1, 2]] * 4
    ),
    "path scores of a grid": lambda: Predicted(PathScores(COLOURS, np.array([0]), np.zeros((1, 2)))),
}
ASKS = {
    "count": lambda source, question: source.count(question, ONE, by_class=False),
    "split": lambda source, question: source.split(question),
}


def outcome(table, ask) -> tuple:
    source = source_of(table, Scripted())
    try:
        ask(source)
        return ("answered",)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}", source._account.ledger.spent


@pytest.mark.parametrize("verb", ASKS)
@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_question_fails_on_every_table_or_on_none(name: str, verb: str) -> None:
    assert len({outcome(table, lambda source: ASKS[verb](source, CHANGED[name]())) for table in TABLES}) == 1


@pytest.mark.parametrize("name", CHANGED)
def test_every_row_of_a_changed_question_is_counted_once(name: str) -> None:
    table = TABLES[-1]
    try:
        counts = source_of(table, Scripted()).count(CHANGED[name](), ONE)
        parts = source_of(table, Scripted()).split(CHANGED[name]())
    except VeilError:
        return
    assert counts.value.sum() == 3 and sum(len(part._table) for part in parts) == 3


class Turning(list):
    """A list that shows other things once it has been gone through so often."""

    def __init__(self, first, then, times):
        super().__init__(first)
        self.then, self.times = then, times

    def __iter__(self):
        self.times -= 1
        return iter(self.then) if self.times < 0 else super().__iter__()


@pytest.mark.parametrize("times", range(1, 8))
def test_columns_to_minimise_over_are_looked_at_once(times: int) -> None:
    first, then = [axis(SCHEMA.get("colour"), 0)], [grid(SCHEMA, "colour")]
    ask = lambda source: source.minimise(Logistic(), Turning(first, then, times), ONE, label=0, penalty=8)  # noqa: E731
    assert {outcome(table, ask) for table in TABLES} == {("answered",)}


@pytest.mark.parametrize("times", range(1, 8))
def test_candidates_for_cells_are_looked_at_once(times: int) -> None:
    ask = lambda source: source.choose_each(RED, Turning([RED], [WHOLE], times), Gini(), ONE)  # noqa: E731
    assert {outcome(table, ask) for table in TABLES} == {("answered",)}


def test_an_axis_of_a_grid_is_no_candidate_beside_it() -> None:
    ask = lambda source: source.choose([COLOURS, COLOURS.axes[0]], Gini(), ONE)  # noqa: E731
    found = {outcome(table, ask) for table in TABLES}
    assert len(found) == 1
    assert found.pop()[0] != "answered"
    source = source_of(LONE, Scripted())
    with pytest.raises(VeilError, match="must be a Grid"):
        source.choose([COLOURS, COLOURS.axes[0]], Gini(), ONE)
    assert not source.record.receipts


def test_a_score_s_range_is_its_own_in_every_cell() -> None:
    honest, forged = Scripted(), Scripted()
    source_of(TABLES[-1], honest).choose_each(RED, [RED, COLOURS], Gini(), ONE)
    source_of(TABLES[-1], forged).choose_each(RED, [RED, COLOURS], changed(Gini(), "low", -1), ONE)
    assert honest.asked == forged.asked


class Shrinking(Budget):
    """A budget that is large when it is used and small when it is charged."""

    def __init__(self):
        object.__setattr__(self, "amounts", [Fraction(1000)])

    @property
    def epsilon(self):
        return self.amounts.pop() if self.amounts else Fraction(1, 1000)


VERBS = {
    "count": lambda source, budget: source.count(RED, budget),
    "count_sparse": lambda source, budget: source.count_sparse(RED, budget, threshold=1),
    "occupied": lambda source, budget: source.occupied(RED, budget),
    "choose": lambda source, budget: source.choose([RED, COLOURS], Gini(), budget),
    "choose_each": lambda source, budget: source.choose_each(RED, [RED, COLOURS], Gini(), budget),
    "choose_best": lambda source, budget: source.choose_best([RED, COLOURS], Gini(), budget, count=1),
    "choose_above": lambda source, budget: source.choose_above([RED, COLOURS], Gini(), 0, budget, most=1),
    "sift": lambda source, budget: source.sift([RED, COLOURS], Gini(), 0, budget, most=1),
    "above": lambda source, budget: source.above(Gini(), 0, budget),
    "quantile": lambda source, budget: source.quantile("age", 0.5, budget),
    "quantiles": lambda source, budget: source.quantiles("age", 2, budget),
    "misordered": lambda source, budget: source.misordered("age", 0, budget),
    "minimise": lambda source, budget: source.minimise(Logistic(), [RED], budget, label=0),
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_charged_is_what_is_used(verb: str) -> None:
    source = source_of(LONE, Scripted())
    VERBS[verb](source, Shrinking())
    assert source._account.ledger.spent == 1000


def opened_and_changed(table, **changes):
    """A source whose schema was changed after it was opened."""
    schema = SCHEMA.model_copy(deep=True)
    source = open_source(table, schema, Ledger(1, schema.name), noise=Scripted())
    for shown in (schema, source.schema):
        vars(shown.get("colour")).update(changes)
    return source


def test_a_schema_that_was_changed_does_not_make_codes_too_large() -> None:
    one = Grid((Axis("colour", (0,), ("all",)),))
    for table in TABLES:
        source = opened_and_changed(table, values=("red",), names=("all",))
        with pytest.raises(VeilError, match="a group to each of its codes"):
            source.count(one, ONE)
        assert not source.record.receipts and source.count(COLOURS, ONE).value.sum() == len(source._table)


def test_a_person_s_rows_are_paid_for_as_many_as_were_kept() -> None:
    schema = Schema(name="s", person="who", rows_per_person=5, column=[Numeric(name="x", bounds=(0, 9))])
    source = open_source({"who": [1] * 5, "x": [1] * 5}, schema, Ledger(1, "s"), noise=Scripted())
    for shown in (schema, source.schema):
        vars(shown)["rows_per_person"] = 1
    assert source.per_row(ONE) == Fraction(1, 5) and source.count(WHOLE, ONE).scale == 5
