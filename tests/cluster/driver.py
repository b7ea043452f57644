"""What one process asks of Spark: `python -m tests.cluster.driver PLACE FOLDER CHECK ...` prints what each check found.

It is a process of its own for every cluster, since a process has one Spark. What runs on workers is sent there as it is
written here.
"""

import json
import os
import signal
import sys
import traceback
import warnings
from decimal import Decimal
from functools import partial
from pathlib import Path
from time import monotonic

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import veil.schema.spark as spark
from experiments.bench.scale import SCHEMA, part
from tests.kernel.test_streams import PLAIN, ROWS, SCHEMAS, SECRET, answers, parquet_folder, same
from veil import (
    BadInput,
    Budget,
    Categorical,
    Date,
    Ledger,
    NaiveBayesClassifier,
    Numeric,
    Schema,
    open_source,
    private_roc_curve,
    publish,
)
from veil.evaluate.together import fit_and_evaluate
from veil.files.spark import SparkRows
from veil.kernel import Majority, RightBeyond
from veil.models import METHODS
from veil.questions import WHOLE, axis

LARGE, WIDE = part(400_000, 3, 0), Schema.loads(SCHEMA)  # of which each half takes more than one block
MINE = dict(vars(spark))  # as it is


def started(place):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if place.startswith("sc://"):
        os.environ["SPARK_REMOTE"] = place  # as whoever uses the command line says it
        return builder.getOrCreate()
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.executor.memory": "900m",
        "spark.speculation": "true",
        "spark.speculation.multiplier": "1.1",
        "spark.driver.host": "127.0.0.1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.master(place).getOrCreate()


def codes(rows, schema=WIDE):
    """The codes of all rows in their order."""
    table = open_source(rows, schema, Ledger(1, schema.name), noise=1)._table
    return [table.column(column.name, finest=True) for column in schema.column]


def equal(rows, table=LARGE, schema=WIDE):
    return all(np.array_equal(*pair) for pair in zip(codes(rows, schema), codes(table, schema), strict=True))


def said(ask):
    """The sentence by which something is refused, and whether a value or anything else is told beside it."""
    try:
        ask()
    except BadInput as error:
        told = "".join(traceback.format_exception(error))
        return [str(error), SECRET in told or "pyspark" in told.rpartition("\n\n")[2]]
    return ["nothing", False]


def further(rows):
    """Answers of the verbs that `answers` does not use."""
    source, one = open_source(rows, PLAIN, Ledger(1000, "t"), noise=4), Budget(1)
    found = [source.quantiles("age", 2, one), source.misordered("age", 1, one)]
    towns = axis(PLAIN.get("town"))
    found += [source.choose_each(WHOLE, [towns, axis(PLAIN.get("age"))], Majority(), one)]
    found += [source.choose_best([towns, axis(PLAIN.get("age"))], Majority(), one, count=1)]
    values = [np.asarray(release.value).tolist() for release in found]
    passed = source.above(RightBeyond("0.5"), 0, one).ask
    return [*values, str(passed is not None)]


def made(rows):
    """Models of several methods, a goal reached, a part kept apart and a synthetic table: what they asked and got."""
    fits = [METHODS[name](epsilon=1, schema=PLAIN, random_state=3) for name in ("naive-bayes", "logistic", "tree")]
    found = [model.fit(rows).releases_ for model in fits]
    naive = partial(NaiveBayesClassifier, epsilon=1, schema=PLAIN, random_state=3)
    walked = naive().fit_until(rows, goal="auc=0.6", at_most=2).outcome_.until
    judged = fit_and_evaluate(naive(), rows, share=0.3, epsilon=1, ledger=Ledger(1, "t")).auc
    found.append(publish(rows, PLAIN, epsilon=1, method="marginals", random_state=2).outcome_.releases)
    return [[str(np.asarray(one.value).tolist()) for one in releases] for releases in found], walked, judged


