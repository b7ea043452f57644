"""Reading a histogram from a file, whoever it comes from."""

from typing import Any

import numpy as np

from ...choice import Trace
from ...files.parts import insist
from ...plans.outcome import Outcome
from ...plans.ranges.spread import Spread
from ...schema import Text
from .publishing import MOST_CELLS, MOST_COLUMNS
from .table import Histogram

LARGEST = 2.0**100  # no honest number is near it, and sums and squares of such numbers are finite


def checked(held: Outcome[Any]) -> Histogram:
    """The histogram in a file; refuses one whose numbers do not fit its columns."""
    insist(held.schema.label is None and not any(isinstance(column, Text) for column in held.schema.column))
    insist(type(held.made) is Spread and 1 <= len(held.schema.column) <= MOST_COLUMNS)
    insist(held.trace is None or Trace.from_dict(held.trace).chosen == held.method)
    histogram, spread = Histogram(held), held.made
    insist(histogram.domain.size <= MOST_CELLS)
    insist(_numbers(spread.cells, (histogram.domain.size,)) and type(spread.missing) is float)
    doubted = spread.doubt is not None
    insist(doubted == (spread.total_variance is not None) and abs(spread.missing) <= LARGEST)
    if doubted:
        insist(type(spread.total_variance) is float and 0 <= spread.total_variance <= LARGEST)
        insist(_numbers(spread.doubt, (1 << histogram.domain.depth,)) and bool(np.all(spread.doubt >= 0)))
    return histogram


def _numbers(value: Any, shape: tuple[int, ...]) -> bool:
    right = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == shape
    return right and bool((np.abs(value) <= LARGEST).all())  # NaN is not
