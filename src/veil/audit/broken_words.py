"""Broken ways to select words. NOT PRIVATE, none of them: published as private, or what a slip makes of ours.

They take a table in the audit's own form and exact counts, not a source, so no plan can ask them anything.
"""

from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernel.noise import Noise
from .harness import discrete_laplace
from .tables import Table

Array = npt.NDArray[Any]
VOCABULARY = ("ant", "bee", "cat", "dog", "elk", "fox")


def totals(table: Table) -> Array:
    """How many rows have each word."""
    held = [set(text.split()) for text in table["text"]]
    return np.array([sum(word in words for words in held) for word in VOCABULARY], np.int64)


def threshold_testing(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: private threshold testing of words (Stoddard, Chen and Machanavajjhala 2014).

    One noisy threshold for all words and no noise on their counts: of two words that differ, the one with fewer rows is
    never selected without the other. So what is selected tells the exact order of the counts.
    """
    threshold = noise.discrete_laplace(Fraction(1), trials)
    return (totals(table) > threshold[:, None]).astype(np.int64)


def noise_cut(table: Table, noise: Noise, trials: int, each: int = 100) -> Array:
    """NOT PRIVATE: noise-cut, a sparse vector without a cap (Lee and Clifton 2014), on a row with a hundred words.

    Half of epsilon 1 for the threshold, half for each word, however many are selected: a row that has many words is
    seen in each of them. Gives the number of selected words among its words and among as many others.
    """
    rate, rows = Fraction(1, 2), len(table["text"])
    level = noise.discrete_laplace(rate, trials)[:, None]
    drawn = noise.discrete_laplace(rate, 2 * trials * each).reshape(trials, 2, each)
    return np.stack([(value + drawn[:, i] >= level).sum(axis=1) for i, value in enumerate((rows, 0))], axis=1)


def noise_cut_loss(each: int, rate: float = 0.5, reach: int = 60) -> float:
    """The exact loss of noise-cut if all words of one list are selected and none of another, equally long one, where
    the row could have moved both: counts of (0, 1) against (1, 0), each list on its side."""
    levels = np.arange(-reach, reach + 1)
    weight = np.exp(-rate * np.abs(levels)) * (1 - exp(-rate)) / (1 + exp(-rate))

    def above(count: int) -> Array:
        gap = levels - count  # the noise must be at least this
        below = 1 - np.exp(-rate * (1 - gap)) / (1 + exp(-rate))
        return np.asarray(np.where(gap >= 1, np.exp(-rate * gap) / (1 + exp(-rate)), below))

    chance = [(weight * (1 - above(low)) ** each * above(high) ** each).sum() for low, high in ((0, 1), (1, 0))]
    return log(chance[0] / chance[1])


def one_word_a_row(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: counts of words with the noise of one count, though a row has several words."""
    return discrete_laplace(np.tile(totals(table), (trials, 1)), Fraction(1), noise)


def clustered_exactly(table: Table, noise: Noise, trials: int, words: int = 2) -> Array:
    """NOT PRIVATE: private k-means over words as published: clusters of exact counts, then noise on sizes and sums.

    Noise goes by the words of a row, as if it could move a sum by no more. But a word whose count passes the border
    between two centres takes all its rows along. Gives the noisy sizes and sums of the clusters at 0 and 20.
    """
    counts = totals(table)
    near = np.abs(counts[:, None] - [0, 20]).argmin(axis=1)
    exact = np.concatenate([np.bincount(near, minlength=2), np.bincount(near, counts, 2).astype(np.int64)])
    return discrete_laplace(np.tile(exact, (trials, 1)), Fraction(1, 2 * words), noise)
