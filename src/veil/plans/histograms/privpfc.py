"""PrivPfC (Su, Cao, Li, Lyu, VLDB Journal 2018): publish one grid, chosen for what a classifier can learn from it."""

from fractions import Fraction

import numpy as np

from ...display import of_texts
from ...errors import BadInput
from ...kernel import PARTS, Budget, ExpectedCorrect, Source, whole
from ...questions import WHOLE
from ..finish import Numbers
from ..rehearsal import drawn
from ..sizing import Known, sized
from .grids import Counted, grids, level_axes

MOST_CELLS = 2000
CELLS_PER_ROW = 0.4  # cells for each row times epsilon
POOL = 100, 100_000  # fewest and most candidates: a choice that is mostly noise should be among few
CANDIDATES_PER_ROW = 13  # for each row times the epsilon of the choice; more with many columns
RARE, LIFT = 0.2, 0.75  # a class with a smaller share is rare, and lifted by this power of the ratio


def privpfc(
    source: Source,
    budget: Budget,
    *,
    pool: int | None = None,
    most_cells: int = MOST_CELLS,
    totals: Known = None,
) -> Counted:
    """Choose one of many grids over few columns privately, then publish class counts in its cells.

    Budget: 3 % for the class totals, which size the grid, unless they are known; of the rest a quarter to choose it,
    and three quarters for its counts.

    The grid has at most `most_cells` cells and is one of `pool` candidates, whose number grows with rows times epsilon
    if it is not given. Returns the counts of the grid and the class totals. If `most_cells` leaves room for no grid, or
    no column has two values, the counts are the class totals once more, with all that is left of the budget.
    """
    pool, most_cells = _checked(source, pool, most_cells)
    size, rest = sized(source, budget, totals)
    to_choose, to_count = rest.split(1, 3)
    if most_cells < 2 or not any(map(level_axes, source.schema.features)):
        return Counted(source.count(WHOLE, rest), size)

    expected = np.maximum(size.value[0], max(size.noise_scale, 1e-9))
    rows, choosing, counting = float(expected.sum()), *(_per_row(source, part) for part in (to_choose, to_count))
    cells = min(most_cells, max(2, round(CELLS_PER_ROW * rows * counting)))
    if pool is None:
        each = max(CANDIDATES_PER_ROW, len(source.schema.features) ** 2 / 15)
        pool = int(np.clip(each * rows * choosing, *POOL))
    score = ExpectedCorrect(max(counting, 1e-3), class_weights(expected))
    grid = source.choose(grids(source.schema, cells, drawn(pool)), score, to_choose).value
    return Counted(source.count(grid, to_count), size)


def class_weights(totals: Numbers) -> tuple[int, ...]:
    """The weight of a row of each class, in sixteenths: if one of two classes is rare, 16 for it and less for the
    other; else (), so that all rows count alike.

    Otherwise no grid would seem to help as long as the rare class stays the smaller one in every cell.
    """
    shares = totals / totals.sum()
    if len(shares) != 2 or shares.min() >= RARE:
        return ()
    return tuple(max(1, int(PARTS * weight)) for weight in (shares.min() / shares) ** LIFT)


def _per_row(source: Source, budget: Budget) -> float:
    """The epsilon that one row may cost, capped at a million, above which noise is negligible."""
    return float(min(source.per_row(budget), Fraction(10**6)))


def _checked(source: Source, pool: int | None, most_cells: int) -> tuple[int | None, int]:
    """The settings as integers. Raises BadInput before anything is charged."""
    if not source.schema.features:
        raise BadInput(f"there is no column besides the label to publish{of_texts(source.schema, True)}")
    return None if pool is None else whole(pool, "pool", 1, 10**6), whole(most_cells, "most_cells", 1, 10**6)
