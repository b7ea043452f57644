"""What a histogram answers: about how many rows lie in a box, with an interval for noise and uneven spread together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import map_coordinates
from scipy.special import ndtri

from ...display import readable, row_count
from ...errors import BadInput
from ...plans.ranges.domain import Domain
from ...plans.ranges.spread import Spread
from ...questions import axis
from ...schema import Numeric, Schema
from ..answers import group_weights
from ..domain import spans

Numbers = npt.NDArray[np.float64]
EDGE, EDGE_OF_MANY = 0.25, 2.0  # large boxes cut many nodes, whose errors are not quite independent (measured)
UNKNOWN = 0.1  # with several columns the power of a share's variance by which they depend: the less is known, the more
ALL, ALL_OF_MANY = 1.1, 1.3  # more noise in the number of all rows: nodes go on where noise is high (measured)
HIDDEN = 0.025  # standard errors by which counts near 0 are too low on average (measured)
NO_CELL = (
    "rows without a value of {!r} lie in no cell of the histogram: its `missing` says about how many miss any value"
)
WITHIN = 1 / 3  # variance of the share of a cell's rows in a part of it, over part x rest: that of a share drawn evenly


@dataclass(frozen=True, repr=False)
class Answer:
    """About how many rows, and the standard error of that; None if the method has no model of its error.

    `from_total` is the part of the error that comes from the noise of the number of all rows.
    """

    count: float
    standard_error: float | None = None
    from_total: float = 0.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """A range in which the true number of rows lies with this confidence. It holds `count`, and is never below
        zero: it begins there if that makes it shorter than as much to each side."""
        if not 0 < confidence < 1:
            raise BadInput("confidence must lie between 0 and 1, such as 0.95")
        if self.standard_error is None:
            return None
        half, end = float(-ndtri((1 - confidence) / 2)) * self.standard_error, self._end(confidence)
        if end < 2 * half:
            return 0.0, max(end, 0.0)
        return max(self.count - half, 0.0), max(self.count + half, 0.0)

    def _end(self, confidence: float) -> float:
        """The end of an interval that begins at 0: that of a normal distribution, or of Markov's inequality if lower.

        A number that is not negative, and is m on average, is above m / (1 - confidence) no more often than it may be.
        """
        error, above = self.standard_error or 0.0, max(float(ndtri(confidence)), 0.0)
        rarely = (self.count + HIDDEN * error) / (1 - confidence) + above * self.from_total
        return min(self.count + above * error, rarely)

    def to_dict(self) -> dict[str, float | None]:
        """The count, and both ends of its 95 % interval, for JSON."""
        low, high = self.interval() or (None, None)
        return {"count": self.count, "low": low, "high": high}

    def __repr__(self) -> str:
        low, high = map(row_count, self.interval() or (0, 0))
        known = self.standard_error is not None
        said = f", 95 % sure between {low} and {high}" if known else "; how sure is not known"
        return f"about {row_count(self.count)} rows{said}"


def weights_of(schema: Schema, wanted: Mapping[str, Any]) -> list[Numbers]:
    """For each column, the share of each of its cells that is wanted: all of it where nothing is said of the column."""
    known = [column.name for column in schema.features]
    for name in wanted:
        if name not in known:
            raise BadInput(f"the histogram has no column {readable(name)!r}; it has: {', '.join(map(readable, known))}")
    found = []
    for column in schema.features:
        cells = column.size - (column.missing is None)
        if column.name not in wanted:
            found.append(np.ones(cells))
        else:
            weights = group_weights(axis(column).axes[0], column, wanted[column.name])
            if weights[cells:].any():  # zero, for certain, would be a wrong answer
                raise BadInput(NO_CELL.format(readable(column.name)))
            found.append(weights[:cells])
    return found


def counts_in(columns: Sequence[Any], sums: Numbers, lows: Numbers, highs: Numbers) -> Numbers:
    """The rows in each box, from the sums below the corners of the cells; within a cell these grow evenly."""
    if not all(isinstance(column, Numeric) for column in columns):
        raise BadInput("many boxes at once are of columns of numbers or dates: use query for categories")
    if lows.shape != highs.shape or lows.ndim != 2 or lows.shape[1] != len(columns) or not (lows <= highs).all():
        raise BadInput("give the lower and the upper ends of all boxes, boxes x columns, the lower ones not above")
    ends = [
        [_corner(column, part, upper) for column, part in zip(columns, side.T, strict=True)]
        for upper, side in enumerate((lows, highs))
    ]
    counts = np.zeros(len(lows))
    for corner in np.ndindex(*(2,) * len(columns)):
        places = [ends[side][axis] for axis, side in enumerate(corner)]
        counts += (-1) ** (len(columns) - sum(corner)) * map_coordinates(sums, places, order=1)
    return counts


def _corner(column: Any, values: Numbers, upper: int) -> Numbers:
    """Where the lower or upper ends of boxes lie along an axis, in cells; whole numbers end before the next one."""
    lows, highs = spans(column)
    if column.integer:
        values = np.floor(values) + 1 if upper else np.ceil(values)
    edges = np.append(lows, highs[-1])
    return np.interp(values, edges, np.arange(len(edges)))


class Doubt:
    """The variance of sums of cells, from that of the shares in which every node of the tree divides its rows.

    Of the rows of a node, the share inside a box has a mean m and a variance s. With p and t those of the left half's
    share, m = p m' + (1 - p) m'' and s = t (m' - m'')^2 + (p^2 + t) s' + ((1 - p)^2 + t) s'', where ' is the left half
    and '' the right: shares of different nodes are taken as independent.
    """

    def __init__(self, domain: Domain, spread: Spread) -> None:
        self.domain, self.spread = domain, spread
        rows = np.zeros(1 << domain.depth)
        rows[domain.places] = np.maximum(spread.cells, 0)
        self.total = float(rows.sum())
        self.shares: list[Numbers] = []
        for level in range(domain.depth):
            held, sums = (part.reshape(1 << level, 2, -1).sum(axis=2) for part in (domain.held[-1], rows))
            best = np.where(sums.sum(axis=1, keepdims=True) > 0, sums, held)
            self.shares.append(best[:, 0] / np.maximum(best.sum(axis=1), 1e-300))

    def answer(self, count: float, weights: Sequence[Numbers]) -> Answer:
        """The count of rows in a box, given by the share of each cell on each axis, with its standard error."""
        if self.spread.total_variance is None:
            raise BadInput("this method has no model of its error")
        mean, variance = self._share(weights)
        noise = self.spread.total_variance * (ALL if len(weights) == 1 else ALL_OF_MANY) ** 2
        uneven = self.total**2 * variance * self._edge(weights, variance) ** 2
        return Answer(count, sqrt(uneven + noise * (mean**2 + variance)), sqrt(noise) * mean)

    def _share(self, weights: Sequence[Numbers]) -> tuple[float, float]:
        """The mean and the variance of the share of all rows that lie in a box."""
        doubt = self.spread.doubt
        if doubt is None:
            raise BadInput("this method has no model of its error")
        mean, inside = np.zeros((2, 1 << self.domain.depth))
        mean[self.domain.places] = outer(weights)
        inside[:] = WITHIN * mean * (1 - mean)
        for level in reversed(range(self.domain.depth)):
            p, t = self.shares[level], doubt[1 << level : 2 << level]
            (left, right), (below, other) = mean.reshape(-1, 2).T, inside.reshape(-1, 2).T
            mean = p * left + (1 - p) * right
            inside = t * (left - right) ** 2 + (p * p + t) * below + ((1 - p) ** 2 + t) * other
        return float(mean[0]), float(inside[0])

    def _edge(self, weights: Sequence[Numbers], variance: float) -> float:
        """The factor by which the standard error of a share grows with the part of the cells that is inside."""
        part = prod(float(weight.mean()) for weight in weights)
        return 1 + (EDGE if len(weights) == 1 else EDGE_OF_MANY * variance**UNKNOWN) * sqrt(part)


def outer(weights: Sequence[Numbers]) -> Numbers:
    """The product of the weights of every combination of cells, last axis fastest."""
    product = np.ones(1)
    for weight in weights:
        product = np.multiply.outer(product, weight).ravel()
    return product
