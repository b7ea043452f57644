"""PrivPfC (Su, Cao, Li, Lyu, VLDB Journal 2018): publish one grid, chosen for what a classifier can learn from it."""

import numpy as np

from ..errors import BadInput
from ..kernel.budget import Budget
from ..kernel.release import Release
from ..kernel.scores import PARTS, ExpectedCorrect
from ..kernel.source import Source
from ..questions import WHOLE
from .finish import Counts, Numbers
from .grids import grids

POOL = 20_000
MOST_CELLS = 2000
CELLS_PER_ROW = 0.4  # cells for each row that stands out of the noise
RARE = 0.2  # a class with a smaller share is a rare one


def privpfc(source: Source, budget: Budget, *, pool: int = POOL, most_cells: int = MOST_CELLS) -> Release[Counts]:
    """Choose one of many grids over few columns privately, then publish class counts in its cells.

    Budget: 3 % for the class totals, which size the grid; 24.25 % to choose it; 72.75 % for its counts.

    Returns the counts of the grid. If there are too few rows for any grid at this budget, they are the class totals
    once more, at all that is left of the budget.
    """
    to_size, to_choose, to_count = budget.split("3", "24.25", "72.75")
    if not source.schema.features:
        raise BadInput("there is no column besides the label to publish")

    size = source.count(WHOLE, to_size)
    totals = np.maximum(size.value[0], size.scale)
    signal = float(size.value.sum() * to_count.epsilon / source.schema.rows_per_person)
    if signal < 1:
        return source.count(WHOLE, Budget(to_choose.epsilon + to_count.epsilon))

    cells = min(most_cells, max(2, round(CELLS_PER_ROW * signal)))
    candidates = grids(source.schema, cells, pool)
    epsilon = float(np.clip(float(to_count.epsilon / source.schema.rows_per_person), 1e-3, 1e6))
    grid = source.choose(candidates, ExpectedCorrect(epsilon, class_weights(totals)), to_choose).value
    return source.count(grid, to_count)


def class_weights(totals: Numbers) -> tuple[int, ...]:
    """Sixteenths of a row that a row of each class counts for: of two classes, the rare one as much as the other.

    Otherwise no grid would seem to help as long as the rare class stays the smaller one in every cell.
    """
    shares = totals / totals.sum()
    if len(shares) != 2 or shares.min() >= RARE:
        return ()
    return tuple(int(max(1, round(PARTS * weight))) for weight in shares.min() / shares)
