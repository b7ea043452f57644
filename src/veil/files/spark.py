"""Rows of files and tables that Spark reads, such as spark:/data/visits.parquet or spark:hospital.visits.

Parquet that this machine can see is opened by the workers themselves, row group after row group: to bring its rows from
Spark to them would take several times as long. Other paths are read by Spark, as Parquet too, and other names are
tables of its catalogue.
"""

import os
from collections.abc import Collection, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NoReturn

from .. import wording
from ..addresses import SPARK
from ..errors import BadInput
from ..progress import advance
from ..schema.spark import SparkStream, elsewhere, spark_stream
from ..schema.streams import complaints
from .parquet import Piece, group_tables, parquet_types, row_groups, text_columns
from .tables import RowFile

BYTES = 1 << 27  # of codes that come at a time
OTHERS = (".csv", ".gz", ".tsv", ".txt", ".json", ".orc", ".avro", ".xml")  # of most of these, Spark would guess types


class SparkRows(RowFile):
    """Rows that Spark reads, by their path or the name of their table. They are never in memory."""

    def types(self) -> dict[str, str]:
        """The names of the columns, and their declared types; no row is read."""
        return RowFile(self._local).types() if self._local else dict(self._named.types)

    def read(self, columns: Collection[str] | None = None, *, every_line: bool = False) -> NoReturn:
        elsewhere([])

    def stream(self, *, every_line: bool = False) -> SparkStream:
        """The rows, to be encoded by Spark's workers; there are no lines."""
        if not self._local:
            return self._named
        with complaints(wording.SPARK_FILES):
            pieces, types = row_groups(self._local), dict(parquet_types(self._local))
            opened = partial(group_tables, pieces, text_columns(self._local))
        return SparkStream(types, elsewhere, lambda names: _frames(pieces, len(names)), opened)

    @cached_property
    def _place(self) -> str:
        """The path or name without its prefix; refuses files that are not Parquet."""
        place = str(self.path).removeprefix(SPARK)
        if not place or place.lower().endswith(OTHERS):
            raise BadInput(wording.SPARK_FILES)
        return place

    @cached_property
    def _local(self) -> str:
        """The path of Parquet that this machine can see, else ""."""
        path = self._place.removeprefix("file://").removeprefix("file:")
        seen = os.path.isdir(path) or os.path.exists(path) and path.lower().endswith((".parquet", ".pq"))
        return path if seen else ""

    @cached_property
    def _named(self) -> SparkStream:
        """What Spark itself reads."""
        spark, place = session(), self._place
        with complaints(wording.SPARK_UNREAD.format(place)):
            return spark_stream(spark.read.parquet(place) if "/" in place or ":" in place else spark.table(place))


def _frames(pieces: Sequence[Piece], columns: int) -> list[tuple[Any, int]]:
    """Frames of the numbers of the pieces, each with the number of its parts: a task opens one piece. The codes of a
    frame, two bytes for each value, fit into memory."""
    ends, size = [0], 0
    for number, piece in enumerate(pieces):
        size += piece.rows * columns * 2
        if size > BYTES and number > ends[-1]:
            ends.append(number)
            size = piece.rows * columns * 2
    ends.append(len(pieces))
    spark = session()
    return [(spark.range(first, end, 1, max(end - first, 1)), max(end - first, 1)) for first, end in pairwise(ends)]


def session() -> Any:
    """The session of Spark that the environment names: SPARK_REMOTE, what spark-submit or its files say, else this
    machine. What Spark logs may hold values, so one that is started here logs nothing."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise BadInput(wording.SPARK_MISSING) from None
    advance("starting Spark")
    with complaints(wording.SPARK_START):
        builder = SparkSession.builder.appName("veil")
        if "SPARK_REMOTE" not in os.environ:
            builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
        return builder.getOrCreate()
