"""python -m experiments.range_coverage: how often the intervals of a histogram's answers hold the truth.

The public histograms of `experiments.ranges`, rows drawn anew and counted through the kernel by the default method;
ranges of every width at random places, and all rows. Results go to experiments/results/range-coverage.parquet. Noise is
seeded. `boxes` and a number ask about a few boxes of one draw of the rows, with so many draws of noise: how often the
interval of each one holds the truth. Results go to experiments/results/range-coverage-boxes.parquet.
"""

import sys
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from veil.kernel import Budget
from veil.plans.ranges.adaptive_tree import adaptive_tree
from veil.synopsis.histogram.answers import Answer, Doubt
from veil.synopsis.histogram.runs import only

from . import RESULTS
from .ranges import SIDES, opened, shapes

FILE = RESULTS / "range-coverage.parquet"
SIGNALS = {100: (1_000, 0.1), 1_000: (10_000, 0.1), 10_000: (20_000, 0.5), 100_000: (50_000, 2.0)}
SIGNALS |= {1_000_000: (100_000, 10.0)}
PLACES = 6  # of each width
FIRST = 200  # number of a trial: none of those by which intervals were made
SINGLE = 12  # boxes of each width, of which many hold too few rows
BOXES = RESULTS / "range-coverage-boxes.parquet"
SMALL, WIDEST, LEAST = ("1D-small", "2D-small"), {1: 6, 2: 4}, 20  # domains, widths, rows x epsilon of these boxes


Box = tuple[list[int], int]  # where it starts on each axis, and its length


def places(table: Any, chance: np.random.Generator, widths: int, many: int) -> Iterator[tuple[int, Box]]:
    """Boxes of several widths at random places: how often the axes are halved for the width, and the box."""
    for halvings in range(1, widths + 1):
        for _ in range(many):
            length = table.shape[0] >> halvings
            yield halvings, ([int(chance.integers(side - length + 1)) for side in table.shape], length)


def drawn(name: str, shape: Any, axes: str, signal: int, trial: int | str) -> tuple[Any, int, np.random.Generator]:
    """A table of rows drawn from a shape, and the seeds of the noise and of all else."""
    seed = zlib.crc32(f"{name} {axes} {signal} {trial}".encode())
    chance = np.random.default_rng(seed)
    return chance.multinomial(SIGNALS[signal][0], shape.ravel()).reshape(shape.shape), seed, chance


def answers(table: Any, noise: int, epsilon: float, boxes: list[Box]) -> Iterator[tuple[Answer, int]]:
    """The answer of a published histogram about each box, and the truth."""
    source, domain = opened(table, noise)
    spread = adaptive_tree(source, Budget(epsilon), domain)
    doubt, cells = Doubt(domain, spread), spread.cells.reshape(table.shape)
    for starts, length in boxes:
        box = tuple(slice(start, start + length) for start in starts)
        weights = [only((start, start + length), len(table)) for start in starts]
        yield doubt.answer(float(cells[box].sum()), weights), int(table[box].sum())


def run(name: str, shape: Any, axes: str, signal: int, trial: int) -> Iterator[dict[str, Any]]:
    """Whether the intervals of some ranges of each width hold the truth, on one draw of the rows; and `some`: whether
    they hold any whole number but 0."""
    table, seed, chance = drawn(name, shape, axes, signal, trial)
    rows, epsilon = SIGNALS[signal]
    everything: Box = [0] * table.ndim, len(table)
    asked = [*places(table, chance, min(table.shape).bit_length() - 1, PLACES), (0, everything)]
    found = answers(table, seed, epsilon, [box for _, box in asked])
    for (halvings, _), (answer, truth) in zip(asked, found, strict=True):
        low, high = answer.interval() or (0, 0)
        yield {"table": name, "axes": axes, "signal": signal, "trial": trial, "halvings": halvings,
               "held": bool(low <= truth <= high), "some": high >= 1, "width": (high - low) / rows}  # fmt: skip


def run_boxes(name: str, shape: Any, axes: str, signal: int, noises: int) -> Iterator[dict[str, Any]]:
    """For each box with rows enough: how often its intervals held the truth, and its mean distance from that, in
    standard errors."""
    table, seed, chance = drawn(name, shape, axes, signal, "boxes")
    boxes = [box for _, box in places(table, chance, WIDEST[table.ndim], SINGLE)]
    found = [[*answers(table, seed + noise, SIGNALS[signal][1], boxes)] for noise in range(noises)]
    for place, given in enumerate(zip(*found, strict=True)):
        truth = given[0][1]
        if truth * SIGNALS[signal][1] < LEAST:
            continue
        distance = np.array([(answer.count - truth) / (answer.standard_error or 1) for answer, _ in given])
        held = {f"held {sure:g}": _held(given, sure / 100) for sure in (95, 99.9)}
        yield {"table": name, "axes": axes, "signal": signal, "box": place, **held, "distance": distance.mean()}


def _held(given: Sequence[tuple[Answer, int]], confidence: float) -> float:
    """The share of answers whose interval holds the truth."""
    ends = [(answer.interval(confidence) or (0, 0), truth) for answer, truth in given]
    return float(np.mean([low <= truth <= high for (low, high), truth in ends]))


def main_boxes(noises: int) -> None:
    """Ask about fixed boxes, and print how many of their intervals hold."""
    found = pd.DataFrame(
        row
        for axes in SMALL
        for name, shape in shapes(axes).items()
        for signal in [*SIGNALS][:4]
        for row in run_boxes(name, shape, axes, signal, noises)
    )
    found.to_parquet(BOXES)
    by = found.groupby(["axes", "signal"])["held 95"]
    print(by.agg(["size", "mean", lambda held: (held < 0.8).mean(), lambda held: held.quantile(0.05)]).to_string())


if __name__ == "__main__":
    if sys.argv[1:2] == ["boxes"]:
        main_boxes(int(sys.argv[2]))
        sys.exit()
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    found = [
        row
        for axes in SIDES
        for name, shape in shapes(axes).items()
        for signal in SIGNALS
        for trial in range(FIRST, FIRST + trials)
        for row in run(name, shape, axes, signal, trial)
    ]
    kept = pd.DataFrame(found).astype({"width": np.float32, "halvings": np.int8, "trial": np.int16})
    kept.to_parquet(FILE, compression="zstd")
    print(kept.groupby(["axes", "signal", "halvings"])["held"].mean().unstack("halvings").round(3).to_string())
    print(kept.groupby(["axes", "signal"])["held"].mean(), kept.groupby(["axes", "table"])["held"].mean())
