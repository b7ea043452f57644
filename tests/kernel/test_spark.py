"""What workers of Spark make of rows, and the check that it arrives whole, exactly once; without Spark, which
tests/cluster starts."""

import pickle
import subprocess
import sys
from threading import Lock
from time import sleep

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veil.evaluate.scores
import veil.files.spark
import veil.schema.spark as spark
from tests.kernel.test_streams import PLAIN, ROWS, SCHEMAS, SECRET, answers, parquet_folder, same
from veil import (
    BadInput,
    Budget,
    Ledger,
    LogisticRegressionClassifier,
    NaiveBayesClassifier,
    Schema,
    grid,
    open_source,
    private_accuracy,
    private_calibration_curve,
    private_confusion_matrix,
    private_roc_curve,
    trusted,
    wording,
)
from veil.files.parquet import group_tables, row_groups, text_columns
from veil.files.spark import SparkRows
from veil.files.tables import RowFile
from veil.schema.codes import encoder
from veil.schema.spark import FAILED, Record, SparkStream, elsewhere, encoded, in_turn, maker, packed, whole


class Frame:
    """What a data frame of Spark does, without Spark: a part is a list of Arrow batches, and work is pickled."""

    __module__ = "spark.connect.like"

    def __init__(self, parts):
        self.parts = parts

    def mapInArrow(self, work, fields):
        sent = cloudpickle.dumps(work)  # as Spark does
        return Frame([[*pickle.loads(sent)(iter(batches), part=n)] for n, batches in enumerate(self.parts)])

    def toArrow(self):
        return pa.Table.from_batches([batch for part in self.parts for batch in part])

    def toLocalIterator(self):
        return spark._rows(self.toArrow())


