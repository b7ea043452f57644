"""Speed and memory as ratios measured in one run: ours / reference. Writes bench/latest.json, each entry with its date.

Run it on an idle machine: `make bench`; `python -m experiments.bench.run ranges choice` measures these parts alone.
Both sides are timed in turn and their medians compared, so that a slow moment hits both.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import opendp.prelude as dp
import pandas as pd
import polars as pl
from rich.console import Console
from rich.table import Table

from veil import (
    Budget,
    Categorical,
    Ledger,
    NaiveBayesClassifier,
    Numeric,
    Schema,
    SystemNoise,
    grid,
    open_source,
)

from .choice import choice
from .classifiers import classifiers
from .evaluation import evaluation
from .measure import Result, compare, in_its_own_process, resident, seconds, start_over
from .publishing import publishing
from .ranges import ranges
from .selecting import selecting
from .shared_attack import charges

ROWS = 1_000_000
FEATURES = ("c0", "c1", "c2", "x0", "x1")
LATEST = Path(__file__).with_name("latest.json")


def schema() -> Schema:
    words = [Categorical(name=f"c{i}", values=_values(4), missing="value-0") for i in range(3)]
    numbers = [Numeric(name=f"x{i}", bounds=(0, 1), bins=4, missing=0) for i in range(3)]
    label = Categorical(name="y", values=("no", "yes"), missing="no")
    return Schema(name="bench", label="y", column=[*words, *numbers, label])


def _values(count: int) -> tuple[str, ...]:
    return tuple(f"value-{i}" for i in range(count))


def columns(rows: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    words = {f"c{i}": np.array(_values(4))[draw.integers(0, 4, rows)] for i in range(3)}
    numbers = {f"x{i}": draw.random(rows) for i in range(3)}
    return {**words, **numbers, "y": np.array(["no", "yes"])[draw.integers(0, 2, rows)]}


def noise() -> Result:
    """Exact discrete Laplace draws, a million at once, beside OpenDP's."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs, zeros = space >> dp.m.then_laplace(scale=1.0), [0] * ROWS
    ours = median(seconds(lambda: SystemNoise().discrete_laplace(Budget(1).epsilon, ROWS)) for _ in range(9))
    reference = seconds(lambda: theirs(zeros))
    return Result("discrete Laplace, a million draws / OpenDP (inverse)", reference * 1e3, ours * 1e3, "ms", "> 50")


def count() -> Iterator[Result]:
    """A private count over five columns, then also by class, beside np.bincount of cells computed beforehand."""
    public, rows = schema(), columns(ROWS)
    source = open_source(pl.DataFrame(rows), public, Ledger(10**9, "bench"))
    five, codes = grid(public, *FEATURES), public.encode(rows)
    for by_class, names, what in (
        (False, FEATURES, "five columns"),
        (True, (*FEATURES, "y"), "five columns and class"),
    ):
        radix = [len(public.get(name).names) for name in names]
        cells, size = np.ravel_multi_index([codes[name] for name in names], radix), int(np.prod(radix))
        exact = np.bincount(cells, minlength=size)
        assert (source._table.tabulate(five, by_class).ravel() == exact).all()
        for ready in (cells, cells.astype(np.uint16)):
            yield compare(
                f"count, {what} / np.bincount, ready {ready.dtype} cells",
                partial(source.count, five, Budget(1), by_class=by_class),
                partial(np.bincount, ready, minlength=size),
                "< 2",
                41,
            )


def encode() -> Iterator[Result]:
    """Rows to codes, beside each library's own conversion of words to categories and numbers to bins."""
    public, rows = schema(), columns(ROWS)
    pandas, polars = pd.DataFrame(rows), pl.DataFrame(rows)
    cuts = [0.25, 0.5, 0.75]

    def by_pandas() -> list[Any]:
        words = [pandas[n].astype("category").cat.codes.to_numpy() for n in rows if n[0] != "x"]
        return words + [pd.cut(pandas[n], [0, *cuts, 1], labels=False).to_numpy() for n in rows if n[0] == "x"]

    def by_polars() -> list[Any]:
        words = [polars[n].cast(pl.Categorical).to_physical().to_numpy() for n in rows if n[0] != "x"]
        return words + [polars[n].cut(cuts).to_physical().to_numpy() for n in rows if n[0] == "x"]

    yield compare(
        "encode a million rows from pandas / pandas' own codes", lambda: public.encode(pandas), by_pandas, "< 3", 5
    )
    yield compare(
        "encode a million rows from Polars / Polars' own codes", lambda: public.encode(polars), by_polars, "< 3", 5
    )


