"""Encoding any column of values as codes. No value can raise, and none changes the code of another row.

A category is compared as text: strings as they are, else by their `spelling`, so that a value counts alike whichever
type a reader gave its column: the number 1, "1", "1.0" and " 01 ", or True and "true". A number is read from numeric
types, truth values and text. Whatever cannot be read is missing.
"""

import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from threading import Lock
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .. import wording
from ..display import absent
from ..errors import BadInput
from .alike import alike
from .refusing import refuse
from .spelling import TRUTH, spelling, written_out

BLOCK = 1 << 17  # rows encoded at a time, to bound the memory beside the result
TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
PLAIN = (*TEXT, pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_dictionary)
SERIES = (nw.Series, pa.Array, pa.ChunkedArray)
ROWS = "a data frame (pandas, Polars, PyArrow), a NumPy array or a dict of columns"
LARGEST = int(np.finfo(np.float64).max)
Codes = npt.NDArray[np.unsignedinteger[Any]]


def columns_of(rows: Any, names: Sequence[str], matrices: Collection[str] = ()) -> dict[str, Any]:
    """The named columns of rows, each prepared by `as_column`; those in `matrices` may be matrices of words."""
    found = picked(rows, names)
    return {n: v if n in matrices and is_matrix(v) else as_column(v, n) for n, v in found.items()}


def picked(rows: Any, names: Sequence[str]) -> dict[str, Any]:
    """The named columns, unconverted, of a data frame (pandas, Polars, PyArrow, ...), a mapping, or a NumPy array,
    whose columns must be in the order of the names."""
    if isinstance(rows, np.ndarray):
        rows = _array_columns(rows, names)
    elif not isinstance(rows, Mapping):
        rows = _frame(rows)
    refuse(said := absent(names, rows.columns if isinstance(rows, nw.DataFrame) else rows, "the rows"), said)
    return {name: rows[name] for name in names}


def is_matrix(values: Any) -> bool:
    """Whether a column's values are a two-dimensional matrix, sparse or dense."""
    return (is_sparse(values) or isinstance(values, np.ndarray)) and values.ndim == 2


def is_sparse(values: Any) -> bool:
    """Whether values are a SciPy sparse matrix. SciPy is slow to import, and before that there is none."""
    return "scipy.sparse" in sys.modules and bool(sys.modules["scipy.sparse"].issparse(values))


def _frame(rows: Any) -> Any:
    """A data frame: pandas as it is, any other wrapped by narwhals."""
    if nw.dependencies.is_pandas_dataframe(rows) and rows.columns.is_unique:
        return rows
    try:
        frame = nw.from_native(rows)
    except TypeError:
        raise BadInput(f"rows must be {ROWS}") from None
    except Exception:
        raise BadInput("the data frame cannot be used: check that no two columns have the same name") from None
    refuse(isinstance(frame, nw.LazyFrame), "the data frame is lazy: collect it first")  # that could fail on a value
    return frame


def _array_columns(rows: npt.NDArray[Any], names: Sequence[str]) -> dict[str, Any]:
    rows = rows if isinstance(rows, np.ma.MaskedArray) else np.asarray(rows)
    if rows.dtype.names:
        return {name: rows[name] for name in rows.dtype.names}
    refuse(rows.ndim != 2 or rows.shape[1] != len(names), wording.ARRAY.format(len(names)))
    return {name: rows[:, i] for i, name in enumerate(names)}


def as_column(values: Any, name: str) -> Any:
    """A column with a length and slices; a plain sequence becomes an object array, so that nothing is converted."""
    if isinstance(values, np.ma.MaskedArray):
        values = _unmasked(values) if values.ndim == 1 else values.data
    values = values if isinstance(values, (np.ndarray, *SERIES)) else _held(values)
    if isinstance(values, SERIES) or isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    odd = isinstance(values, (str, bytes, Mapping, np.ndarray)) or hasattr(values, "columns") or is_sparse(values)
    refuse(odd or not isinstance(values, Collection), wording.ONE_DIMENSION.format(name))
    return np.fromiter(values, object, len(values))


def _unmasked(values: Any) -> npt.NDArray[Any]:
    """The values of a masked array as objects, None where masked."""
    found = objects_of(values.data)
    if not values.dtype.names:  # records are no values anyway
        found[np.ma.getmaskarray(values)] = None
    return found


