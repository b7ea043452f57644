"""Projected histogram (Vinterbo, ECML-PKDD 2012): keep the columns that tell the classes apart, count over them."""

from math import ceil, log, log2
from typing import Any

from ..columns import Categorical, Numeric
from ..errors import BadInput
from ..kernel.budget import Budget
from ..kernel.release import Release, SparseCounts
from ..kernel.scores import Discernibility, Majority
from ..kernel.source import Source
from ..questions import WHOLE, Grid, axis, runs
from .projection import THRESHOLD, bins_for, columns_for, share_to_count

SCORES = {"discernibility": Discernibility, "majority": Majority}
CELLS_PER_ROW = 0.4  # cells for each row that stands out of the noise; more of them are a handicap
HANDICAP = 0.1  # of the rows, for each doubling of the cells beyond that
SPURIOUS = 0.01  # empty cells that pass the threshold, for each row


def projected_histogram(
    source: Source,
    budget: Budget,
    *,
    columns: int | None = None,
    bins: int | None = None,
    share: float | None = None,
    score: str = "discernibility",
    threshold: str = "domain",
) -> Release[SparseCounts]:
    """Choose a few columns privately, then publish the class counts over them that stand out of the noise.

    Budget: 3 % for the class totals, which size everything else; of the rest, `share` for the counts and what is left
    for choosing `columns` columns, one after the other. All three follow from public numbers if they are not given.

    Numeric columns are cut into `bins` runs. The threshold lets through as many empty cells as a hundredth of the rows
    ("domain"), or is half of log(rows) noise scales ("paper"). Returns the counts above it.
    """
    features = source.schema.features
    _check(features, columns, score, threshold)
    to_size, rest = budget.split(3, 97)

    rows = max(float(source.count(WHOLE, to_size).value.sum()), 1.0)
    k = min(columns or columns_for(len(features), rows), len(features))
    cut = bins or bins_for(rows, k)
    axes = [cut_into(column, cut) for column in features]
    if k == len(features):
        return _count(source, Grid(sum((one.axes for one in axes), ())), rest, rows, threshold)

    share = share or share_to_count(rows, len(features), k, len(source.schema.classes), cut)
    to_count, to_choose = rest.split(share, 1 - share)
    grid = private_kd(source, to_choose, axes, k, score, rows, CELLS_PER_ROW * rows * float(to_count.epsilon))
    return _count(source, grid, to_count, rows, threshold)


def private_kd(
    source: Source, budget: Budget, axes: list[Grid], columns: int, score: str, rows: float, affordable: float
) -> Grid:
    """A grid of this many columns, one chosen after the other for the pairs of rows of different classes that it tells
    apart.

    Budget: an equal part for each. A column like an identifier tells all rows apart and leaves every cell to the noise:
    cells beyond those affordable are a handicap, by public numbers alone.
    """
    grid = WHOLE
    for part in budget.each(columns):
        candidates = [grid & one for one in axes if one.columns[0] not in grid.columns]
        beyond = [max(log2(candidate.size / max(affordable, 1.0)), 0.0) for candidate in candidates]
        handicaps = [min(round(HANDICAP * rows * doublings), 2**30) for doublings in beyond]
        grid = source.choose(candidates, SCORES[score](), part, handicaps=handicaps).value
    return grid


def cut_into(column: Categorical | Numeric, bins: int) -> Grid:
    """The axis of a column: every category, or neighbouring bins gathered into this many runs."""
    return runs(column, bins) if isinstance(column, Numeric) else axis(column)


def _count(source: Source, grid: Grid, budget: Budget, rows: float, threshold: str) -> Release[SparseCounts]:
    if threshold == "domain":
        return source.count_sparse(grid, budget, spurious=max(SPURIOUS * rows, 1.0))
    scale = source.schema.rows_per_person / float(budget.epsilon)
    return source.count_sparse(grid, budget, threshold=ceil(THRESHOLD * log(max(rows, 3.0)) * scale))


def _check(features: Any, columns: Any, score: str, threshold: str) -> None:
    """Complain before anything is charged."""
    if not features:
        raise BadInput("there is no column besides the label to publish")
    if columns is not None and not 1 <= columns <= len(features):
        raise BadInput(f"columns must be a whole number from 1 to {len(features)}, the columns besides the label")
    if score not in SCORES or threshold not in ("domain", "paper"):
        raise BadInput(f"the score must be one of {', '.join(SCORES)}, the threshold 'domain' or 'paper'")
