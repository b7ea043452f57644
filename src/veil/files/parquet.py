"""Rows of a Parquet file, or of a folder of them, a batch after the other; no column is read that is not asked for."""

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from ..progress import advance
from ..schema.streams import ROWS

PAGE = 1 << 16  # bytes of a column that are read at a time: without this, Arrow reads those of a whole row group
NULL = "__HIVE_DEFAULT_PARTITION__"  # how the name of a folder says that there is no value


class Piece(NamedTuple):
    """A row group: its file, what its folders' names say of its rows, its number, the size and time of the file, and
    how many rows it has."""

    file: str
    keys: dict[str, str | None]
    group: int
    stamp: tuple[int, int]
    rows: int


def parquet_tables(path: str | os.PathLike[str], names: Sequence[str], coded: bool = False) -> Iterator[pa.Table]:
    """The rows as tables of these columns, the first without rows; texts come as dictionaries if they are `coded`,
    which is faster. Names of folders, such as year=2020, are columns too."""
    schema, files = _found(path)
    texts = [name for name in names if pa.types.is_string(schema.field(name).type)] if coded else []
    yield schema.empty_table().select([*names])
    for done, (file, keys) in enumerate(files):
        for share, table in _batches(file, [name for name in names if name not in keys], texts):
            advance("reading the file", int(1000 * (done + share)), 1000 * len(files))
            yield _with_keys(table, {name: keys[name] for name in names if name in keys}).select([*names])


def row_groups(path: str | os.PathLike[str]) -> list[Piece]:
    """All row groups in the order of the rows, so that others can open them one by one."""
    from pyarrow import parquet

    _, files = _found(path)
    found = [(file, keys, parquet.read_metadata(file)) for file, keys in files]
    return [
        Piece(file, keys, group, _stamp(file), about.row_group(group).num_rows)
        for file, keys, about in found
        for group in range(about.num_row_groups)
    ]


def text_columns(path: str | os.PathLike[str]) -> list[str]:
    """The names of the columns of texts."""
    return [name for name, kind in parquet_types(path) if kind == "string"]


def group_tables(
    pieces: Sequence[Piece], texts: Collection[str], names: Sequence[str], number: int
) -> Iterator[pa.Table]:
    """The rows of one row group as tables of these columns. Raises if its file is not as it was."""
    piece = pieces[number]
    if _stamp(piece.file) != piece.stamp:
        raise OSError("changed")
    inside = [name for name in names if name not in piece.keys]
    with _opened(piece.file, inside, texts) as opened:
        for batch in opened.iter_batches(ROWS, row_groups=[piece.group], columns=inside):
            table = _with_keys(pa.Table.from_batches([batch]), {n: piece.keys[n] for n in names if n in piece.keys})
            yield table.select([*names])


def parquet_types(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """The names and the declared types of all columns; no row is read."""
    schema, _ = _found(path)
    return [(name, str(kind)) for name, kind in zip(schema.names, schema.types, strict=True)]


def _found(path: str | os.PathLike[str]) -> tuple[pa.Schema, list[tuple[str, dict[str, str | None]]]]:
    """The columns, and every file with what its folders' names say of its rows."""
    from pyarrow import dataset, parquet  # slow to load

    if not os.path.isdir(path):
        return parquet.read_schema(path), [(os.fspath(path), {})]
    data = dataset.dataset(path, format="parquet")
    files = [(file, _keys(os.path.relpath(file, path))) for file in data.files]
    names = sorted({name for _, keys in files for name in keys})
    fields = [field for field in data.schema if field.name not in names]
    keyed = [(file, {**dict.fromkeys(names), **keys}) for file, keys in files]
    return pa.schema([*fields, *(pa.field(name, pa.string()) for name in names)]), keyed


def _keys(file: str) -> dict[str, str | None]:
    """What the names of a file's folders say, as text, whatever other folders there are: a type that is found from all
    names together would change with one of them."""
    pairs = [map(unquote, part.split("=", 1)) for part in Path(file).parts[:-1] if "=" in part]
    return {name: None if value == NULL else value for name, value in pairs}


def _batches(file: str, names: list[str], texts: list[str]) -> Iterator[tuple[float, pa.Table]]:
    """The rows of a file as tables of these columns, each with the share of the row groups before it. Arrow's own
    threads would each keep memory that another has given back."""
    with _opened(file, names, texts) as opened:
        for group in range(opened.num_row_groups):
            for batch in opened.iter_batches(ROWS, row_groups=[group], columns=names, use_threads=False):
                yield group / opened.num_row_groups, pa.Table.from_batches([batch])


def _opened(file: str, names: list[str], texts: Collection[str]) -> Any:
    """The open file, in which those of these columns that are texts come as dictionaries."""
    from pyarrow import parquet

    return parquet.ParquetFile(file, read_dictionary=[name for name in names if name in texts], buffer_size=PAGE)


def _stamp(file: str) -> tuple[int, int]:
    """The size of a file and when it was changed."""
    found = os.stat(file)
    return found.st_size, found.st_mtime_ns


def _with_keys(table: pa.Table, keys: dict[str, Any]) -> pa.Table:
    """The table with a column more for each key, which all its rows share."""
    for name, value in keys.items():
        table = table.append_column(name, pa.repeat(pa.scalar(value, pa.string()), table.num_rows))
    return table
