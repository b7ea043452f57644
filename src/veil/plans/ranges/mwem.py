"""MWEM: multiplicative weights by the exponential mechanism (Hardt, Ligett and McSherry 2012), with what its authors
advise: all measurements are replayed, no range is measured twice, and more rows and epsilon give more rounds."""

from math import exp

import numpy as np

from ...kernel import SMALLEST_EPSILON, Budget, Source
from .boxes import random_boxes, sums_in
from .domain import Domain, Integers
from .layers import noisy_rows
from .measured import Numbers
from .spread import Spread

MOST_CELLS = 1 << 14
RANGES = 2_000  # to choose from; public, at random
PASSES = 20  # over all measurements, after each of them
ROUNDS = (8, 1000, 0.4375)  # 8 with rows x epsilon of 1,000, and 60 with a hundred times as much
MOST_ROUNDS = 200
MOST_CHANGE = 20.0  # of a logarithm, in one update

SMALLEST_SHARE = 8 * SMALLEST_EPSILON  # of a round: halved to choose and to measure, no verb refuses it

Box = tuple[slice, ...]


def mwem(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Measure the ranges in which the estimate is worst, one in each round, and bend the estimate to all of them.

    Budget: 5 % for the number of rows; an equal share of the rest for each round, half to choose, half to measure.
    """
    domain.insist_on(MOST_CELLS, "mwem")
    to_rows, to_rounds = budget.split(5, 95)
    rows = max(noisy_rows(source, to_rows, domain), 1.0)
    estimate = np.full(domain.shape, rows / domain.size)
    ranges = np.unique(random_boxes(domain.shape, RANGES), axis=0)
    measured, missing = list[tuple[Box, float]](), list[float]()
    most = min(len(ranges), max(int(source.per_row(to_rounds) / SMALLEST_SHARE), 1))
    for share in to_rounds.each(rounds(rows * float(source.per_row(budget)), most)):
        box, inside, outside = _measure(source, share, domain, ranges, estimate)
        ranges = ranges[np.arange(len(ranges)) != box]
        measured.append(inside)
        missing.append(outside)
        estimate = replayed(estimate, measured, rows)
    return Spread(estimate[tuple(axis.reshape(domain.shape) for axis in domain.along)].ravel(), float(np.mean(missing)))


def rounds(signal: float, most: int) -> int:
    """The number of rounds, by noisy rows x epsilon."""
    many, at, power = ROUNDS
    return int(min(max(round(many * (signal / at) ** power), 1), most, MOST_ROUNDS))


def _measure(
    source: Source, share: Budget, domain: Domain, ranges: Integers, estimate: Numbers
) -> tuple[int, tuple[Box, float], float]:
    """The index of the chosen range; the range with its noisy rows; and the noisy rows that lie in no cell."""
    to_choose, to_count = share.each(2)
    places = np.ravel_multi_index(domain.along, domain.shape)
    targets = np.rint(sums_in(estimate, ranges)).astype(np.int64)
    chosen = source.choose_range(domain.groups(places), domain.shape, ranges, targets, to_choose).value
    inside = np.ones(domain.size, np.int64)
    for place, (first, end) in zip(domain.along, ranges[chosen], strict=True):
        inside &= (place >= first) & (place < end)
    found = source.count(domain.groups(1 - inside), to_count, by_class=False).value[:, 0]
    return chosen, (box_of(ranges[chosen]), float(found[0])), float(found[-1])


def box_of(ends: Integers) -> Box:
    return tuple(slice(int(first), int(end)) for first, end in ends)


def replayed(estimate: Numbers, measured: list[tuple[Box, float]], rows: float) -> Numbers:
    """The estimate after multiplicative updates by all measurements, again and again; its sum stays the same."""
    estimate = estimate.copy()
    for _ in range(PASSES):
        for box, count in measured:
            part, scale = estimate[box], rows / float(estimate.sum())  # of all cells, so that a range is touched alone
            short = count - scale * float(part.sum())
            part *= exp(min(max(short / (2 * rows), -MOST_CHANGE), MOST_CHANGE))
        estimate *= rows / float(estimate.sum())
    return estimate
