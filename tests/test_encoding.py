"""Encoding: the same values have the same codes in every kind of table, whatever stands in the other rows."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import BadInput, Categorical, Numeric, Schema
from veil.schema import encoding

WORDS = ("a", "é", "1", "1.5", "True", "2020-01-31", "2020-01-31 00:00:00")
UNKNOWN = len(WORDS)  # the code of whatever is none of them
NONE = 3  # the code of whatever is not a number
SCHEMA = Schema(
    name="both",
    column=[Categorical(name="word", values=WORDS), Numeric(name="number", bounds=(0, 9), bins=3)],
)
Build = Callable[[list[Any]], Any]


def codes(column: Any) -> tuple[list[int], list[int]]:
    """The codes of a column, as words and as numbers."""
    encoded = SCHEMA.encode({"word": column, "number": column})
    return encoded["word"].tolist(), encoded["number"].tolist()


def frame_codes(column: Any) -> tuple[list[int], list[int]]:
    """The same, with the column in a data frame of its library."""
    columns = {"word": column, "number": column}
    frame = {pd.Series: pd.DataFrame, pl.Series: pl.DataFrame}.get(type(column), pa.table)(columns)
    encoded = SCHEMA.encode(frame)
    return encoded["word"].tolist(), encoded["number"].tolist()


def objects(values: list[Any]) -> np.ndarray:
    """A NumPy array that holds the values as they are."""
    return np.fromiter(values, object, len(values))


def pandas(dtype: Any) -> Build:
    return lambda values: pd.Series(values, dtype=dtype)


def polars(dtype: Any) -> Build:
    return lambda values: pl.Series(values, dtype=dtype, strict=False)


def arrow(kind: pa.DataType) -> Build:
    return lambda values: pa.array(values, kind)


def in_chunks(kind: pa.DataType) -> Build:
    return lambda values: pa.chunked_array([pa.array([value], kind) for value in values], kind)


def indices(kind: pa.DataType) -> Build:
    """A dictionary whose indices have this type."""

    def build(values: list[Any]) -> pa.DictionaryArray:
        plain = pa.array(values).dictionary_encode()
        return pa.DictionaryArray.from_arrays(plain.indices.cast(kind), plain.dictionary)

    return build


TEXTS = ["a", "é", None, "zzz", " a ", "1", ""]
TEXT_CODES = ([0, 1, UNKNOWN, UNKNOWN, 0, 2, UNKNOWN], [NONE, NONE, NONE, NONE, NONE, 0, NONE])
TEXT_TYPES: dict[str, Build] = {
    "list": list,
    "tuple": tuple,
    "numpy object": objects,
    "pandas": pd.Series,
    "pandas object": pandas(object),
    "pandas category": pandas("category"),
    "pandas string, arrow": pandas("string[pyarrow]"),
    "pandas string, python": pandas("string[python]"),
    "pandas arrow": pandas(pd.ArrowDtype(pa.large_string())),
    "pandas arrow dictionary": pandas(pd.ArrowDtype(pa.dictionary(pa.uint8(), pa.string()))),
    "polars": polars(pl.String),
    "polars categorical": polars(pl.Categorical),
    "polars enum": polars(pl.Enum(["", "zzz", "1", " a ", "é", "a"])),
    "polars object": polars(pl.Object),
    "arrow string": arrow(pa.string()),
    "arrow large string": arrow(pa.large_string()),
    "arrow string view": arrow(pa.string_view()),
    "arrow binary": arrow(pa.binary()),
    "arrow large binary": arrow(pa.large_binary()),
    "arrow binary view": arrow(pa.binary_view()),
    "arrow chunks": in_chunks(pa.string()),
    "arrow chunks of dictionaries": in_chunks(pa.dictionary(pa.int32(), pa.string())),
    **{f"arrow dictionary of {kind}": indices(kind) for kind in (pa.int8(), pa.uint8(), pa.uint32(), pa.uint64())},
    "polars binary": lambda values: pl.Series([None if v is None else v.encode() for v in values]),
}

INTEGERS = [1, 3, None, -5, 99, 2**62 + 1]
INTEGER_CODES = ([2, *[UNKNOWN] * 5], [0, 1, NONE, 0, 2, 2])
INTEGER_TYPES: dict[str, Build] = {
    "list": list,
    "texts": lambda values: [value and str(value) for value in values],
    "numpy object": objects,
    "pandas": pd.Series,
    "pandas object": pandas(object),
    "pandas category": pandas("category"),
    "pandas nullable": pandas("Int64"),
    "pandas arrow": pandas(pd.ArrowDtype(pa.int64())),
    "polars": polars(pl.Int64),
    "polars wide": polars(pl.Int128),
    "polars float": polars(pl.Float64),
    "polars decimal": polars(pl.Decimal(30, 2)),
    "arrow": arrow(pa.int64()),
    "arrow decimal": arrow(pa.decimal128(30, 2)),
    "arrow wide decimal": arrow(pa.decimal256(60, 10)),
    "arrow dictionary": indices(pa.uint16()),
    "arrow chunks": in_chunks(pa.int64()),
}

FRACTIONS = [1.5, 1.0, -0.0, None, float("nan"), float("inf"), 8.75]
FRACTION_CODES = ([3, 2, *[UNKNOWN] * 5], [0, 0, 0, NONE, NONE, 2, 2])
FRACTION_TYPES: dict[str, Build] = {
    "list": list,
    "numpy object": objects,
    "numpy": lambda values: np.array(values, np.float64),
    "numpy, half": lambda values: np.array(values, np.float16),
    "numpy, extended": lambda values: np.array(values, np.longdouble),
    "pandas": pd.Series,
    "pandas object": pandas(object),
    "pandas nullable": pandas("Float64"),
    "pandas arrow": pandas(pd.ArrowDtype(pa.float32())),
    "pandas sparse": pandas("Sparse[float]"),
    "polars": polars(pl.Float64),
    "polars, single": polars(pl.Float32),
    "arrow": arrow(pa.float64()),
    "arrow, half": lambda values: pa.array(np.array(values, np.float16)),
    "arrow chunks": in_chunks(pa.float32()),
}

BOOLEANS = [True, False, None]
BOOLEAN_CODES = ([4, UNKNOWN, UNKNOWN], [0, 0, NONE])
BOOLEAN_TYPES: dict[str, Build] = {
    "list": list,
    "numpy object": objects,
    "pandas object": pandas(object),
    "pandas nullable": pandas("boolean"),
    "pandas category": pandas("category"),
    "pandas arrow": pandas(pd.ArrowDtype(pa.bool_())),
    "polars": polars(pl.Boolean),
    "arrow": arrow(pa.bool_()),
    "arrow, eight bits": lambda values: pa.array([v if v is None else int(v) for v in values], pa.bool8()),
}

DAYS = [date(2020, 1, 31), None, date(1999, 1, 1)]
DAY_CODES = ([5, UNKNOWN, UNKNOWN], [NONE, NONE, NONE])
DAY_TYPES: dict[str, Build] = {
    "list": list,
    "numpy": lambda values: np.array(values, "M8[D]"),
    "numpy scalars": lambda values: list(np.array(values, "M8[D]")),
    "pandas object": pandas(object),
    "pandas arrow": pandas(pd.ArrowDtype(pa.date32())),
    "polars": polars(pl.Date),
    "arrow": arrow(pa.date32()),
    "arrow, milliseconds": arrow(pa.date64()),
    "arrow dictionary": indices(pa.int8()),
}

MOMENTS = [datetime(2020, 1, 31), None, datetime(1999, 1, 1)]
MOMENT_CODES = ([6, UNKNOWN, UNKNOWN], [NONE, NONE, NONE])
MOMENT_TYPES: dict[str, Build] = {
    "list": list,
    **{f"numpy, {unit}": lambda values, unit=unit: np.array(values, f"M8[{unit}]") for unit in ("s", "us", "ns")},
    "numpy scalars": lambda values: list(np.array(values, "M8[ns]")),
    "pandas": pd.Series,
    "pandas, nanoseconds": pandas("datetime64[ns]"),
    "pandas category": pandas("category"),
    "pandas object": pandas(object),
    "polars": polars(pl.Datetime("us")),
    "polars, nanoseconds": polars(pl.Datetime("ns")),
    "arrow": arrow(pa.timestamp("s")),
    "arrow, nanoseconds": arrow(pa.timestamp("ns")),
}

CASES = [
    pytest.param(build, values, expected, id=f"{what}: {name}")
    for what, values, expected, types in [
        ("texts", TEXTS, TEXT_CODES, TEXT_TYPES),
        ("integers", INTEGERS, INTEGER_CODES, INTEGER_TYPES),
        ("fractions", FRACTIONS, FRACTION_CODES, FRACTION_TYPES),
        ("booleans", BOOLEANS, BOOLEAN_CODES, BOOLEAN_TYPES),
        ("days", DAYS, DAY_CODES, DAY_TYPES),
        ("moments", MOMENTS, MOMENT_CODES, MOMENT_TYPES),
    ]
    for name, build in types.items()
]


@pytest.mark.parametrize("build, values, expected", CASES)
def test_values_have_the_same_codes_in_every_type(build: Build, values: list[Any], expected: Any) -> None:
    column = build(values)
    assert codes(column) == expected
    if isinstance(column, (pd.Series, pl.Series, pa.Array, pa.ChunkedArray)):
        assert frame_codes(column) == expected


OTHER_TYPES = {
    "polars list": pl.Series([[1, 2], None]),
    "polars array": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)),
    "polars struct": pl.Series([{"a": 1}, None]),
    "polars time": pl.Series([time(1, 2), None]),
    "polars duration": pl.Series([datetime(2020, 1, 2) - datetime(2020, 1, 1), None]),
    "polars null": pl.Series([None, None]),
    "polars date of no year": pl.Series([2**31 - 1, None], dtype=pl.Int32).cast(pl.Date),
    "polars moment of no year": pl.Series([2**62, None], dtype=pl.Int64).cast(pl.Datetime("ms")),
    "polars endless duration": pl.Series([2**62, None], dtype=pl.Int64).cast(pl.Duration("ms")),
    "polars moment in a place": pl.Series([datetime(2020, 1, 31), None]).dt.replace_time_zone("Europe/Paris"),
    "arrow list": pa.array([[1, 2], None]),
    "arrow struct": pa.array([{"a": 1}, None]),
    "arrow null": pa.nulls(2),
    "arrow date of no year": pa.array([2**31 - 1, None], pa.int32()).cast(pa.date32()),
    "arrow moment of no year": pa.array([2**60, None], pa.timestamp("s")),
    "arrow dictionary with moments of no year": pa.array([2**60, None], pa.timestamp("s")).dictionary_encode(),
    "arrow endless duration": pa.array([2**62, None], pa.duration("s")),
    "pandas moment of no year": pd.Series(np.array([2**60, 2**60], "M8[s]")),
    "pandas duration": pd.Series(pd.to_timedelta([1, None])),
    "pandas period": pd.Series(pd.period_range("2020", periods=2, freq="D")),
    "pandas interval": pd.Series(pd.interval_range(0, 2)),
    "pandas complex": pd.Series([1 + 0j, 2j]),
    "pandas lists": pd.Series([[1], [2]]),
}


@pytest.mark.parametrize("column", OTHER_TYPES.values(), ids=OTHER_TYPES)
def test_types_that_are_no_words_and_no_numbers_are_missing(column: Any, capfd: pytest.CaptureFixture[str]) -> None:
    assert frame_codes(column) == ([UNKNOWN] * 2, [NONE] * 2)
    assert capfd.readouterr() == ("", "")  # a panic of Polars prints


def test_bytes_that_are_not_utf8_spoil_no_other_row() -> None:
    offsets = pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes())
    text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a\xff")])
    view = pa.Array.from_buffers(pa.string_view(), 2, pa.array([b"a", b"\xff"], pa.binary_view()).buffers())
    for column in (text, view, text.dictionary_encode(), [b"a", b"\xff"], np.array([b"a", b"\xff"])):
        assert codes(column) == ([0, UNKNOWN], [NONE, NONE])


ARRAYS = {
    "floats": (np.array([[1.0, 1.0], [np.nan, np.inf]]), [2, UNKNOWN], [0, 2]),
    "integers": (np.array([[1, 3], [7, 8]], np.int8), [2, UNKNOWN], [1, 2]),
    "objects": (np.array([["a", 3], [None, "x"]], object), [0, UNKNOWN], [1, NONE]),
    "texts": (np.array([["a", "3"], ["x", "y"]]), [0, UNKNOWN], [1, NONE]),
    "bytes": (np.array([[b"a", b"3"], [b"x", b"\xff"]]), [0, UNKNOWN], [1, NONE]),
    "variable texts": (np.array([["a", "3"], ["x", "y"]], np.dtypes.StringDType()), [0, UNKNOWN], [1, NONE]),
    "booleans": (np.array([[True, True], [False, False]]), [4, UNKNOWN], [0, 0]),
    "other byte order": (np.array([[1.5, 3], [7, 8]], ">f8"), [3, UNKNOWN], [1, 2]),
    "transposed": (np.array([[1.5, 7], [3, 8]]).T, [3, UNKNOWN], [1, 2]),
    "complex": (np.array([[1, 1], [1j, 2]]), [UNKNOWN, UNKNOWN], [NONE, NONE]),
    "masked": (np.ma.array([[1, 3], [1, 3]], mask=[[0, 1], [1, 0]]), [2, UNKNOWN], [NONE, 1]),
    "records": (np.array([(3, "a"), (4, "x")], [("number", "f8"), ("word", "U9")]), [0, UNKNOWN], [1, 1]),
    "too large for a double": (np.array([["1", "1e4000"], ["1", "-1e4000"]]).astype(np.longdouble), [2, 2], [2, 0]),
}


@pytest.mark.parametrize("rows, words, numbers", ARRAYS.values(), ids=ARRAYS)
def test_arrays_are_read_in_the_order_of_the_schema(rows: Any, words: list[int], numbers: list[int]) -> None:
    with no_warning():
        encoded = SCHEMA.encode(rows)
    assert (encoded["word"].tolist(), encoded["number"].tolist()) == (words, numbers)


def test_numbers_of_any_length_are_read() -> None:
    assert codes([Decimal("1.00"), Decimal("1.50"), Decimal("1e999999999"), Decimal("-1e999999999")]) == (
        [2, 3, UNKNOWN, UNKNOWN],
        [0, 0, 2, 0],
    )
    assert codes([10**400, -(10**400), 10**5000, "1e400", "1_0", "１"]) == ([UNKNOWN] * 6, [2, 0, 2, 2, 2, 0])
    assert codes([b"a", bytearray(b"a"), memoryview(b"a"), np.str_("a"), np.bytes_(b"a"), pa.scalar("a")])[0] == [0] * 6


@contextmanager
def no_warning() -> Iterator[None]:
    """Fail at any warning, also one that somebody catches."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert not caught


