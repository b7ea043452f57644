"""count_sparse: the noisy counts above a threshold, of cells of which there may be any number.

The same release as `count` with every count up to the threshold blanked, so it is as private; drawn without visiting
the empty cells.
"""

from fractions import Fraction
from functools import lru_cache, partial
from math import exp, log1p
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import wording
from ...questions import Bag, Drawn, Grid
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ...solver.gaps import bits_for_guess, guessed_gap, survivors
from ..asking import Asking
from ..bounds import Uniform, count_below, exp_bounds
from ..budget import Budget
from ..noise import Integers, Noise, exponential
from ..owning import Owner, whole
from ..release import Release, SparseCounts, frozen
from ..settings import sparse_level
from ..table import Table
from ..words import word_counts


class CountingSparsely(Asking):
    """The verb for counts that are mostly zero."""

    def count_sparse(
        self, question: Any, budget: Budget, *, threshold: Any = None, spurious: float = 1.0, by_class: bool = True
    ) -> Release[SparseCounts]:
        """The noisy counts above a threshold, over a grid, the leaves of a drawn tree, or the words of a bag. The
        default threshold lets through `spurious` empty cells on average."""
        refuse(type(question) not in (Grid, Drawn, Bag) or not (by_class or type(question) is Bag), wording.SPARSE_OF)
        asked, budget = Owner(self._own)(question, dense=False), Budget(budget)
        epsilon, classes = self._per_row(budget, asked.reach), self._own.classes if by_class else ("",)
        cells = asked.size * len(classes)
        level = whole(sparse_level(cells, epsilon, threshold, spurious), "the threshold", 0, 2**60)
        receipt = self._charge("count_sparse", f"{asked.describe()} above {level}", budget)
        with quiet():
            codes, counts = occupied(self._table, asked, len(classes))
            kept = sparse_threshold(codes, counts, cells, level, epsilon, self._noise.own)
        value = SparseCounts(frozen(kept[0], codes.dtype), frozen(kept[1]), len(classes), level)
        return self._wrap(value, float(1 / epsilon), receipt, asked, classes)


def occupied(table: Table, asked: Any, classes: int) -> tuple[npt.NDArray[Any], Integers]:
    """The occupied cells (codes cell * classes + class, ascending, distinct) and their counts; of any grid."""
    if isinstance(asked, Bag):
        counts = word_counts(table, asked, asked.most, classes).ravel()
        return (held := np.flatnonzero(counts)), counts[held]
    if isinstance(asked, Drawn):
        leaves = [cells * classes + labels for cells, labels in table.cells(asked)]
        return np.unique(np.concatenate(leaves), return_counts=True)
    numbers: npt.NDArray[Any] = np.zeros(len(table), np.int64)
    codes = np.zeros(1, object if asked.size * classes >= 2**62 else np.int64)
    for piece in _pieces(table.with_class(asked)):
        cells = np.concatenate([cells for cells, _ in table.cells(piece)])
        digits, inside = np.unique(cells, return_inverse=True)
        pairs, numbers = np.unique(numbers * len(digits) + inside, return_inverse=True)
        before, after = np.divmod(pairs, max(len(digits), 1))
        codes = codes[before] * piece.size + digits[after].astype(codes.dtype)
    return codes, np.bincount(numbers, minlength=len(codes)).astype(np.int64)


def _pieces(grid: Grid) -> list[Grid]:
    """The grid as a product of grids of fewer than 2^62 cells each; no axis has that many."""
    if grid.size < 2**62:
        return [grid]
    half = len(grid.axes) // 2
    return [*_pieces(Grid(grid.axes[:half])), *_pieces(Grid(grid.axes[half:]))]


def sparse_threshold(
    codes: npt.NDArray[Any], counts: Integers, cells: int, threshold: int, epsilon: Fraction, noise: Noise
) -> tuple[npt.NDArray[Any], Integers]:
    """The codes and noisy counts above the threshold, as if all cells had been counted; empty cells are not visited.

    Empty cells survive independently with one probability, so the gaps between survivors are geometric; a survivor's
    value beyond the threshold is geometric too, because the noise has no memory. The result has exactly the law of
    the dense mechanism.
    """
    noisy = counts + noise.discrete_laplace(epsilon, counts.size)
    kept = noisy > threshold
    ranks = _survivors(cells - len(codes), threshold, epsilon, noise).astype(codes.dtype)
    # the r-th empty cell lies behind all occupied cells that have at most r empty ones before them
    empty = ranks + np.searchsorted(codes - np.arange(len(codes)), ranks, side="right")
    values = threshold + 1 + noise.geometric(epsilon, len(empty))
    all_codes, all_values = np.concatenate([codes[kept], empty]), np.concatenate([noisy[kept], values])
    order = np.argsort(all_codes)
    return all_codes[order], all_values[order]


