"""Large tables, as ratios in one run: `python -m experiments.bench.scale [rows ...]`, or `make bench-scale`.

Each measurement is a process of its own: its processor time, all threads together, and the peak of its private memory
(what no file backs). The references are processes too: reading the needed columns with PyArrow alone, and a start of
Veil that trains on no rows. Tables are made up as in docs/guide/large.md and removed afterwards; results are kept in
scale.json.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.optimize import nnls

from veil.plans.effort import FULL, GROWN, Effort

KEPT = Path(__file__).with_name("scale.json")
PART = 500_000  # rows of a row group
TOWNS, JOBS = 20, 12
NEEDED = [*(f"x{i}" for i in range(6)), *(f"i{i}" for i in range(3)), *(f"c{i}" for i in range(5)), "y"]
SCHEMA = """name = "scale"
label = "y"
""" + "".join(
    f'\n[[column]]\nname = "{name}"\nkind = "{kind}"\n{rest}\n'
    for name, kind, rest in [
        *((f"x{i}", "numeric", "bounds = [0, 1]\nbins = 16") for i in range(6)),
        *((f"i{i}", "numeric", f"bounds = [0, {top}]\nbins = {bins}") for i, (top, bins) in enumerate(
            [(64, 16), (64, 16), (70, 35)])),
        *((f"c{i}", "categorical", f"values = {[f'v{j}' for j in range(size)]}") for i, size in enumerate(
            [2, 5, 9, 12, 20])),
        ("y", "categorical", 'values = ["no", "yes"]'),
    ]
)  # fmt: skip
GROWING = ("tree",)  # whose work grows with the rows, up to GROWN
PERSON = 'person = "{}"\nrows_per_person = 2\n'
RUNS = {  # by name: the most rows, and what is asked for besides
    "naive-bayes": (10**8, []),
    "logistic": (10**8, []),
    "svm": (10**7, []),
    "tree": (10**7, []),
    "privpfc": (10**7, []),
    "naive-bayes, test share": (10**8, ["--test-share", "0.3"]),
    "naive-bayes, people by number": (10**7, ["--schema", "who.toml"]),
    "naive-bayes, people by text": (10**7, ["--schema", "name.toml"]),
}
DECODE = """
import sys, pyarrow.parquet as pq
rows = 0
file = pq.ParquetFile(sys.argv[1])
for batch in file.iter_batches(131072, columns=sys.argv[2].split(",")):
    rows += batch.num_rows
