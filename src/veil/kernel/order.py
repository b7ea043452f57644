"""Rows in the order of a score, as counts from its lowest value to its highest: where to cut them into even parts, and
how many pairs of them are in the wrong order."""

from fractions import Fraction

import numpy as np

from .mechanisms import permute_and_flip
from .noise import Integers, Noise

PARTS_OF_A_ROW = 1 << 8  # misordered rows are whole numbers of 1 / PARTS_OF_A_ROW


def even_cuts(counts: Integers, depth: int, epsilon: Fraction, noise: Noise) -> list[int]:
    """Up to 2^depth - 1 places to cut, such that the parts between them have about as many rows each; in order.

    A median, then a median on either side of it, and so on (Kaplan, Schnapp and Stemmer 2022). The parts of a level
    are disjoint, their ends were drawn before, and a row moves the scores of one part: a level costs what one median
    costs, epsilon / depth. A part of a single value has no place to cut, which follows from its ends.
    """
    ends = [0, len(counts)]
    for _ in range(depth):
        parts = [(low, high) for low, high in zip(ends, ends[1:], strict=False) if high - low > 1]
        ends = sorted([*ends, *(low + _median(counts[low:high], epsilon / depth, noise) for low, high in parts)])
    return ends[1:-1]


def _median(counts: Integers, epsilon: Fraction, noise: Noise) -> int:
    """How many of the counts lie before a cut near the median: permute-and-flip on -|2 L - n|, L the rows before it.

    A row moves 2 L - n by 1 at the cuts after it and by -1 at those before it, so the changes spread by 2 at most.
    """
    before = 2 * np.cumsum(counts)
    return 1 + permute_and_flip(-np.abs(before[:-1] - before[-1] // 2), epsilon / 2, noise)


def misordered_rows(positives: Integers, negatives: Integers) -> int:
    """Pairs of a positive and a negative of which the positive has the lower score, ties by half, over the rows of the
    larger kind; in 1 / PARTS_OF_A_ROW, rounded down.

    One row more moves this by a row at most. Let there be a positives, b negatives and u such pairs, and let a
    positive come that is below g <= b negatives. If a < b, u / b rises by g / b, at most 1. If a >= b, it becomes (u +
    g) / (a + 1), which differs from u / a by g / (a + 1) - u / (a (a + 1)), and u <= a b: between -b / (a + 1) and b
    / (a + 1). Negatives likewise. A whole number of parts is the bound, so rounding down keeps it.
    """
    above = 2 * np.cumsum(negatives[::-1])[::-1] - negatives
    twice = int((positives.astype(object) * above).sum())  # pairs of billions of rows need Python's integers
    return PARTS_OF_A_ROW * twice // (2 * max(int(positives.sum()), int(negatives.sum()), 1))
