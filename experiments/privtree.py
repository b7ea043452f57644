"""python -m experiments.privtree TRIALS: PrivTree (Zhang, Xiao, Xie 2016) as a sketch, on the tables of all methods.

Veil does not have it: its tests of whether a node is split are noisy in a way that needs a proof of its own. Here it is
in floating point, on exact tables, the same draws of the rows: what would it change? Results go to
experiments/results/range-privtree.parquet. Noise is seeded.
"""

import sys
import zlib
from collections.abc import Iterator
from math import log
from typing import Any

import numpy as np
import pandas as pd

from veil.compare.ranges import errors
from veil.plans.ranges.boxes import sums_in

from . import RESULTS
from .ranges import SIDES, SIGNALS, shapes, small, workloads

FILE = RESULTS / "range-privtree.parquet"
THRESHOLD = 0.0  # theta, as the paper advises


def privtree(table: Any, epsilon: float, chance: np.random.Generator) -> Any:
    """The estimated cells: half of epsilon for the tree, half for the counts of its leaves.

    A node is halved along every axis if its count, less a bias that grows with its depth, is above a threshold, with
    noise that is as large at every depth.
    """
    parts = 2**table.ndim
    scale = (2 * parts - 1) / (parts - 1) / (epsilon / 2)
    bias, alive = scale * log(parts), np.ones((1,) * table.ndim, bool)
    found = np.zeros(table.shape)
    for depth in range(table.shape[0].bit_length()):
        counts = blocks(table, 1 << depth)
        biased = np.maximum(counts - depth * bias, THRESHOLD - bias) + chance.laplace(scale=scale, size=counts.shape)
        split = alive & (biased > THRESHOLD) & (counts.shape[0] < table.shape[0])
        leaves = counts + chance.laplace(scale=2 / epsilon, size=counts.shape)
        found += wider(np.where(alive & ~split, leaves, 0.0), table.shape[0]) * (counts.size / table.size)
        alive = wider(split, min(2 << depth, table.shape[0]))
    return found


def blocks(table: Any, many: int) -> Any:
    """The rows in each of so many equal blocks along every axis."""
    for axis in range(table.ndim):
        table = np.add.reduceat(table, np.arange(0, table.shape[axis], table.shape[axis] // many), axis=axis)
    return table


def wider(values: Any, side: int) -> Any:
    """The value of each block in all of its parts, so many along every axis."""
    for axis in range(values.ndim):
        values = np.repeat(values, side // values.shape[axis], axis=axis)
    return values


def run(name: str, shape: Any, axes: str, signal: int, trial: int) -> Iterator[dict[str, Any]]:
    """The errors on the draw of the rows that all methods had."""
    rows, epsilon = SIGNALS[signal]
    seed = zlib.crc32(f"{name} {axes} {signal} {trial}".encode())
    table = np.random.default_rng(seed).multinomial(rows, shape.ravel()).reshape(shape.shape)
    cells = privtree(table, epsilon, np.random.default_rng(zlib.crc32(f"{seed} privtree".encode())))
    for workload, ranges in workloads(axes).items():
        found = errors(sums_in(table, ranges), sums_in(cells, ranges), rows)
        yield {"table": name, "axes": axes, "signal": signal, "trial": trial, "workload": workload,
               "rmse": found["rmse"]}  # fmt: skip


if __name__ == "__main__":
    found = pd.DataFrame(
        row
        for axes in SIDES
        for name, shape in shapes(axes).items()
        for signal in SIGNALS
        for trial in range(int(sys.argv[1]))
        for row in run(name, shape, axes, signal, trial)
    )
    small(found).to_parquet(FILE, compression="zstd")
    print(np.exp(np.log(found["rmse"]).groupby([found["axes"], found["workload"], found["signal"]]).mean()).unstack())
