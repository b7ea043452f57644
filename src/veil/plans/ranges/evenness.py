"""Evenness: how far the halves of nodes are from holding rows as they hold cells, by what was counted of them.

Rows that lie evenly over coarse parts of one column mostly do so within them. All of it is post-processing.
"""

import numpy as np

from .domain import Domain, Nodes
from .measured import Numbers

DEVIATIONS = np.array([0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.055, 0.035, 0.022, 0.015])  # of a left half
USUAL, POWER = 0.3, 0.7  # the deviation for which limits are made, and how they grow where it is smaller
SURE = 0.97  # that the deviation is no larger, before halves are counted as one
LEVELS = 2  # above the nodes, whose halves are compared


def room(domain: Domain, level: int, nodes: Nodes, rows: Numbers, variances: Numbers) -> tuple[float, float]:
    """How many times as many rows as usual a node may have and not be divided, and two halves and be counted as one.

    The first goes by the deviation of a left share that is likely, the second by one that it hardly exceeds.
    """
    chances = deviation(domain, level, nodes, rows, variances)
    likely = float(np.exp(chances @ np.log(DEVIATIONS)))
    hardly = float(DEVIATIONS[np.searchsorted(chances.cumsum(), 1 - SURE)])
    return max((USUAL / likely) ** POWER, 1.0), max((USUAL / hardly) ** POWER, 1.0)


def deviation(domain: Domain, level: int, nodes: Nodes, rows: Numbers, variances: Numbers) -> Numbers:
    """The probability of each of the `DEVIATIONS`, given the estimated rows of nodes and the variances of their noise.

    A left half that should hold the share e of N rows has N e of them, give or take N times the deviation, and noise.
    """
    counts, noise = np.zeros(1 << level), np.zeros(1 << level)
    counts[nodes], noise[nodes] = rows, variances
    logs = np.zeros(len(DEVIATIONS))
    for above in range(level - 1, max(level - 1 - LEVELS, -1), -1):
        cells, halves, blur = (of.reshape(-1, 2) for of in (domain.held[above + 1], counts, noise))
        share = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)
        apart = halves[:, 0] * share[:, 1] - halves[:, 1] * share[:, 0]
        known = (blur > 0).all(axis=1)
        counts, noise = halves.sum(axis=1), np.where(known, blur.sum(axis=1), 0)
        square = (np.maximum(counts, 0)[:, None] * DEVIATIONS) ** 2 + (blur * share[:, ::-1] ** 2).sum(axis=1)[:, None]
        logs -= (apart[known, None] ** 2 / square[known] + np.log(square[known])).sum(axis=0) / 2
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())
