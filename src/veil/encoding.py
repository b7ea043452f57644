"""From any column of values to codes, total and row by row: no value can raise, and none changes another row's code.

A category is compared as text: strings as they are (surrounding white space is ignored if that finds a match), whole
numbers without a decimal point (1 and 1.0 are both "1"), other numbers as Python writes them, bytes as UTF-8. A
number is read from numeric types, booleans and text. Whatever cannot be read is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .errors import BadInput

BLOCK = 1 << 17  # rows at a time: what an encoding needs beside its result stays small
PLAIN = (
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_dictionary),
)
Codes = npt.NDArray[np.unsignedinteger[Any]]


def columns_of(rows: Any, names: Sequence[str]) -> dict[str, Any]:
    """The named columns of a data frame (pandas, Polars, PyArrow, ...), a mapping, or a NumPy array in that order."""
    if isinstance(rows, np.ndarray):
        rows = _array_columns(rows, names)
    elif not isinstance(rows, Mapping):
        try:
            frame = nw.from_native(rows)
            rows = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        except (TypeError, ValueError):
            raise BadInput(
                "rows must be a data frame (pandas, Polars, PyArrow), a NumPy array or a dict of columns"
            ) from None
    present = set(rows.columns if isinstance(rows, nw.DataFrame) else rows)
    if absent := [name for name in names if name not in present]:
        raise BadInput(f"the rows have no column {', '.join(map(repr, absent))}: rename it, or change the schema")
    return {name: _column(rows[name]) for name in names}


def _array_columns(rows: npt.NDArray[Any], names: Sequence[str]) -> dict[str, Any]:
    if rows.dtype.names:
        return {name: rows[name] for name in rows.dtype.names}
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise BadInput(f"a NumPy array needs two dimensions and the schema's {len(names)} columns, in its order")
    return {name: rows[:, i] for i, name in enumerate(names)}


def _column(values: Any) -> Any:
    """Something with a length and slices; a plain sequence becomes an array of objects, so nothing is converted."""
    if isinstance(values, (nw.Series, np.ndarray)):
        return values
    objects = np.empty(len(values), object)
    objects[:] = list(values)
    return objects


def in_blocks(column: Any, encode: Callable[[Any], npt.NDArray[Any]], dtype: npt.DTypeLike) -> Codes:
    """The codes of a column, a block of rows at a time."""
    codes = np.empty(len(column), dtype)
    for start in range(0, len(column), BLOCK):
        codes[start : start + BLOCK] = encode(column[start : start + BLOCK])
    return codes


def category_codes(block: Any, code_of: Mapping[str, int], missing: int) -> npt.NDArray[Any]:
    """The code of each value's text, `missing` where it has none."""
    values, index = _distinct(block)
    codes = [_lookup(_text(value), code_of, missing) for value in values]
    return np.take(np.array([*codes, missing], np.int64), index)


def numbers(block: Any) -> npt.NDArray[np.float64]:
    """Each value as a double, NaN where it is not a number."""
    dtype = block.dtype
    if isinstance(block, nw.Series) and (dtype.is_numeric() and not dtype.is_decimal()):
        return np.asarray(block.cast(nw.Float64).to_numpy(), np.float64)
    if isinstance(block, np.ndarray) and dtype.kind in "iuf":
        return block.astype(np.float64)
    values, index = _distinct(block)
    return np.take(np.array([*map(_number, values), np.nan], np.float64), index)


def _distinct(block: Any) -> tuple[list[Any], npt.NDArray[Any]]:
    """Values, and for each row the index of its value (-1: null). Odd types go one by one, never by inference."""
    try:
        array = _arrow(block)
    except Exception:  # a conversion that fails for one row must not fail for all
        values = block.to_list() if isinstance(block, nw.Series) else list(block)
        return values, np.arange(len(values))
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    words = array.dictionary
    if pa.types.is_string(words.type) or pa.types.is_large_string(words.type) or words.type == pa.string_view():
        words = words.cast(pa.large_binary())  # bytes: text that is not UTF-8 must not raise
    return words.to_pylist(), array.indices.fill_null(-1).to_numpy(zero_copy_only=False)


def _arrow(block: Any) -> Any:
    """An Arrow array of the block, if its own type is plain; objects only if all are strings."""
    if isinstance(block, nw.Series):
        native, plain = block.to_native(), block.dtype != nw.Object
        block = block.to_arrow() if plain else np.asarray(native, object)
    if isinstance(block, np.ndarray):
        block = pa.array(block, pa.string() if block.dtype.kind == "O" else None, from_pandas=True)
    if isinstance(block, pa.ChunkedArray):
        block = block.combine_chunks()
    if not any(is_kind(block.type) for is_kind in PLAIN):
        raise TypeError
    return block


def _text(value: Any) -> str | None:
    """A value as its category is written, None if it has no such form."""
    try:
        if isinstance(value, str):
            return value
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if value is None or bool(value != value):
            return None
        if isinstance(value, (bool, np.bool_)):
            return str(bool(value))
        if isinstance(value, (float, np.floating)):
            return str(int(value)) if value == int(value) else repr(float(value))
        return str(value)
    except Exception:
        return None


def _number(value: Any) -> float:
    try:
        return float(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)
    except Exception:
        return np.nan


def _lookup(text: str | None, code_of: Mapping[str, int], missing: int) -> int:
    if text is None:
        return missing
    code = code_of.get(text)
    return code_of.get(text.strip(), missing) if code is None else code


def text_of(value: Any) -> str:
    """The text a declared category is compared by."""
    text = _text(value)
    if text is None:
        raise ValueError("a category must be text or a finite number")
    return text
