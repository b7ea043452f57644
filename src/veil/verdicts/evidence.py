"""How much of the difference between classes in released counts, or weights, may be noise.

Counts: in a cell with n rows, x of them in a class with share p of all rows, the difference is x - p n. The sum of its
squares, each over (n + pseudo-rows)^2 as models pool, is the evidence. Noise and sampling alone would give a known
amount of evidence on average, and half as much again only rarely: noise is counted with that margin, which is large
where cells are few. Noise over evidence is the share that may be noise. A table tells at least what its sums tell, so
the levels of a tree and the axes of a grid are tried too: noisy leaves are pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernel import WEIGHT_UNIT, Release, SparseCounts
from ..plans.finish import PSEUDO_ROWS, merge
from ..plans.linear import weight_scales
from ..questions import Binned, Grid, Tree
from ..schema import Schema

Numbers = npt.NDArray[np.float64]
Releases = Sequence[Release[Any]]
MARGIN = 1.5  # standard deviations added to the evidence that noise alone would give
TYPICAL = 0.1  # the evidence in a table whose label can be predicted with an AUC of about 0.75
NEARLY_ALL, ALIKE = 0.9, 4.0  # of the rows in one interval of odds, and how much less is then believed
CLEARLY = 0.4  # share of noise below which a label of middling difficulty would be told from noise
SQUARES = 5  # the variance of the square of Laplace noise, over the square of its variance
HELD = 4  # the penalty of a weight, as a multiple of its noise, about


@dataclass(frozen=True)
class Evidence:
    """The evidence found in tables of counts (see above), and the amount that noise alone would give, for each cell."""

    found: float
    noise: Numbers
    room: float  # share of a full difference that pooling leaves, averaged over tables: near 0 if cells drown

    @property
    def likely(self) -> float:
        """The evidence that noise alone may have given, with a margin for chance."""
        total, squares = float(self.noise.sum()), float((self.noise**2).sum())
        return total + MARGIN * sqrt(SQUARES * squares)

    @property
    def tells(self) -> bool:
        """Whether a label of middling difficulty would stand out from this noise."""
        return self.likely < CLEARLY * (float(self.noise.sum()) + TYPICAL * self.room)

    @property
    def noise_share(self) -> float:
        """The share of the evidence that may be noise; above 1 if noise alone would have given more."""
        return self.likely / self.found if self.found > 0 else np.inf


def of_counts(releases: Releases) -> Evidence | None:
    """The evidence in all tables of counts by class with two cells or more; None if there is no such table."""
    tables = [release for release in releases if _speaks(release)]
    rows = max((float(np.maximum(cells_of(table).sum(axis=1), 0).sum()) for table in tables), default=0.0)
    found = [_of_release(table, max(rows, 1.0)) for table in tables]
    if not found:
        return None
    noise, room = np.concatenate([one.noise for one in found]), np.mean([one.room for one in found])
    return Evidence(sum(one.found for one in found), noise, float(room))


def of_check(releases: Releases) -> Evidence | None:
    """The evidence in the last counts of rows in intervals of a model's own scores; None if there are none."""
    tables = [release for release in releases if isinstance(release.question, Binned) and len(release.classes) > 1]
    if not tables:
        return None
    counts = cells_of(tables[-1])
    rows = np.maximum(counts.sum(axis=1), 0)
    found = _of_release(tables[-1], max(float(rows.sum()), 1.0))
    found = replace(found, room=found.room * _evenness(np.maximum(counts.sum(axis=0), 0)))
    alike = rows.max() >= NEARLY_ALL * rows.sum()  # noise in intervals without a row may look like evidence
    return replace(found, found=found.found / ALIKE) if alike else found


def _evenness(rows: Numbers) -> float:
    """How much evidence there is where these are the rows of each class, beside that of two classes alike.

    Odds that differ as much move the share p of a class by p (1 - p) times that, and evidence is made of squares: of a
    class of one row in ten there is an eighth of it, however well the label can be predicted.
    """
    shares = rows / max(float(rows.sum()), 1.0)
    return float(8 * ((shares * (1 - shares)) ** 2).sum())


def teaches(release: Release[Any]) -> bool:
    """Whether a model learned from this answer, rather than corrected by it what it had learned: counts in intervals of
    a model's own scores."""
    return not isinstance(release.question, Binned)


def _speaks(release: Release[Any]) -> bool:
    counted = release.receipt.verb.startswith("count") and teaches(release)
    return counted and len(release.classes) > 1 and release.question.size > 1


def _of_release(release: Release[Any], all_rows: float) -> Evidence:
    """The evidence of one table: of its cells, or of sums of them if these stand out more clearly.

    `all_rows` are those of all tables: one table may be about a part of them, as leaves of a tree that end early.
    """
    table, scale = cells_of(release), release.noise_scale
    if isinstance(release.value, SparseCounts):  # an empty cell is released only if its noise passes the threshold
        return _of_table(table, scale, max(sqrt(2) * scale, release.value.threshold), np.ones(len(table)), all_rows)
    ways = [np.arange(len(table)), *coarser(release.question)]
    sums = [_of_table(merge(table, groups), scale, sqrt(2) * scale, np.bincount(groups), all_rows) for groups in ways]
    return min(sums, key=lambda evidence: evidence.noise_share)


