"""Cluster selection (Stoddard, Chen, Machanavajjhala 2014), mended: noise on the counts first, then clusters.

The paper runs private k-means over features, each a point of its counts by class. But rows are private, not features:
one row moves many points, each of which may change its cluster and take all its counts along. So the counts get their
noise once, and clusters are made of what was released.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ...kernel import Budget, Source, whole
from ...questions import WHOLE, Bag
from .features import TOTALS, Selected, with_and_without

ROUNDS = 20
Numbers = npt.NDArray[np.float64]


def clusters(
    source: Source,
    budget: Budget,
    words: Bag,
    score: Any,
    count: int,
    threshold: float | None = None,
    *,
    groups: int = 10,
) -> Selected:
    """The `count` words from the clusters whose centres score highest, and none whose centre is below the threshold.

    Budget: 5 % for the class totals, the rest for one set of noisy counts of all words by class. The clustering is
    free: words with similar counts make a cluster, whose centre has less noise than each of them.

    Returns the words with the scores of their clusters' centres.
    """
    groups = whole(groups, "groups", 1, 2**31)
    to_total, to_count = budget.split(TOTALS, 100 - TOTALS)
    totals = np.maximum(source.count(WHOLE, to_total).value, 0)
    points = source.count(words, to_count).value
    centres, nearest = k_means(points.astype(np.float64), min(groups, len(points)))

    of_centres = score.each(with_and_without(np.rint(centres).astype(np.int64), totals)) / score.unit
    of_words = score.each(with_and_without(points, totals))
    order = np.lexsort((-of_words, -of_centres[nearest]))[:count]
    order = order if threshold is None else order[of_centres[nearest][order] >= threshold]
    return Selected(tuple(order.tolist()), tuple(of_centres[nearest][order].tolist()))


def k_means(points: Numbers, groups: int) -> tuple[Numbers, npt.NDArray[Any]]:
    """Cluster centres, and the index of the nearest centre for every point (Lloyd's algorithm). It starts from data
    points of increasing size, spaced closer among the largest."""
    order = np.argsort(points.sum(axis=1), kind="stable")
    spaced = np.unique((len(points) - 1) * (1 - np.geomspace(1, 1 / (2 * len(points)), groups))).astype(int)
    centres = points[order[np.unique(spaced)]]
    for _ in range(ROUNDS):
        nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        sizes = np.maximum(np.bincount(nearest, minlength=len(centres)), 1)
        sums = [np.bincount(nearest, column, len(centres)) for column in points.T]
        centres = np.column_stack(sums) / sizes[:, None]
    return centres, nearest
