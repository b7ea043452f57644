"""The experiments on range queries again: DPBench (Hay et al. 2016) and grids of points (Qardaji, Yang, Li 2013).

Tables are PUBLIC, in the folder VEIL_DATA; noise is seeded and protects nobody.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from veil.errors import BadInput
from veil.files.tables import new_file
from veil.synopsis.histogram.publishing import HISTOGRAMS

from .. import range_claims, ranges

Progress = Callable[[str, int, int], None]
QUICK, SPACES = (100, 10_000), ("1D", "2D")
TRIALS = 3


def dpbench(out: Path, quick: bool, progress: Progress = lambda name, done, total: None) -> list[dict[str, Any]]:
    """A line for every domain, workload, method and signal: the geometric mean over the histograms of the error, as a
    share of all rows, and in DPBench's unit, the scaled error per query, which is that over the root of the number of
    queries."""
    _insist(ranges.FOLDER / "dpbench")
    if out.exists() and not {*ranges.KEY} <= {*pq.read_schema(out).names}:
        raise BadInput(f"{out} holds other results: name another file with --out")
    signals, trials = (QUICK, 1) if quick else ([*ranges.SIGNALS], TRIALS)
    steps, found = trials * len(SPACES), pd.DataFrame()
    progress("dpbench", 0, steps)
    for done, found in enumerate(ranges.repeated([*HISTOGRAMS], [*SPACES], trials, signals, out), 1):  # noqa: B007
        progress("dpbench", done, steps)
    return [*_scaled(ranges.small(found))]


def _scaled(found: pd.DataFrame) -> Iterator[dict[str, Any]]:
    means = found.groupby(["axes", "workload", "method", "signal", "table"])["rmse"].mean().clip(lower=1e-12)
    for (axes, workload, method, signal), logs in np.log(means).groupby(level=[0, 1, 2, 3]):
        error, queries = float(np.exp(logs.mean())), len(ranges.workloads(axes)[workload])
        yield {"axes": axes, "workload": workload, "method": method, "signal": int(signal),
               "error": _short(error), "scaled_error": _short(error / queries**0.5)}  # fmt: skip


def grids(out: Path, quick: bool, progress: Progress = lambda name, done, total: None) -> list[dict[str, Any]]:
    """A line for every size of a uniform grid, with its error of noise and of uneven spread, and for every way to reach
    one signal."""
    if out.exists():
        raise BadInput(f"{out} is there already: name another file with --out")
    for name in ranges.POINTS:
        _insist(ranges.FOLDER / f"geo_{name}.csv.gz")
    found = pd.DataFrame()
    progress("grids", 0, len(ranges.POINTS))
    for done, found in enumerate(range_claims.repeated(1 if quick else range_claims.TRIALS), 1):  # noqa: B007
        progress("grids", done, len(ranges.POINTS))
    with new_file(out) as draft:
        found.to_parquet(draft)
    lines = range_claims.means(found).map(_short).rename("error").reset_index().astype(object)
    return [
        {name: None if pd.isna(value) else value for name, value in line.items()} for line in lines.to_dict("records")
    ]


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def _insist(path: Path) -> None:
    """Raise BadInput unless the data are there."""
    if not path.exists():
        raise BadInput(f"there is no {path}: set VEIL_DATA to the folder of the public data")
