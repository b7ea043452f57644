"""count, count_each, occupied: noisy counts of the rows in cells of a partition, with each word of a bag, or of cells.

Adding a row adds one to `reach` counts of a question: one cell of a partition, at most k words of a bag. So discrete
Laplace noise of scale reach / epsilon suffices (Dwork et al. 2006, Ghosh et al. 2009); several questions under one
charge cost the sum of their epsilons.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...progress import advance
from ...questions import Bag, Partition
from ...questions.bundling import as_one, bundles
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ..asking import Asking
from ..budget import Budget
from ..noise import Integers
from ..owning import Owner
from ..release import Release, frozen
from ..table import Table
from ..words import word_counts

Shares = Sequence[float] | None
TOGETHER = 1 << 11  # cells of grids that are counted as one: their counters stay in the fastest cache


class Counting(Asking):
    """The verbs that count."""

    def count(self, question: Partition | Bag, budget: Budget, *, by_class: bool = True) -> Release[Integers]:
        """Noisy counts, cells or words x classes (one column without `by_class`)."""
        return self.count_each([question], budget, by_class=by_class)[0]

    def count_each(
        self, questions: Sequence[Partition | Bag], budget: Budget, *, shares: Shares = None, by_class: bool = True
    ) -> tuple[Release[Integers], ...]:
        """Noisy counts of several questions under one charge, divided in these shares (equally without any).

        The shares of the questions add up to the budget exactly. A bag of few words needs little noise, however many
        words a row has: it counts for min(most, words asked about) of them.
        """
        questions, budget = [*map(Owner(self._own), questions)], Budget(budget)
        epsilons = self._rates(budget, questions, shares)
        receipt = self._charge("count", "; ".join(asked.describe() for asked in questions), budget)
        classes = self._own.classes if by_class else ("",)
        with quiet():
            exact = counts_of_each(self._table, questions, by_class)
            drawn = self._noise.discrete_laplace_each(epsilons, [counts.size for counts in exact])
            noisy = [counts + noise.reshape(counts.shape) for counts, noise in zip(exact, drawn, strict=True)]
        answers = zip(noisy, epsilons, questions, strict=True)
        return tuple(self._wrap(frozen(n), float(1 / e), receipt, asked, classes) for n, e, asked in answers)

    def _rates(self, budget: Budget, questions: list[Any], shares: Shares) -> list[Fraction]:
        """The epsilon that one row has in the share of each question."""
        parts = budget.split(*(shares if shares is not None else [1] * len(questions)))
        refuse(len(parts) != len(questions), "give one share for each question")
        return [self._per_row(part, asked.reach) for part, asked in zip(parts, questions, strict=True)]

    def occupied(self, partition: Partition, budget: Budget) -> Release[int]:
        """The noisy number of cells that hold a row of any class; noise may bring it below 0, or above all cells. A row
        that is added raises it by one if its cell was empty, else by nothing: noise of scale 1 / epsilon suffices."""
        partition, budget = Owner(self._own).partition(partition), Budget(budget)
        epsilon = self._per_row(budget)
        receipt = self._charge("occupied", partition.describe(), budget)
        with quiet():
            exact = np.count_nonzero(self._table.tabulate(partition, by_class=False))
        return self._wrap(int(exact + self._noise.discrete_laplace(epsilon, 1)[0]), float(1 / epsilon), receipt)


def counts_of_each(table: Table, questions: Sequence[Any], by_class: bool = True) -> list[Integers]:
    """The exact counts of each question. Small grids of different columns are counted as one and summed apart."""
    classes = table.classes if by_class else 1
    counts = list[Integers]()
    for places in bundles(questions, range(len(questions)), TOGETHER // classes):
        some = [questions[place] for place in places]
        if type(some[0]) is Bag:
            counts.append(word_counts(table, some[0], some[0].most, classes))
        else:
            counts += added_up(table.tabulate(as_one(some), by_class), some)
        advance("counting tables", len(counts), len(questions))
    return counts


def added_up(counts: Integers, grids: list[Any]) -> list[Integers]:
    """The counts of each grid, summed from those of the one grid over all their columns."""
    if len(grids) == 1:
        return [counts]
    sizes, places = [grid.axes[-1].size for grid in grids], range(1, len(grids) + 1)
    parts = counts.reshape(-1, *sizes, counts.shape[1])
    sums = [parts.sum(axis=tuple(other for other in places if other != place)) for place in places]
    return [np.asarray(found).reshape(-1, counts.shape[1]) for found in sums]
