"""python -m experiments.range_coverage: how often the intervals of a histogram's answers hold the truth.

The public histograms of `experiments.ranges`, rows drawn anew and counted through the kernel by the default method;
ranges of every width at random places. Results go to experiments/results/range-coverage.parquet. Noise is seeded.
"""

import sys
import zlib
from collections.abc import Iterator
from math import sqrt
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
FIRST = 100  # number of a trial: none of those by which intervals were made


def run(name: str, shape: Any, axes: str, signal: int, trial: int) -> Iterator[dict[str, Any]]:
    """Whether the intervals of some ranges of each width hold the truth, on one draw of the rows."""
    rows, epsilon = SIGNALS[signal]
    seed = zlib.crc32(f"{name} {axes} {signal} {trial}".encode())
    chance = np.random.default_rng(seed)
    table = chance.multinomial(rows, shape.ravel()).reshape(shape.shape)
    source, domain = opened(table, seed)
    spread = adaptive_tree(source, Budget(epsilon), domain)
    doubt, cells = Doubt(domain, spread), spread.cells.reshape(table.shape)
    for halvings in range(1, min(table.shape).bit_length()):
        for _ in range(PLACES):
            length = table.shape[0] >> halvings
            starts = [int(chance.integers(side - length + 1)) for side in table.shape]
            box = tuple(slice(start, start + length) for start in starts)
            weights = [only((start, start + length), len(table)) for start in starts]
            answer = Answer(float(cells[box].sum()), sqrt(doubt.variance(weights)))
            low, high = answer.interval() or (0, 0)
            yield {"table": name, "axes": axes, "signal": signal, "trial": trial, "halvings": halvings,
                   "held": bool(low <= table[box].sum() <= high), "width": (high - low) / rows}  # fmt: skip


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    found = [
        row
        for axes in SIDES
        for name, shape in shapes(axes).items()
        for signal in SIGNALS
        for trial in range(FIRST, FIRST + trials)
        for row in run(name, shape, axes, signal, trial)
    ]
    kept = pd.DataFrame(found)
    kept.to_parquet(FILE)
    print(kept.groupby(["axes", "signal", "halvings"])["held"].mean().unstack("halvings").round(3).to_string())
    print(kept.groupby(["axes", "signal"])["held"].mean(), kept.groupby(["axes", "table"])["held"].mean())
