"""Rows from files, no value interpreted and none repeated in a message; and new files, whole or absent."""

import csv
import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .errors import BadInput

MOST = 2**31 - 1  # bytes that PyArrow takes in one block


def read_rows(path: str | os.PathLike[str]) -> pa.Table:
    """The rows of a file as an Arrow table. Everything in a CSV is text, so "NA" or "?" can be a category.

    A line with too few or too many fields is left out, whatever the other lines are.
    """
    names = list(column_types(path))
    try:
        table = pyarrow.parquet.read_table(path) if _is_parquet(path) else _read_csv(path, names)
    except Exception:  # readers quote values in their complaints
        table = None
    if table is None or table.column_names != names:
        raise _unreadable(path)
    return table


def column_types(path: str | os.PathLike[str]) -> dict[str, str]:
    """The names of the columns, and for Parquet their declared types; no row is read."""
    try:
        types = _declared(path) if _is_parquet(path) else [(name, "") for name in _header(path)]
    except Exception:
        types = []
    if not types:
        raise _unreadable(path)
    if len(dict(types)) < len(types):
        raise BadInput(f"{path} has two columns of the same name: rename one")
    return dict(types)


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() in (".parquet", ".pq")


def _unreadable(path: str | os.PathLike[str]) -> BadInput:
    return BadInput(f"{path} cannot be read: check the path, and that it is a CSV, a gzipped CSV or a Parquet file")


def _declared(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    schema = pyarrow.parquet.ParquetDataset(path).schema
    return [(name, str(kind)) for name, kind in zip(schema.names, schema.types, strict=True)]


def _open(path: str | os.PathLike[str]) -> Any:
    return gzip.open(path, "rb") if Path(path).suffix.lower() == ".gz" else open(path, "rb")


def _header(path: str | os.PathLike[str]) -> list[str]:
    """The names in the first line that is not empty."""
    with _open(path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
        names = next(filter(None, csv.reader(text)))
    for name in names:
        name.encode()  # raises if it is not UTF-8
    return names


def _read_csv(path: str | os.PathLike[str], names: list[str]) -> pa.Table:
    """All rows, parsed as one block: PyArrow loses or refuses cells that a boundary between blocks cuts in two."""
    with _open(path) as stream:
        text = _as_utf8(stream.read())
    with suppress(pa.ArrowInvalid):
        return _parse(text, names)
    return _parse(text + b"\n", names)  # a header without an end


def _as_utf8(text: bytes) -> bytes:
    """The text with U+FFFD for what is not UTF-8: of a line that it leaves out, PyArrow prints such bytes."""
    try:
        str(text, "utf-8")
        return text
    except UnicodeDecodeError:
        return str(text, "utf-8", "replace").encode()


def _parse(text: bytes, names: list[str]) -> pa.Table:
    read = pyarrow.csv.ReadOptions(block_size=min(len(text), MOST))
    parse = pyarrow.csv.ParseOptions(invalid_row_handler=lambda row: "skip", newlines_in_values=True)
    convert = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False)
    return pyarrow.csv.read_csv(pa.py_buffer(text), read, parse, convert)


@contextmanager
def new_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A draft beside the path, which takes its place at the end; whatever goes wrong, no half file remains.

    An existing file is replaced only by `force`. Whether the folder can be written shows before the body runs.
    """
    path = Path(path)
    draft = path.parent / f".{path.name}.{os.getpid()}.draft"
    try:
        if path.exists() and not force:
            raise BadInput(f"{path} exists already: choose another path or add --force (force=True)")
        draft.touch()
        yield draft
        os.replace(draft, path)
    except OSError:
        raise BadInput(f"{path} cannot be written: check the folder, its permissions and the disk") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
