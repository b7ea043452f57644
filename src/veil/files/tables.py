"""Reading rows from files without interpreting or quoting a value; writing rows; new files, whole or not at all."""

import errno
import gzip
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import pyarrow as pa
import pyarrow.csv

from ..display import readable
from ..errors import BadInput, VeilError
from ..progress import advance
from ..schema import Schema
from ..schema.encoding import is_text, text_or_none
from ..schema.streams import Stream
from .lines import check_encoding, read_header, read_tables
from .parquet import parquet_tables, parquet_types

FOREIGN = ".xlsx .xls .ods .json .jsonl .pkl .pickle .feather .arrow .orc .sas7bdat .dta .sav .rds .db .zip".split()
OURS = {".toml": "schema", ".veil": "published file", ".ledger": "ledger", ".html": "page"}
OTHERS = ";\t|"  # separators of other files, which are not read here
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NESTED = ("list", "large_list", "fixed_size_list", "struct", "map")  # how Arrow's names of types begin
DATES = ("timestamp", "date")
TIMES = (*DATES, "time", "duration", "interval")
FORMULA = re.compile(r"^(?=[\t\r\n])|(?:^|(?<=[,;|\t\r\n]))(?=[\s\"']*[=+\-@＝＋－＠])")  # before what may start one
CELLS = pyarrow.csv.WriteOptions(quoting_style="needed")
NUMBER = re.compile(r"[+-]?\d*\.?\d+(?:[eE][+-]?\d+)?", re.ASCII)
UNFIT = {"numeric": (*NESTED, *TIMES), "categorical": NESTED, "date": (*NESTED, "duration", "bool")}


