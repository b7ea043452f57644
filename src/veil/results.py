"""Results of comparisons: what a file of them holds, and its means, intervals and ties. Arrow and NumPy are enough."""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .errors import BadInput

MEASURED = ("auc", "m", "accuracy", "log_loss", "seconds", "peak_memory")
LESS_IS_BETTER = ("log_loss", "seconds", "peak_memory")
FIRST = (
    *(("data", pa.string()), ("method", pa.string()), ("epsilon", pa.float64()), ("delta", pa.float64())),
    *(("seed", pa.int64()), ("private", pa.bool_())),
    *((name, pa.float64()) for name in MEASURED),
    *(("status", pa.string()), ("reason", pa.string())),
)
# since 0.3: how many rows were trained on (nothing: all that there are), the version of what ran, and the day
LATER = (("rows", pa.int64()), ("version", pa.string()), ("date", pa.string()))
COLUMNS = pa.schema([*FIRST, *LATER])
TEXTS = [field.name for field in COLUMNS if field.type == pa.string()]
KEY = ("data", "method", "epsilon", "seed", "rows")
FEWEST = 3  # runs that have a margin
NAMED = ("data", "method", "epsilon", "seed", "status")  # what every run says
MOST_BYTES = 1 << 28
MOST_RUNS = 1_000_000
Row = dict[str, Any]
Named = tuple[str, str, float, int | None]  # a table, a method, an epsilon, and how many rows were trained on


def read_results(path: str | os.PathLike[str]) -> pa.Table:
    """The runs in a file that `veil compare` wrote, or an earlier version of it. Raises BadInput for other files."""
    import pyarrow.parquet

    try:
        if os.path.getsize(path) > MOST_BYTES:
            raise BadInput(f"{path} is too large to be results of a comparison")
        schema = pyarrow.parquet.read_schema(path)
        completed(pa.Table.from_batches([], schema), path)  # nothing else is read
        texts = [name for name in TEXTS if name in schema.names]
        with pyarrow.parquet.ParquetFile(path, memory_map=False, read_dictionary=texts) as file:
            if file.metadata.num_rows > MOST_RUNS:
                raise BadInput(f"{path} holds more than {MOST_RUNS:,} runs")
            folded = file.read()
            folded.validate(full=True)  # texts that are none
        if sum(map(length_of, folded.columns)) > MOST_BYTES:
            raise BadInput(f"{path} is too large to be results of a comparison")
        table = written_out(folded)
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}: check the path") from None
    except (OSError, pa.ArrowException):
        table = None
    return completed(table, path)


def length_of(column: pa.ChunkedArray) -> int:
    """How long the texts of a column are together: a few bytes of a file can name a long one again and again."""
    folded = [chunk for chunk in column.chunks if pa.types.is_dictionary(chunk.type)]
    lengths = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in folded)
    return sum(pc.sum(one.cast(pa.int64())).as_py() or 0 for one in lengths)


def written_out(table: pa.Table) -> pa.Table:
    """The table with the texts of these columns at length."""
    kinds = [pa.string() if pa.types.is_dictionary(kind) else kind for kind in table.schema.types]
    return table.cast(pa.schema(zip(table.schema.names, kinds, strict=True)))


def completed(table: pa.Table | None, path: Any) -> pa.Table:
    """A table with all columns of today; raises BadInput if it holds no results."""
    schema = None if table is None else table.schema.remove_metadata()
    if table is None or schema not in (COLUMNS, pa.schema(FIRST)):
        newer = schema is not None and [*schema][: len(COLUMNS)] == [*COLUMNS]
        why = "results of a newer version of Veil: upgrade" if newer else "no results of a comparison"
        raise BadInput(f"{path} holds {why}, or choose another file")
    if any(table[name].null_count for name in NAMED):
        raise BadInput(f"{path} was damaged: a run in it does not say of what it is")
    for name, kind in LATER if len(schema) == len(FIRST) else ():
        table = table.append_column(name, pa.nulls(table.num_rows, kind))
    return table


