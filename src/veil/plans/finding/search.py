"""The search that goes before a plan: where rows and budget allow it, bins are found for columns of numbers."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...kernel import Budget, Release, Source, replaced
from ...questions import WHOLE
from ...schema import Categorical, Numeric, Schema
from ..sizing import Known
from .bins import MOST, choices, evenly, find_bins, number_of_cells, one_by_one, values_of
from .pools import at_most, candidates, find_pools

ROOM = 12  # rows times epsilon, divided by the number of columns, that a bin of a single whole number needs


class Search(NamedTuple):
    """How a method wants bins found.

    `percent` of epsilon are for the class totals, as much as the method itself would pay for them. A choice is made if
    it has a `signal` of this many rows times epsilon, divided by the number of columns; windows have `fineness` times
    the root of that in cells. Of a column of categories at most so many `values` stand alone. `columns` are those that
    the method uses (None: all).

    For methods that draw numbers from within a bin: the bins found are cut further at the ends of `even` equal parts of
    the range; and of whole numbers, up to `each` have a bin each, if rows times epsilon allow it, and nothing is asked.
    """

    percent: int = 3
    signal: float = 80
    fineness: float = 0.5
    values: int = 1000
    columns: Sequence[str] | None = None
    even: int = 0
    each: int = 0


class Found(NamedTuple):
    """What the search hands to a plan: a source with the bins that it found, the rest of the budget, and the class
    totals if it has asked for them."""

    source: Source
    budget: Budget
    known: dict[str, Release[Any]]


def used(schema: Schema, how: Search) -> list[Categorical | Numeric]:
    """The columns that a method uses."""
    return [column for column in schema.features if how.columns is None or column.name in how.columns]


def to_search(schema: Schema, how: Search) -> list[Numeric]:
    """The columns among them whose bins may be found."""
    return [column for column in used(schema, how) if isinstance(column, Numeric) and column.searched]


def to_pool(schema: Schema, how: Search) -> list[Categorical]:
    """The columns among them whose values may be pooled."""
    return candidates(used(schema, how))


def widest(schema: Schema, how: Search) -> Schema:
    """The schema with as many bins and values as a search may find."""
    bins = [
        one_by_one(one)
        if _few(one, how.each)
        else Numeric(**{**one.model_dump(), "edges": _many(one, MOST + 2 + how.even)})
        for one in to_search(schema, how)
    ]
    return replaced(schema, [*bins, *(at_most(column, how.values) for column in to_pool(schema, how))])


def _many(column: Numeric, bins: int) -> tuple[float, ...]:
    """Edges of as many bins; of fewer, where there are not as many numbers between the bounds."""
    steps = np.linspace(*column.bounds, bins + 1)
    return tuple(np.unique(np.floor(steps) if column.integer else steps).tolist())


def _few(column: Numeric, most: float) -> bool:
    return column.integer and values_of(column) <= most


def recoded_as(source: Source, schema: Schema) -> Source:
    """The source with the bins that the columns of this schema have, as a search on other rows of it found them."""
    return source.recode(*(column for column in schema.features if column != source.schema.get(column.name)))


def search(source: Source, budget: Budget, how: Search, totals: Known = None) -> Found:
    """Count the rows of each class, then choose bins for the columns that have neither declared ones nor few values,
    and pool the rare values of columns with many categories.

    Budget: 2 or 3 % for the class totals, unless they are known; 10 % of a column's equal part for its bins, or nothing
    if the rows are too few; a quarter to all of it for the pools of one that would starve the others. The rest is for
    the plan, which need not ask for the class totals again.
    """
    features, columns = used(source.schema, how), to_search(source.schema, how)
    spent = Fraction(0)
    if totals is None:
        to_count, _ = budget.split(how.percent, 100 - how.percent)
        totals, spent = source.count(WHOLE, to_count), to_count.epsilon
    rows = max(float(totals.value.sum()), 0.0)
    found, pooled = find_pools(source, budget, rows, features, how.values)
    spent += pooled
    signal = rows * float(min(source.per_row(budget), Fraction(10**9)))
    alone = [column for column in columns if _few(column, min(how.each, signal / len(features) / ROOM))]
    binned = [*map(one_by_one, alone)]
    cells = number_of_cells(signal / len(features), how.fineness)
    for choice in choices(
        [column for column in columns if column not in alone], budget, signal, len(features), how.signal
    ):
        found_bins = find_bins(source, choice, rows, cells)
        binned += [evenly(*both, how.even) for both in zip(choice.columns, found_bins, strict=True)]
        spent += choice.budget.epsilon
    return Found(source.recode(*found, *binned), Budget(budget.epsilon - spent), {"totals": totals})
