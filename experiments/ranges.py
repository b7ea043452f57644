"""python -m experiments.ranges: how well each method for histograms answers ranges, over the histograms of DPBench.

Rows are drawn anew from each histogram of the folder VEIL_DATA/dpbench (1D: 4,096 cells, 1D-small: 1,024; 2D: 128 x
128, 2D-small: 64 x 64) and from the public points beside it, and go through the kernel. Signal is rows x epsilon.
Results go to experiments/results/ranges.parquet; what it holds is not repeated. Noise is seeded. Arguments: methods (or
all), one of these four, the number of trials, and, if wanted, the largest signal.
"""

import os
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from veil.compare.ranges import errors, prefixes, rectangles
from veil.kernel import Budget, Ledger, Source, open_source
from veil.plans.ranges.boxes import random_boxes, sums_in
from veil.plans.ranges.domain import Domain
from veil.schema import Numeric, Schema
from veil.synopsis.histogram.publishing import HISTOGRAMS

from . import RESULTS

FILE = RESULTS / "ranges.parquet"
FOLDER = Path(os.environ.get("VEIL_DATA") or "../shared/data")
POINTS = ("nyc_uber", "uk_accidents", "us_places", "us_zipcodes", "world_places")
SIDES = {"1D": (4096,), "2D": (128, 128), "1D-small": (1024,), "2D-small": (64, 64)}
SIGNALS = {  # rows and epsilon
    10: (1_000, 0.01),
    100: (1_000, 0.1),
    1_000: (10_000, 0.1),
    10_000: (100_000, 0.1),
    100_000: (1_000_000, 0.1),
    1_000_000: (1_000_000, 1.0),
}
QUERIES = 2_000
KEY = ["table", "axes", "method", "signal", "trial"]


def shapes(axes: str) -> dict[str, Any]:
    """The share of the rows in each cell, by the name of the table."""
    files = sorted((FOLDER / "dpbench").glob(f"{axes[:2]}_*.npy"))
    found = {path.stem: _coarser(np.load(path).astype(np.float64), SIDES[axes]) for path in files}
    if len(SIDES[axes]) == 2:
        found |= {name: _points(name, SIDES[axes]) for name in POINTS}
    return {name: table / table.sum() for name, table in found.items()}


def _coarser(table: Any, sides: tuple[int, ...]) -> Any:
    """Neighbouring cells added up until the table has these sides."""
    for axis, side in enumerate(sides):
        table = np.add.reduceat(table, np.arange(0, table.shape[axis], table.shape[axis] // side), axis=axis)
    return table


def _points(name: str, sides: tuple[int, ...]) -> Any:
    """The points of a map, by the bounds of their schema."""
    schema = Schema.read(FOLDER / f"geo_{name}.schema.toml")
    columns: list[Any] = [column for column in schema.column if isinstance(column, Numeric)][:2]
    rows = pd.read_csv(FOLDER / f"geo_{name}.csv.gz", usecols=[column.name for column in columns])
    given = [rows[column.name].to_numpy() for column in columns]
    return np.histogram2d(*given, bins=sides, range=[column.bounds for column in columns])[0]


@cache
def workloads(axes: str) -> dict[str, Any]:
    """The ranges that are asked for, by name."""
    several = {"random": random_boxes(SIDES[axes], QUERIES, seed=1)}
    if len(SIDES[axes]) == 1:
        return {"prefixes": prefixes(*SIDES[axes]), **several}
    return {**several, "rectangles": rectangles(SIDES[axes], QUERIES // 6, seed=1)}


def opened(table: Any, noise: int) -> tuple[Source, Domain]:
    """A source over rows that lie in these cells."""
    columns = [
        Numeric(name=f"x{axis}", bounds=(0, side - 1), integer=True, bins=side) for axis, side in enumerate(table.shape)
    ]
    schema = Schema(name="ranges", column=columns)
    cells = np.repeat(np.arange(table.size), table.ravel())
    rows = {f"x{axis}": codes for axis, codes in enumerate(np.unravel_index(cells, table.shape))}
    return open_source(rows, schema, Ledger(10**9, "ranges"), noise), Domain(schema)


def run(name: str, shape: Any, axes: str, signal: int, trial: int, methods: list[str]) -> Iterator[dict[str, Any]]:
    """The errors of each method on one draw of the rows."""
    rows, epsilon = SIGNALS[signal]
    seed = zlib.crc32(f"{name} {axes} {signal} {trial}".encode())
    table = np.random.default_rng(seed).multinomial(rows, shape.ravel()).reshape(shape.shape)
    for method in methods:
        source, domain = opened(table, zlib.crc32(f"{seed} {method}".encode()))
        start = time.perf_counter()
        spread = HISTOGRAMS[method](source, Budget(epsilon), domain)
        taken = time.perf_counter() - start
        for workload, ranges in workloads(axes).items():
            found = errors(sums_in(table, ranges), sums_in(spread.cells.reshape(table.shape), ranges), rows)
            key = dict(zip(KEY, (name, axes, method, signal, trial), strict=True))
            yield {**key, "workload": workload, **found, "seconds": taken}


def repeated(
    methods: list[str], axes: list[str], trials: int, signals: Sequence[int], file: Path = FILE
) -> Iterator[pd.DataFrame]:
    """All results so far, after each trial of each domain; runs that the file holds are not repeated."""
    known = pd.read_parquet(file) if file.exists() else pd.DataFrame(columns=KEY)
    done = {*known[KEY].itertuples(index=False, name=None)}
    for trial, space in product(range(trials), axes):
        rows = list[dict[str, Any]]()
        for (name, shape), signal in product(shapes(space).items(), signals):
            missing = [method for method in methods if (name, space, method, signal, trial) not in done]
            rows += run(name, shape, space, signal, trial, missing) if missing else []
        known = pd.concat([known, pd.DataFrame(rows)], ignore_index=True) if len(known) else pd.DataFrame(rows)
        small(known).to_parquet(file, compression="zstd")
        yield known


def main(methods: list[str], axes: list[str], trials: int, largest: float = inf) -> None:
    """Do the runs that are missing, and print the geometric means over the tables."""
    for known in repeated(methods, axes, trials, [one for one in SIGNALS if one <= largest]):
        print(summary(known).to_string(), flush=True)


def small(results: pd.DataFrame) -> pd.DataFrame:
    """The same with numbers of about three and a half digits, which files hold in a third of the space."""
    floats = results.select_dtypes("floating")
    bits = floats.to_numpy(np.float32).view(np.uint32) + np.uint32(1 << 11) & ~np.uint32((1 << 12) - 1)
    return results.assign(**dict(zip(floats, bits.view(np.float32).T.astype(np.float64), strict=True)))


def summary(results: pd.DataFrame, measure: str = "rmse") -> pd.DataFrame:
    """The geometric mean over the tables of the mean over the trials, by space, workload, method and signal."""
    means = results.groupby(["axes", "workload", "method", "signal", "table"])[measure].mean()
    logs = np.log(means.clip(lower=1e-12)).groupby(["axes", "workload", "method", "signal"]).mean()
    return np.exp(logs).unstack("signal").map(lambda value: f"{value:.3g}")


if __name__ == "__main__":
    asked = sys.argv[1:]
    chosen = [*HISTOGRAMS] if not asked or asked[0] == "all" else asked[0].split(",")
    largest = float(asked[3]) if len(asked) > 3 else inf
    main(chosen, [asked[1]] if len(asked) > 1 else [*SIDES], int(asked[2]) if len(asked) > 2 else 2, largest)
