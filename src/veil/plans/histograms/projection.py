"""How many columns a projected histogram needs, how finely to cut them, and how to divide its budget (Vinterbo 2012).

All of it comes from public numbers: the schema, a noisy or guessed number of rows, and public rows if there are any.
"""

from functools import lru_cache
from math import ceil, log

import numpy as np
from scipy.stats import norm

LEFT_OUT = 0.1  # the share of discernible pairs that the chosen columns may leave undiscerned
THRESHOLD = 0.5  # A: a cell is kept from A log(n) noise scales on
TO_CHOOSE, LOSS = 0.5, 0.05  # B and l: the share of pairs that the noise of choosing may cost
SIMULATED = 100_000


def bins_for(rows: float, columns: int) -> int:
    """Bins for each numeric column of a histogram with this many columns: 1 / bandwidth, at least two.

    The bandwidth (log n / n)^(1/(columns+1)) of Lei (2011) is about the histogram that is published, so `columns` are
    those after projection. With all columns of a wide table it would leave a single bin, and so nothing.
    """
    rows = max(rows, 3.0)
    bandwidth: float = (log(rows) / rows) ** (1 / (columns + 1))
    return max(2, ceil(1 / bandwidth - 0.5))


def columns_for(available: int, rows: float) -> int:
    """The fewest columns that separate 90 % of the pairs that all separate, were they independent normal variables.

    If two rows share a bin of one column with probability c, k columns separate ("discern") 1 - c^k of the pairs.
    """
    shared = same_bin(bins_for(rows, available))
    enough = (1 - LEFT_OUT) * (1 - shared**available)
    return next(k for k in range(1, available + 1) if 1 - shared**k >= enough)


@lru_cache
def same_bin(bins: int) -> float:
    """The probability that two normal values share one of `bins` equal bins over the range of SIMULATED values."""
    reach = float(norm.ppf(1 - 1 / SIMULATED))
    masses = np.diff(norm.cdf(np.linspace(-reach, reach, bins + 1)[1:-1]), prepend=0, append=1)
    return float((masses**2).sum())


def share_to_count(rows: float, available: int, columns: int, classes: int, bins: int) -> float:
    """The share of the budget for the counts, between 0.05 and 0.95; the rest is for choosing the columns.

    Choosing needs 2 B k^2 log(d) classes / (l n (classes - 1)), d the columns to choose from, for the noise to cost a
    share l of the pairs. A cell of z = n c^k / classes rows, c the chance that two rows share a bin, passes the
    threshold every other time from A log(n) / z on.
    """
    rows, others = max(rows, 3.0), max(classes - 1, 1)
    to_choose = 2 * TO_CHOOSE * columns**2 * log(available) * classes / (LOSS * rows * others)
    to_count = THRESHOLD * log(rows) * classes / (rows * same_bin(bins) ** columns)
    return float(np.clip(to_count / (to_count + to_choose), 0.05, 0.95))
