"""choose, choose_best, choose_above: choose candidates that most likely have high scores.

A row may move the scores of all candidates: what counts is how far apart it moves two of them, high - low by the
score's own argument. Permute-and-flip with exponent epsilon / (high - low) per unit then costs epsilon (see `flip`);
several choices one after the other cost the sum.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from ... import wording
from ...progress import advance
from ...questions import Bag, Grid, Partition
from ...schema import Schema
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ..asking import Asking
from ..budget import Budget
from ..flip import own_handicaps, permute_and_flip
from ..noise import SMALLEST_EPSILON, Integers, Noise
from ..owning import Owner, own_score
from ..release import Release, frozen
from ..scores import OF_ROWS, OF_WORDS, SCORES, Dependence, Discernibility, Score
from ..settings import Candidates, described, own_cell, own_level, own_number, searched
from ..table import Table
from ..tally import Tally
from ..words import word_tables

Question = TypeVar("Question", bound=Partition)
AT_ONCE = 1 << 14  # cells that are scored together


class Choosing(Asking):
    """The verbs that choose by scores."""

    def choose(
        self, candidates: Sequence[Question], score: Score, budget: Budget, *, handicaps: Sequence[int] | None = None
    ) -> Release[Question]:
        """The winning candidate alone, without its score or a runner-up. `handicaps` are public integers subtracted
        from the scores; one added row does not change them."""
        candidates, budget = tuple(candidates), Budget(budget)
        asked, score = own_candidates(candidates, score, self._own, SCORES)
        marks, epsilon = own_handicaps(handicaps, len(candidates)), self._per_row(budget)
        receipt = self._charge("choose", f"one of {len(candidates)} by {type(score).__name__}", budget)
        with quiet():
            rows = rows_of(score, self._table)
            scores = exact_scores(self._table, asked, score)
            rate = epsilon / ((score.high - score.low) * rows)
            winner = permute_and_flip(scores - marks.astype(scores.dtype) * (score.unit * rows), rate, self._noise)
        return self._wrap(candidates[winner], float((score.high - score.low) / (epsilon * score.unit)), receipt)

    def choose_best(self, candidates: Candidates, score: Score, budget: Budget, *, count: int) -> Release[Integers]:
        """The indices of `count` candidates (words of a bag, or partitions) in the order in which they were chosen:
        `count` times permute-and-flip at epsilon / count. All words of a row count here."""
        asked, score = own_candidates(candidates, score, self._own, SCORES)
        count = own_number(count, asked)
        epsilon, spread = self._per_row(budget := Budget(budget), count), score.high - score.low
        receipt = self._charge("choose_best", f"{count} of {described(asked)} by {type(score).__name__}", budget)
        with quiet():
            rate = epsilon / (spread * rows_of(score, self._table))
            places = [*islice(peel(exact_scores(self._table, asked, score), rate, self._noise), count)]
        return self._wrap(frozen(np.array(places)), float(spread / (epsilon * score.unit)), receipt)

    def choose_above(
        self, candidates: Candidates, score: Score, threshold: float, budget: Budget, *, most: int
    ) -> Release[Integers]:
        """The indices and noisy scores (in units of the score) of at most `most` candidates above a threshold, n x 2.

        `most` rounds at epsilon / most: half of it chooses the next candidate as `choose_best` does, half adds noise to
        its score; the first noisy score below the threshold ends it, and is not returned.
        """
        asked, score = own_candidates(candidates, score, self._own, OF_ROWS)
        most, level, reach = own_number(most, asked), own_level(threshold, score), max(abs(score.low), abs(score.high))
        half = self._per_row(budget := Budget(budget), 2 * most)
        refuse(half / reach < SMALLEST_EPSILON, wording.SMALL_BUDGET)
        receipt = self._charge("choose_above", searched(most, asked, score, threshold), budget)
        found = np.zeros((0, 2), np.int64)
        with quiet():
            scores = exact_scores(self._table, asked, score)
            for place in islice(peel(scores, half / (score.high - score.low), self._noise), most):
                noisy = int(scores[place]) + int(self._noise.discrete_laplace(half / reach, 1)[0])
                if noisy < level:
                    break
                found = np.vstack([found, [place, noisy]])
        return self._wrap(frozen(found), float(reach / (half * score.unit)), receipt)


def peel(scores: Integers, rate: Fraction, noise: Noise) -> Iterator[int]:
    """Indices drawn one after the other without replacement, each by permute-and-flip among the scores that are left.

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


def exact_scores(table: Table, candidates: Any, score: Any) -> Integers:
    """The exact score of each candidate; for a word, that of the table of rows with and without it. Grids, which may be
    many, are counted together."""
    if isinstance(candidates, Bag):
        return np.asarray(score.each(word_tables(table, candidates)))
    many = rows_of(score, table) >= 2**31  # pairs of so many rows need Python's integers
    scores = np.empty(len(candidates), object if many else np.int64)
    apart = ((place, table.tabulate(candidate)) for place, candidate in enumerate(candidates))
    found = Tally(table).each(candidates) if _together(candidates, score) else apart
    done, cells, places, tables = 0, 0, list[int](), list[Integers]()
    for place, counts in found:
        places.append(place)
        tables.append(_by_last(candidates[place], counts) if type(score) is Dependence else counts)
        done, cells = done + 1, cells + len(counts)
        if done == len(candidates) or cells > AT_ONCE:
            scores[places] = score.of(tables)
            cells, places, tables = 0, [], []
        advance("scoring candidates", done, len(candidates))
    return scores


def _by_last(candidate: Any, counts: Integers) -> Integers:
    """The counts of a grid with its last axis in place of the classes, if there are none; the same counts otherwise."""
    alone = type(candidate) is Grid and candidate.axes and counts.shape[1] == 1
    return counts.reshape(-1, candidate.axes[-1].size) if alone else counts


def rows_of(score: Score, table: Table) -> int:
    """The divisor of a score: the number of rows for scores of pairs, else 1. It never leaves the kernel."""
    return max(len(table), 1) if type(score) is Discernibility else 1


def _together(candidates: Any, score: Any) -> bool:
    """Whether candidates can be counted together, without empty cells: grids, by a score to which these add nothing."""
    return not score.numbered and all(type(candidate) is Grid for candidate in candidates)


def own_candidates(
    candidates: Any, score: Any, schema: Schema, kinds: tuple[type, ...], owner: Owner | None = None
) -> tuple[Any, Any]:
    """Copies of the candidates, partitions or the words of a bag, and of the score, if they fit the schema."""
    owner, words = owner or Owner(schema), type(candidates) is Bag
    score = own_score(score, schema, OF_WORDS if words else kinds)
    given = () if words else tuple(candidates)
    refuse(not given and not words, "there is nothing to choose from")
    dense = not _together(given, score)
    asked = owner.bag(candidates) if words else [owner.partition(one, dense=dense) for one in given]
    sizes = {2} if isinstance(asked, Bag) else {one.size for one in asked}  # with a word and without it are two cells
    for size in sizes:
        own_cell(score, size, len(schema.classes))
    return asked, score
