"""The files that a page may show: given once at the start, named by numbers, read again when they change. Rows are
never among them: what does not hold results, a schema, a ledger or something published is refused."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ..addresses import is_address, shown
from ..choice.classifiers import known
from ..display import readable
from ..errors import BadInput, VeilError
from ..files.kept_ranges import Ranged, holds_ranges, read_ranges
from ..files.parts import open_parts
from ..kernel import Ledger
from ..results import MEASURED, Results, read_results
from ..schema import Schema

MOST_FILES = 1000  # of a folder
MOST_BYTES = 1 << 26
PATIENCE = 1.0  # seconds to wait for a ledger that somebody else holds
RANGES = Path(__file__).with_name("ranges.zip")  # public histograms that come with Veil
COMPARISON = Path(__file__).with_name("comparison.parquet")  # and runs of all methods on public tables
KINDS = ("model", "synopsis", "histogram", "synthetic")
ENDINGS = (".veil", ".html", ".json")
Held = TypeVar("Held")


@dataclass(frozen=True)
class Found:
    """A file that was found in the folder that is watched: its number, its path, and what it holds."""

    number: int
    path: Path
    kind: str

    @property
    def name(self) -> str:
        return self.path.name


@dataclass
class Given:
    """The files, and what was read from them."""

    results: tuple[Path, ...] = ()
    schemas: tuple[Path, ...] = ()
    ledgers: tuple[Path, ...] = ()
    watch: Path | None = None
    _read: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    _numbers: dict[Path, int] = field(default_factory=dict)

    def check(self) -> None:
        """Raise BadInput, before anything is served, if a file that was given cannot be one of its kind."""
        if any(map(is_address, self.ledgers)):
            raise BadInput("ledgers in files alone are shown here: `veil ledger show ADDRESS` shows one in a database")
        for path in (*self.results, *self.schemas, *self.ledgers):
            if not path.is_file():
                raise BadInput(f"there is no file {shown(path)}: check the path")
        if self.watch is not None and not self.watch.is_dir():
            raise BadInput(f"there is no folder {shown(self.watch)} to watch: check the path")

    @property
    def in_words(self) -> str:
        """What is open, in a few words."""
        parts = [f"results of {', '.join(path.name for path in self.results)}"] if self.results else []
        parts += [f"the schema {path.name}, no rows" for path in self.schemas]
        parts += [f"the ledger {path.name}" for path in self.ledgers]
        parts += [f"what is published in {self.watch.name or 'this folder'}"] if self.watch else []
        return (
            f"Open: {'; '.join(map(readable, parts))}." if parts else "Open: public results that come with Veil, alone."
        )

    @property
    def ranged(self) -> list[Path]:
        """The files of results that are about ranges."""
        return [path for path in self.results if self._kept(path, holds_ranges) is True]

    @property
    def compared(self) -> list[Path]:
        """The files of results that are about classifiers."""
        ranged = self.ranged
        return [path for path in self.results if path not in ranged]

    def ranges(self) -> tuple[list[Ranged], list[str]]:
        """All that is kept about ranges, and what is wrong with files that could not be read."""
        found, problems, paths = list[Ranged](), list[str](), self.ranged
        for path in paths or [RANGES]:
            tables = self._kept(path, read_ranges)
            found += () if isinstance(tables, str) else tables
            problems += [tables] if isinstance(tables, str) else []
        return found, problems

    def comparison(self) -> tuple[Results, list[str]]:
        """All results together, and what is wrong with files that could not be read."""
        paths = self.compared
        if not paths:
            return shipped(), []
        tables, problems = list[Any](), list[str]()
        for path in paths:
            table = self._kept(path, read_results)
            (problems if isinstance(table, str) else tables).append(table)
        stamp = tuple(map(stamp_of, paths))
        found = self._read.get("comparison")
        if found is None or found[0] != stamp:
            rows = (row for table in tables for row in table.to_pylist())
            found = self._read["comparison"] = (stamp, Results(rows))
        return found[1], problems

    def schema(self, number: int) -> Schema | str:
        """One of the schemas, or what is wrong with it."""
        return self._kept(self.schemas[number], read_schema)

    def ledger(self, number: int) -> Ledger | str:
        """One of the ledgers as it is now, or what is wrong with it: locked, damaged or gone."""
        try:
            return Ledger.open(self.ledgers[number], patience=PATIENCE)
        except VeilError as error:
            return str(error)

    def ledger_of(self, schema: Schema) -> tuple[Path, Ledger] | None:
        """The ledger of a data set, if it was given and can be read."""
        for number, path in enumerate(self.ledgers):
            ledger = self.ledger(number)
            if isinstance(ledger, Ledger) and ledger.name == schema.name:
                return path, ledger
        return None

    def published(self) -> list[Found]:
        """The files of the watched folder that Veil may have written, the newest first. A file keeps its number."""
        if self.watch is None:
            return []
        try:
            paths = [path for path in self.watch.iterdir() if path.suffix in ENDINGS and is_plain(path)]
        except OSError:
            raise BadInput(f"the folder {self.watch} cannot be read any more: check that it is there") from None
        paths.sort(key=lambda path: (stamp_of(path) or (0, 0))[0], reverse=True)
        found = [Found(self._number(path), path, self._kept(path, kind_of)) for path in paths[:MOST_FILES]]
        return [one for one in found if one.kind]

    def file(self, number: int, kinds: Iterable[str]) -> Found:
        """The file of this number. Raises BadInput if it is gone, or of another kind."""
        for one in self.published():
            if one.number == number and one.kind in kinds:
                return one
        raise BadInput(f"file {number} is not there any more, or is of another kind: go back to the list")

    def _number(self, path: Path) -> int:
        return self._numbers.setdefault(path, len(self._numbers) + 1)

    def load(self, one: Found, read: Callable[[Path], Held]) -> Held | str:
        """What a file holds, read again if it changed; or what is wrong with it."""
        return self._kept(one.path, read)

    def _kept(self, path: Path, read: Callable[[Path], Held]) -> Held | Any:
        stamp, key = stamp_of(path), (path, read)
        if stamp is None:
            return f"{path.name} is not there any more: it was moved, renamed or deleted"
        if key not in self._read or self._read[key][0] != stamp:
            try:
                self._read[key] = (stamp, read(path))
            except VeilError as error:
                self._read[key] = (stamp, str(error))
        return self._read[key][1]


def stamp_of(path: Path) -> tuple[int, int] | None:
    """When a file was changed, and its size; None if it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def is_plain(path: Path) -> bool:
    """Whether this is a file of moderate size, and no link that leads elsewhere."""
    try:
        return path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST_BYTES
    except OSError:
        return False


