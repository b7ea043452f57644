"""How many trees, how deep, and which columns they begin with: rules of the papers and Veil's own, from noisy rows."""

from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from ...kernel import Budget, Source
from .branches import Cuts
from .coins import deepest_drawn

MOST_TREES, MOST_GROWN = 100, 12
GROWTH = 5  # rows times epsilon must grow by this factor for one more level


def rows_needed(source: Source, budget: Budget) -> float:
    """The rows that a node needs so that an even class count exceeds its noise."""
    return len(source.schema.classes) * sqrt(2) / float(source.per_row(budget))


def growing(source: Source, cuts: Cuts, rows: float, budget: Budget) -> int:
    """The depth of a tree that grows with the logarithm of rows times epsilon."""
    signal = rows * float(source.per_row(budget))
    return int(np.clip(round(log(max(signal, 1.0)) / log(GROWTH)), 1, MOST_GROWN))


def half_the_columns(source: Source, cuts: Cuts, rows: float, budget: Budget) -> int:
    """The depth of random trees: half the number of columns, or less if leaves would be empty (Jagannathan et al.)."""
    wanted = min(len(source.schema.features) // 2, log(rows) / log(cuts.branching) - 1)
    return int(np.clip(wanted, 1, deepest_drawn(source.schema)))


def one_a_column(source: Source, cuts: Cuts, rows: float, budget: Budget) -> int:
    """The number of trees: one for each column, more or fewer so that leaves have enough rows (Fletcher and Islam)."""
    columns, needed = len(source.schema.features), rows_needed(source, budget)
    least, most = (rows / cuts.branching**depth / needed for depth in (columns / 2, 2))
    return int(np.clip(min(max(columns, least), most), 1, MOST_TREES))


def first_columns(source: Source, count: int, coins: np.random.Generator) -> Sequence[str]:
    """The column of each root, drawn by public coins: every column once before any comes again."""
    names = [column.name for column in source.schema.features]
    order = np.concatenate([coins.permutation(len(names)) for _ in range(-(-count // len(names)))])[:count]
    return [names[place] for place in order]
