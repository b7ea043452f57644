"""Where randomness comes from, and exact samplers on top of it.

Every sampler has exactly its law. It computes a candidate in double precision from 64 uniform bits, with a
proven bound on the error; where the bound leaves two answers possible it refines the *same* draw with more bits
and integers.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schema.refusing import Sealed
from .bounds import Uniform, count_below, exp_bounds

Integers = npt.NDArray[np.int64]
SMALLEST_EPSILON = Fraction(1, 2**32)  # the float path is proven up to a scale of 2^32
BLOCK = 1 << 16  # draws at a time: temporaries stay in the cache


class Noise(Sealed, ABC):
    """A source of uniform 64-bit words, and the exact samplers that need nothing else."""

    name: str
    private = False  # unless a source says so
    copied = "a noise source cannot be copied or pickled: two copies would publish the same noise"

    @abstractmethod
    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """Independent uniform 64-bit words."""

    @property
    def own(self) -> "Noise":
        """A source whose samplers are all of this class: where two of them must share one law."""
        return self

    def uniform(self, word: np.uint64) -> Uniform:
        return Uniform(int(word), lambda: int(self.words(1)[0]))

    def below(self, bound: int, size: int) -> Integers:
        """Independent uniform integers in [0, bound), bound <= 2^63. Words above the last whole multiple of the bound
        are redrawn."""
        limit = np.uint64(2**64 // bound * bound - 1)
        words = self.words(size)
        while (again := np.flatnonzero(words > limit)).size:
            words[again] = self.words(again.size)
        return (words % np.uint64(bound)).astype(np.int64)

    def permutation(self, size: int) -> Integers:
        """A uniform order: that of distinct random keys."""
        return np.argsort(self.keys(1, size)[0])

    def keys(self, rows: int, size: int) -> npt.NDArray[np.uint64]:
        """Random words, distinct in each row, so that each has a uniform order of its own. Two equal ones would favour
        one order: draw all of that row again."""
        keys = self.words(rows * size).reshape(rows, size)
        while (again := np.flatnonzero((np.diff(np.sort(keys, axis=1), axis=1) == 0).any(axis=1))).size:
            keys[again] = self.words(again.size * size).reshape(again.size, size)
        return keys

    def pick(self, weights: Sequence[int]) -> int:
        """A random index, with probability proportional to its weight: integers of any length."""
        whole, uniform = sum(weights), self.uniform(self.words(1)[0])

        def bounds(part: int, bits: int) -> tuple[int, int]:
            return (part << bits) // whole, -((-part << bits) // whole)

        return next(place for place, part in enumerate(accumulate(weights)) if uniform.below(partial(bounds, part)))

    def geometric(self, epsilon: Fraction, size: int) -> Integers:
        """Independent G >= 0 with P(G >= k) = exp(-k epsilon): the integer part of -log(U) / epsilon.

        For U in [K, K+1) / 2^64 the float candidate X misses -log(U)/epsilon by at most
        scale (2^-53 + 1/K) + X (d + 2^-52), d the relative error of the log; the margin covers any log right to 2^-41.
        """
        return self.geometric_each([epsilon], [size])

    def geometric_each(self, epsilons: Sequence[Fraction], sizes: Sequence[int]) -> Integers:
        """For each epsilon its number of geometric draws, one set after the other."""
        ends, scales = np.cumsum(sizes), np.array([float(1 / epsilon) for epsilon in epsilons])
        scale_of: Any = np.broadcast_to(scales, sizes) if len(sizes) == 1 else np.repeat(scales, sizes)

        def power(place: int, k: int, bits: int) -> tuple[int, int]:
            return exp_bounds(k * epsilons[int(np.searchsorted(ends, place, side="right"))], bits)

        return self.floors(lambda words, rows: exponential(words, scale_of[rows]), power, int(ends[-1]))

    def discrete_laplace(self, epsilon: Fraction, size: int) -> Integers:
        """Independent Z with P(Z = z) proportional to exp(-epsilon |z|): the difference of two geometric draws."""
        return self.discrete_laplace_each([epsilon], [size])[0]

    def discrete_laplace_each(self, epsilons: Sequence[Fraction], sizes: Sequence[int]) -> list[Integers]:
        """For each epsilon its number of discrete Laplace draws, in one go."""
        draws = np.split(self.geometric_each(epsilons, [2 * size for size in sizes]), 2 * np.cumsum(sizes)[:-1])
        return [draw[:size] - draw[size:] for draw, size in zip(draws, sizes, strict=True)]

    def floors(self, candidate: Any, power: Any, size: int) -> Integers:
        """The integer part of each candidate, from the refined draw where rounding leaves it uncertain."""
        values = np.empty(size, np.int64)
        for start in range(0, size, BLOCK):
            words = self.words(min(BLOCK, size - start))
            with np.errstate(all="ignore"):
                x, margin = candidate(words, slice(start, start + BLOCK))
                low, high = np.floor(np.maximum(x - margin, 0)), np.floor(x + margin)
                block = low.astype(np.int64)
            for i in np.flatnonzero(~(low == high) | (words == 0)):
                block[i] = count_below(self.uniform(words[i]), partial(power, start + i), int(block[i]))
            values[start : start + words.size] = block
        return values

    def flips(self, gaps: Integers, rate: Fraction) -> npt.NDArray[np.bool_]:
        """Independent coins, true with probability exp(-rate * gap), gap >= 0 of any size; 0 is always true."""
        words = self.words(gaps.size)
        u, x = words * 2.0**-64, gaps.astype(np.float64) * float(min(rate, Fraction(10**100)))
        with np.errstate(under="ignore"):
            v = np.exp(-x)
            margin = v * (2.0**-40 + 2.0**-50 * x) + 2.0**-60
        heads: npt.NDArray[np.bool_] = u < v - margin
        for i in np.flatnonzero((gaps > 0) & ~heads & ~(u > v + margin)):
            heads[i] = self.uniform(words[i]).below(partial(exp_bounds, rate * int(gaps[i])))
        heads[gaps == 0] = True
        return heads

    def __repr__(self) -> str:
        return f"<{self.name} noise, {'private' if self.private else 'NOT private'}>"


def exponential(words: npt.NDArray[np.uint64], scale: Any, unit: float | None = None) -> tuple[Any, Any]:
    """-log(U) scale for U = words / 2^64, and a bound on its rounding error."""
    x = -np.log(words * 2.0**-64) * scale
    unit = scale if unit is None else unit
    return x, 2.0**-40 * (x + unit) + 2 * unit / words


class SystemNoise(Noise):
    """The operating system's generator. Nothing is fetched ahead, so a fork has nothing to copy."""

    name, private = "operating system", True

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        return np.frombuffer(bytearray(os.urandom(8 * size)), np.uint64)