CONTAINERS: dict[str, Callable[[np.ndarray], Any]] = {
    "lists": lambda column: {"word": list(column), "number": list(column)},
    "numpy": lambda column: np.column_stack([column, column]),
    "pandas": lambda column: pd.DataFrame({"word": column, "number": column}, dtype=object),
    "polars": lambda column: pl.DataFrame(
        {name: pl.Series(list(column), dtype=pl.Object) for name in ("word", "number")}
    ),
}


@pytest.mark.parametrize("block", [1, 2, 7, 1000])
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_every_odd_value_has_the_code_that_it_has_alone(
    container: Callable[[np.ndarray], Any], block: int, all_odd_values: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with no_warning():
        alone = [codes([value]) for value in all_odd_values]
        beside_text = [codes(["a", value]) for value in all_odd_values]
        monkeypatch.setattr(encoding, "BLOCK", block)
        for order in (1, -1):
            encoded = SCHEMA.encode(container(all_odd_values[::order]))
            words, numbers = encoded["word"][::order].tolist(), encoded["number"][::order].tolist()
            assert words == [found[0][0] for found in alone] == [found[0][1] for found in beside_text]
            assert numbers == [found[1][0] for found in alone] == [found[1][1] for found in beside_text]


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@given(data=st.data())
def test_no_value_raises_or_warns_or_changes_the_code_of_another_row(
    container: Callable[[np.ndarray], Any], odd_values: Callable[..., Any], data: st.DataObject
) -> None:
    values = odd_values(data, min_size=1)
    others = odd_values(data, max_size=4)
    order = np.array(data.draw(st.permutations(range(len(values)))))
    block, encode = data.draw(st.integers(1, 5)), SCHEMA.encode
    with no_warning(), pytest.MonkeyPatch.context() as patch:
        together, more = encode(container(values)), encode(container(np.concatenate([values, others])))
        permuted = encode(container(values[order]))
        alone = [encode({"word": [value], "number": [value]}) for value in values]
        patch.setattr(encoding, "BLOCK", block)
        in_blocks = encode(container(values))
    for column in SCHEMA.column:
        found = together[column.name]
        assert len(found) == len(values) and found.dtype == column.dtype and found.max() < column.size
        assert found.tolist() == [int(codes[column.name][0]) for codes in alone]
        assert found[order].tolist() == permuted[column.name].tolist()
        assert found.tolist() == more[column.name][: len(values)].tolist()
        assert found.tolist() == in_blocks[column.name].tolist()


@given(st.lists(st.none() | st.text(max_size=3) | st.sampled_from(WORDS)), st.integers(1, 4))
def test_text_has_the_same_codes_with_arrow_and_without(values: list[str | None], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "BLOCK", block)
        plain = codes(values)
        mixed = codes([*values, object()])
        assert plain == (mixed[0][:-1], mixed[1][:-1])
        assert plain == codes(pl.Series(values, dtype=pl.String)) == codes(pd.Series(values, dtype="str"))
        assert plain == codes(pa.array(values, pa.string()).dictionary_encode())


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none()))
def test_integers_have_the_same_codes_in_every_library(values: list[int | None]) -> None:
    expected = codes(values)
    assert expected == codes(pa.array(values, pa.int64())) == codes(pl.Series(values, dtype=pl.Int64))
    assert expected == codes(pd.Series(values, dtype="Int64")) == codes([value and str(value) for value in values])