def growth() -> Result:
    """Nanoseconds for each row of ten million to be opened and counted, beside each of a hundred thousand."""
    public = schema()

    def per_row(rows: int, rounds: int) -> float:
        frame = pl.DataFrame(columns(rows))

        def run() -> None:
            open_source(frame, public, Ledger(1, "bench")).count(grid(public, *FEATURES), Budget(1))

        run()
        return median(seconds(run) for _ in range(rounds)) / rows * 1e9

    return Result("cost of a row, of 10^7 / of 10^5", per_row(10_000_000, 3), per_row(100_000, 15), "ns", "< 1.5")


def fit() -> Result:
    """Naive Bayes on a million rows and 15 columns, from a pandas frame to a model; the reference is the two seconds
    it may take."""
    draw = np.random.default_rng(0)
    words = [Categorical(name=f"c{i}", values=_values(3 + 2 * i)) for i in range(8)]
    numbers = [Numeric(name=f"x{i}", bounds=(0, 1)) for i in range(6)]
    public = Schema(name="bench", label="y", column=[*words, *numbers, Categorical(name="y", values=("no", "yes"))])
    frame = pd.DataFrame({w.name: np.array(w.values)[draw.integers(0, len(w.values), ROWS)] for w in words})
    frame = frame.assign(**{number.name: draw.random(ROWS) for number in numbers})
    frame["y"] = np.array(["no", "yes"])[draw.integers(0, 2, ROWS)]
    ours = median(seconds(lambda: NaiveBayesClassifier(epsilon=1, schema=public).fit(frame)) for _ in range(5))
    return Result("fit naive Bayes, 10^6 rows x 15 columns / 2 s", ours * 1e3, 2e3, "ms", "< 1")


def memory() -> Result:
    """Peak memory of opening and counting ten million rows, beside the encoded table; in a process of its own."""
    peak, table = in_its_own_process(__file__, "--memory")
    return Result("peak memory beside the frame / encoded table, 10^7 rows", peak, table, "MB", "< 3")


def measure_memory() -> None:
    public, frame = schema(), pl.DataFrame(columns(10_000_000))
    # a first small run loads what is loaded once
    open_source(frame.head(1000), public, Ledger(1, "bench")).count(grid(public, *FEATURES), Budget(1))
    before = start_over()
    source = open_source(frame, public, Ledger(1, "bench"))
    source.count(grid(public, *FEATURES), Budget(1))
    table = sum(codes.nbytes for codes in source._table._columns.values())
    print(resident("VmHWM") - before, table / 1e6)


def everything() -> Iterator[Result]:
    """All of it, part by part."""
    yield from (*count(), *encode(), growth())
    yield from [memory()] if os.path.exists("/proc/self/clear_refs") else []
    yield noise()
    yield fit()
    for part in (classifiers, publishing, choice, ranges, evaluation, selecting, charges):
        yield from part()


PARTS: dict[str, Callable[[], Iterator[Result]]] = {"choice": choice, "ranges": ranges, "evaluation": evaluation}


def main(parts: list[str]) -> None:
    """Measure everything or, if some parts are named, these alone: then all other entries stay as they were."""
    results = [result for part in parts for result in PARTS[part]()] if parts else [*everything()]
    table = Table("", "ours", "reference", "unit", "ratio", "wanted", "met")
    for r in results:
        table.add_row(
            r.name,
            f"{r.ours:,.2f}",
            f"{r.reference:,.2f}",
            r.unit,
            f"{r.ratio:.2f}",
            r.target,
            "yes" if r.met else "NO",
        )
    Console(width=140).print(table)
    today = date.today().isoformat()
    lines = {r.name: {**asdict(r), "ratio": r.ratio, "met": r.met, "measured": today} for r in results}
    if parts:
        lines = {line["name"]: line for line in json.loads(LATEST.read_text())} | lines
    LATEST.write_text(json.dumps([*lines.values()], indent=2) + "\n")


if __name__ == "__main__":
    measure_memory() if "--memory" in sys.argv else main(sys.argv[1:])
