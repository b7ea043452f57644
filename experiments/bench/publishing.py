"""Publishing a table: many candidate grids, the choice of columns, a histogram over a huge domain."""

import sys
import time
from collections.abc import Iterator
from math import log2
from statistics import median
from typing import Any

import numpy as np

from veil import BadInput, Budget, Categorical, ExpectedCorrect, Grid, Ledger, Numeric, Schema, axis, grid, open_source
from veil.compare.data import load, split
from veil.plans.histograms.grids import grids
from veil.plans.histograms.projected_histogram import private_kd
from veil.questions.grids import join

from .measure import Result, compare, in_its_own_process, resident, seconds, start_over

CANDIDATES = 100_000
ROWS = 1_000_000
COLUMNS = 14  # besides the class


def publishing() -> Iterator[Result]:
    """Everything here; the parts on Adult need its rows."""
    try:
        load("adult")
    except BadInput as problem:
        print(f"Candidate grids are not measured: {problem}")
    else:
        taken, peak, scored, drawn = in_its_own_process(__file__, "--grids")
        yield Result(f"score {scored:,.0f} candidate grids on Adult / 10 s", taken, 10e3, "ms", "< 1")
        yield Result("the same, peak memory / 1 GB", peak, 1e3, "MB", "< 1")
        yield Result("draw them beforehand / 10 s", drawn, 10e3, "ms", "< 1")
    yield many_grids()
    yield columns()
    yield sparse()


def measure_grids() -> None:
    """Milliseconds and MB to score all candidates and choose one, how many there are, and the time to draw them."""
    rows = split(load("adult"), 0)
    table = {**{name: rows.train[name] for name in rows.train}, rows.schema.label: rows.labels}
    source = open_source(table, rows.schema, Ledger(10**6, rows.schema.name))
    score = ExpectedCorrect(0.7)
    source.choose(grids(rows.schema, 50, 100), score, Budget(1))
    before, start = start_over(), time.perf_counter()
    candidates = grids(rows.schema, 2000, CANDIDATES)
    drawn = time.perf_counter() - start
    taken = median(seconds(lambda: source.choose(candidates, score, Budget(1))) for _ in range(3))
    print(taken * 1e3, resident("VmHWM") - before, len(candidates), drawn * 1e3)


def many_grids() -> Result:
    """PrivPfC's choice on a million rows, beside one np.bincount of ready cells for every candidate (20 are timed)."""
    draw, signal = np.random.default_rng(0), np.random.default_rng(1).random(ROWS)
    words = [Categorical(name=f"c{i}", values=tuple(map(str, range(n)))) for i, n in enumerate((2, 4, 8, 12, 20))]
    numbers = [Numeric(name=f"x{i}", bounds=(0, 1), bins=n) for i, n in enumerate((16,) * 8 + (35,))]
    schema = Schema(name="b", label="y", column=[*numbers, *words, Categorical(name="y", values=("0", "1"))])
    rows: dict[str, Any] = {n.name: (signal + draw.random(ROWS)) / 2 for n in numbers}
    rows |= {w.name: draw.integers(0, len(w.values), ROWS) for w in words} | {"y": (signal > 0.5).astype(int)}
    source, codes = open_source(rows, schema, Ledger(10**9, "b"), noise=0), schema.encode(rows)
    candidates = grids(schema, 2000, CANDIDATES)
    some = candidates[:: len(candidates) // 20]
    ready = [(join([(one.cells(codes), one.size), (codes["y"], 2)]).astype(np.int64), 2 * one.size) for one in some]
    bare = seconds(lambda: [np.bincount(cells, minlength=size) for cells, size in ready]) / len(ready) * len(candidates)
    taken = seconds(lambda: source.choose(candidates, ExpectedCorrect(0.7), Budget(1)))
    what = f"choose one of {len(candidates):,} grids, 10^6 rows / as many bare np.bincount"
    return Result(what, taken * 1e3, bare * 1e3, "ms", "< 0.25")


def columns() -> Result:
    """PRIVATEKD: four of fourteen columns, beside one np.bincount of ready cells for every candidate."""
    draw = np.random.default_rng(0)
    words = [Categorical(name=f"c{i}", values=tuple(map(str, range(2 + i))), missing="0") for i in range(7)]
    numbers = [Numeric(name=f"x{i}", bounds=(0, 1), bins=4 + i, missing=0) for i in range(7)]
    schema = Schema(name="b", label="y", column=[*words, *numbers, Categorical(name="y", values=("0", "1"))])
    rows: dict[str, Any] = {w.name: draw.integers(0, len(w.values), ROWS) for w in words}
    rows |= {n.name: draw.random(ROWS) for n in numbers} | {"y": draw.integers(0, 2, ROWS)}
    source, codes = open_source(rows, schema, Ledger(10**9, "b"), noise=0), schema.encode(rows)
    axes = [axis(column) for column in schema.features]
    chosen = private_kd(source, Budget(10**6), axes, 4, "discernibility", ROWS, 1e9)
    ready = list(_candidates(chosen, axes, codes))
    return compare(
        f"choose 4 of {COLUMNS} columns, 10^6 rows / {len(ready)} bare np.bincount",
        lambda: private_kd(source, Budget(10**6), axes, 4, "discernibility", ROWS, 1e9),
        lambda: [np.bincount(cells, minlength=size) for cells, size in ready],
        "< 3",
        5,
    )


def _candidates(chosen: Grid, axes: list[Grid], codes: Any) -> Iterator[tuple[Any, int]]:
    """Ready int64 cells by class of every candidate of every round."""
    for done in range(len(chosen.axes)):
        before = Grid(chosen.axes[:done])
        for one in axes:
            if one.columns[0] not in before.columns:
                candidate = before & one
                parts = [(candidate.cells(codes), candidate.size), (codes["y"], 2)]
                yield join(parts).astype(np.int64), candidate.size * 2


def sparse() -> Result:
    """A thresholded histogram of a million rows over 2^70 cells; the reference is the five seconds it may take."""
    draw = np.random.default_rng(0)
    words = [Categorical(name=f"c{i}", values=tuple(map(str, range(128))), missing="0") for i in range(10)]
    schema = Schema(name="b", column=words)
    cells = grid(schema, *(word.name for word in words))
    rows = {word.name: draw.integers(0, 2 + 126 * (i < 2), ROWS) for i, word in enumerate(words)}
    source = open_source(rows, schema, Ledger(10**9, "b"))
    taken = median(seconds(lambda: source.count_sparse(cells, Budget(1), spurious=100)) for _ in range(3))
    return Result(f"sparse count, 10^6 rows, 2^{log2(cells.size):.0f} cells / 5 s", taken * 1e3, 5e3, "ms", "< 1")


if __name__ == "__main__" and "--grids" in sys.argv:
    measure_grids()
