"""Selecting: the questions about many features at once, words of a text or partitions; counts of words, and which
features are best, or above a threshold."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from ..errors import BadInput
from ..questions import Bag, Partition
from ..schema.encoding import quiet
from .asking import Asking
from .bag_minimise import bag_amounts, bag_minimiser
from .budget import Budget, exact
from .checks import SCORES, check_bag, check_penalties, check_selection, check_words_loss, whole
from .losses import Loss
from .mechanisms import (
    discrete_laplace,
    first_above,
    peel,
    sieve_rates,
    sparse_threshold,
    survivors,
    threshold_for,
)
from .noise import SMALLEST_EPSILON, Integers
from .release import Release, SparseCounts, frozen
from .scores import Discernibility, Score, Tabular

SPARSE_LIMIT = 5_000_000  # spurious cells expected in one sparse answer
Candidates = Bag | Sequence[Partition]


class Selecting(Asking):
    """The verbs that select features, or count those that were selected."""

    def count_words(self, bag: Bag, budget: Budget, *, by_class: bool = True) -> Release[Integers]:
        """Noisy counts of the rows that have each word, words x classes (one column without `by_class`).

        A row counts for min(most, words asked about) words: as many counts rise by one when it is added, so discrete
        Laplace noise of that scale over epsilon suffices. Few words need little noise, however many a row has.
        """
        check_bag(bag, self.schema)
        epsilon, classes = (
            self._per_row(budget := Budget(budget), bag.reach),
            self.schema.classes if by_class else ("",),
        )
        receipt = self._charge("count_words", bag.describe(), budget)
        with quiet():
            noisy = discrete_laplace(self._table.word_counts(bag, by_class), epsilon, self._noise)
        return self._wrap(frozen(noisy), float(1 / epsilon), receipt, bag, classes)

    def count_words_sparse(
        self,
        bag: Bag,
        budget: Budget,
        *,
        threshold: int | None = None,
        spurious: float = 1.0,
        by_class: bool = True,
    ) -> Release[SparseCounts]:
        """The noisy counts of words above a threshold: the same release as `count_words` with all others blanked.

        The default threshold lets through `spurious` counts of words that no row has, on average.
        """
        check_bag(bag, self.schema)
        epsilon, classes = (
            self._per_row(budget := Budget(budget), bag.reach),
            self.schema.classes if by_class else ("",),
        )
        level = sparse_level(bag.size * len(classes), epsilon, threshold, spurious)
        receipt = self._charge("count_words_sparse", f"{bag.describe()} above {level}", budget)
        with quiet():
            counts = self._table.word_counts(bag, by_class).ravel()
            held = np.flatnonzero(counts)
            kept = sparse_threshold(held, counts[held], len(counts), level, epsilon, self._noise.own)
        value = SparseCounts(frozen(kept[0]), frozen(kept[1]), len(classes), level)
        return self._wrap(value, float(1 / epsilon), receipt, bag, classes)

    def minimise_words(
        self,
        loss: Loss,
        bag: Bag,
        budget: Budget,
        *,
        label: int,
        offset: float = 0.0,
        penalty: float | Fraction = 4,
    ) -> Release[Integers]:
        """Weights of words, words x 1 in units of 2^-30, large for those whose rows are of the class `label`.

        Objective perturbation (see `bag_minimise`): a row counts for at most k words, and the noise goes by k.
        `penalty` times k over epsilon is the weight of the squares; `offset` is added to a row's score.
        """
        check_bag(bag, self.schema)
        start = check_words_loss(loss, bag, label, offset, self.schema)
        given = bag_amounts(
            type(loss)(), self._per_row(budget := Budget(budget)), check_penalties(penalty, 1)[0], bag.size, bag.reach
        )
        receipt = self._charge("minimise_words", f"{type(loss).__name__} on {bag.describe()}", budget)
        with quiet():
            weights = bag_minimiser(self._table.word_rows(bag, label), type(loss)(), start, given, self._noise)
        return self._wrap(frozen(weights[:, None]), None, receipt)

    def choose_best(self, candidates: Candidates, score: Score, budget: Budget, *, count: int) -> Release[Integers]:
        """The places of `count` candidates, the words of a bag or partitions, in the order in which they were chosen:
        each most likely one with a high score among those left.

        `count` times permute-and-flip at epsilon / count. A row may move the scores of all candidates: what counts is
        how far apart it moves two of them. So all words of a row count here.
        """
        candidates, score, count = self._candidates(candidates, score, count, (*SCORES, Discernibility))
        epsilon, spread = self._per_row(budget := Budget(budget), count), score.high - score.low
        about = f"{count} of {_described(candidates)} by {type(score).__name__}"
        receipt = self._charge("choose_best", about, budget)
        with quiet():
            rate = epsilon / (spread * self._rows_of(score))
            places = [*islice(peel(self._exact(candidates, score), rate, self._noise), count)]
        return self._wrap(frozen(np.array(places)), float(spread / (epsilon * score.unit)), receipt)

    def choose_above(
        self, candidates: Candidates, score: Score, threshold: float, budget: Budget, *, most: int
    ) -> Release[Integers]:
        """The places and noisy scores, in units of the score, of at most `most` candidates above a threshold, n x 2.

        `most` rounds at epsilon / most: half of it chooses the next candidate as `choose_best` does, half adds noise to
        its score; the first noisy score below the threshold ends it, and is not returned.
        """
        candidates, score, most = self._candidates(candidates, score, most)
        level, half, reach = _level(threshold, score), self._per_row(budget := Budget(budget), 2 * most), _reach(score)
        if half / reach < SMALLEST_EPSILON:
            raise BadInput("the budget is too small for so many candidates: use a larger one, or fewer")
        about = f"at most {most} of {_described(candidates)}, {type(score).__name__} from {threshold} on"
        receipt = self._charge("choose_above", about, budget)
        found = np.zeros((0, 2), np.int64)
        with quiet():
            scores = self._exact(candidates, score)
            for place in islice(peel(scores, half / (score.high - score.low), self._noise), most):
                noisy = int(scores[place]) + int(self._noise.discrete_laplace(half / reach, 1)[0])
                if noisy < level:
                    break
                found = np.vstack([found, [place, noisy]])
        return self._wrap(frozen(found), float(reach / (half * score.unit)), receipt)

    def sift(
        self, candidates: Candidates, score: Score, threshold: float, budget: Budget, *, most: int
    ) -> Release[Integers]:
        """The places, sorted, of the first `most` candidates that a sieve finds above a threshold, asked about each in
        a random order: see `above`, whose answers these are."""
        candidates, score, most = self._candidates(candidates, score, most)
        level, rates = (
            _level(threshold, score),
            sieve_rates(self._per_row(budget := Budget(budget)), score.low, score.high, most),
        )
        if min(rates) < SMALLEST_EPSILON:
            raise BadInput("the budget is too small for this sieve: use a larger one or fewer hits")
        about = f"at most {most} of {_described(candidates)}, {type(score).__name__} from {threshold} on"
        receipt = self._charge("sift", about, budget)
        with quiet():
            found = first_above(self._exact(candidates, score), level, rates, most, self._noise)
        return self._wrap(frozen(found), float(1 / (rates[1] * score.unit)), receipt)

    def _candidates(
        self, candidates: Any, score: Any, count: Any, kinds: tuple[type, ...] = SCORES
    ) -> tuple[Any, Any, int]:
        """Candidates, a score and a number of candidates that were looked at."""
        candidates = candidates if isinstance(candidates, Bag) else tuple(candidates)
        score = check_selection(candidates, score, self.schema, kinds)
        return candidates, score, whole(count, "the number of candidates to choose", 1, _number(candidates))

    def _exact(self, candidates: Candidates, score: Any) -> Integers:
        """The exact score of each candidate; of a word, that of the rows with it and of those without it."""
        if not isinstance(candidates, Bag):
            return self._scores(candidates, score)
        of_tables: Tabular = score
        return of_tables.each(self._table.word_tables(candidates))


def _number(candidates: Candidates) -> int:
    return candidates.size if isinstance(candidates, Bag) else len(candidates)


def _described(candidates: Candidates) -> str:
    return candidates.describe() if isinstance(candidates, Bag) else str(len(candidates))


def _level(threshold: Any, score: Score) -> int:
    """The threshold in units of the score, rounded up."""
    return int(-(-exact(threshold, "the threshold") * score.unit // 1))


def _reach(score: Score) -> int:
    """How far one row moves the score of one candidate, at most."""
    return max(abs(score.low), abs(score.high))


def sparse_level(cells: int, epsilon: Fraction, threshold: int | None, spurious: float) -> int:
    """The threshold of a sparse count; refuses one that would let too many empty cells through."""
    if not 0 < spurious <= SPARSE_LIMIT:
        raise BadInput(f"a sparse count needs spurious between 0 and {SPARSE_LIMIT}")
    level = threshold_for(cells, epsilon, spurious) if threshold is None else threshold
    level = whole(level, "the threshold", 0, 2**60)
    if survivors(cells, epsilon, level) > SPARSE_LIMIT:
        raise BadInput(
            f"the threshold must be at least {threshold_for(cells, epsilon, SPARSE_LIMIT)}: "
            f"at {level} about {survivors(cells, epsilon, level):.3g} empty cells would pass it"
        )
    return level
