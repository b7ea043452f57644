"""Rows from files, no value interpreted and none repeated in a message; and new files, whole or absent."""

import csv
import gzip
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .display import readable
from .errors import BadInput
from .schema import Schema

MOST = 2**31 - 1  # bytes that PyArrow takes in one block
OTHERS = ";\t|"  # what separates values in some files, but not here
NESTED = ("list", "large_list", "fixed_size_list", "struct", "map")  # how Arrow's names of types begin
TIMES = ("timestamp", "date", "time", "duration")
UNFIT = {"numeric": (*NESTED, *TIMES), "categorical": NESTED}


def read_rows(path: str | os.PathLike[str], *, every_line: bool = False) -> pa.Table:
    """The rows of a file as an Arrow table. Everything in a CSV is text, so "NA" or "?" can be a category.

    A line with too few or too many fields is left out, whatever the other lines are; with `every_line`, it is a row
    without values, so that rows and lines correspond. Empty lines are no rows.
    """
    names = list(column_types(path))
    try:
        table = pyarrow.parquet.read_table(path) if _is_parquet(path) else _read_csv(path, names, every_line)
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
    if len(types) == 1 and not _is_parquet(path) and any(letter in types[0][0] for letter in OTHERS):
        raise BadInput(f"{path} has one column and no comma in its header: values must be separated by commas")
    if len(dict(types)) < len(types):
        raise BadInput(f"{path} has two columns of the same name: rename one")
    return dict(types)


def check_types(types: Mapping[str, str], schema: Schema) -> None:
    """Complain about a column all of whose values would be missing, by the type that Arrow or Parquet declares."""
    for column in schema.column:
        kind = types.get(column.name, "")
        if kind.startswith(UNFIT.get(column.kind, ("-",))):
            raise BadInput(
                f"column {column.name!r} has the type {readable(kind)}, of which nothing can be read as {column.kind}: "
                "make numbers or text of it, or leave it out of the schema"
            )


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() in (".parquet", ".pq")


def _unreadable(path: str | os.PathLike[str]) -> BadInput:
    if os.path.isfile(path) and not os.path.getsize(path):
        return BadInput(f"{path} is an empty file: it needs a first line with the names of the columns")
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


def _read_csv(path: str | os.PathLike[str], names: list[str], every_line: bool) -> pa.Table:
    """All rows, parsed as one block: PyArrow loses or refuses cells that a boundary between blocks cuts in two."""
    with _open(path) as stream:
        text = _as_utf8(stream.read())
    with suppress(pa.ArrowInvalid):
        return _parse(text, names, every_line)
    return _parse(text + b"\n", names, every_line)  # a header without an end


def _as_utf8(text: bytes) -> bytes:
    """The text with U+FFFD for what is not UTF-8: of a line that it leaves out, PyArrow prints such bytes."""
    try:
        str(text, "utf-8")
        return text
    except UnicodeDecodeError:
        return str(text, "utf-8", "replace").encode()


def _parse(text: bytes, names: list[str], every_line: bool) -> pa.Table:
    odd: list[int] = []  # the numbers of lines that do not fit, from 1 for the header; threads would not know them

    def leave_out(line: Any) -> str:
        odd.append(line.number)
        return "skip"

    read = pyarrow.csv.ReadOptions(block_size=min(len(text), MOST), use_threads=not every_line)
    parse = pyarrow.csv.ParseOptions(invalid_row_handler=leave_out, newlines_in_values=True)
    convert = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False)
    table = pyarrow.csv.read_csv(pa.py_buffer(text), read, parse, convert)
    return _with_gaps(table, [number - 2 for number in odd]) if every_line else table


def _with_gaps(table: pa.Table, places: list[int]) -> pa.Table:
    """The table with a row of nulls at each of these places."""
    there = np.ones(table.num_rows + len(places), bool)
    there[places] = False
    return table.take(pa.array(np.cumsum(there) - 1, mask=~there))


@contextmanager
def new_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A draft beside the path, which takes its place at the end; whatever goes wrong, no half file remains.

    An existing file is replaced only by `force`. Whether the folder can be written shows before the body runs.
    """
    path = Path(path)
    if path.exists() and not force:
        raise _existing(path)
    try:  # under a name that nobody can guess: in a shared folder, others could have put a link there
        if path.is_dir():
            raise IsADirectoryError
        number, name = mkstemp(prefix=f".{path.name[:50]}.", suffix=".draft", dir=path.parent)
        os.fchmod(number, 0o666 & ~_mask())
        os.close(number)
    except OSError:
        raise _unwritable(path) from None
    try:
        yield Path(name)
        _put(Path(name), path, force)
    finally:
        with suppress(OSError):
            os.unlink(name)


def _put(draft: Path, path: Path, force: bool) -> None:
    """Give the draft its name; without force, only if nothing has taken that name by now."""
    try:
        if not force:
            with suppress(OSError):  # not every file system has links; then the first look must do
                os.link(draft, path)
                return
            if path.exists():
                raise _existing(path)
        os.replace(draft, path)
    except OSError:
        raise _unwritable(path) from None


def _mask() -> int:
    """What the user's umask takes from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _existing(path: Path) -> BadInput:
    return BadInput(f"{path} exists already: choose another path, or replace it with --force (in Python, force=True)")


def _unwritable(path: Path) -> BadInput:
    return BadInput(f"{path} cannot be written: check the folder, its permissions and the disk")
