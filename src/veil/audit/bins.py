"""Audit of the choice of bins: our verb, and twins whose cap or whose ways to cut come from the rows."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..kernel.flip import permute_and_flip
from ..kernel.noise import Noise
from ..kernel.verbs.bins import capped_rows
from ..schema import Numeric, Schema
from .broken import Array
from .harness import Case
from .pairs import pair
from .tables import ONE, TWO, Table, asking

CELLS = 64
SIZES = Schema(
    name="audit", column=[Numeric(name=name, bounds=(0, CELLS - 1), integer=True) for name in ("size", "width")]
)
WAYS = [[0, 16, 32], [32, 48, 64], [40, 50, 60]]
EVEN, WHOLE, BEHIND = [0, 16, 32, 48, 64], [0, 64, 64, 64, 64], [3, 0]  # four bins, and one that is ahead by three


def bins() -> list[Case]:
    """Cases in which the row fills a bin of one way to cut and of no other, and twins that must be caught."""
    one = asking(lambda source: source.choose_bins(["size"], WAYS, 2, TWO).value, SIZES)
    both = asking(lambda source: source.choose_bins(["size", "width"], WAYS, 2, TWO).value, SIZES)
    return [
        Case("choose_bins", 2, (sized(45), sized(45, 30)), one, "the row is in one way's bins alone"),
        Case("choose_bins, two columns", 2, (sized(45), sized(45, 30)), both, "the row counts twice"),
        Case("choose_bins, full bin", 2, (sized(30, 30), sized(30, 30, 30)), one, "the row is above the cap"),
        Case("choose_bins, missing value", 2, (sized(1), sized(1, None)), one, "such a row is in no bin"),
        *_twins(),
    ]


def sized(*sizes: int | None) -> Table:
    """A table of two columns of whole numbers, alike."""
    return {"size": [*sizes], "width": [*sizes]}


def _twins() -> Iterator[Case]:
    quarters = sized(1, 2, 17, 18, 33, 34, 49), sized(1, 2, 17, 18, 33, 34, 49, 50)
    fixed = asking(lambda source: source.choose_bins(["size"], [EVEN, WHOLE], 1, ONE, handicaps=BEHIND).value, SIZES)
    yield from pair("cap taken from the rows", 1, quarters, cap_from_rows, fixed, quick=4_000)
    given = asking(lambda source: source.choose_bins(["size"], WAYS, 2, ONE).value, SIZES)
    yield from pair("only ways with rows in them", 1, (sized(1), sized(1, 45)), occupied_ways, given, quick=2_000)


def cap_from_rows(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: bins chosen by rows up to a cap that is a quarter of the exact number of rows.

    A row that raises the cap raises the score by one for every bin that is full, not by one in all.
    """
    cap = max(len(table["size"]) // 4, 1)
    scores = capped_rows(_counts(table), np.array([EVEN, WHOLE]), cap) - BEHIND
    return np.array([permute_and_flip(scores, Fraction(1), noise) for _ in range(trials)])


def occupied_ways(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: bins chosen among those ways to cut alone that have a row in one of their bins.

    A way that could not win without the row wins now and then with it.
    """
    scores = capped_rows(_counts(table), np.array(WAYS), 2)
    places = np.flatnonzero(scores)
    return np.array([places[permute_and_flip(scores[places], Fraction(1), noise)] for _ in range(trials)])


def _counts(table: Table) -> Any:
    return np.bincount([size for size in table["size"] if size is not None], minlength=CELLS)
