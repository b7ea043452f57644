"""Range queries: workloads over the cells of a histogram, and how far off its answers are."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..errors import LittleLearned
from ..files.kept_ranges import Ranged
from ..plans.ranges.boxes import Integers, Numbers, random_boxes, sums_in
from ..plans.ranges.domain import Domain
from ..synopsis import publish
from ..synopsis.histogram.publishing import histogram_schema
from .data import public_rows
from .draws import Keeping

QUERIES = 2_000
THRESHOLD = 0.001  # of all rows: smaller answers count as large as this in a relative error
SIZES = 6  # of rectangles, each with twice the sides of the one before; the largest has half of every axis


def prefixes(cells: int) -> Integers:
    """The first k cells of one axis for every k, ranges x axes x (first, end)."""
    return np.stack([np.zeros(cells, np.int64), np.arange(1, cells + 1)], axis=1)[:, None]


def rectangles(shape: Sequence[int], count: int, seed: int = 0) -> Integers:
    """`count` rectangles of each of six sizes, at random places (Qardaji, Yang and Li 2013)."""
    chance, found = np.random.default_rng(seed), []
    for size in range(SIZES):
        lengths = [max(side >> (SIZES - size), 1) for side in shape]
        starts = [chance.integers(0, side - length + 1, count) for side, length in zip(shape, lengths, strict=True)]
        ends = [start + length for start, length in zip(starts, lengths, strict=True)]
        found.append(np.stack([np.stack(starts, axis=1), np.stack(ends, axis=1)], axis=2))
    return np.concatenate(found)


def errors(truth: Numbers, found: Numbers, rows: float) -> dict[str, float]:
    """How far answers are off: mean absolute and mean squared error in rows; mean relative error; and as a share of all
    rows the root mean square, the mean, and what 95 % of the answers stay below."""
    off = np.abs(found - truth)
    return {
        "mae": float(off.mean()),
        "msae": float((off**2).mean()),
        "mre": float((off / np.maximum(truth, max(THRESHOLD * rows, 1e-9))).mean()),
        "rmse": float(np.sqrt((off**2).mean()) / max(rows, 1)),
        "mean": float(off.mean() / max(rows, 1)),
        "p95": float(np.quantile(off, 0.95) / max(rows, 1)),
    }


def compare_ranges(
    data: str,
    columns: Sequence[str],
    methods: Sequence[str],
    epsilons: Sequence[float],
    seeds: int,
    progress: Callable[[str, int, int], object] = lambda name, done, total: None,
) -> tuple[list[dict[str, Any]], Ranged]:
    """The errors of methods for histograms on PUBLIC rows, one dict for each method and epsilon: means over the seeds.
    Beside them what is kept: the exact counts, one draw of each method, and errors by the width of ranges.

    The queries are 2,000 random ranges, every length and place as likely.
    """
    return measured(data, *public_rows(data), columns, methods, epsilons, seeds, progress)


def measured(
    data: str,
    rows: Any,
    schema: Any,
    columns: Sequence[str],
    methods: Sequence[str],
    epsilons: Sequence[float],
    seeds: int,
    progress: Callable[[str, int, int], object] = lambda name, done, total: None,
    **settings: Any,
) -> tuple[list[dict[str, Any]], Ranged]:
    """The same of rows that the caller knows to be public; `settings` are those of `publish`, such as a resolution."""
    domain = Domain(histogram_schema(schema, columns, settings.get("resolution")))
    truth = exact_table(rows, domain)
    keeping = Keeping(data, domain, truth)
    boxes, found = random_boxes(truth.shape, QUERIES), list[dict[str, Any]]()
    for number, (method, epsilon) in enumerate(pairs := [*product(methods, epsilons)]):
        progress(method, number, len(pairs))
        asked = {"columns": columns, "method": method, "epsilon": epsilon, **settings}
        tables, taken = zip(*_runs(rows, schema, asked, seeds), strict=True)
        runs = [errors(sums_in(truth, boxes), sums_in(table, boxes), float(truth.sum())) for table in tables]
        means = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
        means["seconds"] = float(np.mean(taken))
        keeping.take(method, epsilon, tables, means["seconds"])
        found.append({"data": data, "method": method, "epsilon": epsilon, **means, "runs": seeds})
    return found, keeping.kept()


def _runs(rows: Any, schema: Any, asked: dict[str, Any], seeds: int) -> Iterator[tuple[Numbers, float]]:
    """The noisy counts of every seed, and the seconds that they took."""
    for seed in range(seeds):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LittleLearned)  # the errors say it
            made: Any = publish(rows, schema, random_state=seed, **asked)
        yield np.asarray(made.table, np.float64), time.perf_counter() - start


def exact_table(rows: Any, domain: Domain) -> Numbers:
    """The exact number of rows in each cell, an axis for each column."""
    cells = domain.grid.cells(domain.schema.encode(rows))  # type: ignore[arg-type]  # no column is of words
    counts = np.bincount(cells.astype(np.int64), minlength=domain.grid.size)
    return np.asarray(counts[domain.leaves >= 0].reshape(domain.shape), np.float64)
