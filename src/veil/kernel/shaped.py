"""Noise for several columns together. A row adds one and the same slope to one place of each of them, so it moves their
sums alike: noise of equal sums suffices, with density in proportion to exp(-rate max over columns of |noise|_1).

On whole numbers the law is a mixture of uniform ones: a radius with weight exp(-rate radius) times the number of points
within it, then a common sum, then each column by itself. The number of vectors of `size` whole numbers that add up to
`total` >= 0 with sizes that add up to `radius` at most is the sum over k of

    C(size + k - 1, k) C(low, k) C(total + size - 1, size - 1 - k),    low = (radius - total) // 2,

and the proof of it (in the kernel page) is a recipe for drawing one of them. All weights are exact.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial, perm, prod

import numpy as np

from .noise import Integers, Noise


def equal_sums(sizes: Sequence[int], rate: Fraction, noise: Noise) -> Integers:
    """Integer noise, column after column, all columns with one sum: P proportional to exp(-rate max |column|_1)."""
    radius, total = _radius_and_total(sizes, rate, noise)
    drawn = np.concatenate([_column(size, radius, abs(total), noise) for size in sizes])
    return drawn if total >= 0 else -drawn


def _radius_and_total(sizes: Sequence[int], rate: Fraction, noise: Noise) -> tuple[int, int]:
    """A radius and a sum, with weight exp(-rate radius) times the number of points that have them; drawn by rejection.

    A column has at most C(2s-2, s-1) / (2^(s-1) (s-1)!) (radius + s - 1)^(s-1) points (see the kernel page); so with
    reach = radius + widest and d the dimension, all have at most a constant times reach^(d-1). The proposal, a sum of
    d + 1 geometric draws for the reach, has weight (reach + 1)...(reach + d).
    """
    dimension, widest = sum(sizes) - len(sizes) + 1, max(sizes)
    over = prod(2 ** (size - 1) * factorial(size - 1) for size in sizes)
    under = 2 * prod(comb(2 * size - 2, size - 1) for size in sizes)
    while True:
        reach = int(noise.geometric(rate, dimension + 1).sum())
        if (radius := reach - widest) < 0:
            continue
        total = int(noise.below(2 * radius + 1, 1)[0]) - radius
        counts = {size: sum(_ways(size, radius, abs(total))) for size in set(sizes)}
        found = prod(counts[size] for size in sizes) * (2 * radius + 1) * over
        if noise.pick([found, under * perm(reach + dimension, dimension) - found]) == 0:
            return radius, total


def _ways(size: int, radius: int, total: int) -> list[int]:
    """The terms of the formula above: the number of vectors of a column for each k."""
    low = (radius - total) // 2
    most = min(size - 1, low)
    return [comb(size + k - 1, k) * comb(low, k) * comb(total + size - 1, size - 1 - k) for k in range(most + 1)]


def _column(size: int, radius: int, total: int, noise: Noise) -> Integers:
    """A uniform random vector with this sum and an L1 norm of at most the radius: which entries are negative, their
    sum, and how this and the rest are divided among the entries."""
    k, drawn = noise.pick(_ways(size, radius, total)), np.empty(size, np.int64)
    below = np.isin(np.arange(size), _subset(size + k - 1, k, noise))
    least = 1 + int(_subset((radius - total) // 2, k, noise).max(initial=-1))
    drawn[below] = -_parts(least, int(below.sum()), noise)
    drawn[~below] = _parts(least + total + int((~below).sum()), int((~below).sum()), noise) - 1
    return drawn


def _parts(total: int, count: int, noise: Noise) -> Integers:
    """A uniform random composition: `total` as a sum of `count` integers from 1 on; empty if count is 0."""
    cuts = np.sort(_subset(total - 1, count - 1, noise)) + 1 if count else np.zeros(0, np.int64)
    return np.diff(cuts, prepend=0, append=total)[:count]


def _subset(among: int, count: int, noise: Noise) -> Integers:
    """`count` distinct integers below `among`, uniformly: if two are equal, all are drawn again."""
    if among <= count**2:
        return noise.permutation(among)[:count]
    while len(np.unique(drawn := noise.below(among, count))) < count:
        pass
    return drawn
