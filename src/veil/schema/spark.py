"""Rows from Spark: its workers encode them with this code, and codes come here once, in one order, as from any stream.

Spark may run a part of the work twice, or lose it and run it again. So every block of codes bears the number of its
part and its own, the last record of a part says how many blocks and rows there were, and whoever receives them refuses
unless each part arrives whole, exactly once. An error on a worker becomes a record without words: what it says may
quote a value, and Spark would bring and log it.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib import resources
from itertools import chain, islice
from typing import Any, NamedTuple, NoReturn

import narwhals as nw
import numpy as np
import pyarrow as pa

from .. import wording
from ..errors import BadInput
from ..progress import advance
from .bags import Bags
from .encoding import arrow_of
from .refusing import refuse
from .streams import Stream, complaints

FIELDS = "part long, block long, rows long, said string, codes binary"
KINDS = [pa.int64(), pa.int64(), pa.int64(), pa.string(), pa.binary()]
FAILED = "failed"
ROOMS = ("schema", "questions", "models", "evaluate")  # where the code lies that encodes and judges rows
AT_ONCE = 4  # frames of pieces on their way
BYTES = 1 << 24  # of rows that are encoded at a time
Encoder = Callable[[Any], Mapping[Any, Any]]


class Record(NamedTuple):
    """What a worker sends: the number of its part, that of the block in it, how many rows, what made it, and codes; a
    record without codes closes the part, and has the number of its blocks and of all its rows."""

    part: int
    block: int
    rows: int
    said: str
    codes: bytes | None


@dataclass(frozen=True)
class SparkStream(Stream):
    """Rows that workers encode. `data` gives a data frame of the named columns or, where workers open the rows by
    themselves, several of the numbers of their pieces, each with the number of its parts; `opened` gives the tables of
    a piece."""

    data: Callable[[Sequence[str]], Sequence[tuple[Any, int | None]]]
    opened: Callable[[Sequence[str], int], Iterator[pa.Table]] | None = None
    engine = "Spark"

    def coded(self, make: Callable[[], Encoder], names: Sequence[str]) -> Iterator[Mapping[Any, Any]]:
        """The codes of these columns, block after block, by the function that `make` gives on a worker."""
        self.check(names)
        keys, opened = [*make()({name: [] for name in names})], self.opened and partial(self.opened, names)
        work = partial(on_worker, make=make, asked=maker(), names=[*names], opened=opened)
        with complaints(wording.SPARK_BROKEN):
            frames = self.data(names)
            remote = _remote(frames[0][0])
            coded = [(frame.mapInArrow(work, FIELDS), parts) for frame, parts in frames]
            for records, parts in _arriving(coded, remote):
                yield from (unpacked(rows, block, keys) for rows, block in whole(records, parts))


def spark_stream(rows: Any) -> SparkStream:
    """The rows of a data frame of Spark, classic or of Spark Connect, which does not tell whether chance has a part."""
    refuse(not hasattr(rows, "mapInArrow") or rows.isStreaming, wording.SPARK_FRAME)
    refuse(len({*rows.columns}) < len(rows.columns), wording.TWICE)
    refuse(hasattr(rows, "_jdf") and not rows._jdf.queryExecution().analyzed().deterministic(), wording.SPARK_CHANCE)
    types = {field.name: field.dataType.simpleString().replace("array", "list", 1) for field in rows.schema.fields}

    def data(names: Sequence[str]) -> list[tuple[Any, None]]:
        chosen = rows.select(*("`" + name.replace("`", "``") + "`" for name in names))
        return [(chosen.toDF(*map(str, range(len(names)))), None)]  # Spark would take a column a.b for one inside of a

    return SparkStream(types, elsewhere, data)


def elsewhere(names: Sequence[str]) -> NoReturn:
    """Refuse to bring the rows themselves."""
    raise BadInput(wording.SPARK_ELSEWHERE)


def on_worker(batches: Iterable[pa.RecordBatch], **given: Any) -> Iterator[pa.RecordBatch]:
    """What a task of Spark runs: the records of its part."""
    from pyspark import TaskContext

    return encoded(batches, TaskContext.get().partitionId(), **given)


def encoded(
    batches: Iterable[Any], part: int, make: Callable[[], Encoder], asked: str, names: list[str], opened: Any = None
) -> Iterator[pa.RecordBatch]:
    """The records of a part: its blocks, and one that closes it; whatever fails, one that says no more than that."""
    block = rows = 0
    try:
        encode: Any = make() if maker() == asked else None
        for frame in _frames(batches, names, opened) if encode else ():
            yield _record(part, block, len(frame), maker(), packed(encode(frame)))
            block, rows = block + 1, rows + len(frame)
        yield _record(part, block, rows, maker(), None)
    except Exception:
        yield _record(part, block, rows, FAILED, None)


def _record(*values: Any) -> pa.RecordBatch:
    arrays = [pa.array([value], kind) for value, kind in zip(values, KINDS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, [*Record._fields])


def _frames(batches: Iterable[pa.RecordBatch], names: list[str], opened: Any) -> Iterator[pa.Table]:
    """The rows in tables of about so many bytes; of the pieces whose numbers come, if they are to be opened here."""
    if opened:
        tables = (table for batch in batches for number in batch.column(0).to_pylist() for table in opened(number))
    else:
        tables = (pa.Table.from_batches([batch]).rename_columns(names) for batch in batches)
    held: list[pa.Table] = []
    for table in tables:
        size = max(len(table) * BYTES // max(table.nbytes, 1), 1)
        for start in range(0, len(table), size):
            held.append(table.slice(start, size))
            if sum(one.nbytes for one in held) >= BYTES:
                yield pa.concat_tables(held)
                held = []
    if held:
        yield pa.concat_tables(held)


def packed(codes: Mapping[Any, Any]) -> bytes:
    """Codes, and ids of people as they are, in Arrow's format."""
    bags = pa.LargeListArray.from_arrays
    arrays = [bags(some.starts, some.words) if isinstance(some, Bags) else arrow_of(some) for some in codes.values()]
    batch, sink = pa.RecordBatch.from_arrays(arrays, [*map(str, range(len(arrays)))]), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


