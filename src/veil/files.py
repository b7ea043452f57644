"""Rows from files: CSV, gzipped CSV and Parquet. No value is interpreted, and no message repeats one."""

import gzip
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .errors import BadInput


def read_rows(path: str | os.PathLike[str]) -> pa.Table:
    """The rows of a file as an Arrow table. Everything in a CSV is text, so "NA" or "?" can be a category.

    A line with too few or too many fields is left out, whatever the other lines are.
    """
    try:
        return pyarrow.parquet.read_table(path) if _is_parquet(path) else _read_csv(path)
    except (OSError, pa.ArrowException, EOFError):
        raise _unreadable(path) from None  # readers quote values in their complaints


def column_types(path: str | os.PathLike[str]) -> dict[str, str]:
    """The names of the columns, and for Parquet their declared types; no row is read."""
    try:
        if _is_parquet(path):
            schema = pyarrow.parquet.read_schema(path)
            return {name: str(kind) for name, kind in zip(schema.names, schema.types, strict=True)}
        return dict.fromkeys(_header(path), "")
    except (OSError, pa.ArrowException, EOFError, StopIteration):
        raise _unreadable(path) from None


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() in (".parquet", ".pq")


def _unreadable(path: str | os.PathLike[str]) -> BadInput:
    return BadInput(f"{path} cannot be read: check the path, and that it is a CSV, a gzipped CSV or a Parquet file")


def _open(path: str | os.PathLike[str]) -> Any:
    return gzip.open(path, "rb") if Path(path).suffix.lower() == ".gz" else open(path, "rb")


def _header(path: str | os.PathLike[str]) -> list[str]:
    with _open(path) as stream:
        line = next(iter(stream))
    names = pyarrow.csv.read_csv(pa.py_buffer(line)).column_names
    if len(set(names)) < len(names):
        raise BadInput(f"{path} has two columns of the same name: rename one")
    return list(names)


def _read_csv(path: str | os.PathLike[str]) -> pa.Table:
    names = _header(path)
    options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False)
    parse = pyarrow.csv.ParseOptions(invalid_row_handler=lambda row: "skip", newlines_in_values=True)
    with _open(path) as stream:
        return pyarrow.csv.read_csv(stream, parse_options=parse, convert_options=options)
