"""Questions built to fail on rows: whatever is wrong with a question, an empty table must not hide it.

An exception that only some tables raise tells them apart with certainty, for nothing.
"""

import numpy as np
import pytest
from exact_laws import Scripted, source_of

from veil import (
    WHOLE,
    Binned,
    Budget,
    Categorical,
    CellScores,
    Ledger,
    Linear,
    Predicted,
    Rows,
    Schema,
    Sum,
    Text,
    Tree,
    VeilError,
    axis,
    open_source,
)
from veil.audit.tables import EMPTY, LONE, rows

TABLES = [EMPTY, LONE, rows(("yes", "red", 1), ("no", "blue", 3), ("yes", "green", 2))]
CRAFTED = {
    "a constant that is not a number": Predicted(Linear({}, [np.nan, 0.0])),
    "a constant of two dimensions": Binned(Linear({}, np.zeros((1000, 1))), [-1.0], label=0),
    "a scorer without classes": Predicted(Linear({}, [])),
    "cell scores without classes": Predicted(CellScores(WHOLE, np.zeros((1, 0)))),
    "a tree with such a leaf": Tree(WHOLE, (Predicted(Linear({}, [])),)),
    "a sum of nothing": Predicted(Sum(())),
    "a sum of one that has no classes": Predicted(Sum((CellScores(WHOLE, np.zeros((1, 0))),))),
    "a sum over different classes": Predicted(Sum((CellScores(WHOLE, [[1, 2]]), CellScores(WHOLE, [[1]])))),
    "a sum of sums": Predicted(Sum((Sum((CellScores(WHOLE, [[1, 2]]),)),))),
    "a label between two classes": Binned(Linear({}, [0.0, 0.0]), [0.0], label=0.5),
    "a label that is an array": Binned(Linear({}, [0.0, 0.0]), [0.0], label=np.array([0])),
    "a label that is a truth value": Binned(Linear({}, [0.0, 0.0]), [0.0], label=True),
}
REFUSED = {
    "edges that are not numbers": Binned(Linear({}, [0.0]), [np.nan]),
    "edges of two dimensions": Binned(Linear({}, [0.0]), [[0.0]]),
    "weights that are not numbers": Predicted(Linear({"colour": [[np.nan]] * 4}, [0.0])),
}


def outcome(table, ask) -> str:
    try:
        ask(source_of(table, Scripted()))
        return "answered"
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_question_fails_on_every_table_or_on_none(name: str) -> None:
    assert all(len(outcomes) == 1 for outcomes in outcomes_by_verb(CRAFTED[name]).values())


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_question_is_refused_on_every_table(name: str) -> None:
    assert all(len(outcomes) == 1 for outcomes in outcomes_by_verb(REFUSED[name]).values())


def outcomes_by_verb(question) -> dict[str, set[str]]:
    """What each verb does with the question, over all tables."""
    asks = {
        "count": lambda source: source.count(question, Budget(1), by_class=False),
        "choose": lambda source: source.choose([question, WHOLE], Rows(0), Budget(1)),
        "above": lambda source: source.above(Rows(0), 0, Budget(1)).ask(question),
        "split": lambda source: source.split(question),
    }
    return {verb: {outcome(table, ask) for table in TABLES} for verb, ask in asks.items()}


@pytest.mark.parametrize("copies", [1, 3])
def test_no_scorer_counts_a_row_more_than_once(copies: int) -> None:
    question = Binned(Linear({}, np.zeros((1000, 1))), [-1.0], label=0)
    try:
        counts = source_of(rows(*[("yes", "red", 1)] * copies), Scripted()).count(question, Budget(1), by_class=False)
    except VeilError:
        return
    assert counts.value.sum() == copies


@pytest.mark.parametrize("hits", ["2", 0, -1, None, 1.5, np.float64(2.5)])
def test_hits_that_would_never_be_used_up_are_refused(hits) -> None:
    """Counting down from 1.5 misses zero: the sieve would say yes for ever."""
    source = source_of(LONE, Scripted())
    with pytest.raises((VeilError, TypeError)):
        source.above(Rows(0), -100, Budget(1), hits=hits)
    assert source._account.ledger.spent == 0


WORDS = Schema(
    name="words",
    label="y",
    column=[
        Categorical(name="a", values=["p", "q"], missing="q"),
        Text(name="text", words=["one", "two"]),
        Categorical(name="y", values=["no", "yes"]),
    ],
)


@pytest.mark.parametrize("rows", range(4))
def test_a_leaf_that_reads_words_does_not_fail_on_a_row(rows: int) -> None:
    of_words = Predicted(Linear({"text": np.zeros((2, 1))}, [0.0]))  # one class: it has a single cell
    columns = {"a": ["p", "q", "p"][:rows], "text": ["one two", "", "two"][:rows], "y": ["no", "yes", "yes"][:rows]}
    source = open_source(columns, WORDS, Ledger(10**6, "words"), noise=0)
    counts = source.count(Tree(axis(WORDS.get("a")), (of_words, WHOLE)), Budget(10**5)).value
    assert counts.sum(axis=1).tolist() == [columns["a"].count("p"), columns["a"].count("q")]
