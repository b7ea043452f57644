"""Calibration (after Platt 1999): how far a sum of evidence may be trusted, learned from counts of the sum itself.

Columns that say the same thing twice count twice in a sum, which is then too sure of itself, and its threshold off. A
few counts by class, in intervals of the sum, tell by how much.
"""

from math import log

import numpy as np
import numpy.typing as npt

from ..kernel import SMALLEST_EPSILON, Budget, Source
from ..questions import Binned, Integers, Linear, Odds

SHARE = 2  # per cent of the budget
PLACES = np.array([-1, -0.5, 0, 0.5, 1])  # of the edges, in distances between the means of the classes
MIDDLES = np.array([-1.3, -0.75, -0.25, 0.25, 0.75, 1.3])  # of the rows between them
LEAST_DISTANCE = 0.2
FACTORS = 2.0 ** (np.arange(-34, 4) / 8)  # tried for the evidence; 1 is among them
SHIFTS = np.arange(-40, 41) / 20  # tried for the odds; 0 is among them
OF_FACTOR, OF_SHIFT = 0.4, 0.2  # standard deviations of log(factor) and of the shift, as expected before counting
CHANCE = 0.25  # a variance of every count: half a row
BLUR = 0.2  # how far the typical row may be from the middle of its interval, in widths of one
Numbers = npt.NDArray[np.float64]


def set_apart(source: Source, budget: Budget, columns: int) -> tuple[Budget, Budget | None]:
    """The budget to learn with, and 2 % to calibrate; nothing for a single class or column, whose evidence does not add
    up, or where 2 % are too few to ask."""
    rest, apart = budget.split(100 - SHARE, SHARE)
    if columns < 2 or len(source.schema.classes) < 2 or source.per_row(apart) < SMALLEST_EPSILON:
        return budget, None
    return rest, apart


def calibrated(source: Source, budget: Budget, logs: dict[str, Numbers], trust: float, prior: Numbers) -> Linear:
    """The scorer log(prior) + trust x sum of logs, with a better trust, and a shift of the odds of one class.

    Budget: all of it for counts by class in six intervals of the log-odds of a class: of the second of two, else of the
    largest. The `logs` are released log-likelihoods, codes x classes for each column. Of two classes, the order of rows
    stays as it was.
    """
    label = 1 if len(prior) == 2 else int(np.argmax(prior))
    start = log(prior[label] / (1 - prior[label]))
    scorer = Linear({name: trust * table for name, table in logs.items()}, np.log(prior))
    middle, distance = _spread(logs, trust, prior, label)
    release = source.count(Binned(Odds(scorer, label), tuple(middle + distance * PLACES)), budget)
    factor, shift = fitted(release.value, release.noise_scale, label, middle + distance * MIDDLES - start, start)
    moved = np.log(prior) + shift * (np.arange(len(prior)) == label)
    return Linear({name: factor * trust * table for name, table in logs.items()}, moved)


def _spread(logs: dict[str, Numbers], trust: float, prior: Numbers, label: int) -> tuple[float, float]:
    """The middle between the mean log-odds of the rows in a class and of all others, and their distance.

    A mean adds up over columns however these depend on each other, so released counts tell it for nothing. What is
    noise in them makes the distance larger, and is taken off as from the evidence.
    """
    means = np.log(prior) + trust * np.sum([np.exp(table).T @ table for table in logs.values()], axis=0)
    others = np.delete(means, label, axis=1)
    top = others.max(axis=1, keepdims=True)
    odds = means[:, label] - top[:, 0] - np.log(np.exp(others - top).sum(axis=1))
    low = np.average(np.delete(odds, label), weights=np.delete(prior, label))
    return float((odds[label] + low) / 2), max(trust * float(odds[label] - low), LEAST_DISTANCE)


def fitted(counts: Integers, scale: float, label: int, evidence: Numbers, start: float) -> tuple[float, float]:
    """The factor of the evidence and the shift of the odds that fit best to noisy counts, intervals x classes.

    `evidence` is that of a typical row of each interval, and `start` the log-odds of the class without any.

    In each interval, the rows of the class differ from their expected share of all rows by chance, by noise, and
    because the typical row is not quite in the middle; these variances are known. The best fit has the least sum of
    squares over variance, with 1 and 0 expected before counting: where counts drown in noise, all fits are as good, and
    nothing changes.
    """
    rows, total = counts[:, label], counts.sum(axis=1)
    logit = start + SHIFTS[:, None] + np.multiply.outer(FACTORS, evidence)[:, None, :]
    share = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
    noise = 2 * scale**2 * ((1 - share) ** 2 + (counts.shape[1] - 1) * share**2)
    chance = np.maximum(total, 0) * share * (1 - share)
    misplaced = chance * FACTORS[:, None, None] * BLUR * (evidence[3] - evidence[2])
    variance = noise + chance + misplaced**2 + CHANCE
    misfit = ((rows - share * total) ** 2 / variance + np.log(variance)).sum(axis=2)
    expected = np.add.outer((np.log(FACTORS) / OF_FACTOR) ** 2, (SHIFTS / OF_SHIFT) ** 2)
    best, moved = np.unravel_index(np.argmin(misfit + expected), expected.shape)
    return float(FACTORS[best]), float(SHIFTS[moved])
