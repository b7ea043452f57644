"""Everything in Veil that reads a file, with files to begin from: what it makes of a file is used as people use it."""

import gzip
import io
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import mutate
import numpy as np
import pyarrow as pa
import pyarrow.parquet
from scipy import sparse

from veil import (
    Categorical,
    DecisionTreeClassifier,
    Ledger,
    LogisticRegressionClassifier,
    NaiveBayesClassifier,
    Numeric,
    RandomForestClassifier,
    Schema,
    SparseNaiveBayesClassifier,
    Text,
    bag,
    grid,
    load_model,
    load_synopsis,
    open_source,
    publish,
    read_csv,
)
from veil.cli.ledger import read_witnesses
from veil.explore.asking import Asking
from veil.explore.given import RANGES
from veil.explore.page import Site
from veil.explore.ranges import asked, controls
from veil.explore.ranges import content_of as content_of_ranges
from veil.files.kept_ranges import read_ranges, write_ranges
from veil.files.tables import column_types, read_rows

CANARY = "CANARY-48151623"  # in the rows: it may appear nowhere else
NUMBER = 481516234
SCHEMA = Schema(
    name="t",
    label="y",
    person="id",
    rows_per_person=2,
    column=[
        Categorical(name="a", values=["p", "q", "r"], groups={"g": ["p", "q"]}),
        Numeric(name="x", bounds=(0, 8), bins=4),
        Text(name="w", buckets=64, words_per_row=3),
        Categorical(name="y", values=["no", "yes"]),
    ],
)
PLAIN = Schema(**{**SCHEMA.model_dump(), "person": None, "rows_per_person": 1})
WORDS = Schema(name="t", label="y", column=[SCHEMA.get("w"), SCHEMA.get("y")])
ROWS: dict[str, list[Any]] = {
    "id": [f"{CANARY}{i % 9}" for i in range(20)],
    "a": ["p", "q", "r", CANARY, "p"] * 4,
    "x": [0.5, NUMBER, 7.0, 3.0, 1.0] * 4,
    "w": [f"some {CANARY} words", "", "other words", "some", "p"] * 4,
    "y": ["no", "yes", "yes", "no", CANARY] * 4,
}


@dataclass(frozen=True)
class Reader:
    """What a file is called, contents to begin from, how they are changed, and what reads them."""

    name: str
    contents: Callable[[], list[bytes]]
    change: Callable[[bytes, Random], bytes]
    read: Callable[[Path], Any]