def test_a_declared_missing_value_takes_all_strangers() -> None:
    column = Categorical(name="x", values=["a", "?"], missing="?")
    assert column.encode(["a", "?", None, "z", 5]).tolist() == [0, 1, 1, 1, 1]


WRONG_ROWS = {
    "a missing column": ({"word": ["SECRET"]}, "the rows have no column 'number'"),
    "both columns missing": (pl.DataFrame({"other": [1]}), "the rows have no column 'word', 'number'"),
    "different lengths": ({"word": ["SECRET"], "number": []}, "columns 'word' and 'number' have different lengths"),
    "one dimension": (np.array(["SECRET"]), "two dimensions and the schema's 2 columns"),
    "three dimensions": (np.zeros((2, 2, 2)), "two dimensions and the schema's 2 columns"),
    "too many columns": (np.zeros((2, 3)), "two dimensions and the schema's 2 columns"),
    "a table for a column": ({"word": np.zeros((2, 2)), "number": [1, 2]}, "column 'word' must be a list"),
    "text for a column": ({"word": "SECRET", "number": [1]}, "column 'word' must be a list"),
    "a number for a column": ({"word": [1], "number": 7391}, "column 'number' must be a list"),
    "an iterator for a column": ({"word": iter(["SECRET"]), "number": [1]}, "column 'word' must be a list"),
    "tables in records": (np.zeros((2, 2), [("word", "U3"), ("number", "f8")]), "column 'word' must be a list"),
    "two columns of one name": (pd.DataFrame([["SECRET", 1, 2]], columns=["word", "number", "number"]), "same name"),
    "a lazy frame": (pl.LazyFrame({"word": ["a"], "number": [3]}), "collect it first"),
    "a failing plan": (pl.LazyFrame({"word": ["SECRET"], "number": [1]}).cast(pl.Int64), "collect it first"),
    "a list of rows": ([["SECRET", 1]], "rows must be a data frame"),
    "a series": (pd.Series(["SECRET"]), "rows must be a data frame"),
    "nothing": (None, "rows must be a data frame"),
    "text": ("SECRET", "rows must be a data frame"),
}