def _held(values: Any) -> Any:
    """The array inside a pandas series of numbers, objects or Arrow text; other series wrapped by narwhals."""
    if nw.dependencies.is_pandas_series(values):
        kind = values.dtype
        if isinstance(kind, np.dtype) and kind.kind in "iufO":
            return values.to_numpy()
        if getattr(kind, "storage", None) == "pyarrow":
            return values.array.__arrow_array__()
    return nw.from_native(values, series_only=True, pass_through=True)


def in_blocks(column: Any, encode: Callable[[Any], npt.NDArray[Any]], dtype: npt.DTypeLike) -> Codes:
    """The codes of a column, encoded block by block, without any warning, which might tell about a row."""
    codes = np.empty(len(column), dtype)
    with quiet():
        for start in range(0, len(column), BLOCK):
            block = column if len(column) <= BLOCK else column[start : start + BLOCK]  # a slice of a frame is slow
            codes[start : start + BLOCK] = encode(block)
    return codes


class _Silence:
    """Warnings off for as long as anyone is inside: `catch_warnings` alone is not safe with several threads."""

    def __init__(self) -> None:
        self._lock, self._inside, self._caught = Lock(), 0, warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._caught = warnings.catch_warnings()
                self._caught.__enter__()
                warnings.simplefilter("ignore")

    def __exit__(self, *problem: Any) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._caught.__exit__(None, None, None)


_silence = _Silence()
if hasattr(os, "register_at_fork"):  # another thread's hold does not outlive a fork
    os.register_at_fork(after_in_child=_silence.__init__)  # type: ignore[misc]


@contextmanager
def quiet() -> Iterator[None]:
    """No warning is shown inside, from NumPy or any other library."""
    with np.errstate(all="ignore"), _silence:
        yield


def category_codes(block: Any, code_of: Mapping[str, int], missing: int) -> npt.NDArray[Any]:
    """The code of each value's text or, failing that, of its spelling; `missing` where neither is declared."""
    known = {name: code_of[value] for name, value in alike(tuple(code_of)).items()}
    with suppress(Exception):
        return _looked_up(block, code_of)

    def code(value: Any) -> int:
        if (text := text_or_none(value)) is None:
            return missing
        exact = code_of.get(text, code_of.get(text.strip()))
        return known.get(spelling(text), missing) if exact is None else exact

    return of_each(block, code, missing, np.int64)


def _looked_up(block: Any, code_of: Mapping[str, int]) -> npt.NDArray[Any]:
    """The codes of a block of declared texts, in one vectorised look-up; raises for any other block."""
    array = arrow_of(block)
    if len(code_of) > 2**16 or not is_text(array.type):
        raise TypeError
    found = pc.index_in(array, value_set=pa.array([*code_of], array.type))
    if found.null_count:
        raise ValueError
    codes, places = [*code_of.values()], found.to_numpy()
    return np.asarray(places if codes == [*range(len(codes))] else np.take(codes, places))


def is_text(kind: Any, kinds: Any = TEXT) -> bool:
    """Whether an Arrow type is text, or one of these kinds."""
    return any(is_kind(kind) for is_kind in kinds)


def numbers(block: Any) -> npt.NDArray[np.float64]:
    """Each value as a double, NaN where it is not a number."""
    if not isinstance(block, np.ndarray):
        with suppress(Exception):  # a type that Arrow or NumPy does not have
            array = arrow_of(block)
            if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
                block = array.to_numpy(zero_copy_only=False)
    if isinstance(block, np.ndarray) and block.dtype.kind in "iuf":
        return block.astype(np.float64, copy=False)
    return of_each(block, _number, np.nan, np.float64)


def texts(block: Any) -> list[str | None]:
    """Each value as text, None where it has none."""
    return list(of_each(block, text_or_none, None, object))


def of_each(block: Any, read: Callable[[Any], Any], otherwise: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """`read` applied to each distinct value, for all rows that share it; `otherwise` for null."""
    values, index = distinct(block)
    return np.asarray(np.take(np.array([*map(read, values), otherwise], dtype), index))


def distinct(block: Any) -> tuple[list[Any], npt.NDArray[Any]]:
    """The distinct values, and each row's index among them (-1: null). Odd types go one by one, never by inference."""
    if _has_object_categories(block):
        return list(block.to_native().cat.categories), block.to_native().cat.codes.to_numpy()
    try:
        array = arrow_of(block)
    except Exception:  # a conversion that fails for one row must not fail for all
        return (values := list(objects_of(block))), np.arange(len(values))
    if not is_text(array.type, PLAIN):
        return (values := _python(array)), np.arange(len(values))
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    return _python(array.dictionary), array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)


