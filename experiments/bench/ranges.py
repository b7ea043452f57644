"""Histograms for ranges: a map of ten million points, what follows from its counts, and queries."""

from collections.abc import Iterator

import numpy as np

from veil import Budget, Ledger, Numeric, Schema, open_source
from veil.plans.outcome import Outcome
from veil.plans.ranges.adaptive_tree import counted, stages
from veil.plans.ranges.domain import Domain
from veil.plans.ranges.spread import spread_of
from veil.synopsis import Histogram

from .measure import Result, compare, seconds

ROWS, SIDE, QUERIES = 10**7, 1024, 2000


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
    taken = min(seconds(lambda: spread_of(measured)) for _ in range(3))
    yield Result("smooth its counts / 1 s", taken * 1e3, 1e3, "ms", "< 1")
    yield _queries(Histogram(Outcome(spread_of(measured), "adaptive-tree", {"epsilon": "1"}, schema, (), ())))


def _queries(histogram: Histogram) -> Result:
    """Many boxes at once, in ready arrays."""
    ends = np.sort(np.random.default_rng(1).random((QUERIES, 2, 2)), axis=1)
    histogram.query_many(ends[:, 0], ends[:, 1])  # which sums the cells up once
    taken = min(seconds(lambda: histogram.query_many(ends[:, 0], ends[:, 1])) for _ in range(5))
    return Result(f"answer {QUERIES:,} boxes / 10 ms", taken * 1e3, 10, "ms", "< 1")
