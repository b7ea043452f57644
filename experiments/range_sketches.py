"""python -m experiments.range_sketches: DAWA once more as it was sketched, to see what sets the exact method apart.

The sketch measured long before drew Laplace noise for the costs of its buckets, with a penalty of three scales; the
method draws one-sided noise, with three and a half. Both here in floating point, on exact tables, with the method's own
second stage. Results go to experiments/results/range-sketches.parquet. Noise is seeded.
"""

import zlib
from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

from veil.kernel import Budget, Source
from veil.kernel.verbs.segments import cheapest, deviations, lengths_of
from veil.plans.ranges.boxes import sums_in
from veil.plans.ranges.dawa import tree_above
from veil.plans.ranges.domain import Domain
from veil.plans.ranges.layers import Layers
from veil.plans.ranges.orders import order_of

from . import RESULTS
from .ranges import SIGNALS, opened, shapes, workloads

FILE = RESULTS / "range-sketches.parquet"
NOISES = {"one-sided": 3.5, "Laplace": 3.0}  # and the penalty, in scales
SPACES = {"1D": 3, "2D": 1}  # and the trials


def runs(counts: Any, to_cut: float, to_count: float, noise: str, chance: np.random.Generator) -> Any:
    """The first cells of the runs of the partition that costs least."""
    lengths, costs = lengths_of(len(counts)), []
    for length in lengths:
        scale = 2 * (2 - 1 / length - 1 / lengths[-1]) / to_cut
        many = len(counts) - length + 1
        drawn = chance.laplace(size=many) if noise == "Laplace" else chance.exponential(size=many)
        price = lengths[-1] * (1 / to_count + scale * (NOISES[noise] - drawn))
        costs.append(np.rint(deviations(counts, length, lengths[-1]) + price).astype(np.int64).tolist())
    return np.array(cheapest(costs, lengths, len(counts)))


def sketched(table: Any, epsilon: float, noise: str, seed: int) -> tuple[Any, int]:
    """The estimated cells, and the number of runs."""
    source, domain = opened(table, seed)
    counts, order = np.zeros(domain.size, np.int64), order_of(domain)
    counts[order] = table.ravel()
    starts = runs(counts, epsilon / 4, epsilon * 3 / 4, noise, np.random.default_rng(seed))
    return _counted(source, domain, np.searchsorted(starts, order, side="right") - 1, epsilon), len(starts)


def _counted(source: Source, domain: Domain, found: Any, epsilon: float) -> Any:
    layers = Layers(domain)
    layers.count(source, Budget(epsilon * 3 / 4), tree_above(found))
    return layers.spread().cells


def run(name: str, shape: Any, axes: str, signal: int, trial: int) -> Iterator[dict[str, Any]]:
    """The errors for random ranges, and the number of runs, with either noise."""
    rows, epsilon = SIGNALS[signal]
    seed = zlib.crc32(f"{name} {axes} {signal} {trial}".encode())
    table = np.random.default_rng(seed).multinomial(rows, shape.ravel()).reshape(shape.shape)
    ranges = workloads(axes)["random"]
    for noise in NOISES:
        cells, many = sketched(table, epsilon, noise, zlib.crc32(f"{seed} {noise}".encode()))
        off = sums_in(table, ranges) - sums_in(cells.reshape(table.shape), ranges)
        yield {"table": name, "axes": axes, "signal": signal, "trial": trial, "noise": noise,
               "rmse": sqrt((off**2).mean()) / rows, "runs": many}  # fmt: skip


if __name__ == "__main__":
    found = pd.DataFrame(
        row
        for axes, trials in SPACES.items()
        for name, shape in shapes(axes).items()
        for signal in SIGNALS
        for trial in range(trials)
        for row in run(name, shape, axes, signal, trial)
    )
    found.to_parquet(FILE)
    print(found.groupby(["axes", "noise", "signal"])[["rmse", "runs"]].mean())
