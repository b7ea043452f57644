"""python -m experiments.range_claims: what the papers on grids claim beyond errors by signal, on public points.

For five sets of public points in the folder VEIL_DATA, 128 x 128 cells: uniform grids finer and coarser than the
paper's rule says, their error told apart into noise and uneven spread; and one signal reached with few rows or with a
small epsilon. Results go to experiments/results/range-claims.parquet. Noise is seeded.
"""

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from veil.compare.ranges import errors, rectangles
from veil.kernel import Budget
from veil.plans.ranges.boxes import random_boxes, sums_in
from veil.plans.ranges.uniform_grid import blocks, parts_of_an_axis
from veil.synopsis.histogram.publishing import HISTOGRAMS

from . import RESULTS
from .ranges import POINTS, QUERIES, SIDES, _points, opened

FILE = RESULTS / "range-claims.parquet"
FACTORS = (1, 3, 10, 30, 100)  # c of the paper's rule m = sqrt(N epsilon / c); it recommends 10
EPSILONS = (0.1, 1.0)
ROWS, TRIALS = 100_000, 5
SAME = {"few rows": (10_000, 1.0), "between": (100_000, 0.1), "many rows": (1_000_000, 0.01)}  # signal 10,000


def drawn(name: str, rows: int, trial: int) -> Any:
    """A table of so many rows, drawn from the points."""
    shape = _points(name, SIDES["2D"])
    chance = np.random.default_rng(zlib.crc32(f"{name} {rows} {trial}".encode()))
    return chance.multinomial(rows, (shape / shape.sum()).ravel()).reshape(shape.shape)


def sizes(name: str, trial: int) -> Iterator[dict[str, Any]]:
    """The error of grids of several sizes: of all, of the noise alone, and of the uneven spread alone."""
    table, boxes = drawn(name, ROWS, trial), rectangles(SIDES["2D"], QUERIES // 6, seed=1)
    truth, (_, domain) = sums_in(table, boxes), opened(np.zeros_like(table), 0)
    chance = np.random.default_rng(trial)
    for epsilon in EPSILONS:
        for factor in FACTORS:
            groups = blocks(domain, parts_of_an_axis(ROWS * epsilon, domain, factor))
            many, sums = np.bincount(groups), np.bincount(groups, table.ravel())
            loss = 1 - np.exp(-epsilon)
            noise = chance.geometric(loss, len(many)) - chance.geometric(loss, len(many))
            for part, found in {"all": sums + noise, "noise": noise, "uneven": sums}.items():
                answers = sums_in((found / many)[groups].reshape(table.shape), boxes)
                off = errors(0 * truth if part == "noise" else truth, answers, ROWS)
                yield {"kind": "size", "table": name, "trial": trial, "epsilon": epsilon, "factor": factor,
                       "part": part, "rmse": off["rmse"], "mre": off["mre"]}  # fmt: skip


def exchanged(name: str, trial: int) -> Iterator[dict[str, Any]]:
    """The error at one signal, reached in three ways."""
    boxes = random_boxes(SIDES["2D"], QUERIES, seed=1)
    for way, (rows, epsilon) in SAME.items():
        table = drawn(name, rows, trial)
        for method in ("adaptive-tree", "adaptive-grid", "hierarchy"):
            source, domain = opened(table, zlib.crc32(f"{name} {trial} {way} {method}".encode()))
            spread = HISTOGRAMS[method](source, Budget(epsilon), domain)
            off = errors(sums_in(table, boxes), sums_in(spread.cells.reshape(table.shape), boxes), rows)
            yield {"kind": "same", "table": name, "trial": trial, "epsilon": epsilon, "method": method, "part": way,
                   "rmse": off["rmse"], "mre": off["mre"]}  # fmt: skip


def repeated(trials: int = TRIALS) -> Iterator[pd.DataFrame]:
    """All results so far, after each set of points."""
    found = list[dict[str, Any]]()
    for name in POINTS:
        found += [row for trial in range(trials) for how in (sizes, exchanged) for row in how(name, trial)]
        yield pd.DataFrame(found)


def means(found: pd.DataFrame) -> pd.Series:
    """The mean error of everything that was compared."""
    return found.groupby(["kind", "epsilon", "factor", "method", "part"], dropna=False)["rmse"].mean()


if __name__ == "__main__":
    *_, found = repeated()
    found.to_parquet(FILE)
    print(means(found))
