"""Rows that come in batches answer like the same rows in memory, whoever hands them over."""

import errno
import os
import tempfile
from functools import partial

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veil
from veil import BadInput, Budget, Categorical, Ledger, NaiveBayesClassifier, Numeric, Schema, Text, grid, open_source
from veil.evaluate.together import fit_and_evaluate
from veil.files.tables import RowFile
from veil.kernel import Gini, Hinge, Logistic, Softmax
from veil.kernel import source as source_module
from veil.kernel.shelf import Shelf, taken
from veil.models import METHODS
from veil.questions import bag
from veil.schema.streams import Stream, stream_of

SIZE, SECRET = 3_000, "Wotan"
CHANCE = np.random.default_rng(5)
KIND = CHANCE.choice(["no", "yes", "?"], SIZE, p=[0.6, 0.38, 0.02])
ROWS = pa.table(
    {
        "dose": np.where(KIND == "yes", 4.0, 2.0) + CHANCE.normal(0, 1, SIZE),
        "age": CHANCE.integers(18, 98, SIZE),
        "town": pa.array(CHANCE.choice([*"abcde"], SIZE)),
        "said": pa.array(CHANCE.choice(["free prize now", "see you there", "prize", ""], SIZE)),
        "who": CHANCE.integers(0, 900, SIZE),
        "kind": pa.array(KIND),
        "junk": CHANCE.normal(0, 1, SIZE),
    }
)
COLUMNS = [
    Numeric(name="dose", bounds=(0, 1_000_000)),
    Numeric(name="age", bounds=(18, 98), bins=4),
    Categorical(name="town", values=tuple("abcde")),
    Categorical(name="kind", values=("no", "yes")),
]
TEXT = Text(name="said", words=("free", "prize", "see", "you"), words_per_row=2)
PLAIN = Schema(name="t", label="kind", column=COLUMNS)
SCHEMAS = {
    "plain": PLAIN,
    "people": Schema(name="t", label="kind", person="who", rows_per_person=2, column=COLUMNS),
    "texts": Schema(name="t", label="kind", column=[TEXT, *COLUMNS]),
    "no label": Schema(name="t", column=COLUMNS[:3]),
}


class Exported:
    """What any library with an Arrow stream looks like."""

    def __arrow_c_stream__(self, requested=None):
        return ROWS.__arrow_c_stream__(requested)


def parquet_folder(place):
    for part in range(3):
        os.makedirs(place / "rows.parquet", exist_ok=True)
        pq.write_table(ROWS.slice(part * 1000, 1000), place / f"rows.parquet/{part}.parquet", row_group_size=300)
    return place / "rows.parquet"


HANDED = {
    "reader": lambda _: ROWS.to_reader(max_chunksize=7),
    "data set": lambda place: pyarrow.dataset.dataset(parquet_folder(place), format="parquet"),
    "lazy frame": lambda _: pl.from_arrow(ROWS).lazy(),
    "scanned files": lambda place: pl.scan_parquet(parquet_folder(place) / "*.parquet"),
    "arrow stream": lambda _: Exported(),
    "relation": lambda _: duckdb.from_arrow(ROWS),
    "file": lambda place: RowFile(parquet_folder(place)).stream(),
}


@pytest.fixture(params=["memory", "files"])
def shelved(request, monkeypatch):
    """Codes in memory, or in files as those of many rows are."""
    if request.param == "files":
        monkeypatch.setattr("veil.kernel.reading.Shelf", partial(Shelf, most=0))


def answers(rows, schema):
    """One of every kind of answer, with seeded noise."""
    source = open_source(rows, schema, Ledger(1000, "t"), noise=1)
    cells, one = grid(schema, "town", "age"), Budget(1)
    more, less = source.split_at_random(4, 1)
    found = [source.count(cells, one), more.count(grid(schema, "dose"), one), less.count(cells, one)]
    found += [source.occupied(cells, one), source.count_sparse(cells, one), source.split(cells)[3].count(cells, one)]
    if schema.label:
        found += [source.choose([grid(schema, "age"), cells], Gini(), one)]
        found += [source.minimise(Logistic(), [grid(schema, "town")], one, label=1, penalty=[1])]
    if schema.texts:
        found.append(source.count(bag(schema), one))
    return [release.value for release in found]


