"""The speed of this checkout beside another, timed in turn: `python -m experiments.bench.against ../other [task ...]`.

Each side is a process of its own with its own code. Every task is run once to warm up; then the sides take turns, and
the medians and least times are compared: a slow moment of the machine hits both. Times are those of the processor, all
threads together, which other programs disturb less. Tasks are named by words that begin like theirs; without any, all
that both sides have are run.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

TURNS = 7
HERE = Path(__file__).parents[2]


def tasks() -> dict[str, Callable[[], Any]]:
    """What is timed, on made-up rows."""
    import warnings

    import numpy as np
    import pandas as pd

    import veil
    from veil.models import METHODS

    warnings.simplefilter("ignore")
    draw = np.random.default_rng(0)
    size, signal = 48_000, draw.random(48_000)
    words = {f"c{i}": np.array([f"value-{j}" for j in range(8)])[(signal * 4).astype(int) + draw.integers(0, 5, size)]
             for i in range(9)}  # fmt: skip
    numbers = {f"x{i}": signal + draw.random(size) for i in range(6)}
    rows = pd.DataFrame({**words, **numbers, "y": np.where(signal + draw.normal(0, 0.3, size) > 0.5, "yes", "no")})
    columns: list[Any] = [veil.Categorical(name=name, values=tuple(sorted(set(words[name])))) for name in words]
    columns += [veil.Numeric(name=name, bounds=(0, 2), bins=12) for name in numbers]
    schema = veil.Schema(name="b", label="y", column=[*columns, veil.Categorical(name="y", values=("no", "yes"))])
    small = rows.head(300)

    def fit(name: str, table: Any) -> Any:
        return METHODS[name](epsilon=1, schema=schema, random_state=0).fit(table)

    texts = {"text": [" ".join(f"w{w}" for w in draw.integers(0, 400, 8)) for _ in range(4000)]}
    texts["y"] = ["yes" if "w1 " in text else "no" for text in texts["text"]]
    mail = veil.Schema(name="m", label="y", column=[
        veil.Text(name="text", buckets=2048), veil.Categorical(name="y", values=("no", "yes"))])  # fmt: skip
    million = {name: np.tile(rows[name].to_numpy(), 21)[:1_000_000] for name in ("c0", "x0", "y")}
    narrow = veil.Schema(name="n", label="y", column=[schema.get(name) for name in million])
    source = veil.open_source(million, narrow, veil.Ledger(10**9, "n"), noise=0)
    model, cells = fit("naive-bayes", rows), veil.grid(narrow, "c0", "x0")
    found = {f"fit {name}": (lambda name=name: fit(name, rows)) for name in METHODS if not METHODS[name].of_words}
    found |= {f"fit {name}, texts": (lambda name=name: METHODS[name](epsilon=1, schema=mail, random_state=0).fit(texts))
              for name in METHODS if METHODS[name].of_words}  # fmt: skip
    return found | {
        "fit naive-bayes, 300 rows": lambda: fit("naive-bayes", small),
        "encode 48,000 x 16": lambda: schema.encode(rows),
        "open a million rows": lambda: veil.open_source(million, narrow, veil.Ledger(1, "n"), noise=0),
        "count a million rows": lambda: source.count(cells, veil.Budget(1)),
        "publish": lambda: veil.publish(rows, schema, epsilon=1, random_state=0),
        "ROC curve": lambda: veil.private_roc_curve(model, rows, epsilon=1, schema=schema, random_state=0),
        "select 3 columns": lambda: veil.PrivateSelectKBest(k=3, epsilon=1, schema=schema, random_state=0).fit(rows),
        "select 20 words": lambda: veil.PrivateSelectKBest(k=20, epsilon=1, schema=mail, random_state=0).fit(texts),
        "predict": lambda: model.predict_proba(rows),
    }


def serve() -> None:
    """Run the task that each line of the input names, and say how long it took."""
    found = tasks()
    print(json.dumps([*found]), flush=True)
    for line in sys.stdin:
        start = process_time()
        found[json.loads(line)]()
        print(process_time() - start, flush=True)


class Side:
    """A process that times tasks with the code of a checkout."""

    def __init__(self, checkout: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout / "src"), str(HERE)])}
        command = [sys.executable, "-m", "experiments.bench.against", "--serve"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=environment, cwd="/", **pipes)
        self.names: list[str] = json.loads(self.process.stdout.readline())  # type: ignore[union-attr]

    def time(self, name: str) -> float:
        print(json.dumps(name), file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())  # type: ignore[union-attr]


def main(other: Path, *wanted: str) -> None:
    """Print for each task the times of both sides and their ratio, ours over theirs."""
    ours, theirs = Side(HERE), Side(other)
    print(f"{'task':32} {'here, ms':>10} {'there, ms':>10} {'ratio':>7} {'of least':>9}")
    both = [name for name in ours.names if name in theirs.names]
    for name in [name for name in both if not wanted or name.startswith(wanted)]:
        for side in (ours, theirs):
            side.time(name)
        pairs = [(ours.time(name), theirs.time(name)) for _ in range(TURNS)]
        mine, yours = zip(*pairs, strict=True)
        ratios = median(mine) / median(yours), min(mine) / min(yours)
        print(f"{name:32} {1e3 * median(mine):10.1f} {1e3 * median(yours):10.1f} {ratios[0]:7.2f} {ratios[1]:9.2f}")


if __name__ == "__main__":
    serve() if sys.argv[1] == "--serve" else main(Path(sys.argv[1]).resolve(), *sys.argv[2:])
