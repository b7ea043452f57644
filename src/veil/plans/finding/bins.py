"""Finding the bins of numeric columns, so that careless bounds do no harm.

Of many public ways to cut a column (`binnings`) one is chosen that puts about equally many rows into every bin: its
score is the number of rows that are left if every bin may keep only a sixteenth of all (`choose_bins`).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import log2, sqrt
from typing import Any, NamedTuple

import numpy as np

from ...kernel import Budget, Source
from ...schema import Numeric
from ...schema.fine import STEPS, Fine, finest
from .binnings import CELLS, Places, Ways, ways_to_cut

SHARE = Fraction(1, 10)  # of a column's equal part of epsilon, for choosing its bins
ROWS = 150  # rows times epsilon, below which their number is too noisy to search
PER_COLUMN = 4  # the same, divided by the number of columns: with less, bins do not matter
TOGETHER = 250  # the same for one column: with less, columns of the same bounds choose together
FEWEST, MOST = 4, 32  # equal cells that a window has in the end


class Choice(NamedTuple):
    """Columns whose bins are chosen together, and the epsilon that this costs."""

    columns: list[Numeric]
    budget: Budget


def choices(columns: Sequence[Numeric], budget: Budget, signal: float, among: int, enough: float) -> Iterator[Choice]:
    """Which columns have their bins chosen, together or alone, and for how much.

    `signal` is the number of rows times epsilon, `among` the number of all columns that a plan divides it between. With
    less than `enough` for the columns that choose together, the choice would be mostly noise.
    """
    base, alike = signal / among, defaultdict[Any, list[Numeric]](list)
    if signal < ROWS or base < PER_COLUMN:
        return
    for column in columns:
        key = (column.bounds, column.integer, column.missing)
        alike[key if base < TOGETHER else column.name].append(column)
    for group in alike.values():
        if base * len(group) >= enough:
            yield Choice(group, Budget(budget.epsilon * SHARE * len(group) / among))


def find_bins(source: Source, choice: Choice, rows: float, cells: int) -> list[Numeric]:
    """The columns of a choice with the bins that were found, about `cells` of them; it costs the choice's budget."""
    first = finest(choice.columns[0])
    ways = ways_to_cut(first, choice.columns[0].integer)
    rate = float(min(source.per_row(choice.budget), Fraction(10**9))) / len(choice.columns)
    handicaps = np.minimum(np.round(ways.alike / rate), 2**30).astype(np.int64)
    names, cap = [column.name for column in choice.columns], max(round(rows / CELLS), 1)
    won = source.choose_bins(names, ways.places, cap, choice.budget, handicaps=handicaps).value
    if won == 0:
        return [column.model_copy(update={"bins": "public"}) for column in choice.columns]
    places = cuts_of(first, ways, won, cells)
    return [cut(column, first, places) for column in choice.columns]


def number_of_cells(base: float, fineness: float) -> int:
    """How many cells a window has in the end: a power of two near the root of a column's rows times epsilon."""
    return int(np.clip(2 ** round(log2(fineness * sqrt(max(base, FEWEST)))), FEWEST, MOST))


def cuts_of(fine: Fine, ways: Ways, won: int, cells: int) -> Places:
    """The places of the winner's cuts: a window in this many cells, or octaves merged to about as many."""
    if ways.window[won]:
        low, high = fine.cuts[ways.places[won, [1, -2]]]
        return np.minimum(np.searchsorted(fine.cuts, np.linspace(low, high, cells + 1)), len(fine.cuts) - 1)
    cuts = np.unique(ways.places[won])[1:-1]
    bins = len(cuts) + 1
    kept = [i - 1 for i in range(1, bins) if bins <= cells + 2 or i * cells // bins > (i - 1) * cells // bins]
    return np.asarray(cuts[kept])


def cut(column: Numeric, fine: Fine, places: Places) -> Numeric:
    """The column with bins between these places among the fine cuts, and its bounds."""
    low, high = column.bounds
    inner = [float(edge) for edge in np.unique(fine.cuts[places]) if low < edge < high]
    return Numeric(**{**column.model_dump(), "edges": (low, *inner, high)})


def evenly(declared: Numeric, column: Numeric, parts: int) -> Numeric:
    """The column with the bins that were found for it as it was declared, cut further at the ends of so many equal
    parts of its range; unchanged without any."""
    if not parts or column.edges is None:
        return column
    fine = finest(declared)
    even = fine.steps[np.arange(parts + 1) * STEPS // parts]
    return cut(column, fine, np.union1d(np.searchsorted(fine.cuts, column.edges), even))


def one_by_one(column: Numeric) -> Numeric:
    """The column with a bin for each whole number between its bounds."""
    return Numeric(**{**column.model_dump(), "bins": values_of(column)})


def values_of(column: Numeric) -> int:
    """How many whole numbers lie between the bounds."""
    return int(column.bounds[1] - column.bounds[0]) + 1