def same(one, other):
    if hasattr(one, "codes"):
        return np.array_equal(one.codes, other.codes) and np.array_equal(one.counts, other.counts)
    return one.describe() == other.describe() if hasattr(one, "describe") else np.array_equal(one, other)


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("handed", HANDED)
def test_batches_answer_as_the_same_rows_in_memory(handed, name, shelved, tmp_path):
    expected = answers(ROWS, SCHEMAS[name])
    for one, other in zip(answers(HANDED[handed](tmp_path), SCHEMAS[name]), expected, strict=True):
        assert same(one, other)


@pytest.mark.parametrize("method", ["naive-bayes", "logistic", "tree", "privpfc", "auto"])
def test_models_are_the_same_from_batches(method, shelved):
    fits = [METHODS[method](epsilon=1, schema=PLAIN, random_state=3).fit(rows) for rows in (ROWS, ROWS.to_reader())]
    assert len({str([np.asarray(release.value).tolist() for release in one.releases_]) for one in fits}) == 1
    assert [*fits[1].feature_names_in_] == ["dose", "age", "town"]


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Softmax()], ids=repr)
@pytest.mark.parametrize("block", [70, 1 << 15])
@pytest.mark.parametrize("others", [False, True])
def test_weights_are_the_same_from_files_and_of_parts_of_them(loss, block, others, shelved, monkeypatch):
    """Labels that are no class are left out of batches at once, so blocks end elsewhere, and roundings differ."""
    monkeypatch.setattr("veil.kernel.verbs.minimise.CHUNK", block)
    rows, label = (
        ROWS if others else ROWS.filter(pa.array(KIND != "?")),
        {} if isinstance(loss, Softmax) else {"label": 1},
    )
    found = []
    for given_rows in (rows, rows.to_reader()):
        source = open_source(given_rows, PLAIN, Ledger(9, "t"), noise=4)
        for part in (
            source,
            *source.split(grid(PLAIN, "town"))[:2],
            *source.split_at_random(2, 1)[: 0 if others else 2],
        ):
            asked = [grid(PLAIN, "age"), grid(PLAIN, "town")]
            found.append(part.minimise(loss, asked, Budget(1), penalty=8, **label).value)
    apart = np.abs(np.array(found[: len(found) // 2]) - np.array(found[len(found) // 2 :])).max()
    assert apart <= (2**4 if others else 0)  # of 2^30


def test_a_test_share_is_set_apart_from_batches_too(shelved):
    made = [NaiveBayesClassifier(epsilon=1, schema=PLAIN, random_state=3) for _ in range(2)]
    curves = [
        fit_and_evaluate(model, rows, share=0.3, epsilon=1, ledger=Ledger(1, "t"))
        for model, rows in zip(made, (ROWS, pl.from_arrow(ROWS).lazy()), strict=True)
    ]
    assert curves[0].auc == curves[1].auc


def test_a_goal_is_walked_to_from_batches_too(shelved):
    asked = {"epsilon": 1, "schema": PLAIN, "random_state": 3}
    walks = [NaiveBayesClassifier(**asked).fit_until(rows, goal="auc=0.6", at_most=2) for rows in (ROWS, Exported())]
    assert walks[0].outcome_.until == walks[1].outcome_.until


def test_a_histogram_is_published_from_batches(shelved, tmp_path):
    maps = [veil.publish(rows, PLAIN, epsilon=1, columns=["age", "dose"], random_state=2) for rows in
            (ROWS, HANDED["data set"](tmp_path))]  # fmt: skip
    assert np.array_equal(maps[0].query(age=(20, 50)), maps[1].query(age=(20, 50)))


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.booleans())
def test_where_batches_end_changes_nothing(ends, in_files):
    ends = sorted(ends)
    parts = [ROWS.slice(start, end - start) for start, end in zip([0, *ends], [*ends, 60], strict=True)]
    stream = Stream(dict.fromkeys(ROWS.column_names, ""), lambda names: (part.select([*names]) for part in parts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("veil.kernel.reading.Shelf", partial(Shelf, most=0 if in_files else 100))
        source = open_source(stream, SCHEMAS["people"], Ledger(9, "t"), noise=1)
    whole = open_source(ROWS.slice(0, 60), SCHEMAS["people"], Ledger(9, "t"), noise=1)
    cells = grid(PLAIN, "town", "age")
    assert np.array_equal(source.count(cells, Budget(1)).value, whole.count(cells, Budget(1)).value)


def test_only_declared_columns_are_read():
    asked = []

    def batches(names):
        asked.extend(names)
        return iter([ROWS.select([*names])])

    open_source(Stream(dict.fromkeys(ROWS.column_names, ""), batches), PLAIN, Ledger(1, "t"))
    assert sorted(asked) == ["age", "dose", "kind", "town"]


def test_files_of_codes_have_no_name(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("veil.kernel.reading.Shelf", partial(Shelf, most=0))
    source = open_source(ROWS.to_reader(), PLAIN, Ledger(1, "t"))
    assert isinstance(source._table.column("town"), np.memmap) and not os.listdir(tmp_path)


def test_few_codes_are_never_written_to_a_disk(monkeypatch):
    monkeypatch.setattr("veil.kernel.shelf.TemporaryFile", None)
    open_source(ROWS.to_reader(), PLAIN, Ledger(1, "t"))


def test_codes_that_are_looked_up_stay_in_files():
    shelf = Shelf(most=0)
    shelf.add({"a": np.arange(9, dtype=np.uint8)})
    places = shelf.columns()["a"]
    found = taken(np.arange(9, dtype=np.uint16) * 7, places)
    assert isinstance(found, np.memmap) and found.tolist() == [7 * place for place in range(9)]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_full_disk_is_called_so_before_a_charge(monkeypatch, code):
    class Full:
        def write(self, _):
            raise OSError(code, SECRET)

    monkeypatch.setattr("veil.kernel.shelf.TemporaryFile", Full)
    monkeypatch.setattr("veil.kernel.reading.Shelf", partial(Shelf, most=0))
    ledger = Ledger(1, "t")
    with pytest.raises(BadInput, match="no room for the codes") as caught:
        open_source(ROWS.to_reader(), PLAIN, ledger)
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None and ledger.spent == 0


def test_what_a_reader_says_of_a_value_is_not_repeated():
    frame = pl.LazyFrame({name: [SECRET] for name in [column.name for column in COLUMNS]}).with_columns(
        pl.col("age").cast(pl.Int64)
    )
    with pytest.raises(BadInput, match="^the rows cannot be read to their end") as caught:
        open_source(frame, PLAIN, Ledger(1, "t"))
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None and caught.value.__suppress_context__


def test_a_reader_is_read_but_once():
    reader = ROWS.to_reader()
    open_source(reader, PLAIN, Ledger(1, "t"))
    with pytest.raises(BadInput, match="can be read but once"):
        open_source(reader, PLAIN, Ledger(1, "t"))


def test_missing_columns_are_named(tmp_path):
    with pytest.raises(BadInput, match="no column 'dose', 'kind'"):
        open_source(ROWS.drop(["dose", "kind"]).to_reader(), PLAIN, Ledger(1, "t"))


def test_labels_apart_from_batches_are_refused():
    with pytest.raises(BadInput, match="leave y out"):
        NaiveBayesClassifier(schema=PLAIN).fit(ROWS.to_reader(), KIND)


def test_a_column_of_an_unfit_type_is_refused_before_it_is_read():
    times = ROWS.set_column(0, "dose", pa.array([0] * SIZE, pa.timestamp("s")))
    with pytest.raises(BadInput, match="has the type timestamp"):
        NaiveBayesClassifier(schema=PLAIN).fit(times.to_reader())


def test_no_batches_at_all_are_a_table_without_rows(shelved):
    nothing = pa.RecordBatchReader.from_batches(ROWS.schema, [])
    source = open_source(nothing, PLAIN, Ledger(10**6, "t"), noise=1)
    assert (source.count(grid(PLAIN, "town"), Budget(10**5)).value == 0).all()


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, name):
    path = tmp_path / name
    ROWS.to_pandas().to_csv(path, index=False) if name.endswith("csv") else pq.write_table(ROWS, path)
    batches = RowFile(path).stream().frames(["age"])
    next(batches)
    os.utime(path, (1, 1))
    with pytest.raises(BadInput, match="was changed while it was read"):
        list(batches)


def test_rows_in_memory_are_no_stream():
    for rows in (ROWS, ROWS.to_pandas(), pl.from_arrow(ROWS), {"a": [1]}, np.zeros((2, 2)), [[1]], None, 3):
        assert stream_of(rows) is None


class Refusing:
    """A stream that computes its rows when it is opened, and quotes one of them if it cannot."""

    def __arrow_c_stream__(self, requested=None):
        raise ValueError(f"cannot convert {SECRET}")


def test_what_a_stream_says_when_it_is_opened_is_not_repeated():
    for rows in (Refusing(), pl.scan_csv(f"/nowhere/{SECRET}.csv")):
        with pytest.raises(BadInput, match="cannot be read to their end") as found:
            open_source(rows, PLAIN, Ledger(1, "t"))
        assert SECRET not in str(found.value)


def in_folders(place, keys):
    """One row for each key, which is the name of its folder."""
    for number, key in enumerate(keys):
        (folder := place / "rows.parquet" / f"town={key}").mkdir(parents=True)
        pq.write_table(pa.table({"age": [number]}), folder / "0.parquet")
    return RowFile(place / "rows.parquet")


@pytest.mark.parametrize("more", ["x", "9", "0x11", "1e3", "__HIVE_DEFAULT_PARTITION__", "9999999999"])
def test_a_folder_of_one_row_changes_no_other_rows_town(more, tmp_path):
    keys = ["0x10", "7", "08", "-0", "2020"]
    few, many = in_folders(tmp_path / "few", keys), in_folders(tmp_path / "many", [*keys, more])
    schema = Schema(name="t", column=[Categorical(name="town", values=("0x10", "16", "7", "8", "0", "2020", "9"))])
    found = [open_source(rows, schema, Ledger(10**6, "t")).count(grid(schema, "town"), Budget(10**6)).value
             for rows in (few.stream(), many.stream(), few.read(), many.read())]  # fmt: skip
    for fewer, other in (found[:2], found[2:]):
        assert np.abs(other - fewer).sum() == 1
    assert few.types() == {"age": "int64", "town": "string"}


MIXED = {
    "whole numbers": ("age", [20, 31, 97], pa.int64()),
    "whole numbers with a gap": ("age", [20, None, 97], pa.float64()),
    "texts": ("age", ["20", "?", "97.0"], pa.string()),
    "short floats": ("dose", [0.1, 2.3, None], pa.float32()),
    "floats": ("dose", [0.1, float("nan"), 1e20], pa.float64()),
    "a truth": ("town", [True, None, False], pa.bool_()),
    "a dictionary": ("town", ["True", "b", "1"], pa.dictionary(pa.int8(), pa.string())),
    "numbers": ("town", [1, 2, 3], pa.int8()),
}
WHO = Schema(
    name="t",
    person="who",
    rows_per_person=1,
    column=[Numeric(name="dose", bounds=(0, 3), edges=(0, 0.1, 0.10000000149, 0.2, 2.3, 3)), COLUMNS[1],
            Categorical(name="town", values=("True", "b", "1"))],
)  # fmt: skip


@pytest.mark.parametrize("first", MIXED)
@pytest.mark.parametrize("second", MIXED)
def test_a_folder_whose_files_differ_in_type_is_the_same_rows_in_memory_and_in_batches(first, second, tmp_path):
    """One missing value may have changed the type of a file's column: it must not decide whether rows can be read."""
    for number, what in enumerate((first, second)):
        name, values, kind = MIXED[what]
        plain = {"dose": [1.0, 2.0, 2.5], "age": [18, 50, 60], "town": ["b", "1", "?"], "who": [1, 2, 3]}
        table = pa.table({**plain, name: pa.array(values, kind)})
        pq.write_table(table.set_column(3, "who", pa.array([2**53 + number, 4, 5])), tmp_path / f"{number}.parquet")
    files = RowFile(tmp_path)
    for one, other in zip(answers(files.stream(), WHO), answers(files.read(), WHO), strict=True):
        assert same(one, other)


def test_receipts_bear_the_time_before_rows_are_read(monkeypatch):
    """That of reading would tell about how many rows there are."""
    happened = []
    read, run = source_module.read_table, Ledger.run
    monkeypatch.setattr(source_module, "read_table", lambda *given: happened.append("read") or read(*given))
    monkeypatch.setattr(Ledger, "run", lambda *given: happened.append("run") or run(*given))
    open_source(ROWS, PLAIN, Ledger(1, PLAIN.name))
    assert happened == ["run", "read"]
