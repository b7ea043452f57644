"""Orders of cells, for methods that need one: cells that are near each other in the order are near on all axes."""

import numpy as np

from .domain import Domain, Integers


def order_of(domain: Domain) -> Integers:
    """The place of each cell in one order of all: as they are on one axis, Hilbert's curve over two, halves of the
    axes in turn over more."""
    if len(domain.shape) == 1:
        return domain.along[0]
    keys = hilbert(*domain.along) if len(domain.shape) == 2 else domain.places
    return np.argsort(np.argsort(keys, kind="stable"))


def hilbert(x: Integers, y: Integers) -> Integers:
    """How far along Hilbert's curve (1891) each point lies, in the smallest square of side 2^k around all points.

    From the largest square down, the quarter that holds the point counts, and within it the curve is turned.
    """
    x, y, found = x.copy(), y.copy(), np.zeros(len(x), np.int64)
    for bit in reversed(range(int(max(x.max(), y.max())).bit_length())):
        half = 1 << bit
        right, up = (x & half) > 0, (y & half) > 0
        found += half * half * (3 * right.astype(np.int64) ^ up)
        flip = right & ~up
        x, y = (
            np.where(flip, half - 1 - (x & (half - 1)), x & (half - 1)),
            np.where(flip, half - 1 - (y & (half - 1)), y & (half - 1)),
        )
        x, y = np.where(up, x, y), np.where(up, y, x)
    return found
