"""Naive Bayes (Vaidya, Shafiq, Basu, Hong 2013) for rows of few words: count the words by class, and multiply."""

from collections.abc import Sequence
from numbers import Real

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..kernel import Budget, Source, own
from ..questions import WHOLE, Linear, bag
from ..schema import Schema
from .finish import class_prior
from .selecting.features import TOTALS

RULES = ("veil", "paper")
PSEUDO = 16  # scales of noise in rows that a word is given, with the shares of the classes
LEAST = 2  # scales of noise: words with fewer rows say nothing
FLOOR = 0.05  # of a class's share: no word makes it less likely than that
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

    Budget: 5 % for the class totals, the rest for one set of counts of words, with noise of min(r, words) / epsilon, r
    the words that a row counts for.

    By Veil's rules a word is worth log(its class shares / those of all rows), with pseudo-rows in proportion to the
    noise; a word within the noise is worth nothing. By the paper's, Bernoulli shares of counts that are clipped to zero
    and smoothed by one, words that a row does not have included.

    Returns a scorer: log P(class) plus what each word of the row is worth. `words` are codes of the vocabulary.
    """
    text = _checked(source.schema, rules, smoothing)
    asked = bag(source.schema, text, words=words, most=words_per_row)
    own(asked, source.schema)  # refuses before anything is charged
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
    """What each word says for each class. Noise has no bias in how far counts are from the prior's shares of them."""
    rows = counts.sum(axis=1, keepdims=True)
    shares = prior + (counts - prior * rows) / (np.maximum(rows, 0) + PSEUDO * scale + smoothing)
    shares = np.maximum(shares, FLOOR * prior)
    shares /= shares.sum(axis=1, keepdims=True)
    return np.where(rows < LEAST * scale, 0.0, np.log(shares / prior))


def _by_the_paper(counts: Numbers, totals: Numbers, prior: Numbers, smoothing: float) -> tuple[Numbers, Numbers]:
    """The logarithms of the odds of each word in each class, and what a row without any word is worth."""
    shares = np.minimum((np.maximum(counts, 0) + smoothing) / (totals + 2 * smoothing), 0.999)
    return np.log(shares / (1 - shares)), np.log(prior) + np.log(1 - shares).sum(axis=0)


def _checked(schema: Schema, rules: str, smoothing: float) -> str:
    """The name of the text column; complains before anything is charged."""
    if schema.label is None or len(schema.texts) != 1:
        raise BadInput("the schema must name a label, and have one text column with words or buckets")
    if rules not in RULES:
        raise BadInput(f"rules must be one of {', '.join(RULES)}")
    if not isinstance(smoothing, Real) or not 1e-9 <= smoothing <= 1e9:
        raise BadInput("smoothing must be a number between 1e-9 and 1e9")
    return schema.texts[0].name
