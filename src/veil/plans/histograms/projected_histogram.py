"""Projected histogram (Vinterbo, ECML-PKDD 2012): keep the columns that tell the classes apart, count over them."""

from fractions import Fraction
from math import ceil, log, log2
from numbers import Real
from typing import Any

import numpy as np

from ...errors import BadInput
from ...kernel import Budget, Discernibility, Majority, Release, Source, SparseCounts, whole
from ...questions import WHOLE, Grid, axis, runs
from ...schema import Categorical, Numeric
from ..sizing import Known, sized
from .grids import Counted
from .projection import THRESHOLD, bins_for, columns_for, share_to_count

RULES = ("veil", "paper")
CRITERIA: dict[str, type[Majority] | type[Discernibility]] = {"majority": Majority, "discernibility": Discernibility}
HELD_OUT = "held-out"
SHARE = 0.7
CELLS_PER_ROW = 0.2  # cells for each row times epsilon; a grid with more has its score lowered
HANDICAP = 0.25  # share of the rows by which the score is lowered, for each doubling beyond that
SPURIOUS, MOST_SPURIOUS = 0.01, 10**6  # expected empty cells above the threshold: for each row, and at most


def projected_histogram(
    source: Source,
    budget: Budget,
    *,
    rules: str = "veil",
    columns: int | str | None = None,
    bins: int | None = None,
    share: float | None = None,
    criterion: str | None = None,
    totals: Known = None,
) -> Counted:
    """Choose a few columns privately, then publish the class counts over them that stand out of the noise.

    Budget: 3 % for the class totals, which size everything else, unless they are known; of the rest, `share` for the
    counts and what is left for choosing `columns` columns, one after the other, by an equal part each.

    With columns "held-out" their number is chosen too, on rows held out for it, at no further cost.

    What is not given follows from public numbers, by these `rules` ("paper": the paper's, with its errata mended):

                    veil                                            paper
        columns     enough to tell 90 % of the pairs apart, if independent (both)
        bins        cells that the rows can fill                    bandwidth of Lei
        share       0.7                                             noise may cost 5 % of the pairs
        criterion   "majority", rows of their cell's largest class  "discernibility", pairs told apart
        threshold   lets through 0.01 empty cells a row             log(rows) / 2 noise scales, if that leaves few

    Returns the counts above the threshold, and the class totals.
    """
    features, classes = source.schema.features, len(source.schema.classes)
    columns, bins = checked_settings(features, rules, columns, bins, share, criterion)
    totals, rest = sized(source, budget, totals)
    rows = max(float(totals.value.sum()), 1.0)
    k = columns if isinstance(columns, int) else columns_for(len(features), rows)
    if share is None:
        share = SHARE if rules == "veil" else share_to_count(rows, len(features), k, classes, bins_for(rows, k))
    to_count, to_choose = rest.split(round(share, 3), round(1 - share, 3))
    signal = rows * float(min(source.per_row(to_count), Fraction(1)))
    bins = bins or (_bins(signal, k) if rules == "veil" else bins_for(rows, k))
    axes = [cut_into(column, bins) for column in features]

    if k == len(features):  # nothing to choose
        return Counted(_count(source, Grid(sum((one.axes for one in axes), ())), rest, rows, rules), totals)
    criterion = criterion or ("majority" if rules == "veil" else "discernibility")
    choose = private_kd_held_out if columns == HELD_OUT else private_kd
    grid = choose(source, to_choose, axes, k, criterion, rows, CELLS_PER_ROW * signal)
    return Counted(_count(source, grid, to_count, rows, rules), totals)


def private_kd(
    source: Source, budget: Budget, axes: list[Grid], columns: int, criterion: str, rows: float, affordable: float
) -> Grid:
    """A grid of `columns` columns, chosen greedily: each for what it adds to the score of those before it.

    Budget: an equal share for each. A column like an identifier would separate all rows and leave every cell to the
    noise, so cells beyond `affordable` lower the score, by public numbers alone.
    """
    grid = WHOLE
    for part in budget.each(columns):
        candidates = [grid & one for one in axes if one.columns[0] not in grid.columns]
        handicaps = _handicaps(candidates, rows, affordable)
        grid = source.choose(candidates, CRITERIA[criterion](), part, handicaps=handicaps).value
    return grid


def private_kd_held_out(
    source: Source, budget: Budget, axes: list[Grid], columns: int, criterion: str, rows: float, affordable: float
) -> Grid:
    """The best of several grids, with 1 to `columns` + 2 columns, each chosen on its own disjoint part of the rows.

    Budget: all of it for each part, and all of it to choose among the grids on the last part; the parts are disjoint.
    The paper's version compares ratios of pairs, which one row can move by their whole range; these are pairs over
    rows.
    """
    sizes = range(1, min(columns + 2, len(axes)) + 1)
    *rooms, judge = source.split_at_random(*[1] * len(sizes), 1)
    share = rows / (len(sizes) + 1)
    tried = zip(rooms, sizes, strict=True)
    grids = [private_kd(room, budget, axes, size, criterion, share, affordable) for room, size in tried]
    return judge.choose(grids, CRITERIA[criterion](), budget, handicaps=_handicaps(grids, share, affordable)).value


def _handicaps(candidates: list[Grid], rows: float, affordable: float) -> list[int]:
    beyond = [max(log2(candidate.size / max(affordable, 1.0)), 0.0) for candidate in candidates]
    return [min(round(HANDICAP * rows * doublings), 2**30) for doublings in beyond]


def cut_into(column: Categorical | Numeric, bins: int) -> Grid:
    """The axis of a column: all categories, or neighbouring bins merged into `bins` runs."""
    return runs(column, bins) if isinstance(column, Numeric) else axis(column)


def _bins(signal: float, columns: int) -> int:
    """Bins per column, so that a grid of `columns` columns has CELLS_PER_ROW cells for each row times epsilon."""
    each: float = (CELLS_PER_ROW * signal) ** (1 / columns)
    return max(2, round(each))


def _count(source: Source, grid: Grid, budget: Budget, rows: float, rules: str) -> Release[SparseCounts]:
    """The counts above the threshold, which is raised if it would let millions of empty cells through."""
    if rules == "veil":
        return source.count_sparse(grid, budget, spurious=float(np.clip(SPURIOUS * rows, 1, MOST_SPURIOUS)))
    least = log(grid.size * len(source.schema.classes)) - log(MOST_SPURIOUS)
    scales = max(THRESHOLD * log(max(rows, 3.0)), least)
    return source.count_sparse(grid, budget, threshold=ceil(Fraction(scales) / source.per_row(budget)))


def checked_settings(
    features: Any, rules: Any, columns: Any, bins: Any, share: Any, criterion: Any
) -> tuple[int | str | None, int | None]:
    """`columns` and `bins` as integers (or "held-out", or None). Raises BadInput before anything is charged."""
    if not features:
        raise BadInput("there is no column besides the label to publish")
    if rules not in RULES or criterion not in (None, *CRITERIA):
        raise BadInput(f"rules must be one of {', '.join(RULES)}, criterion one of {', '.join(CRITERIA)}")
    if share is not None and not (isinstance(share, Real) and not share < 0.01 and share <= 0.99):
        raise BadInput("share, that of the budget for the counts, must lie between 0.01 and 0.99")
    if columns is not None and not (isinstance(columns, str) and columns == HELD_OUT):
        columns = whole(columns, "columns, unless they are held-out,", 1, len(features))
    return columns, None if bins is None else whole(bins, "bins", 1, 2**16 - 1)