def _of_table(table: Numbers, scale: float, deviation: float, terms: npt.NDArray[Any], all_rows: float) -> Evidence:
    """The evidence of a table of cells x classes; `terms` says how many noisy counts are summed in each cell."""
    sums, classes = table.sum(axis=1), table.shape[1]
    rows = np.maximum(sums, 0)
    shares = np.maximum(table.sum(axis=0), 0) + deviation * sqrt(terms.sum()) + 1e-9
    shares /= shares.sum()
    pooled = rows + PSEUDO_ROWS * classes * scale * np.sqrt(terms) + 1
    weight = rows / all_rows / pooled**2
    noise = terms * deviation**2 * (1 - 2 * shares + classes * shares**2).sum() + rows * (shares * (1 - shares)).sum()
    lifts = table - np.outer(sums, shares)
    return Evidence(float(weight @ (lifts**2).sum(axis=1)), np.asarray(weight * noise), float(weight @ rows**2))


def coarser(question: Any) -> list[npt.NDArray[Any]]:
    """Ways to merge cells, each an array with the group of every cell: the levels of a tree, each axis of a grid."""
    if isinstance(question, Grid):
        shape = [axis.size for axis in question.axes]
        return list(np.unravel_index(np.arange(question.size), shape)) if len(shape) > 1 else []
    ways, parts = [], [question]
    while any(isinstance(part, Tree) for part in parts):
        parts = [below for part in parts for below in (part.branches if isinstance(part, Tree) else [part])]
        ways.append(np.repeat(np.arange(len(parts)), [part.size for part in parts]))
    return ways


def cells_of(release: Release[Any]) -> Numbers:
    """Released counts as an array of cells x classes; of a sparse release, only the cells in it."""
    value = release.value
    if not isinstance(value, SparseCounts):
        return np.asarray(value, np.float64)
    cells, labels = value.cells()
    places, rows = np.unique(cells, return_inverse=True)
    table = np.zeros((len(places), value.classes))
    table[rows, labels.astype(np.intp)] = value.counts
    return table


@dataclass(frozen=True)
class Weights:
    """A typical weight of a linear model (log odds): its size, that by noise alone, and the share that rows decide.

    The rest is decided by the penalty, which holds the noise back. Values are assumed to be evenly spread over the
    rows, since their counts were not released: weights of rare values hold more noise than this.
    """

    size: float
    noise: float
    pull: float
    of_words: bool  # words are never evenly spread: rows decide more of frequent ones


def of_weights(releases: Releases, schema: Schema) -> Weights | None:
    """Typical size and noise of a linear model's weights; None if there are no weights, or those of another version."""
    fits = [release for release in releases if release.receipt.verb.startswith("minimise")]
    totals = next((release for release in releases if release.receipt.verb == "count"), None)
    if not fits or totals is None or not all(_is_known(schema, totals, fit) for fit in fits):
        return None
    shares, rows = _shares(totals), max(float(np.sum(totals.value)), 1.0)
    parts = [
        _of_column(column, scale, rows * share * (1 - share), share * (1 - share))
        for place, fit in enumerate(fits)
        for share, weights in zip(_of_classes(shares, fit, place, len(fits)), fit.value.T / WEIGHT_UNIT, strict=True)
        for column, scale in _columns(weights, schema, totals, fit)
    ]
    size, noise, pull, weight = np.sum(parts, axis=0)
    return Weights(sqrt(size / weight), sqrt(noise / weight), float(pull / weight), is_of_words(fits[0], schema))


def is_of_words(fit: Release[Any], schema: Schema) -> bool:
    """Whether a fit's weights are for words."""
    of = fit.receipt.question.partition(" on ")[2]
    return fit.receipt.verb == "minimise_words" or any(of.startswith(f"{text.name}[") for text in schema.texts)


def of_slopes(fit: Release[Any], releases: Releases, schema: Schema) -> tuple[float, float] | None:
    """A typical noise scale in the gradient of a weight, in rows, and the rows for each weight if values are evenly
    spread. None if it is not a fit of this version."""
    totals = next((release for release in releases if release.receipt.verb == "count"), None)
    if totals is None or not fit.receipt.verb.startswith("minimise") or not _is_known(schema, totals, fit):
        return None
    sizes, scales = weight_scales(schema, totals, fit)
    return float(np.average(scales, weights=sizes)), max(float(np.sum(totals.value)), 0.0) * len(sizes) / sum(sizes)


def _is_known(schema: Schema, totals: Release[Any], fit: Release[Any]) -> bool:
    """Whether the fit has as many weights as this version of Veil would ask for."""
    return sum(weight_scales(schema, totals, fit)[0]) == len(fit.value)


def _shares(totals: Release[Any]) -> Numbers:
    rows = np.maximum(np.asarray(totals.value[0], np.float64), 0) + totals.noise_scale + 1e-9
    return np.asarray(rows / rows.sum())


def _of_classes(shares: Numbers, fit: Release[Any], place: int, fits: int) -> Numbers:
    """The share of each class with weights in a fit: all classes, or one against the others (of two, the second)."""
    return shares if fit.value.shape[1] > 1 else shares[[1 if fits == 1 else place]]


def _columns(weights: Numbers, schema: Schema, totals: Release[Any], fit: Release[Any]) -> list[tuple[Numbers, float]]:
    """The weights of each column, and the scale of the noise in their gradient, in rows."""
    sizes, scales = weight_scales(schema, totals, fit)
    return list(zip(np.split(weights, np.cumsum(sizes)[:-1]), scales, strict=True))


def _of_column(weights: Numbers, scale: float, rows: float, weight: float) -> Numbers:
    """For one column: mean squared weight, squared noise, the share that rows decide, and 1; each times `weight`."""
    each, centred = rows / len(weights), weights - weights.mean()
    held = each + HELD * scale
    noise = (2 * scale**2 + each) / held**2
    return weight * np.array([(centred**2).mean(), noise, each / held, 1.0])
