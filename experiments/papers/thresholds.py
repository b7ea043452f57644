"""Figure 8 of PriROC again (Stoddard, Chen, Machanavajjhala 2014): what the number of thresholds does to a curve.

On the test sets of table 1, PUBLIC texts; noise is seeded and protects nobody.
"""

import os
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from veil.files.tables import new_file

from .curves import TEXTS, scored_texts
from .priroc import Curve, area_between, exact_curve, fixed_space, laplace, medians

HALVINGS = (2, 3, 4, 5, 6, 7, 8, 9)  # parts are powers of two
EPSILONS = (1.0, 0.1)
RUNS, QUICK_RUNS = 51, 5
METHODS: dict[str, Callable[[Any, Any, float, Any, int], Curve]] = {
    "laplace": lambda scores, truth, epsilon, chance, depth: laplace(scores, truth, epsilon, chance, 2**depth),
    "fixed-space": lambda scores, truth, epsilon, chance, depth: fixed_space(scores, truth, epsilon, chance, 2**depth),
    "recursive-medians": lambda scores, truth, epsilon, chance, depth: medians(
        scores, truth, epsilon, chance, depth=depth
    ),
}


def reproduce_thresholds(*, quick: bool = False, out: str | os.PathLike[str] | None = None) -> pa.Table:
    """A row for every data set, method, number of parts and epsilon: the median area between exact and private
    curve."""
    table = pa.Table.from_pylist([*_rows(QUICK_RUNS if quick else RUNS)])
    if out is not None:
        with new_file(out, force=True) as draft:
            pyarrow.parquet.write_table(table, draft)
    return table


def _rows(runs: int) -> Iterator[dict[str, Any]]:
    for data in TEXTS:
        scores, truth = scored_texts(data)
        exact = exact_curve(scores, truth)
        for method, make in METHODS.items():
            for depth in HALVINGS:
                for epsilon in EPSILONS:
                    seeds = [[run, depth, round(1000 * epsilon)] for run in range(runs)]
                    curves = (make(scores, truth, epsilon, np.random.default_rng(seed), depth) for seed in seeds)
                    area = median(area_between(exact, curve) for curve in curves)
                    yield {"data": data, "method": method, "parts": 2**depth, "epsilon": epsilon, "area": area}


if __name__ == "__main__":
    from .. import RESULTS

    reproduce_thresholds(out=RESULTS / "priroc-thresholds.parquet")
