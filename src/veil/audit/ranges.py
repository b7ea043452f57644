"""Audit of histograms for ranges: our verbs and plans, and twins as they are published or in use."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from ..kernel import Budget, Source
from ..kernel.noise import Noise
from ..kernel.verbs.segments import lengths_of
from ..plans.ranges.adaptive_grid import adaptive_grid
from ..plans.ranges.domain import Domain
from ..plans.ranges.mwem import mwem
from ..plans.ranges.uniform_grid import uniform_grid
from ..questions import grid
from ..schema import Numeric, Schema
from .broken import Array
from .harness import Case, discrete_laplace
from .pairs import pair
from .tables import ONE, TWO, Table, asking, between

CELLS = 4
LINE = Schema(name="audit", column=[Numeric(name="place", bounds=(0, CELLS - 1), integer=True, bins=CELLS)])
LONG = Schema(name="audit", column=[Numeric(name="place", bounds=(0, 63), integer=True, bins=64)])
PLACE = grid(LINE, "place")
WAYS = ([1, 1, 1, 1], [2, 1, 1], [1, 2, 1], [1, 1, 2], [2, 2], [4])  # to cut four cells, by the lengths of the runs
HALVES = [[[0, 2]], [[2, 4]]]


def ranges() -> list[Case]:
    """Cases of verbs and plans over cells in an order, and twins that must be caught."""
    chosen = asking(lambda source: source.choose_range(PLACE, [CELLS], HALVES, [0, 0], TWO).value, LINE)
    below = asking(lambda source: source.choose_range(PLACE, [CELLS], HALVES, [1, 0], TWO).value, LINE)
    rounds, held = asking(_rounds, LINE), asking(lambda source: source.occupied(PLACE, ONE).value, LINE)
    return [
        Case("occupied", 1, (placed(0), placed(0, 1)), held, "the row is alone in its cell", 3_000, 50_000),
        Case("occupied, missing value", 1, (placed(0), placed(0, None)), held, "it has a cell of its own"),
        Case("choose_range", 2, (placed(), placed(1)), chosen, "the row is in one of two ranges"),
        Case("choose_range, falling score", 2, (placed(), placed(1)), below, "the row brings one nearer to its target"),
        Case("segments", 1, (placed(0, 0, 0), placed(0, 0, 0, 1)), _cutting(4), "the row stands alone, or not"),
        Case("segments, missing value", 1, (placed(0), placed(0, None)), _cutting(1), "such a row is in no run"),
        Case("mwem", 2, (placed(), placed(1)), rounds, "chosen, then measured", quick=1_000),
        *_twins(),
    ]


def placed(*places: int | None) -> Table:
    """A table of one column of whole numbers."""
    return {"place": [*places]}


def heaped(*counts: int) -> Table:
    """A table with this many rows in each cell."""
    return placed(*np.repeat(np.arange(len(counts)), counts).tolist())


def _cutting(price: float) -> Any:
    """Where the runs of four cells begin, as one number, at this price in rows for each of them."""
    return asking(lambda source: _said(source.segments(PLACE, CELLS, ONE, prices=[price] * 3).value), LINE)


def _said(starts: Array) -> int:
    return int((1 << np.asarray(starts)).sum())


def _rounds(source: Source) -> Array:
    """The noisy number of rows, and that in the first range which mwem measures, each from 0 to 1."""
    start = len(source.record.releases)
    mwem(source, TWO, Domain(LINE))
    rows, _, measured = [release.value for release in source.record.releases[start:]][:3]
    return np.asarray(np.clip([rows[0, 0], measured[0, 0]], 0, 1))


def _twins() -> Iterator[Case]:
    yield from _of_dawa()
    size = {"number of blocks": lambda seen: seen}
    full = placed(*[0] * 80), placed(*[0] * 81)  # (80 / 10)^(2/3) is 4 exactly
    yield from pair("rows known for free", 1, full, rows_known, asking(_blocks, LONG), views=size, quick=600)
    both = {"counts of both levels": between(0, 1)}
    lone = placed(), placed(0)
    yield from pair("both levels at full epsilon", 1, lone, both_levels, asking(_two_levels, LONG), views=both)


def _of_dawa() -> Iterator[Case]:
    """The pairs of tables on which the scales in use lose most, of those that a few thousand runs can show."""
    even = heaped(8, 8, 8, 8), heaped(8, 9, 8, 8)
    yield from pair("DAWA's scales", 1, even, _of(0.5), _cutting(0.5), quick=5_000)
    alone = heaped(0, 1, 0, 0), heaped(0, 2, 0, 0)
    yield from pair("DAWA's single cells", 1, alone, _of(2), _cutting(2), quick=10_000)


def _of(price: float) -> Any:
    def runs(table: Table, noise: Noise, trials: int) -> Array:
        return dawa_scales(table, noise, trials, price)

    runs.__doc__ = dawa_scales.__doc__
    return runs


def dawa_scales(table: Table, noise: Noise, trials: int, price: float) -> Array:
    """NOT PRIVATE: runs of cells chosen with the noise of DAWA's code (Li, Hay and Miklau 2014).

    Its scale is (2 - 1/|b| - 1/n) / epsilon, half of what the argument needs; runs of one cell have no noise; and costs
    are not let below the price of a run.
    """
    counts = np.bincount([place for place in table["place"] if place is not None], minlength=CELLS).astype(float)
    costs: dict[int, Array] = {}
    for length in lengths_of(CELLS):
        windows = np.lib.stride_tricks.sliding_window_view(counts, length)
        exact = np.abs(windows - windows.mean(axis=1, keepdims=True)).sum(axis=1)
        scale = 2 - 1 / length - 1 / CELLS if length > 1 else 0.0
        costs[length] = np.maximum(exact + scale * _laplace(noise, (trials, len(exact))), 0) + price
    totals = []
    for lengths in WAYS:
        starts = np.cumsum([0, *lengths[:-1]])
        totals.append(sum(costs[length][:, start] for length, start in zip(lengths, starts, strict=True)))
    said = np.array([_said(np.cumsum([0, *lengths[:-1]])) for lengths in WAYS])
    return np.asarray(said[np.argmin(np.stack(totals), axis=0)])


def _laplace(noise: Noise, shape: tuple[int, int]) -> Array:
    """Laplace noise of scale 1, by the inverse of its law."""
    uniform = (noise.words(shape[0] * shape[1]) >> np.uint64(11)).astype(np.float64).reshape(shape) * 2.0**-53 - 0.5
    return np.asarray(-np.sign(uniform) * np.log1p(-2 * np.abs(uniform)))


def rows_known(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: a uniform grid whose number of blocks follows from the exact number of rows.

    The counts have proper noise, but how many there are tells the number of rows; most code takes it as known.
    """
    parts = max(ceil((len(table["place"]) / 10) ** (2 / 3)), 1)
    return np.full(trials, 64 // (64 // parts))


def _blocks(source: Source) -> int:
    """The number of blocks that our uniform grid counts, for epsilon 1."""
    uniform_grid(source, ONE, Domain(LONG))
    return len(source.record.releases[-1].value) - 1


def both_levels(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: an adaptive grid that spends all of epsilon on each of its two levels.

    The blocks of a level are disjoint, and so cost what one does; but a row lies in a block of each level.
    """
    return discrete_laplace(np.full((trials, 2), len(table["place"])), Fraction(1), noise)


def _two_levels(source: Source) -> Array:
    """The noisy counts of the first block of each level of our adaptive grid, for epsilon 1."""
    adaptive_grid(source, Budget(1), Domain(LONG))
    return np.array([release.value[0, 0] for release in source.record.releases[-2:]])