def _survivors(empty: int, threshold: int, epsilon: Fraction, noise: Noise) -> npt.NDArray[Any]:
    """The ranks, among this many empty cells, of those whose noise exceeds the threshold."""
    expected = survivors(empty, epsilon, threshold)
    block = max(int(min(expected + 3 * expected**0.5 + 2, 1 << 16)), 1)
    found, position = [np.zeros(0, object)], -1
    while position < empty:
        jumps = np.cumsum(gaps(noise, epsilon, threshold, block, empty) + 1).astype(object) + position
        found.append(jumps)
        position = int(jumps[-1])
    ranks = np.concatenate(found)
    return ranks[: int(np.searchsorted(ranks, empty))]


def gaps(noise: Noise, epsilon: Fraction, threshold: int, size: int, limit: int | None = None) -> npt.NDArray[Any]:
    """Independent gaps: how many empty cells in a row stay at or below the threshold (>= -1) before one exceeds it.

    With p = P(discrete Laplace > threshold), P(gap >= g) = (1-p)^g; a gap above `limit` comes out as `limit`.
    A gap has as many digits as 1/p, so a tiny p without a limit takes long. int64 for 2 <= 1/p <= 2^38, where
    log1p(-p) is right to 2^-45; Python integers elsewhere.
    """
    refuse(threshold < -1, "a threshold below -1 keeps most empty cells: draw the noise of each", ValueError)
    p = exp(-float(epsilon * (threshold + 1))) / (1 + exp(-float(epsilon)))
    power = partial(gap_bounds, epsilon, threshold)
    if 2.0**-38 <= p <= 0.5:
        scales = {"scale": -1 / log1p(-p), "unit": 1 / p}
        gaps = noise.floors(lambda words, _: exponential(words, **scales), lambda _, *k: power(*k), size)
        return gaps if limit is None else np.minimum(gaps, min(limit, 2**63 - 1))
    draws = (noise.uniform(word) for word in noise.words(size))
    exact = [count_below(u, power, gap_guess(u, epsilon, threshold, limit), limit) for u in draws]
    return np.array(exact, dtype=object)


@lru_cache(maxsize=64)
def _empty_bounds(epsilon: Fraction, threshold: int, bits: int) -> tuple[int, int]:
    """Integers around 2^bits (1 - p): an empty cell stays out; p = a^(threshold+1) / (1 + a), a = exp(-epsilon)."""
    one = 1 << bits
    above_low, above_high = exp_bounds(epsilon * (threshold + 1), bits)
    alpha_low, alpha_high = exp_bounds(epsilon, bits)
    p_low = above_low * one // (one + alpha_high)
    p_high = -(-above_high * one // (one + alpha_low))
    return max(one - p_high, 0), min(one - p_low, one)


def gap_bounds(epsilon: Fraction, threshold: int, gap: int, bits: int) -> tuple[int, int]:
    """Integers around 2^bits (1 - p)^gap that differ by at most two: `gap` empty cells in a row stay out. The power
    multiplies the error of its base by `gap`, so bit_length(gap) bits are lost and twice as many kept."""
    work = bits + 2 * gap.bit_length() + 16
    base_low, base_high = _empty_bounds(epsilon, threshold, work)
    low = high = 1 << work
    for digit in bin(gap)[2:]:
        low, high = low * low >> work, -(-high * high >> work)
        if digit == "1":
            low, high = low * base_low >> work, -(-high * base_high >> work)
    return low >> work - bits, -(-high >> work - bits)


def gap_guess(uniform: Uniform, epsilon: Fraction, threshold: int, limit: int | None) -> int:
    """Roughly log U / log(1 - p), or `limit` if it is above that: only where to start looking, whoever guesses. A gap
    of d digits depends on as many digits of U: they are drawn first."""
    while uniform.bits < bits_for_guess(epsilon, threshold, limit):
        uniform.refine()
    return int(guessed_gap(uniform.top, uniform.bits, epsilon, threshold, limit))
