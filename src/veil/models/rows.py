"""The inputs of `fit` and `predict`: frames, arrays and lists, with the label in `y` or among the columns of `X`.

Nothing here looks at a value of rows that are not public: one row must not change the type, the shape or the acceptance
of the others. So columns are never merged into one array, and lists are taken value by value. Shapes are looked at:
lists of rows that differ in length are refused.
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y, column_or_1d

from ..errors import BadInput
from ..files.tables import check_types
from ..schema import Categorical, Numeric, Schema, Text
from ..schema.columns import text_of
from ..schema.encoding import as_column, columns_of, in_blocks, numbers, objects_of, picked
from ..schema.streams import Stream, stream_of

KINDS = "a data frame with text as column names, a NumPy array, a dict of columns or a list of lists"


def training_columns(X: Any, y: Any, schema: Schema) -> Any:
    """The columns of the schema as {name: values}, with the label: from y or, if y is None, from X. Rows that come in
    batches are handed on as the stream that they are; they must hold the label."""
    if schema.label is None:
        raise BadInput("a classifier needs a label: name the column to predict in the schema")
    if (stream := stream_of(X)) is not None:
        return _checked_stream(stream, y, schema)
    everything = [column.name for column in schema.column]
    table = as_table(words_of(X, schema), schema.public, len(everything) - (y is not None))
    if y is not None:
        return {**_columns(table, inputs(schema, table), schema), schema.label: label_column(y, schema.public)}
    if schema.label not in named(table) and np.shape(table)[1:] != (len(everything),):
        raise BadInput(f"the fit requires y to be passed, but the target y is None and X has no {schema.label!r}")
    return _columns(table, everything if _is_plain(table) else [*inputs(schema, table), schema.label], schema)


def _checked_stream(rows: Stream, y: Any, schema: Schema) -> Stream:
    """The stream, if all its columns can be read as the schema declares them."""
    if y is not None:
        raise BadInput("rows that come in batches must hold the label among their columns: leave y out")
    check_types(rows.types, schema)
    return rows


def feature_columns(X: Any, schema: Schema, model: str) -> dict[str, Any]:
    """The columns to predict from, as {name: values}: of a frame by name, of an array in the order of the schema."""
    table = as_table(words_of(X, schema, model), schema.public, len(schema.column) - 1)
    names = inputs(schema, table, person=False)
    if _is_plain(table) and table.shape[1] != len(names):
        raise BadInput(f"X has {table.shape[1]} features, but {model} is expecting {len(names)} features as input")
    return _columns(table, names, schema)


def words_of(X: Any, schema: Schema, model: str = "the schema") -> Any:
    """A word matrix, or a frame with a column for each word, as {text column: matrix}, if the schema has one text
    column and no other features; anything else unchanged."""
    if len(schema.texts) != 1 or schema.features:
        return X
    text = schema.texts[0]
    if isinstance(X, Sequence) and not isinstance(X, (str, bytes)) or schema.public and not has_names(X):
        X = X if issparse(X) else as_table(X, schema.public, text.size)
    if issparse(X) or _is_plain(X) and (X.dtype.kind in "biuf" or X.ndim != 2 or X.shape[1] > 2 or schema.public):
        if X.ndim == 2 and X.shape[1] != text.size:
            raise BadInput(f"X has {X.shape[1]} features, but {model} is expecting {text.size} features as input")
        return {text.name: X}
    if has_names(X) and text.name not in named(X) and set(text.names) <= set(named(X)):
        found = columns_of(X, [name for name in named(X) if name in (*text.names, schema.label)])
        matrix = np.column_stack([in_blocks(found.pop(name), numbers, np.float64) for name in text.names])
        return {**found, text.name: matrix}
    return X


def has_names(X: Any) -> bool:
    """Whether X has named columns: a data frame or a mapping."""
    frame = hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns)
    return isinstance(X, Mapping) or hasattr(X, "column_names") or frame


def _columns(table: Any, names: list[str], schema: Schema) -> dict[str, Any]:
    if isinstance(table, pa.Table):  # its types are declared; those of other frames may come from the values
        check_types({name: str(table.schema.field(name).type) for name in names if name in named(table)}, schema)
    return picked(table, names)  # the kernel takes them apart


def inputs(schema: Schema, table: Any, person: bool = True) -> list[str]:
    """The names of the columns that a table must have besides the label; an array must have all, in this order."""
    if _is_plain(table):
        return [column.name for column in schema.column if column.name != schema.label]
    names = [column.name for column in (*schema.features, *schema.texts)]
    return [*names, schema.person] if person and schema.person else names


def _is_plain(table: Any) -> bool:
    return isinstance(table, np.ndarray) and not table.dtype.names


def named(table: Any) -> list[str]:
    """The column names of a table; [] for an array without names."""
    if isinstance(table, np.ndarray):
        return list(table.dtype.names or ())
    return list(table if isinstance(table, Mapping) else getattr(table, "column_names", None) or table.columns)


def as_table(X: Any, public: bool, width: int) -> Any:
    """A frame or mapping unchanged; anything else as a 2-d array. An empty list becomes one with `width` columns."""
    if isinstance(X, Mapping) or hasattr(X, "column_names") and not isinstance(X, Stream):
        return X
    if stream_of(X) is not None or hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise BadInput("the rows come in batches, or are lazy: collect them first")
    if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
        return X
    if issparse(X):
        raise BadInput("sparse data was passed, but dense data is required: use X.toarray()")
    if isinstance(X, (str, os.PathLike)):
        raise BadInput("X must be rows, not the path of a file: read it first, such as veil.read_csv(path)")
    if isinstance(X, Sequence) and not isinstance(X, bytes):
        return _from_lists(X, width)
    if not isinstance(X, np.ndarray) and not public:  # converting it may depend on its values
        raise BadInput(f"X must be {KINDS}")
    array = np.asanyarray(X)
    if array.dtype.kind == "c":
        raise BadInput("Complex data not supported: give real numbers or categories")
    if array.ndim != 2 and array.dtype.names is None:
        raise BadInput(f"X must have two dimensions, not {array.ndim}. Reshape your data: one row for each record")
    return array


def _from_lists(X: Sequence[Any], width: int) -> npt.NDArray[Any]:
    """A list of rows as a two-dimensional object array, so that no value is unpacked or changes the type of others."""
    if len(X) and isinstance(X[0], Mapping):
        raise BadInput("X is a list of dicts: turn it into a data frame first, such as pandas.DataFrame(X)")
    try:
        rows = [objects_of(row) if isinstance(row, np.ndarray) else row for row in X]
        columns = [np.fromiter(column, object, len(X)) for column in zip(*rows, strict=True)]
    except (TypeError, ValueError):
        raise BadInput("X must be rows of equal length. Reshape your data: one list for each record") from None
    return np.stack(columns, axis=1) if columns else np.empty((0, width), object)


def label_column(y: Any, public: bool) -> Any:
    """The labels as one column; a table of one column is accepted with a warning, as in scikit-learn.

    Only public labels get a common type: for private ones, one value would decide about the type of all.
    """
    if public:
        return column_or_1d(y, warn=True)
    names = [] if isinstance(y, np.ndarray) else list(getattr(y, "columns", ()))
    if (isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1) or len(names) == 1:
        warnings.warn("y should have one dimension, not be a table", DataConversionWarning, stacklevel=4)
        return as_column(y[names[0]], "y") if names else y[:, 0]
    return as_column(y, "y")


def public_classes(names: tuple[str, ...], labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The classes in the type that public labels have, in the order of the schema."""
    known = {text_of(value): value for value in np.unique(labels)}
    return np.array([known[name] for name in names], labels.dtype)


