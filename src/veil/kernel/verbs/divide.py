"""choose_each: for every cell of a partition the candidate by which to divide it.

As if `split` by the partition and `choose` in each part: a row lies in one cell and moves the scores of that cell
alone, so all choices together cost epsilon once.
"""

from typing import Any

import numpy as np

from ... import wording
from ...progress import advance
from ...questions import Grid
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ..asking import Asking
from ..budget import Budget
from ..flip import own_handicaps, permute_and_flip_each
from ..noise import Integers
from ..owning import MOST_COUNTS, Owner
from ..release import Release, frozen
from ..scores import CELLWISE
from ..tally import Tally
from .choose import own_candidates


class Dividing(Asking):
    """The verb that chooses in every cell."""

    def choose_each(
        self, partition: Any, candidates: Any, score: Any, budget: Budget, *, allowed: Any = None, handicaps: Any = None
    ) -> Release[Integers]:
        """For every cell, occupied or not, the index of an axis that most likely has a high score among its rows.
        `allowed`, cells x candidates, is public, and so are `handicaps`, one for each candidate."""
        owner, budget = Owner(self._own), Budget(budget)
        asked = owner.partition(partition)
        axes, score = self._axes(asked, candidates, score, owner)
        mask, marks = self._allowed(allowed, (asked.size, len(axes))), own_handicaps(handicaps, len(axes))
        epsilon = self._per_row(budget)
        about = f"one of {len(axes)} by {type(score).__name__} in each cell of {asked.describe()}"
        receipt = self._charge("choose_each", about, budget)
        with quiet():
            scores, cells = np.empty(mask.shape, np.int64), self._table.cell_of_each(asked)
            for places, starts, counts in Tally(self._table).within(cells, asked.size, axes):
                scores[:, places] = np.add.reduceat(score.cells(counts), starts).T - marks[places] * score.unit
                advance("scoring candidates", places[-1] + 1, len(axes))
            winners = permute_and_flip_each(scores, mask, epsilon / (score.high - score.low), self._noise)
        return self._wrap(frozen(winners), float((score.high - score.low) / (epsilon * score.unit)), receipt)

    def _axes(self, asked: Any, candidates: Any, score: Any, owner: Owner) -> tuple[list[Any], Any]:
        """The axes of the candidates, one each, and a copy of the score."""
        grids, score = own_candidates(candidates, score, self._own, CELLWISE, owner)
        refuse(not all(type(grid) is Grid and len(grid.axes) == 1 for grid in grids), wording.ONE_AXIS_EACH)
        widest = max(len(grid.axes[0].groups) for grid in grids) * len(self._own.classes)
        refuse(asked.size * max(widest, len(grids)) > MOST_COUNTS, wording.CELLS_TO_CHOOSE.format(asked.describe()))
        return [grid.axes[0] for grid in grids], score

    def _allowed(self, allowed: Any, shape: tuple[int, int]) -> Any:
        """Which candidates are allowed in which cell; refused if that leaves a cell without any."""
        mask = np.ones(shape, np.bool_) if allowed is None else allowed
        fitting = type(mask) is np.ndarray and mask.dtype == np.bool_ and mask.shape == shape
        refuse(not fitting or not mask.any(axis=1).all(), wording.ALLOWED)
        return np.array(mask)
