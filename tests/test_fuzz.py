"""Whatever comes in: a result of the promised shape or one sentence, and never a value of a private row."""

import gzip
import io
import json
import logging
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from veil import (
    WHOLE,
    BudgetRefused,
    Categorical,
    CellScores,
    Correct,
    Entropy,
    Gini,
    Grid,
    Ledger,
    Majority,
    Numeric,
    Predicted,
    Rows,
    Schema,
    Tree,
    VeilError,
    grid,
    open_source,
)
from veil.cli import app
from veil.errors import BadInput
from veil.files.tables import column_types, read_rows

ONE_COLUMN = (
    "PATH has one column and no comma in its header: values must be separated by commas; to save it so: "
    "pandas.read_csv('PATH', sep="
)
SEPARATORS = ("';', decimal=','", r"'\t'", "'|'")

SECRET = "SECRET-7391"
EXAMPLES = settings.default.max_examples
SMALL = Schema(
    name="small",
    label="y",
    column=[
        Categorical(name="a", values=["a", "1"], groups={"both": ["a", "1"]}),
        Numeric(name="x", bounds=(0, 4), bins=4),
        Categorical(name="y", values=["no", "1", "a"]),
    ],
)
PERSONAL = Schema(**{**SMALL.model_dump(), "person": "id", "rows_per_person": 2})

# ---- schemas

NAMES = (
    "name label person rows_per_person rows source column kind values groups missing bounds integer bins scale edges "
    "unit format"
)
SCALARS = st.one_of(
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["true", "false", "inf", "nan", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "0x1F", "1_000"]),
    st.sampled_from(['"date"', '"year"', '"hour"', '"weekday"', '"2019-03"', '"2020-12-31"', '"%d/%m/%Y"', "2019"]),
    st.sampled_from(['"categorical"', '"numeric"', '"text"', '"log"', '"linear"', '"x"', '"y"', '"a"', '""', "''"]),
    st.text(max_size=5).map(lambda text: f'"{text}"'),
)
LITERALS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"k{i} = {v}" for i, v in enumerate(items)) + "}"
        )
    ),
    max_leaves=6,
)
KEYS = st.one_of(
    st.sampled_from(NAMES.split()), st.sampled_from(["self", "fields", "cls", "groups.g", "values.x", "a.b"])
)
PAIRS = st.tuples(KEYS, LITERALS).map(" = ".join)
TABLES = st.sampled_from(["[[column]]", "[column]", "[column.groups]", "[groups]", '[[column]]\nname = "x"'])
DOCUMENTS = st.lists(PAIRS | TABLES | st.text(max_size=9), max_size=12).map("\n".join)
STARTS = st.sampled_from(
    [
        "",
        'name = "t"\n[[column]]\nname = "x"\nkind = "categorical"\n',
        'name = "t"\n[[column]]\nname = "x"\nkind = "numeric"\n',
        'name = "t"\nlabel = "x"\n[[column]]\nname = "x"\nkind = "categorical"\nvalues = ["a"]\n',
        'name = "t"\n[[column]]\nname = "x"\nkind = "numeric"\nbounds = [1, 9]\n',
        'name = "t"\n[[column]]\nname = "x"\nkind = "date"\n',
        'name = "t"\n[[column]]\nname = "x"\nkind = "date"\nbounds = [2019, 2020]\n',
    ]
)


@settings(max_examples=8 * EXAMPLES)
@given(start=STARTS, document=DOCUMENTS)
def test_any_document_is_a_schema_or_a_sentence_for_each_mistake(start: str, document: str) -> None:
    begin = process_time()
    try:
        found = Schema.loads(start + document)
        assert Schema.loads(found.to_toml()) == found
        assert repr(found) and all(column.levels for column in found.features)
    except BadInput as problem:
        first, *others = str(problem).splitlines()
        assert not others or re.fullmatch(r"\d+ problems:", first) or "\n" in document
    assert process_time() - begin < 5


