"""PrivPfC (Su, Cao, Li, Lyu, VLDB Journal 2018): publish one grid, chosen for what a classifier can learn from it."""

from fractions import Fraction

import numpy as np

from ...errors import BadInput
from ...kernel import PARTS, Budget, ExpectedCorrect, Source, whole
from ...questions import WHOLE
from ..finish import Numbers
from .grids import Histogram, grids, level_axes

MOST_CELLS = 2000
CELLS_PER_ROW = 0.4  # cells for each row that stands out of the noise
POOL = 100, 100_000  # candidates, from few to many: what is chosen at random should not be one of thousands
CANDIDATES_PER_ROW = 13  # for each row that stands out of the noise of choosing; more of them with many columns
RARE, LIFT = 0.2, 0.75  # a class with a smaller share is rare, and lifted by this power of the ratio


def privpfc(source: Source, budget: Budget, *, pool: int | None = None, most_cells: int = MOST_CELLS) -> Histogram:
    """Choose one of many grids over few columns privately, then publish class counts in its cells.

    Budget: 3 % for the class totals, which size the grid; 24.25 % to choose it; 72.75 % for its counts.

    The grid has at most `most_cells` cells and is one of `pool` candidates; if that is not given, the more rows stand
    out of the noise, the more there are. Returns its counts, and the class totals; as counts these once more, at all
    that is left of the budget, if `most_cells` leaves room for no grid or no column has two values.
    """
    pool, most_cells = _checked(source, pool, most_cells)
    to_size, to_choose, to_count = budget.split("3", "24.25", "72.75")
    size = source.count(WHOLE, to_size)
    if most_cells < 2 or not any(map(level_axes, source.schema.features)):
        return Histogram(source.count(WHOLE, Budget(to_choose.epsilon + to_count.epsilon)), size)

    totals = np.maximum(size.value[0], max(size.noise_scale, 1e-9))
    rows, choosing, counting = float(totals.sum()), *(_per_row(source, part) for part in (to_choose, to_count))
    cells = min(most_cells, max(2, round(CELLS_PER_ROW * rows * counting)))
    if pool is None:
        each = max(CANDIDATES_PER_ROW, len(source.schema.features) ** 2 / 15)
        pool = int(np.clip(each * rows * choosing, *POOL))
    score = ExpectedCorrect(max(counting, 1e-3), class_weights(totals))
    grid = source.choose(grids(source.schema, cells, pool), score, to_choose).value
    return Histogram(source.count(grid, to_count), size)


def class_weights(totals: Numbers) -> tuple[int, ...]:
    """Sixteenths of a row that a row of each class counts for: of two classes, a rare one counts for more.

    Otherwise no grid would seem to help as long as the rare class stays the smaller one in every cell.
    """
    shares = totals / totals.sum()
    if len(shares) != 2 or shares.min() >= RARE:
        return ()
    return tuple(max(1, int(PARTS * weight)) for weight in (shares.min() / shares) ** LIFT)


def _per_row(source: Source, budget: Budget) -> float:
    """What a row may cost, up to a million: beyond that there is no noise to speak of."""
    return float(min(source.per_row(budget), Fraction(10**6)))


def _checked(source: Source, pool: int | None, most_cells: int) -> tuple[int | None, int]:
    """The settings as whole numbers; complains before anything is charged."""
    if not source.schema.features:
        raise BadInput("there is no column besides the label to publish")
    return None if pool is None else whole(pool, "pool", 1, 10**6), whole(most_cells, "most_cells", 1, 10**6)