def _saved(make: Callable[[Path], Any]) -> bytes:
    """The content of a file that something writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "file")
        make(path)
        return path.read_bytes()


@cache
def models() -> list[bytes]:
    kinds = (NaiveBayesClassifier, DecisionTreeClassifier, LogisticRegressionClassifier, RandomForestClassifier)
    rows = {name: ROWS[name] for name in ("a", "x", "w", "y")}
    schema = Schema(**{**PLAIN.model_dump(), "column": [c for c in PLAIN.column if c.name != "w"]})
    made = [kind(schema=schema, epsilon=9, random_state=1).fit(rows) for kind in kinds]
    made.append(SparseNaiveBayesClassifier(schema=WORDS, epsilon=9, random_state=1).fit(rows))
    return [_saved(model.save) for model in made]


@cache
def synopses() -> list[bytes]:
    columns = [c for c in PLAIN.column if c.name != "w"]
    schema = Schema(**{**PLAIN.model_dump(), "column": columns})
    return [_saved(publish(ROWS, schema, epsilon=9, method=m, random_state=1).save) for m in ("privpfc", "projected")]


@cache
def ledgers() -> list[bytes]:
    def make(path: Path) -> None:
        ledger = Ledger.create(path, 5, "t")
        source = open_source(ROWS, SCHEMA, ledger)
        source.count(grid(SCHEMA, "a"), 1)
        [part.count(grid(SCHEMA, "x"), "1/3") for part in source.split(grid(SCHEMA, "a"))]
        del source, ledger

    return [_saved(make)]


def _schemas() -> list[bytes]:
    return [schema.to_toml().encode() for schema in (SCHEMA, WORDS)]


def _csv() -> list[bytes]:
    lines = [",".join(ROWS), *(",".join(map(str, row)) for row in zip(*ROWS.values(), strict=True))]
    quoted = ['"' + line.replace(",", '","') + '"' for line in lines]
    return ["\n".join([*lines, ""]).encode(), "\r\n".join(quoted).encode(), "\r".join([*lines, ""]).encode()]


def _parquet() -> list[bytes]:
    plain, nested = pa.table(ROWS), pa.table({**ROWS, "a": [[value] for value in ROWS["a"]]})
    packed = plain.set_column(1, "a", plain["a"].dictionary_encode())
    found = []
    for table, packing in ((plain, "none"), (packed, "snappy"), (nested, "none"), (plain, "gzip")):
        stream = io.BytesIO()
        pyarrow.parquet.write_table(table, stream, compression=packing)
        found.append(stream.getvalue())
    return found


def _use_model(path: Path) -> None:
    model = load_model(path)
    repr(model), model._repr_html_(), model.receipts_
    model.predict_proba(ROWS)


def _use_synopsis(path: Path) -> None:
    table = load_synopsis(path)
    repr(table), table._repr_html_(), table.marginal(), table.query()
    table.to_arrow(10, 1)


def _use_ledger(path: Path) -> None:
    with (
        TemporaryDirectory() as state,
        patch.dict(os.environ, VEIL_STATE=state),
    ):  # not the marks of others
        ledger = Ledger.open(path)
        repr(ledger), ledger._repr_html_(), ledger.verify(), ledger.left, ledger.receipts(), ledger.runs()
        open_source(ROWS, SCHEMA, ledger).count(grid(SCHEMA, "a"), "1/10")


def _use_schema(path: Path) -> None:
    found = Schema.read(path)
    repr(found), found._repr_html_()
    assert Schema.loads(found.to_toml()) == found
    found.encode({column.name: [CANARY, NUMBER, None] for column in found.column})


def _use_rows(path: Path) -> None:
    column_types(path)
    assert len(read_rows(path, every_line=True)) >= len(read_rows(path))
    for encoding in ("utf-8", "latin-1", "utf-16"):
        read_csv(path, encoding=encoding, multiline=encoding == "latin-1")
    ask(read_rows(path))


def ask(rows: Any, schema: Schema = SCHEMA) -> None:
    """Ask something of rows."""
    source = open_source(rows, schema, Ledger(9, "t"), noise=1)
    if schema.features:
        source.count(grid(schema, "a", "x"), 1)
    source.count(bag(schema), 1)


def _use_matrix(path: Path) -> None:
    """Bytes as a matrix of words: sparse or not, of any type and form, and not always sound."""
    content = path.read_bytes()
    chance, rows = Random(content), len(content) % 6
    numbers = np.frombuffer(content.ljust(64, b"\0")[:64], np.uint8)
    kind = chance.choice([np.float64, np.int8, np.uint8, np.int64, np.float32, bool, complex])
    places = [chance.choices(range(limit or 1), k=64 if rows else 0) for limit in (rows, 64)]
    entries = (numbers[: len(places[0])].astype(kind), tuple(np.array(place, np.int64) for place in places))
    matrix: Any = sparse.coo_array(entries, shape=(rows, 64))
    matrix = chance.choice([matrix, matrix.tocsr(), matrix.tocsc(), matrix.tolil(), matrix.toarray(), matrix.tobsr()])
    if chance.random() < 0.1:
        matrix = sparse.coo_array(np.arange(64))
    for part in ("indices", "indptr", "row", "col", "data"):
        held, odd = getattr(matrix, part, None), [0, 100] if part == "data" else [-1, 64, 2**30]
        if isinstance(held, np.ndarray) and held.ndim == 1 and len(held) and chance.random() < 0.2:
            held = held if held.flags.writeable else held.copy()
            held[chance.randrange(len(held))] = chance.choice(odd)
    ask({"w": matrix, "y": ROWS["y"][: chance.choice([rows, rows, 3])]}, WORDS)


def _packed(content: bytes, chance: Random) -> bytes:
    """A gzipped file that is changed before it is packed, or after."""
    if chance.random() < 0.5:
        return gzip.compress(mutate.changed_bytes(content, chance), mtime=0)
    return mutate.changed_bytes(gzip.compress(content, mtime=0), chance)


def _json_or_bytes(content: bytes, chance: Random) -> bytes:
    return (mutate.changed_json if chance.random() < 0.7 else mutate.changed_bytes)(content, chance)


def receipts() -> list[bytes]:
    import zipfile

    return [zipfile.ZipFile(io.BytesIO(model)).read("receipts.json") for model in models()]


@cache
def ranges() -> list[bytes]:
    """What is kept about ranges of one column and of two: the smallest tables that come with Veil."""
    tables = read_ranges(RANGES)
    with TemporaryDirectory() as place:
        write_ranges(path := Path(place, "r.zip"), [tables[-2], replace(tables[-1], draws=tables[-1].draws[:2])])
        return [path.read_bytes()]


def _use_ranges(path: Path) -> None:
    """The page about every table in a file."""
    tables = list(read_ranges(path))
    for place in range(min(len(tables), 3)):
        now = asked(tables, Asking(data=str(place)))
        assert content_of_ranges(Site("/x/"), now) and controls(Site("/x/"), now)


@cache
def _ledger_beside() -> Ledger:
    ledger = Ledger(9, "t")
    open_source(ROWS, SCHEMA, ledger).count(grid(SCHEMA, "a"), 1)
    return ledger


READERS = {
    "schema": Reader(
        "s.toml", lambda: [s.to_toml().encode() for s in (SCHEMA, WORDS)], mutate.changed_bytes, _use_schema
    ),
    "ledger": Reader("l.ledger", ledgers, mutate.changed_ledger, _use_ledger),
    "model": Reader("m.veil", models, mutate.changed_zip, _use_model),
    "synopsis": Reader("t.veil", synopses, mutate.changed_zip, _use_synopsis),
    "csv": Reader("rows.csv", _csv, mutate.changed_bytes, _use_rows),
    "gzip": Reader("rows.csv.gz", _csv, _packed, _use_rows),
    "parquet": Reader("rows.parquet", _parquet, mutate.changed_bytes, _use_rows),
    "words": Reader("matrix", lambda: [bytes(range(64))], mutate.changed_bytes, _use_matrix),
    "ranges": Reader("r.zip", ranges, mutate.changed_zip, _use_ranges),
    "receipts": Reader("r.json", receipts, _json_or_bytes, lambda path: _ledger_beside().verify(read_witnesses(path))),
    "witness": Reader("m.veil", models, mutate.changed_zip, lambda path: _ledger_beside().verify(read_witnesses(path))),
}


def content_of(reader: Reader, seed: int) -> bytes:
    """The input of this number, the same whenever it is asked for."""
    chance = Random(seed)
    return reader.change(chance.choice(reader.contents()), chance)
