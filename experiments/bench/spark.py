"""Rows from Spark beside the same rows from a file: `python -m experiments.bench.spark [rows]`, or `make bench-spark`.

Each measurement is a process of its own that trains naive Bayes; what counts is the processor time of it and of all
that it starts (Java, Spark's Python workers), less that of the same process with one row, medians of three. All run on
this machine.
Tables are those of `experiments.bench.scale`, removed afterwards; results are kept in spark.json.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from experiments.bench.scale import SCHEMA, made

KEPT = Path(__file__).with_name("spark.json")
TIMES = 3
ADOPT = 36  # PR_SET_CHILD_SUBREAPER: whoever outlives its parent becomes a child of this process, which can wait for it
FIT = """
import sys
from veil import Ledger, NaiveBayesClassifier, Schema
rows, schema = sys.argv[1], Schema.read(sys.argv[2])
{}
NaiveBayesClassifier(epsilon=1, schema=schema, ledger=Ledger(1, "scale")).fit(rows)
"""
SESSION = """
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
rows = builder.getOrCreate().{}
"""
WAYS = {
    "local": FIT.format("from veil.files.tables import RowFile\nrows = RowFile(rows).stream()"),
    "files": FIT.format(
        SESSION.format("sparkContext and 'spark:' + rows")
        + "from veil.files.spark import SparkRows\nrows = SparkRows(rows).stream()"
    ),
    "data frame": FIT.format(SESSION.format("read.parquet(rows)")),
}


def seconds(program: str, *arguments: Path) -> float:
    """The processor seconds of a program and of all processes that it starts."""
    ctypes.CDLL(None).prctl(ADOPT, 1)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    first = subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], **quiet)  # type: ignore[call-overload]
    total, status = 0.0, None
    while True:
        try:
            pid, ended, used = os.wait4(-1, 0)
        except ChildProcessError:
            break
        total += used.ru_utime + used.ru_stime
        status = ended if pid == first.pid else status
    first.returncode = os.waitstatus_to_exitcode(status or 0)
    if first.returncode:
        raise SystemExit(f"it failed: run it by hand:\n{program}")
    return total


def main(rows: str = "10000000") -> None:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "scale.toml").write_text(SCHEMA)
        path, none = made(folder / "rows.parquet", int(rows)), made(folder / "none.parquet", 1)
        found: dict[str, float] = {"rows": int(rows)}
        for way, program in WAYS.items():
            runs = [[seconds(program, file, folder / "scale.toml") for file in (none, path)] for _ in range(TIMES)]
            start, whole = (median(run) for run in zip(*runs, strict=True))
            found[f"{way}, start, s"], found[f"{way}, s"] = start, whole - start
            found[f"{way} / local"] = found[f"{way}, s"] / found["local, s"]
            print(json.dumps(found, indent=1), flush=True)
    KEPT.write_text(json.dumps({name: round(value, 3) for name, value in found.items()}, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
