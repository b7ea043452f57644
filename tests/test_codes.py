"""Codes hold whatever is declared: a column that lies cannot make one value raise, nor a code beyond its size."""

from datetime import date, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import BadInput, Categorical, Date, Numeric, Schema, Text
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
SIZES = st.integers(1, 300)
SOME_FLOATS = st.floats() | st.sampled_from(["x", None, (1.0, 2.0), "7"])
SOME_TEXTS = st.sampled_from(["a", "a ", "1", "1.0", "True", "\ud800", "w1", "W1", ""])


def forged(kind: Any, size: int, **lies: Any) -> Any:
    """A column that nobody has checked; its names, and hence its size, are made up too."""
    column = kind.model_construct(name="x", **lies)
    column.__dict__.update({"names": range(size)}, **{key: lies[key] for key in ("cuts", "parts") if key in lies})
    return column


CATEGORICAL = st.builds(
    forged,
    st.just(Categorical),
    SIZES,
    values=st.lists(SOME_TEXTS | st.integers(), max_size=300).map(tuple),
    missing=st.none() | SOME_TEXTS,
)
CUTS = {"cuts": st.lists(SOME_FLOATS, max_size=5).map(tuple) | st.lists(st.floats(), max_size=80).map(tuple)}
CUTS["missing"] = st.none() | SOME_FLOATS
NUMERIC = st.builds(forged, st.just(Numeric), SIZES, **CUTS)
DATE = st.builds(
    forged,
    st.just(Date),
    SIZES,
    **CUTS,
    format=st.none()
    | st.lists(st.sampled_from(["%Y", "%y", "%m", "%d", "%b", "%I", "%q", "/", "\n", "("])).map("".join),
    unit=st.sampled_from([None, "year", "weekday", "hour of day", "no such unit"]),
    parts=st.dictionaries(SOME_TEXTS, st.integers(-5, 400) | st.just("x")),
)
TEXT = st.builds(
    forged,
    st.just(Text),
    SIZES,
    words=st.none() | st.lists(SOME_TEXTS, max_size=300).map(tuple),
    buckets=st.none() | st.integers(-3, 500),
    kept=st.none() | st.lists(st.integers(-3, 500), max_size=300).map(tuple),
)


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


@given(CATEGORICAL | NUMERIC | DATE | TEXT, st.lists(st.sampled_from(ODD), max_size=6))
def test_a_column_that_lies_raises_for_all_values_or_none_and_gives_no_code_beyond_its_size(
    column: Any, values: list[Any]
) -> None:
    together, none = outcome(column, values), outcome(column, [])
    alone = [outcome(column, [value]) for value in values]
    if isinstance(none, str):
        assert {together, *alone} == {none}
    else:
        assert together == [code for one in alone for code in one]


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