@pytest.mark.parametrize("rows, reason", WRONG_ROWS.values(), ids=WRONG_ROWS)
def test_rows_of_the_wrong_shape_are_refused_by_name_and_without_values(rows: Any, reason: str) -> None:
    with pytest.raises(BadInput) as caught:
        SCHEMA.encode(rows)
    said = str(caught.value)
    assert reason in said and "SECRET" not in said and "7391" not in said


def test_columns_that_are_not_declared_are_ignored(rows: pd.DataFrame, schema: Schema) -> None:
    wide = rows.assign(extra=[object()] * len(rows))
    plain, with_extra = schema.encode(rows), schema.encode(wide)
    assert {name: found.tolist() for name, found in plain.items()} == {n: c.tolist() for n, c in with_extra.items()}


def test_the_label_is_left_out_if_it_is_not_wanted(rows: pd.DataFrame, schema: Schema) -> None:
    assert list(schema.encode(rows)) == ["town", "age", "income", "party"]
    assert list(schema.encode(rows.drop(columns="party"), label=False)) == ["town", "age", "income"]


def test_the_ten_rows_have_these_codes(rows: pd.DataFrame, schema: Schema) -> None:
    encoded = schema.encode(rows)
    assert encoded["town"].tolist() == [0, 1, 2, 3, 0, 2, 4, 1, 0, 3]
    assert encoded["age"].tolist() == [0, 0, 0, 1, 2, 3, 4, 6, 7, 7]
    assert encoded["income"].tolist() == [0, 1, 2, 3, 3, 4, 3, 4, 4, 2]
    assert encoded["party"].tolist() == [0, 1, 2, 0, 0, 1, 1, 2, 0, 1]