def public_schema(X: Any, y: Any, model: Any) -> Schema:
    """A schema read from public rows: bounds, categories and classes as they occur."""
    if y is None:
        raise BadInput(f"{type(model).__name__} requires y to be passed, but the target y is None")
    table = as_table(X, True, 0)
    kind = object if has_names(table) else None  # columns of a frame keep their types; pandas cannot join all of them
    array, y = check_X_y(table, y, dtype=kind, ensure_all_finite=False, estimator=model)
    check_classification_targets(y)
    names = named(table) or [f"x{i}" for i in range(array.shape[1])]
    label = next(name for name in ("label", *map("label{}".format, range(len(names) + 1))) if name not in names)
    columns = [_public_column(name, values) for name, values in columns_of(table, names).items()]
    classes = Categorical(name=label, values=tuple(map(text_of, np.unique(y))))
    return Schema(name="public rows", label=label, public=True, column=[*columns, classes])


def public_words(X: Any, y: Any, model: Any) -> Schema:
    """A schema read from public rows of words: a word for each column, and the most words that a row has."""
    if y is None:
        raise BadInput(f"{type(model).__name__} requires y to be passed, but the target y is None")
    table = X if issparse(X) else as_table(X, True, 0)
    matrix, y = check_X_y(table, y, accept_sparse="csr", dtype=None, ensure_all_finite=False, estimator=model)
    check_classification_targets(y)
    names = [] if issparse(X) else named(table)
    words = tuple(names or [f"x{i}" for i in range(matrix.shape[1])])
    lengths = np.diff(Text(name="words", words=words).encode(matrix).starts)
    text = Text(name="words", words=words, words_per_row=int(np.clip(lengths.max(initial=0), 1, 2**12)))
    classes = Categorical(name="label", values=tuple(map(text_of, np.unique(y))))
    return Schema(name="public rows", label="label", public=True, column=[text, classes])


def _public_column(name: str, values: Any) -> Categorical | Numeric:
    """A numeric column if every value but the missing ones is a number, else a categorical one."""
    x = in_blocks(values, numbers, np.float64)
    if _is_numeric(getattr(values, "dtype", None)) or np.isfinite(x).all():
        finite = x[np.isfinite(x)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        return Numeric(name=name, bounds=(low, high if high > low else low + max(1.0, abs(low))), scale="linear")
    texts = {text_of(value) for value in np.asarray(values, object) if value is not None and value == value}
    return Categorical(name=name, values=tuple(sorted(texts)))


def _is_numeric(dtype: Any) -> bool:
    return dtype.kind in "iuf" if isinstance(dtype, np.dtype) else isinstance(dtype, nw.dtypes.NumericType)
