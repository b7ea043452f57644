"""Histograms for ranges: a map of ten million points, what follows from its counts, and queries."""

from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from veil import Budget, Ledger, Numeric, Schema, open_source
from veil.plans.outcome import Outcome
from veil.plans.ranges.adaptive_grid import adaptive_grid
from veil.plans.ranges.adaptive_tree import counted, stages
from veil.plans.ranges.domain import Domain
from veil.plans.ranges.hierarchy import hierarchy
from veil.plans.ranges.spread import spread_of
from veil.synopsis import Histogram

from .measure import Result, compare, seconds
from .plain_ranges import plain_ag, plain_hb

ROWS, SIDE, QUERIES = 10**7, 1024, 2000
FEW = 10**6  # rows, of the comparisons with plain code


def ranges() -> Iterator[Result]:
    """A map of 1024 x 1024 cells: counting against one bare np.bincount for each stage, the finish, and queries."""
    draw = np.random.default_rng(0)
    points = {"x": draw.beta(2, 5, ROWS), "y": draw.beta(5, 2, ROWS)}
    schema = Schema(name="map", column=[Numeric(name=name, bounds=(0, 1), bins=SIDE, missing=0) for name in points])
    source, domain = open_source(points, schema, Ledger(10**9, "map")), Domain(schema)
    codes = [(values * SIDE).astype(np.uint16) for values in points.values()]
    count = len(stages(domain))

    def bare() -> None:
        for _ in range(count):
            np.bincount(codes[0].astype(np.intp) * SIDE + codes[1], minlength=SIDE**2)

    measured = counted(source, Budget(1), domain)
    name = f"count a map, 10^7 points, {SIDE} x {SIDE} cells, {count} stages / as many bare np.bincount"
    yield compare(name, lambda: counted(source, Budget(1), domain), bare, "< 4", 3)
    with threadpool_limits(1):
        taken = min(_cpu(lambda: spread_of(measured)) for _ in range(3))
    yield Result("smooth its counts, CPU of one thread / 1 s", taken * 1e3, 1e3, "ms", "< 1")
    yield from plain()
    yield _queries(Histogram(Outcome(spread_of(measured), "adaptive-tree", {"epsilon": "1"}, schema, (), ())))


def _cpu(run: Callable[[], Any]) -> float:
    """The processor time of a run, which other programs on the machine do not lengthen."""
    start = process_time()
    run()
    return process_time() - start


def _queries(histogram: Histogram) -> Result:
    """Many boxes at once, in ready arrays."""
    ends = np.sort(np.random.default_rng(1).random((QUERIES, 2, 2)), axis=1)
    histogram.query_many(ends[:, 0], ends[:, 1])  # which sums the cells up once
    taken = min(seconds(lambda: histogram.query_many(ends[:, 0], ends[:, 1])) for _ in range(5))
    return Result(f"answer {QUERIES:,} boxes / 10 ms", taken * 1e3, 10, "ms", "< 1")


def plain() -> Iterator[Result]:
    """HB and AG beside plain code of the same algorithms; both sides count the rows, which are encoded already."""
    yield _beside("HB", (4096,), hierarchy, plain_hb, "< 4")
    yield _beside("AG", (128, 128), adaptive_grid, plain_ag, "< 4")


def _beside(
    name: str, shape: tuple[int, ...], plan: Callable[..., Any], reference: Callable[..., Any], target: str
) -> Result:
    draw = np.random.default_rng(0)
    codes = [(draw.beta(2, 5, FEW) * side).astype(np.uint16) for side in shape]
    columns = [
        Numeric(name=f"x{axis}", bounds=(0, side - 1), integer=True, bins=side, missing=0)
        for axis, side in enumerate(shape)
    ]
    schema = Schema(name="cells", column=columns)
    rows = {f"x{axis}": code for axis, code in enumerate(codes)}
    source, domain = open_source(rows, schema, Ledger(10**9, "cells")), Domain(schema)

    def counted_plainly() -> None:
        cells = np.ravel_multi_index([code.astype(np.intp) for code in codes], shape)
        reference(np.bincount(cells, minlength=domain.size).reshape(shape).astype(np.float64), 0.1, draw)

    words = f"{name}, 10^6 rows, {' x '.join(f'{side:,}' for side in shape)} cells / plain code in floating point"
    return compare(words, lambda: plan(source, Budget("0.1"), domain), counted_plainly, target)