def read_schema(path: Path) -> Schema:
    """The schema in a file; what is wrong with it is told, and no value of a row can be in it."""
    return Schema.read(path)


def kind_of(path: Path) -> str:
    """What a file holds, by its parts: one of KINDS, an evaluation, a report, receipts; "" for others."""
    from .pages_read import evaluation_of, receipts_of

    if path.suffix == ".veil":
        try:
            with open_parts(path) as file:
                return next((kind for kind in KINDS if f"{kind}.json" in file.NameToInfo), "")
        except Exception:  # a zip can be broken in many ways
            return ""
    if path.suffix == ".html":
        return "evaluation" if evaluation_of(path) else "report" if receipts_of(path) else ""
    return "receipts" if receipts_of(path) else ""


@lru_cache
def shipped() -> Results:
    """What comes with Veil: every seed of all methods and peers on some public tables, and on others the few runs that
    the automatic choice knows."""
    rows = read_results(COMPARISON).to_pylist()
    return Results([*rows, *traced({row["data"] for row in rows})])


def traced(but: set[str]) -> Iterator[dict[str, Any]]:
    """What methods did on public tables but these, as the automatic choice knows it."""
    traces = known().traces
    nothing: dict[str, Any] = {**dict.fromkeys(MEASURED), "reason": None, "rows": None, "version": None, "date": None}
    for place, name in enumerate(traces.databases):
        table, _, epsilon = name.partition(" ")
        if " " in epsilon or table in but:
            continue  # a part of a table, of many sizes
        for column, option in enumerate(traces.options):
            values = {measure: float(found[place, column]) for measure, found in traces.quality.items()}
            done = all(value == value for value in values.values())
            about = {"data": table, "method": option, "epsilon": float(epsilon), "delta": 0.0, "seed": place}
            state = {"private": True, "status": "done" if done else "failed"}
            reason = {} if done else {"reason": "it cannot be used on this table"}
            yield {**nothing, **about, **values, **state, **reason}
