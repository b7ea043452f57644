"""What may come into `fit` and `predict`: frames, arrays and lists, with the label apart or among the columns."""

import warnings
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y, column_or_1d

from ..columns import Categorical, Numeric
from ..encoding import as_column, columns_of, in_blocks, numbers, text_of
from ..errors import BadInput
from ..schema import Schema


def training_columns(X: Any, y: Any, schema: Schema) -> dict[str, Any]:
    """The columns of the schema by name, the label among them: it is y, or a column of X if y is None."""
    if schema.label is None:
        raise BadInput("a classifier needs a label: name the column to predict in the schema")
    table = as_table(X)
    if y is not None:
        return {**columns_of(table, inputs(schema, table)), schema.label: label_column(y, schema.public)}
    everything = [column.name for column in schema.column]
    if schema.label not in named(table) and np.shape(table)[1:] != (len(everything),):
        raise BadInput(f"the fit requires y to be passed, but the target y is None and X has no {schema.label!r}")
    return columns_of(table, [*inputs(schema, table), schema.label] if named(table) else everything)


def feature_columns(X: Any, schema: Schema, model: str) -> dict[str, Any]:
    """The columns to predict from: of a frame by name, of an array in the order of the schema."""
    table = as_table(X)
    names = inputs(schema, table, person=False)
    if not named(table) and table.shape[1] != len(names):
        raise BadInput(f"X has {table.shape[1]} features, but {model} is expecting {len(names)} features as input")
    return columns_of(table, names)


def inputs(schema: Schema, table: Any, person: bool = True) -> list[str]:
    """The names of the columns that a table must have beside the label; an array has all of them, in order."""
    if not named(table):
        return [column.name for column in schema.column if column.name != schema.label]
    names = [column.name for column in schema.features]
    return [*names, schema.person] if person and schema.person else names


def named(table: Any) -> list[str]:
    """The names of the columns, none for a plain array."""
    if isinstance(table, np.ndarray):
        return list(table.dtype.names or ())
    return list(table if isinstance(table, Mapping) else getattr(table, "column_names", None) or table.columns)


def as_table(X: Any) -> Any:
    """A frame or mapping as it is; all else as an array of two dimensions, lists without a common type."""
    if isinstance(X, Mapping) or hasattr(X, "column_names"):
        return X
    if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
        return X
    if issparse(X):
        raise BadInput("sparse data was passed, but dense data is required: use X.toarray()")
    array = _from_lists(X) if isinstance(X, (list, tuple)) else np.asanyarray(X)
    if array.dtype.kind == "c":
        raise BadInput("Complex data not supported: give real numbers or categories")
    if array.ndim != 2 and array.dtype.names is None:
        raise BadInput(f"X must have two dimensions, not {array.ndim}. Reshape your data: one row for each record")
    return array


def _from_lists(X: Any) -> npt.NDArray[Any]:
    """Lists of values as a table of objects: no value is taken for a list of its own or changes the type of others."""
    try:
        columns = [np.fromiter(column, object, len(X)) for column in zip(*X, strict=True)]
    except (TypeError, ValueError):
        raise BadInput("X must be rows of equal length. Reshape your data: one list for each record") from None
    return np.stack(columns, axis=1) if columns else np.empty((0, 0), object)


def label_column(y: Any, public: bool) -> Any:
    """The labels as one column; a table of one column is taken with a warning, as scikit-learn does.

    Only if they are no secret does a list get the type that all its values have in common.
    """
    if public:
        return column_or_1d(y, warn=True)
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("y should have one dimension: use y.ravel()", DataConversionWarning, stacklevel=4)
        return y[:, 0]
    return as_column(y, "y")


def classes_like(names: tuple[str, ...], labels: Any) -> npt.NDArray[Any]:
    """The declared classes, as numbers or truth values if the labels have such a type."""
    read = _reader(labels.dtype) if hasattr(labels, "dtype") else str
    try:
        return np.array([read(name) for name in names])
    except (KeyError, ValueError):
        return np.array(names)


def _reader(dtype: Any) -> Any:
    kinds = {"i": int, "u": int, "f": float, "b": {"True": True, "False": False}.__getitem__}
    if isinstance(dtype, np.dtype):
        return kinds.get(dtype.kind, str)
    if isinstance(dtype, nw.dtypes.DType):
        return int if dtype.is_integer() else float if dtype.is_float() else kinds["b"] if dtype == nw.Boolean else str
    return str


def public_schema(X: Any, y: Any, model: Any) -> Schema:
    """The schema of rows that are no secret, read from them: bounds, categories and classes as they occur."""
    if y is None:
        raise BadInput(f"{type(model).__name__} requires y to be passed, but the target y is None")
    table = as_table(X)
    array, y = check_X_y(table, y, dtype=None, ensure_all_finite=False, estimator=model)
    check_classification_targets(y)
    names = named(table) or [f"x{i}" for i in range(array.shape[1])]
    label = next(name for name in ("label", *map("label{}".format, range(len(names) + 1))) if name not in names)
    columns = [_public_column(name, values) for name, values in columns_of(table, names).items()]
    classes = Categorical(name=label, values=tuple(map(text_of, np.unique(y))))
    return Schema(name="public rows", label=label, public=True, column=[*columns, classes])


def _public_column(name: str, values: Any) -> Categorical | Numeric:
    """A numeric column if every value but the missing ones is a number, else a categorical one."""
    x = in_blocks(values, numbers, np.float64)
    if _is_numeric(values) or np.isfinite(x).all():
        finite = x[np.isfinite(x)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        return Numeric(name=name, bounds=(low, high if high > low else low + max(1.0, abs(low))), scale="linear")
    texts = {text_of(value) for value in values if value is not None and value == value}
    return Categorical(name=name, values=tuple(sorted(texts)))


def _is_numeric(values: Any) -> bool:
    dtype = values.dtype
    return dtype.kind in "iuf" if isinstance(dtype, np.dtype) else dtype.is_numeric()