"""


def part(size: int, seed: int, more: int) -> pa.Table:
    """Made-up rows with 15 needed columns, and so many that are not needed."""
    draw = np.random.default_rng(seed)
    truth = draw.random(size)
    found: dict[str, Any] = {f"x{i}": np.round((truth + draw.random(size)) / 2, 4) for i in range(6)}
    found |= {f"i{i}": draw.integers(0, top, size) for i, top in enumerate([64, 64, 70])}
    for i, values in enumerate([2, 5, 9, 12, 20]):
        codes = ((truth + draw.random(size)) / 2 * values).astype(np.int32)
        found[f"c{i}"] = pa.DictionaryArray.from_arrays(codes, [f"v{j}" for j in range(values)]).cast(pa.string())
    found["y"] = pa.array(np.where(truth + draw.normal(0, 0.3, size) > 0.5, "yes", "no"))
    found["who"] = draw.integers(1, 7 * 10**6, size)
    found["name"] = pa.array(np.char.add("p", (found["who"] + 10**6).astype("U7")))
    return pa.table({**found, **{f"junk{i}": draw.random(size) for i in range(more)}})


def made(path: Path, rows: int, more: int = 0) -> Path:
    """A Parquet file of so many rows: a hundred different parts at most, written again and again."""
    with pq.ParquetWriter(path, part(1, 0, more).schema) as writer:
        for start in range(0, rows, PART):
            writer.write_table(part(min(PART, rows - start), start // PART % 20, more))
    return path


def measured(*command: str) -> tuple[float, float]:
    """Processor seconds of a command, and the peak of its private memory in MB."""
    peak, quiet = [0], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, *command], **quiet)  # type: ignore[call-overload]

    def watch() -> None:
        while process.returncode is None:
            try:
                text = Path(f"/proc/{process.pid}/status").read_text()
                peak[0] = max(peak[0], int(text.split("RssAnon:")[1].split()[0]))
            except (OSError, IndexError):
                return
            sleep(0.01)

    watcher = Thread(target=watch)
    watcher.start()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    watcher.join()
    if process.returncode:
        raise SystemExit(f"{command[0]} failed: run it by hand")
    return used.ru_utime + used.ru_stime, peak[0] / 1000


def train(path: Path, folder: Path, run: str) -> tuple[float, float]:
    """Processor seconds and memory of a whole `veil train`; of two schemas, the later counts."""
    given = ("--epsilon", "1", "--method", run.split(",")[0], "--out", str(folder / "model.veil"), "--force")
    more = [
        str(folder / word) if word.endswith(".toml") else word for word in ("--schema", "scale.toml", *RUNS[run][1])
    ]
    return measured("-c", "from veil.cli import main; main()", "train", str(path), *more, *given)


def figures(rows: int, folder: Path) -> dict[str, float]:
    """What training on so many rows takes beyond its start, beside decoding the needed columns."""
    path, none = made(folder / "rows.parquet", rows), made(folder / "none.parquet", 1)
    decoding = measured("-c", DECODE, str(path), ",".join(NEEDED))[0] - measured("-c", DECODE, str(none), "y")[0]
    start, base = train(none, folder, "naive-bayes")
    found = {"rows": float(rows), "decoding, s": decoding, "start, s": start, "start, MB": base}
    for run in [run for run, (most, _) in RUNS.items() if rows <= most]:
        seconds, memory = train(path, folder, run)
        found |= {f"{run}, s": seconds - start, f"{run}, MB": memory}
        found |= {f"{run}, ns a row": (seconds - start) * 1e9 / rows}
    found["naive-bayes / decoding"] = found["naive-bayes, s"] / decoding
    path.unlink()
    wide = made(folder / "wide.parquet", min(rows, 10**6), 30)
    narrow = made(folder / "narrow.parquet", min(rows, 10**6))
    found["30 more columns, memory"] = train(wide, folder, "naive-bayes")[1] / train(narrow, folder, "naive-bayes")[1]
    return {name: round(value, 3) for name, value in found.items()}


def fitted(kept: list[dict[str, float]]) -> dict[str, Effort]:
    """What every measured method takes, by the rule that `veil.plans.effort` tells."""
    return {run: _fitted(run, kept) for run in RUNS if "," not in run}


def _fitted(run: str, kept: list[dict[str, float]]) -> Effort:
    found = [
        (one["rows"], one[f"{run}, s"], one[f"{run}, MB"] - one["start, MB"]) for one in kept if f"{run}, s" in one
    ]
    rows, seconds, memory = np.array(found).T
    early = run in GROWING
    first, each = nearest([np.minimum(rows, GROWN) if early else np.ones(len(rows)), rows], seconds)
    fixed, held = nearest([np.ones(len(rows)), np.minimum(rows, FULL) / 1e6], memory)
    return Effort(0.0 if early else first, first if early else 0.0, each, fixed, held)


def nearest(parts: list[Any], measured: Any) -> Any:
    """How much of each part there is, none below zero, with the least sum of squared relative errors."""
    return nnls(np.transpose(parts) / measured[:, None], np.ones(len(measured)))[0]


def main(*sizes: str) -> None:
    kept = []
    with tempfile.TemporaryDirectory() as place:
        for name in ("scale", "who", "name"):
            (Path(place) / f"{name}.toml").write_text(PERSON.format(name) * (name != "scale") + SCHEMA)
        for rows in map(int, sizes or ("1000000", "10000000")):
            kept.append(figures(rows, Path(place)))
            print(json.dumps(kept[-1], indent=1))
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
