"""Audit of synthetic tables: the verb and the score that choose links, whole plans, and twins that must be caught."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from math import log2
from typing import Any

import numpy as np

from ..kernel import Budget, Dependence, Release, Source
from ..kernel.flip import permute_and_flip
from ..kernel.noise import Noise
from ..plans.synthesis.marginals import marginals
from ..plans.synthesis.privbayes import privbayes
from ..questions import WHOLE, Grid, grid
from ..schema import Categorical, Schema
from .harness import Case, Runs, View
from .ours import winner
from .pairs import pair
from .tables import ONE, TWO, Table, asking, open_table

BITS = Schema(name="audit", column=[Categorical(name=name, values=(0, 1), missing=0) for name in "abc"])
AB, AC = grid(BITS, "a", "b"), grid(BITS, "a", "c")
ASSUMED = 10_000  # rows that the twin takes for granted
UNITS = 1 << 20  # of a bit, in the twin's scores
CODE = {name: np.array([code], np.uint8) for name, code in (("", 0), ("a", 1), ("b", 1), ("c", 0))}  # of the row
COUNTS: dict[str, View] = {
    "counts of the row's cells, weighed by what they cost": lambda seen: np.round(2 * seen[:, 0]) / 2,
    "what was chosen, and the last count": lambda seen: [tuple(run) for run in np.clip(seen[:, 1:], -1, 3)],
}


def syntheses() -> list[Case]:
    """Cases of both choices and both plans, and their twins."""
    crowd, few = bits(*[(0, 0, 0)] * 50), bits(*[(0, 0, 0)] * 2)
    more, some = (bits(*zip(*one.values(), strict=True), (1, 1, 0)) for one in (crowd, few))
    farther = asking(partial(_apart, [[50, 0, 0, 0], [50, 0, 1, 0]]), BITS)
    runs: dict[str, Any] = {"quick": 1_500, "deep": 10_000}
    plans: dict[str, Any] = {"quick": 700, "deep": 5_000, "views": COUNTS}
    return [
        Case("choose by Dependence", 1, (crowd, more), asking(partial(winner, [WHOLE, AB], Dependence()), BITS)),
        Case("choose_apart", 1, (crowd, more), farther, "the row is expected in one table, and not in the other"),
        *pair("PrivBayes by mutual information", 1, (few, some), assumed_rows, asking(_linked, BITS), **runs),
        *pair("undivided privbayes", 2, (few, some), seeing(privbayes, _Undivided), seeing(privbayes), **plans),
        *pair("undivided marginals", 2, (few, some), seeing(marginals, _Undivided), seeing(marginals), **plans),
    ]


def bits(*listed: tuple[int, int, int]) -> Table:
    """A table of three columns of 0 and 1."""
    return {name: [row[place] for row in listed] for place, name in enumerate("abc")}


def _apart(expected: list[list[int]], source: Source) -> int:
    candidates = [AB, AC]
    levels = [np.array(one) for one in expected]
    return candidates.index(source.choose_apart(candidates, levels, ONE).value)


def _linked(source: Source) -> int:
    """Whether b or c is linked with a, as PrivBayes chooses it."""
    return [AB, AC].index(source.choose([AB, AC], Dependence(), ONE).value)


def assumed_rows(table: Table, noise: Noise, trials: int) -> Any:
    """NOT PRIVATE: PrivBayes by mutual information, its sensitivity taken for an assumed number of rows.

    Of n rows a change moves it by up to log2(n) / n + (n-1)/n log2(n / (n-1)) (Zhang et al. 2014): with few rows by
    much more than with those assumed. The number of rows is private, so no bound on it can be had for free.
    """
    n = ASSUMED
    spread = log2(n) / n + (n - 1) / n * log2(n / (n - 1))
    scores = np.array([round(UNITS * _information(table["a"], table[name])) for name in "bc"])
    rate = Fraction(1, 2 * round(UNITS * spread))
    return np.array([permute_and_flip(scores, rate, noise) for _ in range(trials)])


def _information(first: list[int], second: list[int]) -> float:
    """The mutual information of two columns in bits."""
    counts = np.zeros((2, 2))
    np.add.at(counts, (first, second), 1)
    shares = counts / counts.sum()
    apart = shares / np.maximum(np.outer(shares.sum(axis=1), shares.sum(axis=0)), 1e-300)
    return float((shares * np.log2(np.where(shares > 0, apart, 1))).sum())


class _Undivided:
    """NOT PRIVATE: a source that counts every table with all of epsilon, whatever the plan wants to spend."""

    def __init__(self, source: Source) -> None:
        self._source, self.schema, self.per_row, self.record = source, source.schema, source.per_row, source.record
        self.choose, self.choose_apart = source.choose, source.choose_apart

    def count(self, question: Any, budget: Budget) -> Release[Any]:
        release: Release[Any] = self._source.count(question, TWO)
        return release

    def count_each(self, questions: Any, budget: Budget, shares: Any = None) -> tuple[Release[Any], ...]:
        return tuple(self._source.count(question, TWO) for question in questions)


def seeing(plan: Callable[..., Any], inside: Any = None) -> Runs:
    """Runs of a plan, each on rows that are opened anew; `inside` is what it asks in place of the source."""

    def runs(table: Table, noise: Noise, trials: int) -> Any:
        found = []
        for _ in range(trials):
            source = open_table(table, noise, schema=BITS)
            plan(inside(source) if inside else source, TWO)
            found.append(_seen(source))
        return np.array(found)

    runs.__doc__ = (inside or plan).__doc__
    return runs


def _seen(source: Source) -> list[float]:
    """The counts of the row's cells, weighed by epsilon and added up; what was chosen; and the last count."""
    answers = [*_counts(source)]
    chosen = [release.value for release in source.record.releases if isinstance(release.value, Grid)]
    linked = sum((2**place) * ("b" in one.columns) for place, one in enumerate(chosen))
    return [sum(count * epsilon for count, epsilon in answers), linked, answers[-1][0]]


def _counts(source: Source) -> Iterator[tuple[int, float]]:
    """The noisy count of the row's cell in each table, and its epsilon."""
    for release in source.record.releases:
        if release.receipt.verb == "count":
            cell = int(release.question.cells(CODE)[0])
            yield int(release.value[cell, 0]), 1 / release.noise_scale