def arrow_of(block: Any) -> Any:
    """The block as an Arrow array, if its type allows; objects only if all of them are strings."""
    if isinstance(block, nw.Series):
        block = objects_of(block) if _holds_objects(block) else block.to_arrow()
    if isinstance(block, np.ndarray):
        objects = block.dtype.kind == "O"
        if objects and not set(map(type, block)) <= {str, float, type(None)}:  # float: NaN, all else is refused
            raise TypeError
        block = pa.array(block, pa.string() if objects else None, from_pandas=True)
    one = isinstance(block, pa.ChunkedArray) and block.num_chunks == 1  # combining it would copy it
    return block.chunk(0) if one else block.combine_chunks() if isinstance(block, pa.ChunkedArray) else block


def _has_object_categories(block: Any) -> bool:
    """Whether a pandas categorical has object categories: Arrow would infer one type for all of them."""
    kind = getattr(block.to_native(), "dtype", None) if isinstance(block, nw.Series) else None
    return str(getattr(getattr(kind, "categories", None), "dtype", "")) == "object"


def _holds_objects(block: nw.Series[Any]) -> bool:
    """Whether the values are Python objects; Arrow would turn the periods and intervals of pandas into numbers."""
    odd = block.dtype in (nw.Object, nw.Unknown) or str(getattr(block.to_native(), "dtype", "")) == "object"
    return odd and not isinstance(block.to_native(), pa.ChunkedArray)


def objects_of(block: Any) -> npt.NDArray[Any]:
    """The values of a block as Python objects; None for one that Python cannot hold, so that the others are kept."""
    try:
        return np.fromiter(block.to_list() if isinstance(block, nw.Series) else block, object, len(block))
    except Exception:
        return np.fromiter((_item(block, place) for place in range(len(block))), object, len(block))


def _item(block: Any, place: int) -> Any:
    with suppress(Exception):  # in an array of texts, a character that does not exist
        return block.item(place) if isinstance(block, nw.Series) else block[place]


def _python(array: Any) -> list[Any]:
    """The values of an Arrow array as Python objects; as Arrow scalars if Python cannot hold one (the year 20,000)."""
    if is_text(array.type, TEXT[:2]) or array.type == pa.string_view():  # which may not be UTF-8
        array = array.cast(pa.binary_view() if array.type == pa.string_view() else pa.large_binary())
    with suppress(Exception):
        return list(array.to_pylist())
    return list(array)


def text_or_none(value: Any) -> str | None:
    """The text by which a value is compared with categories, None if it has none."""
    try:
        value = plain(value)
        if isinstance(value, str):
            return str.__str__(value)  # a subclass may have a __str__ of its own
        if value is None or bool(value != value):
            return None
        if isinstance(value, Decimal):  # digits that a float would lose tell people apart; there may be a million
            return written_out(value) if abs(value) < 10**400 and value.adjusted() > -400 else None
        if isinstance(value, (float, np.floating)):  # of an infinite one there is no whole number
            return str(int(value)) if (value := float(value)) == int(value) else repr(value)
        return str.__str__(str(bool(value) if isinstance(value, np.bool_) else value))
    except Exception:
        return None


def _number(value: Any) -> float:
    try:
        value = plain(value)
        if isinstance(value, int):
            return float(min(max(value, -LARGEST), LARGEST))
        if isinstance(value, str) and (truth := TRUTH.get(str.strip(value).lower())):
            return float(truth == "True")
        return np.nan if isinstance(value, (complex, np.complexfloating)) else float(value)
    except Exception:
        return np.nan


def plain(value: Any) -> Any:
    """Bytes as text, different ones as different text; Arrow scalars and NumPy times as Python values."""
    if type(value) in (str, float, int):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "surrogateescape")
    if isinstance(value, (np.datetime64, np.timedelta64)):
        value = pa.array(np.array([value]))[0]
    return plain(value.as_py()) if isinstance(value, pa.Scalar) else value