@dataclass(frozen=True)
class RowFile:
    """A file of rows and how it is written: the encoding of a CSV, and whether its values may hold line ends."""

    path: str | os.PathLike[str]
    encoding: str = "utf-8"
    multiline: bool = False

    def types(self) -> dict[str, str]:
        """The names of the columns, and for Parquet their declared types; no row is read."""
        if Path(self.path).suffix.lower() in FOREIGN and os.path.isfile(self.path):
            raise BadInput(
                f"{self.path} is neither a CSV nor a Parquet file: save it as one (from pandas, by `to_parquet`), or "
                "hand a data frame over in Python"
            )
        if Path(self.path).suffix.lower() in OURS and os.path.isfile(self.path):
            raise BadInput(
                f"{self.path} holds no rows, as a {OURS[Path(self.path).suffix.lower()]}: name the file of rows"
            )
        encoding = check_encoding(self.encoding)
        with _complaints(self.path):
            types = parquet_types(self.path) if _is_parquet(self.path) else self._header(encoding)
        return _checked_names(self.path, types)

    def read(self, columns: Collection[str] | None = None, *, every_line: bool = False) -> pa.Table:
        """The rows in memory, see `read_rows`; of these columns alone, if any are named."""
        names = [name for name in self.types() if columns is None or name in columns]
        with _complaints(self.path):
            return pa.concat_tables(_alike([*self._pieces(names, every_line)]))

    def stream(self, *, every_line: bool = False) -> Stream:
        """The rows in batches, of the columns that are asked for: they need not all be in memory. See `read_rows`."""
        return Stream(self.types(), partial(self._watched, every_line))

    def _watched(self, every_line: bool, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """The rows in batches, as columns by name: to take those of a frame one by one is slower. Raises if the file
        changes meanwhile."""
        before = _stamps(self.path)
        with _complaints(self.path):
            yield from (
                dict(zip(names, table.columns, strict=True)) for table in self._pieces(names, every_line, coded=True)
            )
        if _stamps(self.path) != before:
            raise BadInput(f"{self.path} was changed while it was read: wait until it is whole, then ask again")

    def _pieces(self, names: Sequence[str], every_line: bool = False, coded: bool = False) -> Iterator[pa.Table]:
        """The rows as tables of these columns; the first may be empty."""
        if _is_parquet(self.path):
            yield from parquet_tables(self.path, names, coded)
            return
        every = [*self.types()]
        with _open(self.path) as stream:
            for table in read_tables(stream, every, check_encoding(self.encoding), self.multiline, every_line):
                yield table.select([*names])

    def _header(self, encoding: str) -> list[tuple[str, str]]:
        with _open(self.path) as stream:
            names = read_header(stream, encoding, self.multiline)
        if names is None:
            raise BadInput(
                f"the first line of {self.path} is not {encoding}: save the file as UTF-8, or say what it is, such as "
                '--encoding latin-1 (in Python, encoding="latin-1")'
            )
        return [(name, "") for name in names]


def read_rows(path: str | os.PathLike[str], *, every_line: bool = False) -> pa.Table:
    """The rows of a file as an Arrow table. Everything in a CSV is text, so "NA" or "?" can be a category.

    A line that is no row (see `lines`) is left out, whatever the other lines are; with `every_line`, it is a row
    without values, so that rows and lines correspond. Empty lines are no rows.
    """
    return RowFile(path).read(every_line=every_line)


def read_csv(path: str | os.PathLike[str], *, encoding: str = "utf-8", multiline: bool = False) -> pa.Table:
    """The rows of a CSV, gzipped or not, as an Arrow table of texts, so that no value decides what a column is.

    A line with too few or too many values, or with a quotation mark that is never closed, is left out and changes no
    other. With `multiline`, values between quotation marks may hold line ends; then such a mark can swallow the lines
    after it. What is not of the encoding stays as `\\xfc`. Of a Parquet file, the columns have their declared types.
    """
    table = RowFile(path, encoding, multiline).read()
    return table if _is_parquet(path) else pa.table([_as_text(column) for column in table.columns], table.column_names)


def _alike(tables: list[pa.Table]) -> list[pa.Table]:
    """The tables with one schema: a column whose type differs between the files of a folder is text in all of them.

    One missing value can be all that made floats of whole numbers, and must not decide whether a folder can be read, or
    what a value says: each is written as encoding writes it, so that value and text have the same code, and are the
    same person. Arrow would write a large float, or a moment, in another way.
    """
    for place, name in enumerate(tables[0].column_names):
        if len({table[name].type for table in tables}) > 1:
            tables = [table.set_column(place, name, _written(table[name])) for table in tables]
    return tables


def _written(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if is_text(column.type):
        return _as_text(column)
    return pa.chunked_array([pa.array(map(text_or_none, column), pa.string())])  # one by one: none may fail for others


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([_text_of(chunk) for chunk in column.chunks], pa.string())


def _text_of(cells: pa.Array) -> pa.Array:
    with suppress(pa.ArrowInvalid):
        return cells.cast(pa.string())
    return pa.array([str(value, "utf-8", "backslashreplace") for value in cells.to_pylist()], pa.string())


def column_types(path: str | os.PathLike[str]) -> dict[str, str]:
    """The names of the columns, and for Parquet their declared types; no row is read."""
    return RowFile(path).types()


@contextmanager
def _complaints(path: str | os.PathLike[str]) -> Iterator[None]:
    """Replace any error inside by one of our own sentences: readers quote values in theirs."""
    try:
        yield
    except BadInput:
        raise
    except MemoryError:
        raise BadInput(f"not enough memory to read {path}: use fewer columns or rows, or a larger machine") from None
    except Exception:
        raise _unreadable(path) from None


def _with_commas(path: str | os.PathLike[str], mark: str) -> str:
    """How to save a file anew whose values are separated by another mark."""
    decimal = ", decimal=','" * (mark == ";")  # as where numbers are written 1,5
    read = f"pandas.read_csv({os.fspath(path)!r}, sep={mark!r}{decimal})"
    return f"values must be separated by commas; to save it so: {read}.to_csv('commas.csv', index=False)"


def _checked_names(path: str | os.PathLike[str], types: list[tuple[str, str]]) -> dict[str, str]:
    if not types:
        raise _unreadable(path)
    if len(types) == 1 and not _is_parquet(path) and any(letter in types[0][0] for letter in OTHERS):
        mark = next(letter for letter in OTHERS if letter in types[0][0])
        raise BadInput(f"{path} has one column and no comma in its header: {_with_commas(path, mark)}")
    if len(dict(types)) < len(types):
        raise BadInput(f"{path} has two columns of the same name: rename one")
    return dict(types)


def check_types(types: Mapping[str, str], schema: Schema) -> None:
    """Raise if a column's declared Arrow or Parquet type means that all its values would be missing."""
    for column in schema.column:
        kind = types.get(column.name, "")
        if kind.startswith(UNFIT.get(column.kind, ("-",))):
            instead = 'declare it with kind = "date"' if kind.startswith(DATES) else "make numbers or text of it"
            raise BadInput(
                f"column {column.name!r} has the type {readable(kind)}, of which nothing can be read as {column.kind}: "
                f"{instead}, or leave it out of the schema"
            )


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether it is read as Parquet: by its name, and every folder, which can hold nothing else."""
    return Path(path).suffix.lower() in (".parquet", ".pq") or os.path.isdir(path)


def _unreadable(path: str | os.PathLike[str]) -> BadInput:
    """An error about a file; whether it exists, or is empty, is no secret."""
    with suppress(OSError, ValueError):
        if os.path.isfile(path) and not os.path.getsize(path):
            return BadInput(f"{path} is empty: its first line must name the columns")
        if not os.path.lexists(path):
            return BadInput(f"{path} cannot be read: there is no such file, check the path")
    if os.path.isdir(path):
        return BadInput(f"{path} cannot be read: a folder may hold Parquet files alone, all with the same columns")
    return BadInput(f"{path} cannot be read: check that it is a CSV, a gzipped CSV or a Parquet file, and is whole")


def _stamps(path: str | os.PathLike[str]) -> list[tuple[int, ...]]:
    """The identity, size and time of the file, or of the files in a folder."""
    files = [path, *sorted(Path(path).rglob("*"))] if os.path.isdir(path) else [path]
    return [(found.st_ino, found.st_size, found.st_mtime_ns) for found in map(os.stat, files)]


@contextmanager
def _open(path: str | os.PathLike[str]) -> Iterator[Any]:
    with open(path, "rb") as file:
        yield _Watched(file, gzip.open(file) if Path(path).suffix.lower() == ".gz" else file)


class _Watched:
    """An unpacked file stream that reports which share of its bytes was read, and nothing about rows."""

    def __init__(self, file: Any, unpacked: Any) -> None:
        self.file, self.unpacked, self.size = file, unpacked, os.fstat(file.fileno()).st_size

    def read(self, size: int) -> bytes:
        block: bytes = self.unpacked.read(size)
        advance("reading the file", self.file.tell(), self.size)
        return block


def check_table_path(path: Path) -> None:
    """Refuse a file of rows that is neither CSV nor Parquet by its name."""
    if not path.name.lower().endswith((".csv", ".csv.gz", ".parquet", ".pq")):
        raise BadInput(f"{path} must end in .csv, .csv.gz or .parquet")


def write_table(draft: Path, table: pa.Table, place: Path) -> None:
    """Write rows as CSV, gzipped CSV or Parquet, by the name of the place they are for."""
    write_tables(draft, [table], place)


def write_tables(draft: Path, tables: Iterable[pa.Table], place: Path) -> None:
    """Write rows that come in tables, one or more, of the same columns. In a CSV, a spreadsheet takes no text for a
    formula."""
    suffix = place.suffix.lower()
    if suffix in (".csv", ".gz"):
        with pa.output_stream(draft, compression="gzip" if suffix == ".gz" else None) as stream:
            opened = partial(pyarrow.csv.CSVWriter, stream, write_options=CELLS)
            _write_all(map(_harmless, tables), opened)
    else:
        from pyarrow import parquet

        _write_all(tables, partial(parquet.ParquetWriter, draft))


def _write_all(tables: Iterable[pa.Table], opened: Callable[[pa.Schema], Any]) -> None:
    rest = iter(tables)
    with opened((first := next(rest)).schema) as writer:
        for table in chain([first], rest):
            writer.write_table(table)


def _harmless(table: pa.Table) -> pa.Table:
    return pa.table([_harmless_column(column) for column in table.columns], [*map(harmless, table.column_names)])


def _harmless_column(column: pa.ChunkedArray) -> Any:
    if not pa.types.is_string(column.type):
        return column
    coded = column.combine_chunks().dictionary_encode()
    names = [harmless(name) for name in coded.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(coded.indices)


def harmless(name: str) -> str:
    """Text such that no spreadsheet takes it, or a part of it, for a formula; numbers stay as they are.

    The rule of OWASP ("CSV injection"): an apostrophe before =, +, -, @, their full-width forms, a tab or a line end at
    the start of a cell, blanks and quotation marks aside. Where semicolons or tabs separate cells, each part is one.
    """
    return name if NUMBER.fullmatch(name) else FORMULA.sub("'", name)


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
        with writing(path):
            _flush(name)
        _put(Path(name), path, force)
    finally:
        with suppress(OSError):
            os.unlink(name)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in the error if it cannot be written."""
    try:
        yield
    except OSError as problem:
        why = "the disk is full" if problem.errno in FULL else "check the disk and the folder"
        raise VeilError(f"{path} was not saved: {why}") from None


def check_space(needed: Mapping[Path, int]) -> None:
    """Raise if the disks of these files have too little space for so many bytes."""
    disks: dict[int, list[tuple[Path, int, int]]] = {}
    for path, size in needed.items():
        with suppress(OSError):  # whether the folder can be written at all shows elsewhere
            folder = path.resolve().parent
            disks.setdefault(folder.stat().st_dev, []).append((path, size, shutil.disk_usage(folder).free))
    for files in disks.values():
        if sum(size for _, size, _ in files) > min(free for *_, free in files):
            names = ", ".join(str(path) for path, *_ in files)
            raise BadInput(f"the disk has too little space for {names}: make room there, or choose another folder")


def _flush(name: str) -> None:
    """Flush a file to the disk, which may be full."""
    number = os.open(name, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _put(draft: Path, path: Path, force: bool) -> None:
    """Rename the draft to its final name; without `force`, only if nothing has that name by now."""
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
    """The user's umask, for the permissions of new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _existing(path: Path) -> BadInput:
    return BadInput(f"{path} exists already: choose another path, or replace it with --force (in Python, force=True)")


def _unwritable(path: Path) -> BadInput:
    return BadInput(f"{path} cannot be written: check the folder, its permissions and the disk")