def unpacked(rows: int, block: bytes, keys: Sequence[Any]) -> dict[Any, Any]:
    """The codes in a block of so many rows, under these keys; None is that of people."""
    batch = pa.ipc.open_stream(block).read_next_batch()
    refuse(batch.num_rows != rows, wording.SPARK_TWICE)
    return {key: some if key is None else _codes(some) for key, some in zip(keys, batch.columns, strict=True)}


def _codes(some: Any) -> Any:
    bags = pa.types.is_large_list(some.type)
    return Bags(some.offsets.to_numpy(), some.values.to_numpy()) if bags else some.to_numpy()


def whole(records: Iterable[Any], parts: int | None = None) -> Iterator[tuple[int, bytes]]:
    """The blocks with their numbers of rows, if each of the parts comes whole, exactly once, in order; refuses else.

    How many parts there are is not known everywhere (None): then they end where the records do.
    """
    part = block = rows = 0
    for one in records:
        refuse(one.said == FAILED, wording.SPARK_BROKEN)
        refuse(one.said != maker(), wording.SPARK_OTHERS)
        refuse((one.part, one.block) != (part, block), wording.SPARK_TWICE)
        if one.codes is None:
            refuse(one.rows != rows, wording.SPARK_TWICE)
            part, block, rows = part + 1, 0, 0
        else:
            block, rows = block + 1, rows + one.rows
            yield one.rows, one.codes
    refuse(block or parts not in (None, part), wording.SPARK_TWICE)


@cache
def maker() -> str:
    """What makes codes here: versions, and a digest of the code. Where it differs, the same value may have another."""
    veil = resources.files(__package__.partition(".")[0])
    files = [file for room in ROOMS for file in veil.joinpath(room).iterdir() if file.name.endswith(".py")]
    code = b"".join(sorted(file.read_bytes() for file in files))
    return f"{sys.version_info[:2]} {np.__version__} {pa.__version__} {nw.__version__} {sha256(code).hexdigest()}"


def _remote(frame: Any) -> bool:
    """Whether a frame is of Spark Connect. Workers of a local Spark will run this Python, unless another was named."""
    remote = ".connect." in type(frame).__module__
    if not remote and (context := frame.sparkSession.sparkContext).master.startswith("local"):
        context.pythonExec = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return remote


def _arriving(frames: Sequence[tuple[Any, int | None]], remote: bool) -> Iterable[tuple[Iterable[Any], int | None]]:
    """For each frame its records in the order of its parts, and how many parts there are, if that is known.

    A frame of pieces comes as a whole, any other part by part: it may be larger than memory."""
    frame, parts = frames[0]
    if parts is not None:
        tables = in_turn([one.toArrow for one, _ in frames], AT_ONCE)
        return ((_rows(table), parts) for table, (_, parts) in zip(tables, frames, strict=True))
    if remote:
        return [(frame.toLocalIterator(), None)]
    rdd, context, parts = frame.rdd, frame.rdd.context, frame.rdd.getNumPartitions()
    jobs = [partial(context.runJob, rdd, list, [part]) for part in range(parts)]
    return [(chain.from_iterable(in_turn(jobs, context.defaultParallelism + 1)), parts)]


def _rows(table: pa.Table) -> Iterator[Record]:
    return (Record(*row) for batch in table.to_batches() for row in zip(*(c.to_pylist() for c in batch), strict=True))


def in_turn(jobs: Sequence[Callable[[], Any]], places: int) -> Iterator[Any]:
    """The results of jobs in their order, with so many of them at work, or waiting to be taken, at a time."""
    pool, waiting = ThreadPoolExecutor(places), deque[Any]()
    coming = (pool.submit(job) for job in jobs)
    try:
        waiting.extend(islice(coming, places))
        for done in range(len(jobs)):
            yield waiting.popleft().result()
            waiting.extend(islice(coming, 1))
            advance("reading the rows on Spark", int(1000 * (done + 1) / len(jobs)), 1000)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