def breaking(how, folder):
    """What workers run in place of Veil's: once (`always`: every time) for a part, after its first record, it fails."""

    def on_worker(batches, **given):
        from pyspark import TaskContext

        from veil.schema.spark import encoded

        number = TaskContext.get().partitionId()
        for record in encoded(batches, number, **given):
            yield record
            try:
                os.close(os.open(os.path.join(folder, f"{how}-{number}"), os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                if "always" not in how:
                    continue
            if "raise" in how:
                raise RuntimeError("a first attempt")
            if "exit" in how:
                os._exit(1)
            if number == 0:
                with open(f"/proc/{os.getppid()}/stat") as about:  # the daemon of workers, whose parent is Java
                    parent = int(about.read().rpartition(")")[2].split()[1])
                with open(f"/proc/{parent}/comm") as name:
                    if name.read().strip() == "java":  # and not whoever adopted it, when Java has ended already
                        os.kill(parent, signal.SIGKILL)

    return on_worker


def keeping(folder):
    """A worker that puts its records down beside, as a side channel does, and whose first attempt fails."""

    def on_worker(batches, **given):
        from pyspark import TaskContext

        from veil.schema.spark import encoded

        context = TaskContext.get()
        for count, record in enumerate(encoded(batches, context.partitionId(), **given)):
            name = f"{context.partitionId()}-{context.attemptNumber()}-{count}.kept"
            with pa.OSFile(os.path.join(folder, name), "wb") as file, pa.ipc.new_stream(file, record.schema) as stream:
                stream.write_batch(record)
            yield record
            if context.attemptNumber() == 0 and context.partitionId() == 1:
                raise RuntimeError("a first attempt")

    return on_worker


def twin(folder, attempts):
    """What arrives, if a twin takes the records of these attempts from the side channel instead of Spark's results."""

    def arriving(frames, remote):
        [*frames[0][0].toLocalIterator()]
        named = [[*map(int, path.stem.split("-"))] + [path] for path in Path(folder).glob("*.kept")]
        kept = [path for _, attempt, _, path in sorted(named) if attempt in attempts]
        tables = [pa.ipc.open_stream(path.read_bytes()).read_all() for path in kept]
        return [((row for table in tables for row in spark._rows(table)), frames[0][0].rdd.getNumPartitions())]

    return arriving


class Checks:
    """Each method is a check, and gives what it found as JSON can hold it."""

    def __init__(self, session, folder):
        self.session, self.folder, self.path = session, folder, folder / "large.parquet"
        pq.write_table(LARGE, self.path, row_group_size=100_000)
        session.conf.set("spark.sql.files.maxPartitionBytes", str(self.path.stat().st_size // 2 + 100_000))

    def large(self):
        """In two parts."""
        return self.session.read.parquet(str(self.path))

    def frame(self, table):
        return self.session.createDataFrame(table)

    def parquet(self):
        return SparkRows(f"spark:{self.path}").stream()

    def same_answers(self):
        frame, found = self.frame(ROWS), []
        for schema in SCHEMAS.values():
            found += [same(*pair) for pair in zip(answers(frame, schema), answers(ROWS, schema), strict=True)]
        return [all(found), len(found)]

    def same_codes(self):
        return equal(self.large()) and equal(self.parquet())

    def same_from_a_path(self):
        """What Spark reads, and what workers open."""
        place = parquet_folder(self.folder)
        rows = [self.session.read.parquet(f"{place}/1.parquet"), SparkRows(f"spark:{place}").stream()]
        return [equal(rows[0], ROWS.slice(1000, 1000), PLAIN), equal(rows[1], ROWS, PLAIN)]

    def further_verbs(self):
        return further(self.frame(ROWS)) == further(ROWS)

    def models(self):
        return made(self.frame(ROWS)) == made(ROWS)

    def judged(self):
        """What a model is worth on rows that workers judge, and by whom receipts say they were encoded."""
        model = NaiveBayesClassifier(epsilon=5, schema=PLAIN, random_state=0, ledger=Ledger(9, "t")).fit(ROWS)
        asked = {"epsilon": 1, "random_state": 4}
        found = [private_roc_curve(model, rows, **asked, ledger=Ledger(1, "t")) for rows in (ROWS, self.frame(ROWS))]
        values = [[np.asarray(release.value).tolist() for release in one.releases_] for one in found]
        return [values[0] == values[1], *sorted({one.engine for one in found[1].outcome_.receipts})]

    def awkward_names(self):
        table = pa.table({"a.b": [1, 2], "`": ["x", "y"], "a b": [1, 1]})
        columns = [Categorical(name=name, values=("1", "2", "x")) for name in table.column_names]
        schema = Schema(name="t", column=columns)
        return equal(self.frame(table), table, schema)

    def times_and_people(self):
        """Times in another zone, decimals, and people by texts that are spelled in several ways."""
        draw, size, year = np.random.default_rng(0), 1000, ("2020-01-01", "2021-01-01")
        seconds = draw.integers(0, 366 * 86400, size) + 1577836800
        who = ["a 1", "A1", "01", "1", "1.0", "é", "", None, "nan"]
        table = pa.table(
            {
                "zoned": pa.array(seconds * 10**6, pa.timestamp("us", tz="UTC")),
                "naive": pa.array(seconds * 10**6, pa.timestamp("us")),
                "day": pa.array((seconds // 86400).astype(np.int32), pa.date32()),
                "paid": pa.array([Decimal(int(cents)) / 100 for cents in draw.integers(0, 10**4, size)]),
                "who": pa.array([who[place] for place in draw.integers(0, len(who), size)]),
            }
        )
        pq.write_table(table, path := str(self.folder / "times.parquet"))
        columns = [Date(name=name, bounds=year) for name in ("zoned", "naive", "day")]
        columns.append(Numeric(name="paid", bounds=(0, 100), bins=16))
        schema = Schema(name="t", person="who", rows_per_person=30, column=columns)
        self.session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        both = self.session.read.parquet(path), table
        tables = [open_source(rows, schema, Ledger(1, "t"), noise=1)._table for rows in both]
        found = [[one._rows.cells, *(one.column(column.name) for column in columns)] for one in tables]
        return [bool(np.array_equal(*pair)) for pair in zip(*found, strict=True)]

    def broken(self, how):
        spark.on_worker = breaking(how, str(self.folder))
        found = [equal(self.large())]
        spark.on_worker = breaking(f"{how} files", str(self.folder))
        return [*found, equal(self.parquet()), len([*self.folder.glob(f"{how}*")]) > 2]

    def first_attempts_raise(self):
        return self.broken("raise")

    def workers_exit(self):
        return self.broken("exit")

    def executor_killed(self):
        return self.broken("kill")

    def a_twin_counts_twice(self):
        spark.on_worker, spark._arriving = keeping(str(self.folder)), twin(self.folder, (0, 1, 2, 3))
        return said(lambda: codes(self.large()))

    def a_twin_drops_a_retry(self):
        spark.on_worker, spark._arriving = keeping(str(self.folder)), twin(self.folder, (0,))
        return said(lambda: codes(self.large()))

    def other_versions(self):
        spark.maker = lambda: "(3, 10) 1.26"
        return said(lambda: codes(self.large()))

    def no_value_is_told(self):
        frame = self.frame(ROWS).selectExpr("dose", "age", f"if(age = 20, '{SECRET}', town) as town", "kind")
        frame = frame.selectExpr("dose", "cast(town as int) as age", "town", "kind")
        ledger = Ledger(1, "t")
        return [*said(lambda: open_source(frame, PLAIN, ledger)), str(ledger.spent)]

    def missing_column(self):
        return said(lambda: open_source(self.frame(ROWS.drop_columns(["town"])), PLAIN, Ledger(1, "t")))

    def drawn_at_random(self):
        frame = self.frame(ROWS).filter("rand() < 0.5")
        return said(lambda: open_source(frame, PLAIN, Ledger(1, "t")))

    def gone(self):
        """Java, or the server, ends in the middle; the time it takes until that is said is found too."""
        if "SPARK_REMOTE" in os.environ:
            from pyspark.sql.connect.client.retries import DefaultPolicy

            self.session.client.set_retry_policies([DefaultPolicy(max_retries=2)])
        spark.on_worker, before = breaking("kill always", str(self.folder)), monotonic()
        return [*said(lambda: codes(self.large())), monotonic() - before < 200]


def main(place, folder, *names):
    warnings.simplefilter("ignore")
    checks = Checks(started(place), Path(folder))
    for name in names:
        vars(spark).update(MINE)
        begun = monotonic()
        print(json.dumps([name, getattr(checks, name)(), monotonic() - begun]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)
