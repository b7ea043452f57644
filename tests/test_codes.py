"""Codes hold whatever is declared: a column that lies cannot make one value raise, nor a code beyond its size."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import BadInput, Categorical, Date, Ledger, NaiveBayesClassifier, Numeric, Schema, Text
from veil.kernel import open_source
from veil.schema import encoding
from veil.schema.bags import Bags
from veil.schema.codes import encode_rows

ODD = [
    None,
    "",
    "a",
    " A b ",
    "é",
    "1",
    "0930",
    1,
    -5,
    1e300,
    0.5,
    float("nan"),
    float("inf"),
    True,
    b"a",
    b"\xff",
    10**400,
]
ODD += [
    "2019-03-04",
    "2019",
    "04/03/19",
    "Thu",
    date(2019, 3, 4),
    datetime(2019, 3, 4, 5),
    np.datetime64("NaT"),
    pd.NaT,
]
ODD += [Decimal("1.5"), object(), [1], "\ud800", "w1 w2 w3", 1j, np.float32(2), "nan", "true"]
TEXTS = ["a", "a ", "A", "b", "1", "1.0", "True", "\ud800", "w1", "w2", "w3", ""]
SIZES = st.integers(1, 4) | st.integers(1, 300)
MANY_TEXTS = st.permutations(TEXTS).map(tuple) | st.lists(st.sampled_from(TEXTS) | st.integers(), max_size=9).map(tuple)
ODD_CUTS = st.sampled_from(["x", "7", None, (1.0, 2.0)])
CUTS = st.lists(st.floats(), max_size=80) | st.lists(st.integers(-9, 9) | ODD_CUTS)
FORMS = st.lists(st.sampled_from(["%Y", "%y", "%m", "%d", "%b", "%I", "%q", "/", "\n", "("]), max_size=5).map("".join)


def forged(kind: Any, size: int, **lies: Any) -> Any:
    """A column that nobody has checked; its names, and hence its size, are made up too."""
    column = kind.model_construct(name="x", **lies)
    column.__dict__.update({"names": range(size)}, **{key: lies[key] for key in ("cuts", "parts") if key in lies})
    return column


BINS = {"cuts": CUTS.map(tuple), "missing": st.none() | st.floats() | st.just("x")}
LIARS = {
    "categorical": st.builds(
        forged, st.just(Categorical), SIZES, values=MANY_TEXTS, missing=st.none() | st.sampled_from(["a", "b", "other"])
    ),
    "numeric": st.builds(forged, st.just(Numeric), SIZES, **BINS),
    "date": st.builds(
        forged,
        st.just(Date),
        SIZES,
        **BINS,
        format=st.none() | st.just("%Y") | FORMS,
        unit=st.sampled_from([None, "year", "weekday", "hour of day", "no such unit"]),
        parts=st.just({}) | st.dictionaries(st.sampled_from(TEXTS), st.integers(-5, 400) | st.just("x"), max_size=4),
    ),
    "text": st.builds(
        forged,
        st.just(Text),
        SIZES,
        words=st.none() | MANY_TEXTS,
        buckets=st.none() | st.integers(-3, 9) | st.just("x"),
        kept=st.none() | st.permutations(range(9)).map(tuple) | st.lists(st.integers(-3, 9)).map(tuple),
    ),
}


def outcome(column: Any, values: list[Any]) -> Any:
    """For every value its code or words; or what was raised, for all values alike."""
    schema = Schema.model_construct(name="forged", label=None, column=(column,))
    try:
        found = encode_rows({"x": np.fromiter(values, object, len(values))}, schema)["x"]
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    words = found.words if isinstance(found, Bags) else found
    assert len(found) == len(values) and np.all((words >= 0) & (words < column.size))
    return [found[place : place + 1].words.tolist() for place in range(len(found))] if words is not found else [*found]


def check(column: Any, places: Iterable[int]) -> None:
    """Whether all values are encoded or none is, and those at these places alone as among all others."""
    together, none = outcome(column, ODD), outcome(column, [])
    alone = {place: outcome(column, [ODD[place]]) for place in places}
    if isinstance(none, str):
        assert {together, *alone.values()} == {none}
    else:
        assert all([together[place]] == alone[place] for place in alone)


@pytest.mark.parametrize("kind", LIARS)
@given(st.data())
def test_a_column_that_lies_raises_for_all_values_or_none_and_gives_no_code_beyond_its_size(
    kind: str, data: st.DataObject
) -> None:
    check(data.draw(LIARS[kind]), data.draw(st.sets(st.sampled_from(range(len(ODD))), max_size=4)))


SPANS = {"cuts": (0.0, 1e9, 2e9), "missing": None}


@pytest.mark.parametrize(
    "column",
    [
        forged(Text, 2, words=None, buckets=9, kept=tuple(range(9))),
        forged(Text, 2, words=None, buckets=0, kept=None),
        forged(Numeric, 3, cuts=("1", "2", "3", "4"), missing=None),
        forged(Numeric, 3, cuts=((1.0, 2.0),) * 4, missing=None),
        forged(Date, 3, **SPANS, format="no parts", unit=None, parts={}),
        forged(Date, 3, **SPANS, format="%Y%Y", unit=None, parts={}),
        forged(Date, 3, **SPANS, format=None, unit="weekday", parts={"Thu": "x"}),
        forged(Date, 3, **SPANS, format=None, unit="weekday", parts={4: 10**30}),
    ],
    ids=str,
)
def test_these_lies_do_no_harm_either(column: Any) -> None:
    check(column, range(len(ODD)))


@pytest.mark.parametrize("size", [1, 2, 256, 257, 1000])
@pytest.mark.parametrize("cuts", [5, 61, 400])
def test_codes_are_held_to_the_declared_size(size: int, cuts: int) -> None:
    column = forged(Numeric, size, cuts=tuple(map(float, range(cuts))), missing=None)
    true = [0, 1, 3, cuts - 2, cuts - 2, cuts - 1]
    assert outcome(column, [0, 1, 3, cuts - 2, 10**6, None]) == [min(code, size - 1) for code in true]


def test_two_columns_of_one_name_are_refused() -> None:
    columns = [forged(Categorical, size, values=("a",), missing=None) for size in (2, 5)]
    with pytest.raises(BadInput, match="two columns have the same name"):
        encode_rows({"x": ["a"]}, SimpleNamespace(label=None, column=columns))


def test_an_unknown_kind_of_column_is_refused_before_rows() -> None:
    column = SimpleNamespace(name="x", kind="other", size=2)
    with pytest.raises(KeyError):
        encode_rows({"x": ["a"]}, SimpleNamespace(label=None, column=[column]))


PEOPLE = Schema(
    name="people",
    label="y",
    person="id",
    column=[Numeric(name="a", bounds=(0, 9)), Categorical(name="y", values=("no", "yes"))],
)


def test_a_fit_takes_each_column_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    apart, seen = encoding.as_column, Counter[str]()

    def counting(values: Any, name: str) -> Any:
        seen[name] += len(values) > 0  # a table without rows is tried first
        return apart(values, name)

    monkeypatch.setattr(encoding, "as_column", counting)
    rows = pd.DataFrame({"a": [1, 2, 3], "y": ["no", "yes", "no"], "id": [1, 2, 3]})
    NaiveBayesClassifier(epsilon=1, schema=PEOPLE, random_state=0).fit(rows)
    assert seen == {"a": 1, "y": 1, "id": 1}


@pytest.mark.parametrize("width", [1, 2, 3])
def test_an_array_without_names_does_not_tell_whose_rows_are_whose(width: int) -> None:
    with pytest.raises(BadInput, match="nothing tells whose rows are whose"):
        open_source(np.zeros((4, width)), PEOPLE, Ledger(1, PEOPLE.name))
