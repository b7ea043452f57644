"""Permute-and-flip: one of several candidates, most likely one with a high score (McKenna and Sheldon 2020)."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import wording
from .noise import BLOCK, Integers, Noise
from .owning import own_integers

LARGEST = 1 << 30  # handicap


def permute_and_flip(scores: Integers, rate: Fraction, noise: Noise) -> int:
    """The index of one score: visit them in random order, stop at one with probability exp(rate (score - best)).

    If one row moves every score by an amount in [low, high], this costs rate (high - low): it is the largest of
    scores + exponential noise, a common shift of the scores changes nothing, and the winner's own lead moves by at
    most high - low (McKenna and Sheldon 2020).
    """
    return int(permute_and_flip_each(scores[None], np.ones((1, len(scores)), np.bool_), rate, noise)[0])


def permute_and_flip_each(scores: Integers, allowed: npt.NDArray[np.bool_], rate: Fraction, noise: Noise) -> Integers:
    """For every row of scores the index of one that is allowed; every row has its own coins and order.

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


def own_handicaps(handicaps: Any, count: int) -> Integers:
    """A copy of the handicaps: one whole number for each candidate, none so large that scores could overflow."""
    given = np.zeros(count, np.int64) if handicaps is None else handicaps
    return own_integers(given, (count,), -LARGEST, LARGEST, wording.HANDICAPS.format(LARGEST))
