"""Naive Bayes on words (Vaidya, Shafiq, Basu, Hong 2013), for sparse rows: count the words by class, and multiply."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..kernel import Budget, Owner, Source
from ..questions import WHOLE, Linear, bag
from ..schema import Schema
from .finish import class_prior
from .selecting.features import TOTALS

RULES = ("veil", "paper")
PSEUDO = 16  # pseudo-rows of every word, in noise scales, shared out as the prior
LEAST = 2  # noise scales: a word with fewer rows has weight zero
FLOOR = 0.05  # the least share of a class given a word, relative to its prior
LEAST_SCALE = 1e-9
Numbers = npt.NDArray[np.float64]


def sparse_naive_bayes(
    source: Source,
    budget: Budget,
    *,
    words: Sequence[int] | None = None,
    words_per_row: int | None = None,
    rules: str = "veil",
    smoothing: float = 1.0,
) -> Linear:
    """Publish the counts of words by class, as if words were independent within a class.

    Budget: 5 % for the class totals, the rest for one set of word counts by class, with noise of scale min(r, words) /
    epsilon, where a row counts for at most r words.

    With rules "veil" a word's weight is log(its class shares / those of all rows), with pseudo-rows in proportion to
    the noise, and zero if its count is within the noise. With rules "paper" it is Bernoulli naive Bayes: counts clipped
    at zero and smoothed, words that a row does not have included.

    Returns a scorer: log P(class) plus the weights of the row's words. `words` are codes of the vocabulary.
    """
    text = _checked(source.schema, rules, smoothing)
    asked = bag(source.schema, text, words=words, most=words_per_row)
    Owner(source.schema)(asked)  # refuses before anything is charged
    to_total, to_count = budget.split(TOTALS, 100 - TOTALS)

    totals = source.count(WHOLE, to_total)
    release = source.count(asked, to_count)
    prior = class_prior(totals.value[0].astype(np.float64), totals.deviation)
    counts, scale = release.value.astype(np.float64), max(release.noise_scale, LEAST_SCALE)
    worth, start = _by_veil(counts, scale, prior, smoothing), np.log(prior)
    if rules == "paper":
        worth, start = _by_the_paper(counts, np.maximum(totals.value[0], 1), prior, smoothing)

    weights = np.zeros((source.schema.get(text).size, len(prior)))
    weights[asked.codes] = worth
    return Linear({text: weights}, start)


def _by_veil(counts: Numbers, scale: float, prior: Numbers, smoothing: float) -> Numbers:
    """The weight of each word, words x classes. Noise does not bias a count minus the prior's share of the rows."""
    rows = counts.sum(axis=1, keepdims=True)
    shares = prior + (counts - prior * rows) / (np.maximum(rows, 0) + PSEUDO * scale + smoothing)
    shares = np.maximum(shares, FLOOR * prior)
    shares /= shares.sum(axis=1, keepdims=True)
    return np.where(rows < LEAST * scale, 0.0, np.log(shares / prior))


def _by_the_paper(counts: Numbers, totals: Numbers, prior: Numbers, smoothing: float) -> tuple[Numbers, Numbers]:
    """The log odds of each word in each class, words x classes, and the scores of a row without any word."""
    shares = np.minimum((np.maximum(counts, 0) + smoothing) / (totals + 2 * smoothing), 0.999)
    return np.log(shares / (1 - shares)), np.log(prior) + np.log(1 - shares).sum(axis=0)


def _checked(schema: Schema, rules: str, smoothing: float) -> str:
    """The name of the text column. Raises BadInput before anything is charged."""
    if schema.label is None or len(schema.texts) != 1:
        raise BadInput("the schema must name a label, and have one text column with words or buckets")
    if rules not in RULES:
        raise BadInput(f"rules must be one of {', '.join(RULES)}")
    if not isinstance(smoothing, (int, float, np.integer, np.floating)) or not 1e-9 <= smoothing <= 1e9:
        raise BadInput("smoothing must be a number between 1e-9 and 1e9")
    return schema.texts[0].name
