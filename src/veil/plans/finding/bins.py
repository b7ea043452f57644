"""Finding the bins of numeric columns, so that careless bounds do no harm.

Of many public ways to cut a column (`binnings`) one is chosen that puts about equally many rows into every bin: its
score is the number of rows that are left if every bin may keep only a sixteenth of all (`choose_bins`).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...kernel import Budget, Release, Source
from ...schema import Numeric
from ...schema.fine import Fine, finest
from .binnings import CELLS, Places, ways_to_cut

SHARES = Fraction(1, 10), Fraction(1, 5)  # of a column's part of epsilon, least and most, for choosing its bins
ALONE, TOGETHER = 25, 45  # rows times epsilon that a choice should have, for one column and for several alike
ENOUGH = 8  # the least with which it is tried
PER_BIN = 0.7
MOST = 16


class Choice(NamedTuple):
    """Columns whose bins are chosen together, and the epsilon that this costs."""

    columns: list[Numeric]
    budget: Budget


def choices(columns: Sequence[Numeric], budget: Budget, signal: float, among: int) -> Iterator[Choice]:
    """Which columns have their bins chosen, together or alone, and for how much.

    `signal` is the number of rows times epsilon, `among` the number of all columns that a plan divides it between.
    """
    base, alike = signal / among, defaultdict(list)
    for column in columns:
        alike[column.bounds, column.integer, column.missing].append(column)
    for group in alike.values():
        pooled = len(group) > 1 and base * float(SHARES[0]) < ALONE
        for some in [group] if pooled else [[column] for column in group]:
            strength, target = base * len(some), TOGETHER if pooled else ALONE
            share = min(max(Fraction(target / max(strength, 1e-9)).limit_denominator(1000), SHARES[0]), SHARES[1])
            if float(share) * strength >= ENOUGH:
                yield Choice(some, Budget(budget.epsilon * share * len(some) / among))


def find_bins(source: Source, choice: Choice, rows: float, most: int) -> list[Numeric]:
    """The columns of a choice with the bins that were found, at most about `most`; it costs the choice's budget."""
    first = finest(choice.columns[0])
    ways = ways_to_cut(first, choice.columns[0].integer)
    rate = float(min(source.per_row(choice.budget), Fraction(10**9))) / len(choice.columns)
    handicaps = np.minimum(np.round(ways.odds / rate), 2**30).astype(np.int64)
    names, cap = [column.name for column in choice.columns], max(round(rows / CELLS), 1)
    won: Release[int] = source.choose_bins(names, ways.places, cap, choice.budget, handicaps=handicaps)
    if won.value == 0:
        return [column.model_copy(update={"bins": "public"}) for column in choice.columns]
    cuts = np.unique(ways.places[won.value])
    return [cut(column, first, merged(cuts, most)) for column in choice.columns]


def number_of_bins(base: float, fewest: int) -> int:
    """How many bins a column may have, from the rows times epsilon that are its part."""
    return int(np.clip(round(PER_BIN * np.sqrt(base)), fewest, MOST))


def merged(cuts: Places, most: int) -> Places:
    """The cuts between at most so many bins, each of about equally many of the bins between these cuts."""
    bins = len(cuts) - 1
    places = np.unique([-(-step * bins // most) for step in range(most + 1)]) if bins > most else np.arange(bins + 1)
    return np.asarray(cuts[places])


def cut(column: Numeric, fine: Fine, places: Places) -> Numeric:
    """The column with bins between these places among the fine cuts."""
    low, high = column.bounds
    inner = [float(edge) for edge in fine.cuts[places] if low < edge < high]
    return Numeric(**{**column.model_dump(), "edges": (low, *inner, high)})