@given(text=st.text())
def test_any_text_is_a_schema_or_one_sentence(text: str) -> None:
    with pytest.raises(BadInput):
        Schema.loads(text)


@given(content=st.binary())
def test_any_bytes_are_a_schema_file_or_one_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "schema.toml"
    path.write_bytes(content)
    with pytest.raises(BadInput):
        Schema.read(path)


# ---- files


def parquet(**columns: Any) -> bytes:
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


PARQUET = parquet(a=[SECRET, "x", None] * 50, b=[1.5, 2, None] * 50, c=[[1], [], None] * 50)
CSV = f'a,b\n{SECRET},"x\n{SECRET}"\n'.encode() * 20


@st.composite
def damaged(draw: Any, content: bytes) -> bytes:
    """The content with some bytes overwritten, and perhaps cut short."""
    found = bytearray(content)
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, len(found) - 1))
        patch = draw(st.binary(min_size=1, max_size=8))
        found[place : place + len(patch)] = patch
    return bytes(found[: draw(st.just(len(found)) | st.integers(0, len(found)))])


FILES = st.one_of(
    st.tuples(st.just("rows.csv"), st.binary() | damaged(CSV)),
    st.tuples(st.just("rows.csv.gz"), st.binary() | damaged(gzip.compress(CSV, mtime=0))),
    st.tuples(st.just("rows.csv.gz"), (st.binary() | damaged(CSV)).map(gzip.compress)),
    st.tuples(st.just("rows.parquet"), st.binary() | damaged(PARQUET)),
)


@settings(max_examples=6 * EXAMPLES)
@given(file=FILES)
def test_any_file_is_rows_or_one_sentence_about_its_path(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[str, bytes]
) -> None:
    path = tmp_path_factory.mktemp("files") / file[0]
    path.write_bytes(file[1])
    for read in (read_rows, column_types):
        try:
            assert isinstance(read(path), pa.Table | dict)
        except BadInput as problem:
            assert str(problem).replace(str(path), "PATH") in (
                "PATH cannot be read: check that it is a CSV, a gzipped CSV or a Parquet file, and is whole",
                "PATH is empty: its first line must name the columns",
                "the first line of PATH is not utf-8: save the file as UTF-8, or say what it is, such as "
                '--encoding latin-1 (in Python, encoding="latin-1")',
                *(f"{ONE_COLUMN}{mark}).to_csv('commas.csv', index=False)" for mark in SEPARATORS),
                "PATH has two columns of the same name: rename one",
            )


# ---- rows