@dataclass
class Group:
    """All runs of one method on one table at one epsilon: what each seed gave, and why some gave nothing."""

    private: bool
    delta: float
    seeds: list[int] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in MEASURED})
    reasons: list[str] = field(default_factory=list)
    _summaries: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take in a run."""
        if row["status"] != "done":
            self.reasons.append(row["reason"] or "it gave no reason")
            return
        self.seeds.append(row["seed"])
        for name in MEASURED:
            self.values[name].append(np.nan if row[name] is None else row[name])

    def summary(self, measure: str) -> tuple[float | None, float | None]:
        """The mean of a measure and the margin of its 95 % interval; of fewer than three runs no margin, which would be
        wider than what is measured."""
        if measure not in self._summaries:  # asked for again and again by a page
            mean, margin = interval([value for value in self.values[measure] if not np.isnan(value)])
            self._summaries[measure] = mean, margin if len(self.values[measure]) >= FEWEST else None
        return self._summaries[measure]


class Results:
    """The runs of comparisons, grouped; `means` and `ties` are what a page shows of them."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        last = {tuple(row[name] for name in KEY): row for row in rows}  # of the same run, the one that was read last
        self.groups: dict[Named, Group] = {}
        self.versions, self.dates, self.undated = set[str](), set[str](), False
        for row in last.values():
            named = (row["data"], row["method"], row["epsilon"], row["rows"])
            self.groups.setdefault(named, Group(row["private"], row["delta"] or 0.0)).add(row)
            self.versions |= {row["version"]} - {None}
            self.dates |= {row["date"]} - {None}
            self.undated |= row["date"] is None

    def __bool__(self) -> bool:
        return bool(self.groups)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables, in the order in which they came."""
        return tuple(dict.fromkeys(name for name, *_ in self.groups))

    @cached_property
    def firm(self) -> tuple[str, ...]:
        """The tables on which some method ran with seeds enough to tell it from chance."""
        found = {table for (table, *_), group in self.groups.items() if len(group.seeds) >= FEWEST}
        return tuple(table for table in self.tables if table in found)

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, private ones first."""
        private = {method: group.private for (_, method, *_), group in self.groups.items()}
        return tuple(sorted(private, key=lambda method: not private[method]))

    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """The epsilons of private methods, from the least on."""
        return tuple(sorted({epsilon for _, _, epsilon, _ in self.groups if isfinite(epsilon)}))

    @cached_property
    def sizes(self) -> tuple[int | None, ...]:
        """The numbers of rows that were trained on; None, for all of them, comes last."""
        found = {rows for *_, rows in self.groups}
        return (*sorted(rows for rows in found if rows is not None), *([None] if None in found else []))

    @cached_property
    def _kinds(self) -> dict[str, Group]:
        return {method: group for (_, method, *_), group in self.groups.items()}

    def private(self, method: str) -> bool:
        """Whether a method is private."""
        return self._kinds[method].private

    def delta(self, method: str) -> float:
        """The delta of a method: the chance with which its promise fails."""
        return self._kinds[method].delta

    def group(self, table: str, method: str, epsilon: float, rows: int | None = None) -> Group | None:
        """The runs of a method on a table; of one that is not private, at whatever epsilon is asked for."""
        found = self.groups.get((table, method, epsilon, rows))
        return found or self.groups.get((table, method, inf, rows))

    def best(self, table: str, methods: Iterable[str], epsilon: float, measure: str, rows: int | None = None) -> str:
        """The private method with the best mean; "" if none has one."""
        sign = -1 if measure in LESS_IS_BETTER else 1
        found = dict[str, float]()
        for method in methods:
            group = self.group(table, method, epsilon, rows)
            mean = group.summary(measure)[0] if group is not None and group.private else None
            found |= {} if mean is None else {method: sign * mean}
        return max(found, key=lambda method: found[method], default="")


def difference(best: Group, other: Group, measure: str) -> tuple[float, float | None]:
    """By how much one method's runs differ from another's on the same seeds: the mean, and its 95 % margin."""
    mine, theirs = (dict(zip(one.seeds, one.values[measure], strict=True)) for one in (best, other))
    shared = [theirs[seed] - mine[seed] for seed in mine if seed in theirs]
    mean, margin = interval([value for value in shared if not np.isnan(value)])
    return (np.nan if mean is None else mean), margin


def interval(values: list[float]) -> tuple[float | None, float | None]:
    """The mean and half the width of its 95 % interval, by Student; None where there are too few values for one."""
    if not values:
        return None, None
    if len(values) == 1:
        return values[0], None
    return float(np.mean(values)), float(student(len(values) - 1) * np.std(values, ddof=1) / sqrt(len(values)))


def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's distribution."""
    if freedom not in _QUANTILES:
        from scipy.special import stdtrit

        _QUANTILES[freedom] = float(stdtrit(freedom, 0.975))
    return _QUANTILES[freedom]


# of the numbers of seeds that are usual, so that nothing has to be loaded for them
_QUANTILES = {2: 4.302652729749462, 3: 3.1824463052837078, 4: 2.7764451051977934, 9: 2.262157162798205}


def by_key(rows: Iterable[Row], names: tuple[str, ...]) -> dict[tuple[Any, ...], list[Row]]:
    """Rows in groups that have the same values in these columns."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row.get(name) for name in names)].append(row)  # what is older has fewer columns
    return groups
