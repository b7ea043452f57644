"""Range queries: workloads over the cells of a histogram, and how far off its answers are."""

from collections.abc import Sequence

import numpy as np

from ..plans.ranges.boxes import Integers, Numbers

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