@contextmanager
def silence(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is warned about, logged or printed."""
    capfd.readouterr()
    caplog.clear()
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        yield
    assert not caught and not caplog.records
    assert capfd.readouterr() == ("", "")


FRAMES: dict[str, Callable[[dict[str, np.ndarray]], Any]] = {
    "lists": lambda columns: {name: list(column) for name, column in columns.items()},
    "numpy": lambda columns: np.column_stack(list(columns.values())),
    "pandas": lambda columns: pd.DataFrame(columns, dtype=object),
    "polars": lambda columns: pl.DataFrame({n: pl.Series(list(c), dtype=pl.Object) for n, c in columns.items()}),
}


def ask_everything(rows: Any, schema: Schema) -> None:
    """Ask each verb once, and check that the answer has the shape that the schema gives it."""
    source = open_source(rows, schema, Ledger(100, schema.name), noise=1)
    cells, classes = grid(schema, "a", "x"), len(schema.classes)
    assert source.count(cells, 1).value.shape == (cells.size, classes)
    assert source.count(WHOLE, 1, by_class=False).value.shape == (1, 1)
    assert len(source.count_each([cells, WHOLE], 1)) == 2
    sparse = source.count_sparse(cells, 1).value
    assert all(0 <= cell < cells.size for cell in sparse.cells()[0])
    candidates = [WHOLE, grid(schema, "a"), grid(schema, "x")]
    for score in (Majority(), Gini(), Entropy(), Correct(), Rows()):
        assert source.choose(candidates, score, 1).value in candidates
    assert source.above(Rows(), 5, 1).ask(cells) in (True, False)
    assert source.quantile("x", "1/2", 1).value in schema.get("x").cuts
    predicted = Predicted(CellScores(grid(schema, "a"), np.eye(3, classes)))
    tree = Tree(grid(schema, "a"), (WHOLE, grid(schema, "x"), predicted))
    parts = source.split(tree)
    assert len(parts) == tree.size
    assert parts[0].count(WHOLE, 1).value.shape == (1, classes)
    assert [part.count(cells, 1).value.shape for part in source.split_at_random(1, 2)] == [(cells.size, classes)] * 2


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@settings(max_examples=EXAMPLES // 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_rows_are_answered_in_silence_and_in_the_same_shape(
    frame: Callable[[dict[str, np.ndarray]], Any],
    odd_values: Callable[..., Any],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    data: st.DataObject,
) -> None:
    size = data.draw(st.integers(0, 6))
    columns = {name: odd_values(data, size, size) for name in ("a", "x", "y")}
    with silence(capfd, caplog):
        ask_everything(frame(columns), SMALL)


@settings(max_examples=EXAMPLES // 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_person_is_counted_in_silence(
    odd_values: Callable[..., Any],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    data: st.DataObject,
) -> None:
    size = data.draw(st.integers(0, 6))
    columns = {name: odd_values(data, size, size) for name in ("a", "x", "y", "id")}
    with silence(capfd, caplog):
        ask_everything(columns, PERSONAL)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_all_odd_rows_are_answered_in_silence(
    frame: Callable[[dict[str, np.ndarray]], Any],
    all_odd_values: Any,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with silence(capfd, caplog):
        ask_everything(frame(dict.fromkeys(("a", "x", "y"), all_odd_values)), SMALL)
        if frame is not FRAMES["numpy"]:
            ask_everything(frame(dict.fromkeys(("a", "x", "y", "id"), all_odd_values)), PERSONAL)


def test_the_same_cells_of_no_rows_are_answered(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with silence(capfd, caplog):
        ask_everything(pd.DataFrame({"a": [], "x": [], "y": []}), SMALL)


# ---- a secret in every cell


SECRETS: dict[str, Any] = {name: [SECRET] * 20 for name in ("a", "x", "y", "id")}
SECRET_FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "lists": dict,
    "bytes": lambda columns: {name: [SECRET.encode()] * 20 for name in columns},
    "objects": lambda columns: {name: np.array([{SECRET: SECRET}] * 20, object) for name in columns},
    "pandas": pd.DataFrame,
    "pandas categories": lambda columns: pd.DataFrame(columns, dtype="category"),
    "polars": pl.DataFrame,
    "polars categories": lambda columns: pl.DataFrame(columns).cast(pl.Categorical),
    "arrow": pa.table,
    "arrow dictionaries": lambda columns: pa.table({n: pa.array(c).dictionary_encode() for n, c in columns.items()}),
}


class Seen:
    """Everything that came out, as text."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def show(self, *things: Any) -> None:
        for thing in things:
            self.texts += [str(thing), repr(thing), getattr(thing, "_repr_html_", str)()]
            if receipt := getattr(thing, "receipt", None):
                self.show(receipt, receipt.to_dict())

    def fail(self, kind: type[Exception], ask: Callable[[], Any]) -> None:
        with pytest.raises(kind) as caught:
            ask()
        self.show(caught.value)
        self.texts += traceback.format_exception(caught.value)


def ask_and_fail(frame: Callable[[dict[str, Any]], Any], ledger: Ledger, seen: Seen) -> None:
    """Every public operation, and every way to have it refused."""
    rows, cells, candidates = frame(SECRETS), grid(PERSONAL, "a", "x"), [WHOLE, Grid()]
    source = open_source(rows, PERSONAL, ledger, noise=1)
    counted = source.count(cells, 1)
    seen.show(source, ledger, PERSONAL, cells, counted, counted.value, counted.columns(), counted.error())
    seen.show(
        *source.count_each([cells, WHOLE], 1), source.count_sparse(cells, 1), source.choose(candidates, Rows(), 1)
    )
    sieve = source.above(Rows(), 5, 1)
    seen.show(
        sieve, sieve.ask(WHOLE), source.quantile("x", 0.5, 1), *source.split(cells), *source.split_at_random(1, 1)
    )
    seen.show(PERSONAL.encode(rows))
    seen.fail(BudgetRefused, lambda: source.count(cells, 1000))
    for epsilon in (0, -1, float("nan"), "much", 1e-300):
        seen.fail(BadInput, lambda epsilon=epsilon: source.count(cells, epsilon))
    seen.fail(BadInput, lambda: source.quantile("a", 0.5, 1))
    seen.fail(BadInput, lambda: source.quantile("x", 2, 1))
    seen.fail(BadInput, lambda: source.count(print, 1))
    seen.fail(BadInput, lambda: source.choose([], Rows(), 1))
    seen.fail(BadInput, lambda: source.choose(candidates, Rows(99), 1))
    seen.fail(BadInput, lambda: source.split_at_random(0))
    seen.fail(TypeError, lambda: source.__reduce__())
    for name in SECRETS:
        fewer = frame({other: SECRETS[other] for other in SECRETS if other != name})
        seen.fail(BadInput, lambda fewer=fewer: open_source(fewer, PERSONAL, ledger))
    seen.fail(VeilError, lambda: open_source(rows, PERSONAL, Ledger(1, "other")))


@pytest.mark.parametrize("frame", SECRET_FRAMES.values(), ids=SECRET_FRAMES)
def test_a_secret_in_every_cell_is_nowhere_outside(
    frame: Callable[[dict[str, Any]], Any],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen = Seen()
    with silence(capfd, caplog):
        ledger = Ledger.create(tmp_path / "small.ledger", 100, PERSONAL.name)
        ask_and_fail(frame, ledger, seen)
        seen.show(ledger, *ledger.receipts())
    written = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert len(seen.texts) > 100 and b"count_sparse" in written
    assert SECRET not in "".join(seen.texts)
    assert SECRET.encode() not in written


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet"])
def test_a_secret_in_every_cell_is_shown_to_the_owner_alone_below_the_banner(tmp_path: Path, name: str) -> None:
    schema, rows = tmp_path / "schema.toml", tmp_path / name
    schema.write_text(PERSONAL.to_toml(), encoding="utf-8")
    frame = pd.DataFrame(SECRETS)
    frame.to_parquet(rows) if name.endswith("parquet") else frame.to_csv(rows, index=False)

    def said(*arguments: Any) -> str:
        result = CliRunner().invoke(app, ["schema", *map(str, arguments)], catch_exceptions=False)
        assert result.exit_code == 0
        return result.output

    assert SECRET not in said("new", rows) + said("new", rows, "--label", "a") + said("check", schema)
    before, banner, after = said("check", schema, "--rows", rows).partition("For the owner of the data only")
    assert banner and "NOT private" in " ".join(after.split()) and SECRET not in before and SECRET in after
    found = json.loads(said("check", schema, "--rows", rows, "--json"))
    assert {key for key, part in found.items() if SECRET in json.dumps(part)} == {"not private"}


def test_a_lazy_plan_that_fails_on_a_secret_does_not_quote_it() -> None:
    plan = pl.LazyFrame(SECRETS).with_columns(pl.col("x").cast(pl.Int64))
    with pytest.raises(BadInput) as caught:
        open_source(plan, PERSONAL, Ledger(1, PERSONAL.name))
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert SECRET not in str(caught.value)
