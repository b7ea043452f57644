"""Streams: rows that come in batches, so that a table larger than memory can be read.

A stream has column names and gives frames of the columns that are asked for, in one order. What fails while it is read
becomes one sentence of ours: readers quote values in theirs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakSet

import narwhals as nw
import numpy as np
import pyarrow as pa

from .. import wording
from ..display import absent
from ..errors import BadInput, VeilError
from .encoding import quiet
from .refusing import refuse

ROWS = 1 << 16  # of a batch
FEW = {"batch_size": ROWS, "batch_readahead": 2, "fragment_readahead": 1}  # batches that wait in memory
_read = WeakSet[Any]()  # the readers that were read


@contextmanager
def complaints(broken: str = wording.STREAM_BROKEN) -> Iterator[None]:
    """Replace any error inside by one of our own sentences: readers quote values in theirs."""
    try:
        with quiet():
            yield
    except Exception as error:
        said = wording.STREAM_MEMORY if isinstance(error, MemoryError) else broken
        raise error if isinstance(error, VeilError) else BadInput(said) from None


@dataclass(frozen=True)
class Stream:
    """Rows in batches: the columns with their declared types ("" where none is declared), and a function that gives
    frames of the named columns. Every call reads the rows anew, unless they can be read but once. The `engine` is what
    else than this process encodes them."""

    engine: ClassVar[str] = ""
    types: Mapping[str, str]
    batches: Callable[[Sequence[str]], Iterator[Any]]

    @property
    def column_names(self) -> list[str]:
        """The names of all columns."""
        return [*self.types]

    def coded(self, make: Callable[[], Callable[[Any], Any]], names: Sequence[str]) -> Iterator[Any]:
        """The codes of these columns, frame after frame, by the function that `make` gives."""
        return map(make(), self.frames(names))

    def frames(self, names: Sequence[str]) -> Iterator[Any]:
        """Frames of these columns. Refuses names that the rows do not have, and says nothing of what a reader says."""
        self.check(names)
        with complaints():
            yield from self.batches(names)

    def check(self, names: Sequence[str]) -> None:
        """Refuse names that the rows do not have."""
        refuse(said := absent(names, self.types, "the rows"), said)


@complaints()  # to open a stream may be to compute its rows
def stream_of(rows: Any) -> Stream | None:
    """The stream that rows are, or that can be made of them: an Arrow data set, reader or stream, or a lazy frame of
    Polars, DuckDB or Spark. None for rows in memory, and for what is no rows at all."""
    if type(rows).__module__.partition(".")[0] == "pyspark":
        from .spark import spark_stream

        return spark_stream(rows)
    known = isinstance(rows, (Stream, Mapping, np.ndarray)) or nw.dependencies.is_into_dataframe(rows)
    if known or nw.dependencies.is_into_series(rows):
        return rows if isinstance(rows, Stream) else None
    if hasattr(rows, "to_batches") and hasattr(rows, "scanner"):
        return Stream(_types(rows.schema), lambda names: _tables(rows.to_batches(columns=[*names], **FEW)))
    lazy = nw.from_native(rows, pass_through=True)
    if isinstance(lazy, nw.LazyFrame) and (batches := _batches(rows)):
        every = dict.fromkeys(lazy.collect_schema().names(), "")
        return Stream(every, lambda names: batches(lazy.select(*names).to_native()))
    return _once(rows) if hasattr(rows, "__arrow_c_stream__") and not isinstance(rows, pa.RecordBatch) else None


def _types(schema: Any) -> dict[str, str]:
    refuse(len({*schema.names}) < len(schema.names), wording.TWICE)
    return {name: str(kind) for name, kind in zip(schema.names, schema.types, strict=True)}


def _tables(batches: Any) -> Iterator[pa.Table]:
    return (pa.Table.from_batches([batch]) for batch in batches)


def _batches(lazy: Any) -> Callable[[Any], Iterator[Any]] | None:
    """How the library of a lazy frame computes it in batches; None if it would have to be in memory as a whole."""
    if nw.dependencies.is_polars_lazyframe(lazy):
        return lambda frame: frame.collect_batches(chunk_size=ROWS)
    if hasattr(lazy, "__arrow_c_stream__"):
        return lambda frame: _tables(pa.RecordBatchReader.from_stream(frame))
    return None


def _once(rows: Any) -> Stream:
    """An Arrow stream of any library, or a reader, which can be read but once: then it looks as if it had no rows."""
    reader = rows if isinstance(rows, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(rows)

    def batches(names: Sequence[str]) -> Iterator[pa.Table]:
        refuse(reader in _read, wording.STREAM_READ)
        _read.add(reader)
        return (table.select([*names]) for table in _tables(reader))

    return Stream(_types(reader.schema), batches)