def frame_of(table, parts=3, size=100):
    step = -(-len(table) // parts)
    return Frame([table.slice(start, step).to_batches(size) for start in range(0, step * parts, step)])


def stream_of_frame(table=ROWS, **shape):
    types = dict.fromkeys(table.column_names, "")
    return SparkStream(types, elsewhere, lambda names: [(frame_of(table.select([*names]), **shape), None)])


class Session:
    """What a session of Spark does for numbers of row groups."""

    def range(self, first, end, step, parts):
        return frame_of(pa.table({"id": pa.array(range(first, end), pa.int64())}), parts)


@pytest.fixture(autouse=True)
def without_spark(monkeypatch):
    monkeypatch.setattr(spark, "on_worker", encoded)
    monkeypatch.setattr(veil.files.spark, "session", Session)


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("bytes_at_a_time", [1, 9000, 1 << 24])
def test_rows_that_workers_encode_answer_as_in_memory(name, bytes_at_a_time, monkeypatch):
    monkeypatch.setattr(spark, "BYTES", bytes_at_a_time)
    table = ROWS.slice(0, 40) if bytes_at_a_time == 1 else ROWS
    found, expected = (answers(rows, SCHEMAS[name]) for rows in (stream_of_frame(table), table))
    assert all(same(one, other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("bytes_at_a_time", [1, 50_000, 1 << 27])
def test_row_groups_that_workers_open_answer_as_the_file(name, bytes_at_a_time, monkeypatch, tmp_path):
    monkeypatch.setattr(veil.files.spark, "BYTES", bytes_at_a_time)
    path = parquet_folder(tmp_path)
    rows = SparkRows(f"spark:{path}")
    assert rows.types() == RowFile(path).types()
    found, expected = answers(rows.stream(), SCHEMAS[name]), answers(ROWS, SCHEMAS[name])
    assert all(same(one, other) for one, other in zip(found, expected, strict=True))


def test_a_file_of_no_rows_and_folders_with_names_are_read(tmp_path):
    folder = tmp_path / "rows.parquet"
    for town in "ab":
        (folder / f"town={town}").mkdir(parents=True)
        pq.write_table(ROWS.drop_columns(["town"]).slice(0, 9), folder / f"town={town}/0.parquet")
    source = open_source(SparkRows(f"spark:file:{folder}").stream(), PLAIN, Ledger(10**6, "t"), noise=1)
    counts = source.count(grid(PLAIN, "town"), Budget(10**5)).value.sum(axis=1)
    assert counts[0] == counts[1] > 0 and counts[2:].sum() == 0
    pq.write_table(ROWS.slice(0, 0), tmp_path / "none.parquet")
    stream = SparkRows(f"spark:{tmp_path}/none.parquet").stream()
    source = open_source(stream, PLAIN, Ledger(10**6, "t"), noise=1)
    assert source.count(grid(PLAIN, "town"), Budget(10**5)).value.sum() == 0


JUDGES = (private_roc_curve, private_accuracy, private_confusion_matrix, private_calibration_curve)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("model", [NaiveBayesClassifier, LogisticRegressionClassifier])
def test_workers_judge_rows_as_they_are_judged_in_memory(judge, model):
    for schema in (PLAIN, SCHEMAS["people"]):
        fitted = model(epsilon=5, schema=schema, random_state=0, ledger=Ledger(9, schema.name)).fit(ROWS)
        found, spent = [], []
        for rows in (ROWS, stream_of_frame()):
            ledger = Ledger(1, schema.name)
            made = judge(fitted, rows, epsilon=1, schema=schema, random_state=4, ledger=ledger)
            found.append([np.asarray(release.value).tolist() for release in made.releases_])
            spent.append((ledger.spent, {receipt.engine for receipt in made.outcome_.receipts}))
        assert found[0] == found[1] and spent == [(1, {""}), (1, {"Spark"})]


def test_what_fails_while_a_worker_judges_is_told_of_in_no_word(monkeypatch):
    judged = veil.evaluate.scores._picked
    monkeypatch.setattr(
        "veil.evaluate.scores._picked",
        lambda how, names, frame: judged(how, names, frame if isinstance(frame, dict) else frame["nothing"]),
    )
    model = NaiveBayesClassifier(epsilon=5, schema=PLAIN, random_state=0, ledger=Ledger(9, PLAIN.name)).fit(ROWS)
    ledger = Ledger(1, PLAIN.name)
    with pytest.raises(BadInput) as caught:
        private_accuracy(model, stream_of_frame(), epsilon=1, ledger=ledger)
    assert str(caught.value) == wording.SPARK_BROKEN and ledger.spent == 0


def records(parts=3, blocks=2):
    """The records of parts that are whole: blocks of part p have p + 1 rows."""
    for part in range(parts):
        yield from (Record(part, block, part + 1, maker(), b"x") for block in range(blocks))
        yield Record(part, blocks, (part + 1) * blocks, maker(), None)


def refused(records, parts=3):
    with pytest.raises(BadInput) as caught:
        [*whole(records, parts)]
    return str(caught.value)


def test_what_is_whole_is_passed_on():
    assert [*whole(records(), 3)] == [*whole(records())] == [(rows, b"x") for rows in (1, 1, 2, 2, 3, 3)]
    assert [*whole([], 0)] == [] == [*whole([Record(0, 0, 0, maker(), None)], 1)]


@pytest.mark.parametrize("parts", [3, None])
@pytest.mark.parametrize("part", range(3))
def test_a_part_that_arrives_twice_or_half_a_time_more_is_refused(part, parts):
    """A retry that is counted beside the first attempt: what whoever adds up in a side channel would get."""
    own = [one for one in records() if one.part == part]
    others = ([one for one in records() if one.part < part], [one for one in records() if one.part > part])
    for wrong in ([*own, *own], [own[0], *own], [*own, own[0]], [*own, *own[1:]], [own[0], own[0], *own[1:]]):
        assert refused([*others[0], *wrong, *others[1]], parts) == wording.SPARK_TWICE


@given(st.integers(0, 8))
def test_any_record_that_is_lost_is_missed(place):
    every = [*records()]
    assert refused([*every[:place], *every[place + 1 :]]) == wording.SPARK_TWICE


@given(st.permutations(range(9)))
def test_no_other_order_passes(order):
    every = [*records()]
    if order != sorted(order):
        assert refused([every[place] for place in order]) == wording.SPARK_TWICE


def test_a_closing_record_that_tells_other_numbers_is_refused():
    last = Record(0, 1, 3, maker(), None)
    assert refused([Record(0, 0, 2, maker(), b"x"), last], 1) == wording.SPARK_TWICE
    assert refused([Record(0, 0, 3, maker(), b"x"), last._replace(block=2)], 1) == wording.SPARK_TWICE


def test_lost_parts_at_the_end_are_missed_where_their_number_is_known():
    assert refused(records(2), 3) == wording.SPARK_TWICE


def test_a_block_that_holds_other_rows_than_its_label_says_is_refused():
    block = packed({"a": np.zeros(3, np.uint8)})
    assert spark.unpacked(3, block, ["a"])["a"].tolist() == [0, 0, 0]
    with pytest.raises(BadInput, match="exactly once"):
        spark.unpacked(2, block, ["a"])


def test_workers_of_another_version_are_refused_in_their_first_record():
    first, *others = records()
    assert refused([first._replace(said="(3, 9) 1.0"), *others]) == wording.SPARK_OTHERS
    make = pytest.fail  # workers that know to be different encode nothing
    made = spark._rows(pa.Table.from_batches([*encoded([], 0, make, "another", [])]))
    assert [(one.said, one.codes) for one in made] == [(maker(), None)]


def test_the_version_changes_with_the_code(monkeypatch):
    before = maker()
    monkeypatch.setattr(spark.np, "__version__", "0.0")
    spark.maker.cache_clear()
    assert spark.maker() != before
    monkeypatch.undo()
    spark.maker.cache_clear()
    assert spark.maker() == before


def broken(number):
    yield ROWS.slice(0, 10)
    raise ValueError(f"cannot convert {SECRET}")


def test_an_error_on_a_worker_brings_no_word_of_it():
    numbers = pa.record_batch({"id": pa.array([0], pa.int64())})
    make = spark.partial(encoder, PLAIN.column, "kind", None)
    batches = [*encoded([numbers], 0, make, maker(), [], broken)]
    found = [*spark._rows(pa.Table.from_batches(batches))]
    assert found[-1].said == FAILED and SECRET not in str(found)
    assert refused(found) == wording.SPARK_BROKEN
    stream = SparkStream(dict.fromkeys(ROWS.column_names, ""), elsewhere, lambda _: [(Frame([[numbers]]), 1)], opened)
    ledger = Ledger(1, "t")
    with pytest.raises(BadInput) as caught:
        open_source(stream, PLAIN, ledger)
    assert str(caught.value) == wording.SPARK_BROKEN and ledger.spent == 0
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def opened(names, number):
    return broken(number)


def test_whatever_spark_says_is_not_repeated():
    def failing(names):
        raise RuntimeError(f"[CAST_INVALID_INPUT] {SECRET}")

    with pytest.raises(BadInput) as caught:
        open_source(SparkStream(dict.fromkeys(ROWS.column_names, ""), elsewhere, failing), PLAIN, Ledger(1, "t"))
    assert str(caught.value) == wording.SPARK_BROKEN and caught.value.__suppress_context__


def test_a_file_that_changed_since_it_was_looked_at_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(ROWS, path)
    stream = SparkRows(f"spark:{path}").stream()
    pq.write_table(ROWS.slice(1), path)
    with pytest.raises(BadInput, match="did not bring the rows"):
        open_source(stream, PLAIN, Ledger(1, "t"))


def test_texts_come_coded_and_only_the_named_columns(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(ROWS, path, row_group_size=1000)
    pieces = row_groups(path)
    [table] = group_tables(pieces, text_columns(path), ["kind", "age"], 1)
    assert table.column_names == ["kind", "age"] and pa.types.is_dictionary(table.schema.field("kind").type)
    assert table["age"].to_pylist() == ROWS["age"].to_pylist()[1000:2000] and [one.rows for one in pieces] == [1000] * 3


class Field:
    def __init__(self, name, kind):
        self.name, self.kind, self.dataType = name, kind, self

    def simpleString(self):
        return self.kind


class Fields:
    """What a data frame of Spark says of its columns; nothing of it may run."""

    __module__ = "pyspark.sql.classic.dataframe"
    isStreaming, mapInArrow = False, None

    def __init__(self, *names, kind="int"):
        self.columns, self.schema = [*names], self
        self.fields = [Field(name, kind) for name in names]


def test_columns_are_checked_by_name_before_anything_runs():
    with pytest.raises(BadInput, match="no column 'town'"):
        open_source(Fields("dose", "age", "kind"), PLAIN, Ledger(1, "t"))
    with pytest.raises(BadInput, match="two columns have the same name"):
        open_source(Fields("age", "age"), PLAIN, Ledger(1, "t"))
    with pytest.raises(BadInput, match="'dose' has the type list<string>, of which nothing can be read"):
        NaiveBayesClassifier(schema=PLAIN, ledger=Ledger(1, "t")).fit(
            Fields("dose", "age", "town", "kind", kind="array<string>")
        )
    with pytest.raises(BadInput, match="has the type interval day, of which nothing can be read as numeric"):
        NaiveBayesClassifier(schema=PLAIN, ledger=Ledger(1, "t")).fit(
            Fields("dose", "age", "town", "kind", kind="interval day")
        )
    endless = Fields("age")
    endless.isStreaming = True
    with pytest.raises(BadInput, match="no endless stream"):
        open_source(endless, PLAIN, Ledger(1, "t"))


def test_rows_at_spark_cannot_be_had_here():
    model = NaiveBayesClassifier(schema=PLAIN, ledger=Ledger(9, "t")).fit(stream_of_frame())
    with pytest.raises(BadInput, match="collect the rows first"):
        model.predict(Fields("dose", "age", "town"))
    with pytest.raises(BadInput, match="codes alone"):
        stream_of_frame().frames(["age"]).__next__()


def test_what_an_auditor_reads_names_spark_where_it_was_used():
    used = []
    for rows in (stream_of_frame(), ROWS):
        outcome = NaiveBayesClassifier(schema=PLAIN, ledger=Ledger(9, "t")).fit(rows).outcome_
        used.append({file.name for file in trusted.files_used(outcome.schema, outcome.releases, outcome.receipts)})
    assert used[0] - used[1] == {"schema/spark.py"} and used[1] <= used[0]
    assert "encoded by Spark" in repr(open_source(stream_of_frame(), PLAIN, Ledger(9, "t")).occupied(
        grid(PLAIN, "age"), Budget(1)).receipt)  # fmt: skip


def test_spark_is_loaded_by_those_alone_who_use_it():
    program = (
        "import sys, veil, veil.cli, veil.kernel, veil.models; veil.open_source({'a': [1]}, veil.Schema(name='t', "
        "column=[veil.Numeric(name='a', bounds=(0, 1))]), veil.Ledger(1, 't')); "
        "assert not {'pyspark', 'veil.schema.spark', 'veil.files.spark'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_results_come_in_the_order_of_jobs_and_few_at_a_time():
    lock, inside, most = Lock(), [0], []

    def job(number):
        def run():
            with lock:
                inside[0] += 1
                most.append(inside[0])
            sleep(0.002 * (number % 3))
            with lock:
                inside[0] -= 1
            return number

        return run

    assert [*in_turn([job(number) for number in range(20)], 3)] == [*range(20)] and max(most) <= 3
    assert [*in_turn([], 3)] == []


def test_a_job_that_fails_ends_the_others_before_they_begin():
    ran = []

    def fail():
        raise KeyError

    with pytest.raises(KeyError):
        [*in_turn([fail, *(lambda: ran.append(1) for _ in range(50))], 2)]
    assert len(ran) <= 3


@pytest.mark.parametrize("place", ["spark:", "spark:/data/rows.csv", "spark:hdfs://host/rows.csv.gz"])
def test_other_files_are_refused_before_spark_is_started(place, monkeypatch):
    monkeypatch.setattr(veil.files.spark, "session", pytest.fail)
    with pytest.raises(BadInput, match="spark: is for Parquet"):
        SparkRows(place).types()


def test_the_command_line_names_the_package_that_is_missing(start, tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    (tmp_path / "s.toml").write_text(PLAIN.to_toml())
    code, _, said = start("train", "spark:hospital.visits", "--schema", tmp_path / "s.toml", "--epsilon", "1")
    assert code == 2 and "pip install 'veil[spark]'" in said


def test_commands_read_what_spark_reads(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(ROWS, "rows.parquet", row_group_size=500)
    (tmp_path / "s.toml").write_text(PLAIN.to_toml())
    for command in (
        ["train", "--method", "naive-bayes", "--out", "m.veil"],
        ["publish", "--out", "p.veil"],
        ["select"],
    ):
        given = [command[0], "spark:rows.parquet", "--schema", "s.toml", "--epsilon", "1", *command[1:]]
        code, told, said = start(*given)
        assert code == 0, said
    assert "schema/spark.py" in (tmp_path / "m.html").read_text()
    judge = ["evaluate", "m.veil", "spark:rows.parquet", "--schema", "s.toml", "--epsilon", "1"]
    code, told, said = start(*judge)
    assert code == 0 and "AUC" in told, said
    assert "schema/spark.py" in (tmp_path / "evaluation.html").read_text()
    code, _, said = start("predict", "m.veil", "spark:rows.parquet", "--out", "p.csv")
    assert code == 2 and not (tmp_path / "p.csv").exists()
    assert Schema.read("s.toml") == PLAIN
