"""Ways to tell neighbouring tables apart that an adversarial review found; none of them works any more."""

import datetime
import pickle
import threading
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
import polars as pl
import pytest

from veil import (
    WHOLE,
    Axis,
    BadInput,
    Binned,
    Budget,
    Categorical,
    CellScores,
    ExpectedCorrect,
    Gini,
    Grid,
    Ledger,
    Linear,
    Majority,
    Numeric,
    Predicted,
    Schema,
    Tree,
    axis,
    grid,
    open_source,
)

NUMPY = [np.uint8(255), np.int8(127), np.uint16(65535), np.int32(2**31 - 1)]
TWENTY = Schema(name="s", column=[Categorical(name="c", values=tuple(map(str, range(20))), missing="0")])
WIDE = Schema(
    name="s",
    label="y",
    column=[
        Categorical(name="c", values=("a", "b", "z")),
        Categorical(name="big", values=tuple(map(str, range(250)))),
        Categorical(name="y", values=("no", "yes")),
    ],
)


def source_of(rows, schema, limit=10**6):
    return open_source(rows, schema, Ledger(limit, schema.name), noise=0)


@pytest.mark.parametrize("threshold", NUMPY, ids=repr)
def test_a_numpy_threshold_does_not_wrap_around(threshold):
    codes = source_of({"c": []}, TWENTY).count_sparse(grid(TWENTY, "c"), Budget("0.1"), threshold=threshold).value.codes
    assert len(codes) == 0  # an empty cell reaches 128 with probability e^-12, once in 8,000 answers of 20 cells


def test_numpy_hits_get_the_noise_of_as_many_hits():
    source = source_of({"c": ["a"], "big": ["1"], "y": ["no"]}, WIDE)
    plain, fancy = (source.above(Gini(), 0, Budget(1), hits=hits) for hits in (500, np.int32(500)))
    assert plain._rates == fancy._rates and type(fancy._left) is int
    with pytest.raises(BadInput, match="too small for a threshold"):
        source.above(Gini(), 0, Budget(1), hits=np.int32(2049))


@pytest.mark.parametrize(
    "column", [Categorical(name="c", values=("1", "2", "2020-01-01")), Numeric(name="c", bounds=(0, 9), bins=9)]
)
@pytest.mark.parametrize("odd", [datetime.date(2020, 1, 1), 2.5, "x", None, (1,)], ids=repr)
def test_categories_of_mixed_objects_do_not_change_other_rows(column, odd):
    schema = Schema(name="s", column=[column])
    alone = schema.encode(pd.DataFrame({"c": pd.Series([1] * 5, dtype="category")}))["c"]
    mixed = pd.Series([odd, *[1] * 5], dtype=object).astype("category")
    assert list(schema.encode(pd.DataFrame({"c": mixed}))["c"][1:]) == list(alone)


def test_a_lazy_frame_that_fails_says_nothing_of_the_values_it_fails_on():
    schema = Schema(name="s", column=[Numeric(name="x", bounds=(0, 9))])
    said = set()
    for values in (["1", "a secret"], ["oops"] * 50):
        with pytest.raises(BadInput, match="^the rows cannot be read to their end") as problem:
            source_of(pl.LazyFrame({"x": values}).with_columns(pl.col("x").cast(pl.Int64)), schema)
        said.add(str(problem.value))
        assert problem.value.__suppress_context__ and problem.value.__cause__ is None
    assert len(said) == 1


def nested(depth):
    return Tree(axis(WIDE.get("c")), (nested(depth - 1), WHOLE, WHOLE, WHOLE)) if depth else WHOLE


PARTITIONS = {
    "whole": lambda: WHOLE,
    "groups": lambda: Grid((Axis("c", (0, 1, 0, 1), ("x", "y")),)),
    "wide tree": lambda: Tree(axis(WIDE.get("c")), (grid(WIDE, "big"),) * 4),
    "deep tree": lambda: nested(40),
    "too deep a tree": lambda: nested(300),
    "groups in an array": lambda: Grid((Axis("c", np.array([0, 1, 0, 1]), ("x", "y")),)),
    "complex groups": lambda: Grid((Axis("c", (1, 0j, 0, 1), ("x", "y")),)),
    "binned": lambda: Binned(Linear({"c": np.ones((4, 2))}, [0, 0]), [0.5]),
    "predicted": lambda: Predicted(CellScores(grid(WIDE, "c"), np.eye(4)[:, :2])),
}
VERBS = {
    "count": lambda source, question: source.count(question, Budget("0.001")),
    "choose": lambda source, question: source.choose([question], Majority(), Budget("0.001")),
    "above": lambda source, question: source.above(Majority(), 1, Budget("0.001")).ask(question),
    "split": lambda source, question: len(source.split(question)),
}


def seen(verb, make, rows):
    """What can be seen of a question after it was asked: the error, or the pickled question."""
    question, source = make(), source_of(rows, WIDE).split(grid(WIDE, "c"))[1]
    try:
        verb(source, question)
    except Exception as error:
        return type(error).__name__, str(error)
    return pickle.dumps(question)


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
@pytest.mark.parametrize("make", PARTITIONS.values(), ids=PARTITIONS)
def test_a_question_looks_the_same_whether_or_not_a_part_has_rows(verb, make):
    few = {"c": ["a"], "big": ["7"], "y": ["no"]}
    more = {"c": ["a", "b"], "big": ["7", "249"], "y": ["no", "yes"]}
    assert seen(verb, make, few) == seen(verb, make, more)


