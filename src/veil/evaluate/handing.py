"""Rows for a classifier that is not Veil's, rebuilt value by value in the types that the schema declares.

A data frame infers its types from all values: one odd value turns numbers into text, a missing one turns integers into
floats, and a new category renumbers the others. A model's output for one row would then depend on other rows. So a
column gets the type that its schema declares, whatever type it came in, and an undeclared value is missing.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import BadInput
from ..models.rows import as_table, has_names, inputs, named
from ..schema import Categorical, Date, Numeric, Schema
from ..schema.encoding import as_column, category_codes, columns_of, in_blocks, numbers, texts
from ..synopsis.domain import dates, declared_values

MOST = 2**53  # a double holds every integer up to here
NO_SCHEMA = (
    "a model that is not Veil's is handed rows as their schema declares them: give schema=..., or, for a model of "
    "numbers alone, the rows as a NumPy array or a list of lists"
)


class Handed(NamedTuple):
    """Rows for a model: `one(place)` is a table of a single row, `some(mask)` of several; `matrix` holds all rows as
    floats (NaN: missing), or None if a column is not numeric."""

    length: int
    one: Callable[[int], Any]
    some: Callable[[npt.NDArray[np.bool_]], Any]
    matrix: npt.NDArray[np.float64] | None


class Column(NamedTuple):
    """The values of a column in its declared type, a mask of missing ones, and the codes of a categorical column."""

    values: npt.NDArray[Any]
    missing: npt.NDArray[np.bool_]
    codes: npt.NDArray[np.int64] | None = None

    @property
    def floats(self) -> npt.NDArray[np.float64]:
        return np.where(self.missing, np.nan, self.values.astype(np.float64))


def handed(X: Any, model: Any, schema: Schema | None) -> Handed:
    """The rows as a model takes them: columns by name if they came as a frame, by position otherwise."""
    if X is None:
        raise BadInput("give the rows that the model is to judge")
    table = as_table(X, False, len(schema.column) - 1 if schema else 0)
    declared = schema is not None and bool(schema.features or schema.texts)
    if isinstance(table, Mapping) or isinstance(table, np.ndarray) and table.dtype.names:
        raise BadInput("rows for a model that is not Veil's must be a data frame, an array or a list of lists")
    if has_names(table):
        if not declared:
            raise BadInput(NO_SCHEMA)
        return _frame(table, _typed(table, _names(table, model, schema), schema), schema)
    names = (
        inputs(schema, table) if schema is not None and declared else [str(place) for place in range(table.shape[1])]
    )
    return _array(_typed(table, names, schema if declared else None), len(table))


def _names(table: Any, model: Any, schema: Any) -> list[str]:
    """The columns that the model takes: its `feature_names_in_`, else all declared ones, in the order of the table."""
    own = [str(name) for name in getattr(model, "feature_names_in_", ())]
    declared = [column.name for column in schema.column if column.name != schema.label]
    if unknown := [name for name in own if name not in declared]:
        raise BadInput(f"the model takes the column {unknown[0]!r}, which the schema does not declare: add it there")
    return own or [name for name in named(table) if name in declared]


def _typed(table: Any, names: list[str], schema: Schema | None) -> dict[str, Column]:
    columns = columns_of(table, names)
    return {name: _column(as_column(columns[name], name), schema and schema.get(name)) for name in names}


def _column(values: Any, declared: Any) -> Column:
    """A column in its declared type: numbers as floats or integers, also beyond the bounds; categories as integers or
    booleans if all are written so, else as text; dates as in synthetic rows; free text as text, "" if missing."""
    if isinstance(declared, Categorical):
        code_of = {value: code for code, value in enumerate(declared.values)}
        codes = in_blocks(values, lambda block: category_codes(block, code_of, -1), np.int64).astype(np.int64)
        return Column(declared_values(declared.values)[codes], codes < 0, codes)
    if isinstance(declared, Date):
        x = in_blocks(values, declared.read, np.float64).astype(np.float64)
        return Column(dates(declared, np.where(np.isnan(x), declared.cuts[0], x).astype(np.int64)), np.isnan(x))
    if declared is None or isinstance(declared, Numeric):
        x = in_blocks(values, numbers, np.float64).astype(np.float64)
        if declared is None or not declared.integer:
            return Column(x, np.isnan(x))
        return Column(np.floor(np.nan_to_num(x.clip(-MOST, MOST))).astype(np.int64), np.isnan(x))
    found = in_blocks(values, lambda block: np.fromiter(map(_text, texts(block)), object, len(block)), object)
    return Column(np.asarray(found), np.zeros(len(found), bool))


def _text(text: str | None) -> str:
    return (text or "").encode("utf-8", "replace").decode()


def _matrix(columns: dict[str, Column], length: int) -> npt.NDArray[np.float64] | None:
    if any(column.values.dtype.kind in "OM" for column in columns.values()):
        return None
    return np.column_stack([np.zeros((length, 0)), *(column.floats for column in columns.values())])


def _array(columns: dict[str, Column], length: int) -> Handed:
    """Rows as an array: of floats if all columns are numeric, else of objects."""
    matrix = _matrix(columns, length)
    rows: Any = matrix
    if rows is None:
        rows = np.empty((length, len(columns)), object)
        for place, column in enumerate(columns.values()):
            rows[:, place] = _with_nan(column)
    return Handed(length, lambda place: rows[place : place + 1].copy(), lambda which: rows[which], matrix)


def _with_nan(column: Column) -> npt.NDArray[Any]:
    values = column.values.astype(object)
    values[column.missing] = np.nan
    return values


def _frame(table: Any, columns: dict[str, Column], schema: Any) -> Handed:
    length = len(next(iter(columns.values())).values) if columns else len(table)
    if nw.dependencies.is_pandas_dataframe(table):
        rows, one = _pandas(table, columns, schema)
        return Handed(length, one, lambda which: rows[which], _matrix(columns, length))
    arrays = {name: _arrow(column) for name, column in columns.items()}
    frame = nw.from_arrow(pa.table(arrays), backend=nw.get_native_namespace(table))
    some = lambda which: frame.filter(which.tolist()).to_native()  # noqa: E731
    return Handed(length, lambda place: frame[place : place + 1].to_native(), some, _matrix(columns, length))


def _arrow(column: Column) -> Any:
    """An Arrow array. The type of text is given, since Arrow would infer the null type for a column without values."""
    return pa.array(column.values, pa.string() if column.values.dtype == object else None, mask=column.missing)


def _pandas(table: Any, columns: dict[str, Column], schema: Any) -> tuple[Any, Callable[[int], Any]]:
    """All rows as a pandas frame, and a function that takes one of them. Integers and booleans have no NaN, so a
    missing one is a float in the frame of its row. Categories are the declared ones, in their order; the index is 0."""
    pd = nw.get_native_namespace(table)
    index = np.zeros(len(table), np.int64)
    made = {name: _series(pd, column, table[name].dtype, schema.get(name), index) for name, column in columns.items()}
    rows = pd.DataFrame(made, index=index)
    gaps = {name: column.missing for name, column in columns.items() if rows[name].dtype.kind in "ib"}

    def one(place: int) -> Any:
        row = rows.iloc[place : place + 1]
        nothing = {name: np.nan for name, missing in gaps.items() if missing[place]}
        return row.assign(**nothing) if nothing else row.copy()

    return rows, one


def _series(pd: Any, column: Column, kind: Any, declared: Any, index: Any) -> Any:
    if isinstance(kind, pd.CategoricalDtype) and column.codes is not None:
        values = pd.Categorical.from_codes(column.codes, pd.Index(declared_values(declared.values)))
        return pd.Series(values, index=index)
    if column.values.dtype == object:
        return pd.Series(_with_nan(column), index=index, dtype=object)
    if column.values.dtype.kind == "M":
        return pd.Series(np.where(column.missing, np.datetime64("NaT"), column.values).astype("M8[s]"), index=index)
    return pd.Series(column.floats if column.values.dtype == float else column.values, index=index)