@pytest.mark.parametrize("as_frame", [lambda rows: rows, pl.from_pandas, pa.Table.from_pandas, lambda rows: {**rows}])
def test_many_rows_are_encoded_at_once_with_the_same_codes(
    rows: pd.DataFrame, schema: Schema, as_frame: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = as_frame(pd.concat([rows] * 3, ignore_index=True))
    apart = schema.encode(frame)
    monkeypatch.setattr("veil.schema.codes.MANY", 1)
    together = schema.encode(frame)
    assert [*together] == [*apart] and all(np.array_equal(together[name], apart[name]) for name in apart)


def test_no_rows_have_no_codes(rows: pd.DataFrame, schema: Schema) -> None:
    assert all(len(found) == 0 for found in schema.encode(rows.head(0)).values())


@given(st.lists(st.sampled_from(["a", " b", "", "ü", "1"]), max_size=30), st.booleans())
def test_declared_text_is_looked_up_at_once_and_gets_the_same_codes(values: list[str], odd: bool) -> None:
    """One undeclared value sends all rows of the block the slow way: none of the others may change."""
    code_of = {"a": 3, " b": 1, "": 0, "ü": 2, "1": 4}
    rows = [*values, *(["who?"] if odd else [])]
    expected = [*(code_of[value] for value in values), *([9] if odd else [])]
    kinds = [pa.array(rows, pa.string()), pa.array(rows, pa.large_string()), pd.Series(rows, dtype=object)]
    kinds += [pd.Series(rows, dtype="str"), np.array(rows, object), pa.array([r.encode() for r in rows], pa.binary())]
    for column in kinds:
        assert encoding.category_codes(encoding.as_column(column, "x"), code_of, 9).tolist() == expected
