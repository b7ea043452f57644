"""Public data for comparisons: a name or a file becomes a clean data frame with its schema, and a seed splits it."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import datasets
from ..errors import BadInput
from ..files.tables import read_rows
from ..schema import Categorical, Numeric, Schema, Text
from ..schema.encoding import Codes, columns_of, in_blocks

FILES = (".csv", ".csv.gz", ".parquet", ".pq")
TEST_SHARE = 0.3
PRIVATE = (
    "a comparison shows exact scores of the rows and charges nobody. Of private rows, have noisy ones with "
    "`veil train --test-share` or `veil evaluate`; if they are no secret at all, say so in the schema"
)
FOLDS = 10
KNOWN: set[str] = set()  # tables that are public by their name, for whoever adds them


@dataclass(frozen=True, eq=False)
class Data:
    """A table with a label: a pandas frame of what its schema declares, numbers as numbers, categories as text."""

    name: str
    schema: Schema
    frame: Any


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows and test rows; `truth` is the class code of each test row."""

    schema: Schema
    train: Any
    labels: Any
    test: Any
    truth: Codes


def load(name: str, *, published: bool = False) -> Data:
    """The data set of this name: embedded, in the folder of real data, or a path with its schema beside it.

    Comparisons show exact scores, so rows of which Veil does not know that they are public need a schema that says so;
    with `published`, the caller knows it by their name.
    """
    rows, schema = public_rows(name, published=published)
    if schema.label is None or not schema.features:
        raise BadInput(f"data {name!r} cannot be compared on: its schema needs a label and columns to predict it from")
    if schema.person is not None:
        raise BadInput(f"data {name!r} cannot be compared on: rows of one person would be on both sides of a split")
    return Data(name, schema, _clean(rows, schema))


def public_rows(name: str, *, published: bool = False) -> tuple[Any, Schema]:
    """The rows of this name as they are, and their schema; see `load`."""
    return datasets.load(name) if name in datasets.NAMES else _read(name, published or name in KNOWN)


def split(data: Data, seed: int) -> Split:
    """A random 30 % of every class for testing, the rest for training."""
    codes = _labels(data)
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    classes = [shuffled[codes[shuffled] == code] for code in range(len(data.schema.classes))]
    return _apart(data, codes, np.concatenate([rows[: round(TEST_SHARE * len(rows))] for rows in classes]))


def shortened(parts: Split, rows: int | None, seed: int) -> Split:
    """The split with so many of its training rows, drawn at random; as it is, if there are no more or None is given."""
    if rows is None or rows >= len(parts.train):
        return parts
    kept = np.sort(np.random.default_rng([seed, rows]).permutation(len(parts.train))[:rows])
    train, labels = (some.iloc[kept].reset_index(drop=True) for some in (parts.train, parts.labels))
    return replace(parts, train=train, labels=labels)


def fold(data: Data, number: int) -> Split:
    """One of ten folds for testing, the rest for training: a tenth of every class, assigned in random order."""
    codes = _labels(data)
    shuffled = np.random.default_rng(0).permutation(len(codes))
    by_class = shuffled[codes[shuffled].argsort(kind="stable")]
    return _apart(data, codes, by_class[number::FOLDS])


def _labels(data: Data) -> Codes:
    label = data.schema.get(str(data.schema.label))
    assert not isinstance(label, Text)  # which no schema takes for a label
    codes: Codes = label.encode(data.frame[label.name])
    return codes


def _apart(data: Data, codes: Codes, rows: npt.NDArray[Any]) -> Split:
    """A split with these rows for testing and all others for training."""
    held_out = np.zeros(len(codes), bool)
    held_out[rows] = True
    train, test = (data.frame[mask].reset_index(drop=True) for mask in (~held_out, held_out))
    labels = train.pop(data.schema.label)
    return Split(data.schema, train, labels, test.drop(columns=data.schema.label), codes[held_out])


def _read(name: str, published: bool) -> tuple[Any, Schema]:
    """Rows and schema; a public table that Veil knows is read with its own taxonomies."""
    path = _path(name)
    if name in datasets.PUBLIC:
        return read_rows(path), datasets.public_schema(name)
    stem = path.name[: -len(next(end for end in FILES if path.name.lower().endswith(end)))]
    beside = [path.with_name(f"{stem}{end}") for end in (".schema.toml", ".toml")]
    for found in beside:
        if found.exists():
            schema = Schema.read(found)
            if not (schema.public or published):
                raise BadInput(f"{found.name} does not say `public = true`: {PRIVATE}")
            return read_rows(path), schema
    raise BadInput(f"there is no schema beside {path}: write it to {beside[0].name}")


def _path(name: str) -> Path:
    """The file that a name stands for."""
    folder = os.environ.get("VEIL_DATA") or "../shared/data"
    for path in (Path(name), Path(folder, f"{name}.csv.gz")):
        if path.is_file() and path.name.lower().endswith(FILES):
            return path
    known = ", ".join(datasets.NAMES)
    raise BadInput(f"there is no data {name!r}: choose one of {known}, a file, or a name in the folder VEIL_DATA")


def _clean(rows: Any, schema: Schema) -> Any:
    """A pandas frame of the rows whose label is declared, with typed columns."""
    try:
        import pandas as pd
    except ImportError:
        raise BadInput("comparisons need pandas: pip install 'veil[demo]'") from None
    label = schema.get(str(schema.label))
    columns = columns_of(rows, [column.name for column in (*schema.features, label)])
    frame = pd.DataFrame({column.name: _values(column, columns[column.name]) for column in (*schema.features, label)})
    return frame[frame[label.name].isin(schema.classes)].reset_index(drop=True)


def _values(column: Any, values: Any) -> npt.NDArray[Any]:
    """A column's values: declared names of categories, or numbers clipped to the bounds; NaN if missing."""
    if isinstance(column, Categorical):
        return np.asarray(np.take(np.array(column.names), column.encode(values)))
    assert isinstance(column, Numeric)
    known = in_blocks(values, column.read, np.float64).clip(*column.bounds)
    return known if column.missing is None else np.where(np.isnan(known), column.missing, known)