def test_large_thresholds_and_budgets_are_answered_or_refused_before_the_charge():
    source = source_of({"c": ["1"] * 9}, TWENTY, limit="1e401")
    assert len(source.count_sparse(grid(TWENTY, "c"), Budget(1), threshold=2**60).value.codes) == 0
    assert source.choose([WHOLE], Majority(), Budget("1e400")).value is WHOLE
    assert source.count(WHOLE, Budget("1e400")).value.sum() == 9
    assert "within 0" in repr(source.count(WHOLE, Budget(800)))
    spent = source._account.ledger.spent
    with pytest.raises(BadInput):
        source.count_sparse(grid(TWENTY, "c"), Budget(1), threshold=2**62)
    assert source._account.ledger.spent == spent


def test_the_schema_of_a_source_cannot_be_replaced():
    with pytest.raises(AttributeError):
        source_of({"c": []}, TWENTY).schema = WIDE


def test_threads_leave_the_warning_filters_as_they_were():
    source, before = source_of({"c": ["1"] * 1000}, TWENTY), list(warnings.filters)
    threads = [threading.Thread(target=lambda: [source.count(WHOLE, Budget(1)) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before


class Changing(Sequence):
    """One partition, made anew at every look: its number may be that of one that was checked, and it may differ."""

    def __init__(self):
        self.looks = 0

    def __len__(self):
        return 1

    def __getitem__(self, place):
        if place:
            raise IndexError
        self.looks += 1
        return Grid((Axis("c", (0, 1, 2, 3 if self.looks < 3 else 9), ("a", "b", "c", "d")),))


def stale_axis():
    names = ["x"]
    axis = Axis("c", (0, 1, 1, 1), names)
    assert axis.size == 1
    names.append("y")
    return Grid((axis,))


def with_size(question, size):
    vars(question)["size"] = size
    return question


CRAFTED = {
    "changing candidates": lambda source: source.choose(Changing(), Majority(), Budget(1)),
    "changing partitions": lambda source: source.count_each(Changing(), Budget(1)),
    "stale names, counted": lambda source: source.count(stale_axis(), Budget(1)),
    "stale names, chosen": lambda source: source.choose([stale_axis()], Majority(), Budget(1)),
    "wrong size of an axis": lambda source: source.count(
        Grid((with_size(Axis("c", (0, 1, 2, 3), ("a", "b", "c", "d")), 2),)), Budget(1)
    ),
    "wrong size of a grid": lambda source: source.count(with_size(grid(WIDE, "c"), 2), Budget(1)),
}


@pytest.mark.parametrize("ask", CRAFTED.values(), ids=CRAFTED)
def test_a_crafted_question_ends_the_same_whatever_the_rows(ask):
    ends = set()
    for value in ("a", "?"):  # a known value, and a missing one: the last code
        source = source_of({"c": [value], "big": ["7"], "y": ["no"]}, WIDE)
        try:
            ask(source)
            ends.add("answered")
        except BadInput as problem:
            ends.add(str(problem))
            assert source._account.ledger.spent == 0
    assert len(ends) == 1


@pytest.mark.parametrize("verb", ["choose", "count_each"])
def test_questions_are_looked_at_once_so_that_those_checked_are_those_asked(verb):
    source, questions = source_of({"c": ["a"], "big": ["7"], "y": ["no"]}, WIDE), Changing()
    source.choose(questions, Majority(), Budget(1)) if verb == "choose" else source.count_each(questions, Budget(1))
    assert questions.looks == 1


def test_weights_cannot_grow_after_they_were_checked():
    with pytest.raises(BadInput, match="weights"):
        ExpectedCorrect(1.0, [16, 16])
    score = ExpectedCorrect(1.0, (16, 16))
    vars(score).update(low=0, high=1)  # a range of its own would have next to no noise
    source = source_of({"c": ["a"] * 8, "big": ["7"] * 8, "y": ["no", "yes"] * 4}, WIDE)
    scale = source.choose([WHOLE], score, Budget(1)).scale
    assert scale == source.choose([WHOLE], ExpectedCorrect(1.0), Budget(1)).scale > 1


def test_the_receipts_of_a_source_do_not_tell_how_long_its_answers_took(monkeypatch):
    class Clock:
        ticks = 0

        @classmethod
        def now(cls, zone):
            cls.ticks += 1
            return datetime.datetime.fromtimestamp(cls.ticks, zone)

    monkeypatch.setattr("veil.kernel.ledger.datetime", Clock)
    source = source_of({"c": ["a"], "big": ["7"], "y": ["no"]}, WIDE)
    source.choose([WHOLE], Majority(), Budget(1))
    source.split(grid(WIDE, "c"))[0].count(WHOLE, Budget(1))
    assert len({receipt.time for receipt in source.record.receipts}) == 1
    again = source_of({"c": ["a"], "big": ["7"], "y": ["no"]}, WIDE).count(WHOLE, Budget(1))
    assert again.receipt.time > source.record.receipts[-1].time
