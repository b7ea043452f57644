"""The verdict on a histogram: how wide the interval of a typical answer is."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..display import percent
from ..kernel import Budget
from ..plans.run import guessed_rows
from ..schema import Schema
from .evidence import Releases
from .expected import if_rows
from .verdict import Verdict, cost, level_of, more_epsilon

WIDTHS = (0.02, 0.1, 0.5)  # of the interval of a typical range as a share of all rows, at which good, fair and poor end
MODELLED = "adaptive-tree"  # the method whose answers have intervals, of which TYPICAL was measured
TYPICAL, OF_MANY = 1.4, 2.8  # about the error of random ranges as a share of all rows, of one column and of several,
POWER = 0.8  # times this power of rows x epsilon: see docs/ranges.md, from which a test takes them
TYPICAL_RANGE = "a typical range, which holds about a quarter of the rows,"
UNKNOWN = "how far its answers can be relied on is not known: {} has no intervals"
ONLY_TOTAL = 20  # rows x epsilon below which a noisy total, spread evenly, answers as well (measured)

Numbers = npt.NDArray[np.float64]


def of_histogram(histogram: Any) -> Verdict:
    """Good if a typical range is known to within 1 % of the rows, and nothing if only their number can be known."""
    total = histogram.query()
    signal = total.count * float(Budget(histogram.epsilon).per_row(histogram.schema_.rows_per_person))
    if signal < ONLY_TOTAL:
        words = "only the number of rows is known, and not well: rows x epsilon is below 20"
        return Verdict("nothing", words, _more(histogram, ONLY_TOTAL / max(signal, 1)))
    if histogram.spread.doubt is None:
        return Verdict("unknown", UNKNOWN.format(histogram.method))
    width = typical_width(histogram) / max(total.count, 1)
    level = level_of(width, WIDTHS)
    words = f"{TYPICAL_RANGE} is known to within {percent(width / 2)} of all rows, 95 % sure"
    return Verdict(level, words, "" if level == "good" else _more(histogram, width / WIDTHS[0]))


def of_rehearsed_ranges(releases: Releases, schema: Schema, method: str = MODELLED) -> Verdict:
    """The verdict to expect of a histogram, from the rows that the schema guesses and their epsilon."""
    signal = guessed_rows(schema) * float(Budget(cost(releases)).per_row(schema.rows_per_person))
    error = typical_error(signal, len(schema.features))
    width = min(2 * 1.96 * error, 1.0)
    level = level_of(width, WIDTHS)
    if signal < ONLY_TOTAL:
        return Verdict(
            "nothing", f"expected{if_rows(schema)}: only the number of rows, since rows x epsilon is below 20"
        )
    if method != MODELLED:
        return Verdict("unknown", UNKNOWN.format(method))
    words = f"expected{if_rows(schema)}: {TYPICAL_RANGE} to within about {percent(width / 2)} of all rows, 95 % sure"
    return Verdict(level, words)


def typical_error(signal: float, columns: int) -> float:
    """About the standard error of a random range as a share of all rows, by rows x epsilon."""
    return float((TYPICAL if columns == 1 else OF_MANY) / max(signal, 1) ** POWER)


def typical_width(histogram: Any) -> float:
    """The median width of the interval over ranges that people may ask, at fixed places.

    A typical range begins where a random one of the released rows is, and goes on until it holds about a quarter of
    them: of several columns, each part of it holds the root of that. Ranges of empty cells are known well, and asked by
    nobody.
    """
    chance, widths = np.random.default_rng(0), []
    reached = [_reached(histogram.marginal([name])) for name in histogram.columns]
    share = 0.25 ** (1 / len(reached))
    for _ in range(15):
        starts = chance.random(len(reached)) * (1 - share)
        weights = [_between(sums, start, start + share) for sums, start in zip(reached, starts, strict=True)]
        low, high = histogram._answer(weights).interval()
        widths.append(high - low)
    return float(np.median(widths))


def _reached(rows: Numbers) -> Numbers:
    """The share of the released rows in all cells up to each; without rows, that of the cells."""
    sums = np.cumsum(np.maximum(rows, 0))
    return np.asarray(sums / sums[-1] if sums[-1] > 0 else np.arange(1, len(rows) + 1) / len(rows))


def _between(reached: Numbers, low: float, high: float) -> Numbers:
    """A weight of 1 for the cells from the one in which a share of the rows is reached to that of another; else 0."""
    first, last = np.minimum(np.searchsorted(reached, [low, high]), len(reached) - 1)
    cells = np.arange(len(reached))
    return np.asarray((first <= cells) & (cells <= last), np.float64)


def _more(histogram: Any, times: float) -> str:
    more = more_epsilon(histogram.epsilon, times)
    fewer = ", or fewer columns" if len(histogram.columns) > 1 else ""
    return f"try {more}{fewer}" if more else f"it takes more rows{fewer}"
