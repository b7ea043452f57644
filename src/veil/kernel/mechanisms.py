"""The mechanisms, as functions of exact numbers and a source of noise."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import ceil, exp, log
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..errors import BadInput, BudgetRefused
from .noise import BLOCK, Integers, Noise


def discrete_laplace(exact: Integers, epsilon: Fraction, noise: Noise) -> Integers:
    """Counts with discrete Laplace noise.

    If one row moves the counts by one in all, every output's probability moves by a factor of at most exp(epsilon).
    """
    return exact + noise.discrete_laplace(epsilon, exact.size).reshape(exact.shape)


def discrete_laplace_each(exact: Sequence[Integers], epsilons: Sequence[Fraction], noise: Noise) -> list[Integers]:
    """Tables of counts with discrete Laplace noise, each with an epsilon of its own."""
    drawn = noise.discrete_laplace_each(epsilons, [counts.size for counts in exact])
    return [counts + part.reshape(counts.shape) for counts, part in zip(exact, drawn, strict=True)]


def permute_and_flip(scores: Integers, rate: Fraction, noise: Noise) -> int:
    """The index of one score: visit them in random order, stop at one with probability exp(rate (score - best)).

    If one row moves every score by an amount in [low, high], this costs rate (high - low): it is the largest of
    scores + exponential noise, a common shift of the scores changes nothing, and the winner's own lead moves by at
    most high - low (McKenna and Sheldon 2020).
    """
    return int(permute_and_flip_each(scores[None], np.ones((1, len(scores)), np.bool_), rate, noise)[0])


def permute_and_flip_each(scores: Integers, allowed: npt.NDArray[np.bool_], rate: Fraction, noise: Noise) -> Integers:
    """For every row of scores the index of one that is allowed, each row with coins and an order of its own.

    A random order is that of distinct random keys, so the first that stops is the one with the least key. What is not
    allowed never stops; the best of the others always does.
    """
    winners, step = np.empty(len(scores), np.int64), max(BLOCK // scores.shape[1], 1)
    for start in range(0, len(scores), step):
        rows = slice(start, start + step)
        best = np.where(allowed[rows], scores[rows], np.iinfo(np.int64).min).max(axis=1, keepdims=True)
        gaps = np.where(allowed[rows], best - scores[rows], 0)
        stops = noise.flips(gaps.ravel(), rate).reshape(gaps.shape) & allowed[rows]
        keys = noise.keys(*gaps.shape)
        first = np.where(stops, keys, keys.max()).min(axis=1, keepdims=True)
        winners[rows] = np.argmax(stops & (keys == first), axis=1)
    return winners


def peel(scores: Integers, rate: Fraction, noise: Noise) -> Iterator[int]:
    """The indices of the scores one after the other, each by permute-and-flip among those that are left.

    A walk in random order stops first at any of those whose coin says stop, each as likely as the others: so one of
    them is drawn. Every round costs what one choice does.
    """
    left = np.arange(len(scores))
    while left.size:
        rest = scores[left]
        stops = np.flatnonzero(noise.flips(rest.max() - rest, rate))
        place = int(stops[noise.below(len(stops), 1)[0]])
        yield int(left[place])
        left = np.delete(left, place)


def first_above(scores: Integers, level: int, rates: tuple[Fraction, Fraction], hits: int, noise: Noise) -> Integers:
    """The indices, sorted, that a sieve says yes to if asked about all scores in a random order, until `hits` times."""
    order = noise.permutation(len(scores))
    threshold = level + int(noise.discrete_laplace(rates[0], 1)[0])
    noisy = scores[order] + noise.discrete_laplace(rates[1], len(scores))
    return np.sort(order[np.flatnonzero(noisy >= threshold)[:hits]])


def survivors(cells: int, epsilon: Fraction, threshold: int) -> float:
    """How many empty cells pass the threshold on average: cells a^(threshold+1) / (1 + a), a = exp(-epsilon)."""
    rate = float(epsilon)
    return exp(min(log(max(cells, 1)) - rate * (threshold + 1) - log(1 + exp(-rate)), 700)) if cells else 0.0


def threshold_for(cells: int, epsilon: Fraction, spurious: float) -> int:
    """The smallest threshold at which no more than `spurious` empty cells are expected to survive."""
    needed = (log(cells) - log(spurious) - log(1 + exp(-float(epsilon)))) / float(epsilon)
    return max(ceil(needed) - 1, 0)


def sparse_threshold(
    codes: npt.NDArray[Any], counts: Integers, cells: int, threshold: int, epsilon: Fraction, noise: Noise
) -> tuple[npt.NDArray[Any], Integers]:
    """What a noisy count of all cells would leave above the threshold, sorted; empty cells are not visited.

    Empty cells survive independently with one probability, so the gaps between survivors are geometric; a survivor's
    value beyond the threshold is geometric too, because the noise has no memory. The result has exactly the law of
    the dense mechanism.
    """
    noisy = discrete_laplace(counts, epsilon, noise)
    kept = noisy > threshold
    ranks = _survivors(cells - len(codes), threshold, epsilon, noise).astype(codes.dtype)
    # the r-th empty cell lies behind all occupied cells that have at most r empty ones before them
    empty = ranks + np.searchsorted(codes - np.arange(len(codes)), ranks, side="right")
    values = threshold + 1 + noise.geometric(epsilon, len(empty))
    all_codes, all_values = np.concatenate([codes[kept], empty]), np.concatenate([noisy[kept], values])
    order = np.argsort(all_codes)
    return all_codes[order], all_values[order]


def _survivors(empty: int, threshold: int, epsilon: Fraction, noise: Noise) -> npt.NDArray[Any]:
    """The ranks, among this many empty cells, of those whose noise passes the threshold."""
    expected = survivors(empty, epsilon, threshold)
    block = int(min(expected + 3 * expected**0.5 + 2, 1 << 16))
    found, position = [np.zeros(0, object)], -1
    while position < empty:
        jumps = np.cumsum(noise.gaps(epsilon, threshold, block, empty) + 1).astype(object) + position
        found.append(jumps)
        position = int(jumps[-1])
    ranks = np.concatenate(found)
    return ranks[: int(np.searchsorted(ranks, empty))]


class Sieve:
    """Says which questions have a score above a threshold, until it has said so `hits` times (Lyu, Su and Li 2017).

    The threshold gets noise of scale max(|low|, |high|) / e1 once, every score fresh noise of scale hits (high - low)
    / e2, e1 + e2 = epsilon. When a row is added, shifting the threshold's noise by `high` keeps every no, and
    shifting the noise of each yes by high - low keeps that yes; when one is removed, shift by -low instead. Answers
    of no are free. All numbers are whole, so the shifts keep the order exactly.
    """

    def __init__(
        self, ask: Callable[[Any], int], threshold: int, rates: tuple[Fraction, Fraction], hits: int, noise: Noise
    ) -> None:
        self._exact, self._rates, self._noise = ask, rates, noise
        self._threshold = threshold + int(noise.discrete_laplace(rates[0], 1)[0])
        self._left, self._lock, self._process = hits, threading.Lock(), os.getpid()

    def ask(self, partition: Any) -> bool:
        """Whether the partition's score is above the threshold, both with noise; refused after the last hit."""
        if self._process != os.getpid():
            raise BadInput("a sieve belongs to the process that opened it: two copies would each use up the hits")
        with self._lock:
            if self._left == 0:
                raise BudgetRefused("this sieve has given all its hits: open another one with a new budget")
            score = self._exact(partition) + int(self._noise.discrete_laplace(self._rates[1], 1)[0])
            self._left -= score >= self._threshold
            return bool(score >= self._threshold)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a sieve cannot be copied or pickled: two copies would each use up the hits")

    def __repr__(self) -> str:
        return "<sieve>"


def sieve_rates(epsilon: Fraction, low: int, high: int, hits: int) -> tuple[Fraction, Fraction]:
    """Exact noise rates of a sieve: e1 / max(|low|, |high|) and e2 / (hits (high - low)), e1 : e2 near the best 1 :
    x^(2/3)."""
    reach, spread = max(abs(low), abs(high)), hits * (high - low)
    share = Fraction(1 / (1 + (spread / reach) ** (2 / 3))).limit_denominator(1000)
    return epsilon * share / reach, epsilon * (1 - share) / spread
