"""PriROC (Stoddard, Chen, Machanavajjhala 2014): thresholds on a score, and how many rows of each class lie between
them; by default with quantiles of a public grid (Kaplan, Schnapp, Stemmer 2022) as thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

from ..errors import BadInput
from ..kernel import Budget, Source
from ..questions import WHOLE, Binned, Linear, Scorer

SIZING, CUTTING = 4, 20  # percent of the budget for the number of rows, and of what is left for the thresholds
FEWEST, MOST = 4, 256  # parts
TREE_FROM, BRANCHES = 64, 16  # so many parts are counted twice, one by one and sixteen at a time
SURE = 20  # rows times epsilon from which a median that can be found is found
LEAST_SCALE = 1e-9  # an astronomical budget has a scale that rounds to zero
THRESHOLDS, COUNTS = ("quantiles", "even"), ("tree", "plain")
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ScoreCounts:
    """Rows by part of a score, lowest first, and class; and what is public about their noise.

    `counts` are unbiased and can be negative. Answer a has noise of scale `scales[a]`, which enters the parts by
    `weights[:, a]`. Parts of more than `tied` rows are single values of the score as far as anybody can tell.
    """

    cuts: tuple[float, ...]
    counts: Numbers
    weights: Numbers
    scales: Numbers
    tied: float

    def noise(self, draws: int, chance: np.random.Generator) -> Numbers:
        """Noise as the counts of one class have it, draws x parts."""
        rates = -np.expm1(-1 / self.scales)  # of geometric variables, two of which differ by discrete Laplace noise
        size = (draws, len(rates))
        noise = chance.geometric(rates, size).astype(np.float64) - chance.geometric(rates, size)
        return np.asarray(noise @ self.weights.T)

    def possible(self, classes: Sequence[int]) -> Numbers:
        """The nearest counts of these classes together that are not negative; at least one row in all.

        The rows above each cut, from the top down, are made to rise (isotonic regression), each trusted by the inverse
        of its variance, and kept between none and all.
        """
        above = np.cumsum(self.counts[::-1][:, list(classes)].sum(axis=1))
        variance = (np.cumsum(self.weights[::-1], axis=0) ** 2) @ (self.scales / self.scales.max()) ** 2
        rows = max(above[-1], 1.0)
        rising = np.clip(isotonic_regression(np.clip(above, 0, rows), weights=1 / variance).x, 0, rows)
        return np.diff(np.append(rising[:-1], rows), prepend=0.0)[::-1]


def roc_counts(
    source: Source,
    budget: Budget,
    scorer: Scorer,
    grid: Sequence[float],
    *,
    thresholds: str = "quantiles",
    counts: str = "tree",
    parts: int | None = None,
) -> ScoreCounts:
    """Choose thresholds among a public grid, then count the rows of each class between them.

    Budget: 4 % for the number of rows, from which the number of parts follows (nothing if `parts` says it); of the
    rest 20 % for the thresholds (nothing if they are "even"), all else for the counts. A row is in one part and of one
    class, so all classes are counted at the price of one. 64 parts or more are counted one by one and sixteen at a
    time, half of the counts' budget each, and combined ("plain": only one by one).
    """
    _check(thresholds, counts, parts)
    tables = []
    if parts is None:
        to_size, budget = budget.split(SIZING, 100 - SIZING)
        tables.append(source.count(WHOLE, to_size))
        parts = parts_for(float(tables[0].value.sum()), float(source.per_row(budget)))

    tied = np.inf
    if thresholds == "quantiles":
        to_cut, budget = budget.split(CUTTING, 100 - CUTTING)
        depth = round(log2(parts))
        cuts = source.quantiles(scorer, depth, to_cut, grid=grid).value
        tied = SURE * depth / float(source.per_row(to_cut))
    else:
        cuts = tuple(float(grid[(len(grid) + 1) * part // parts - 1]) for part in range(1, parts))

    steps = [1, BRANCHES] if counts == "tree" and len(cuts) >= TREE_FROM - 1 else [1]
    tables += source.count_each([Binned(scorer, cuts[step - 1 :: step]) for step in steps], budget)
    return combined(cuts, tables, tied)


def _check(thresholds: str, counts: str, parts: int | None) -> None:
    if thresholds not in THRESHOLDS or counts not in COUNTS:
        raise BadInput(f"thresholds must be one of {', '.join(THRESHOLDS)}, counts one of {', '.join(COUNTS)}")
    if parts is not None and (not isinstance(parts, int) or parts < 2 or parts > 1024 or parts & (parts - 1)):
        raise BadInput("parts must be a power of two from 2 to 1024")


def parts_for(rows: float, epsilon: float) -> int:
    """How many parts so many rows bear: about (rows epsilon)^0.4, a power of two.

    More parts show more of the curve, and their noise adds up.
    """
    return int(2 ** np.clip(round(0.4 * log2(max(rows * epsilon, 1))), log2(FEWEST), log2(MOST)))


def combined(cuts: Sequence[float], tables: Sequence[Any], tied: float) -> ScoreCounts:
    """What several tables of counts of the same rows, each of runs of the parts, say of every part together.

    Least squares, each answer by the inverse of its variance: no unbiased combination has less noise.
    """
    parts = len(cuts) + 1
    runs = [_runs(cuts, table, parts) for table in tables]
    sizes = [len(table.value) for table in tables]
    scales = np.repeat([max(table.noise_scale, LEAST_SCALE) for table in tables], sizes)
    sums = np.concatenate([np.equal.outer(np.arange(size), run) for size, run in zip(sizes, runs, strict=True)])
    trust = (scales.min() / scales)[:, None] ** 2 * sums
    weights = np.linalg.solve(sums.T.astype(np.float64) @ trust, trust.T)
    return ScoreCounts(tuple(cuts), weights @ np.concatenate([t.value for t in tables]), weights, scales, float(tied))


def _runs(cuts: Sequence[float], table: Any, parts: int) -> npt.NDArray[Any]:
    """Which of a table's cells each part lies in."""
    edges = getattr(table.question, "edges", ())
    return np.searchsorted(np.asarray(edges), [-np.inf, *cuts], side="right") if len(edges) else np.zeros(parts, int)


def code_scorer(column: str, codes: int) -> tuple[Linear, range]:
    """A column's own codes as a score, and the grid of all cuts between them."""
    return Linear({column: np.arange(codes, dtype=np.float64)[:, None]}, [0.0]), range(1, codes)
