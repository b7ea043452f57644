"""Scorers, built from released values: integer scores for every row and class, and partitions by them.

Scores are integers in units of 2^-20: the last bit of a floating-point sum can depend on how many other rows there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import wording
from ..errors import BadInput
from ..schema.bags import Bags
from ..schema.refusing import refuse
from .grids import rows_of
from .kinds import Described, Encoded, Integers, Partition, Scorer

UNIT = 1 << 20  # scores of rows are whole numbers of 1 / UNIT


@dataclass(frozen=True, eq=False)
class Binned(Described):
    """Intervals of a class's score: cell j holds the scores from `edges[j-1]` up to, not including, `edges[j]`."""

    scorer: Scorer
    edges: Sequence[float]
    label: int = -1
    reach = 1

    @cached_property
    def cuts(self) -> Integers:
        cuts = fixed_point(self.edges)
        refuse(cuts.ndim != 1 or np.any(np.diff(cuts) <= 0), "edges must increase, by at least 1e-6")
        return cuts

    @property
    def size(self) -> int:
        return len(self.cuts) + 1

    def cells(self, codes: Encoded) -> Integers:
        return np.searchsorted(self.cuts, self.scorer.scores(codes)[:, self.label], side="right")


@dataclass(frozen=True, eq=False)
class Predicted(Described):
    """The predicted class: the one with the highest score, the first of them on a tie."""

    scorer: Scorer
    reach = 1

    @property
    def size(self) -> int:
        return self.scorer.classes

    def cells(self, codes: Encoded) -> Integers:
        return np.asarray(self.scorer.scores(codes).argmax(axis=1))


@dataclass(frozen=True, eq=False)
class CellScores(Described):
    """A table of scores, cells x classes: a row has those of its cell in a partition."""

    partition: Partition
    values: npt.ArrayLike

    @cached_property
    def table(self) -> Integers:
        table = fixed_point(self.values)
        refuse(table.ndim != 2 or len(table) != self.partition.size or not table.size, wording.CELL_SCORES)
        return table

    @property
    def classes(self) -> int:
        return int(self.table.shape[1])

    def scores(self, codes: Encoded) -> Integers:
        return np.take(self.table, self.partition.cells(codes), axis=0)


@dataclass(frozen=True, eq=False)
class Sum(Described):
    """The sum of several scorers, each by cells, by nodes of drawn trees or linear."""

    parts: tuple[Scorer, ...]

    @property
    def classes(self) -> int:
        return self.parts[0].classes

    def scores(self, codes: Encoded) -> Integers:
        scores = self.parts[0].scores(codes)
        for part in self.parts[1:]:
            scores += part.scores(codes)
        return scores


@dataclass(frozen=True, eq=False)
class Linear(Described):
    """An intercept for each class plus a weight for each code of a row, from one table of codes x classes for each
    column; a text column adds the weights of all words of the row."""

    weights: Mapping[str, npt.ArrayLike]
    constant: npt.ArrayLike

    @cached_property
    def tables(self) -> dict[str, Integers]:
        return {name: fixed_point(table) for name, table in self.weights.items()}

    @cached_property
    def start(self) -> Integers:
        start = fixed_point(self.constant)
        refuse(start.ndim != 1 or not start.size, "a linear scorer needs a list with one constant for each class")
        return start

    @property
    def classes(self) -> int:
        return len(self.start)

    def scores(self, codes: Encoded) -> Integers:
        scores = np.tile(self.start, (rows_of(codes), 1))
        for name, table in self.tables.items():
            found: Any = codes[name]
            scores += found.sums(table) if isinstance(found, Bags) else np.take(table, found, axis=0)
        return scores


def fixed_point(values: npt.ArrayLike | Iterable[float]) -> Integers:
    """Numbers as integers in units of 1 / UNIT, clipped so that sums over columns cannot overflow."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise BadInput("scores and edges must be numbers, in rows of equal length") from None
    refuse(np.isnan(array).any(), "a score or an edge is not a number")
    return np.floor(np.clip(array, -(2.0**30), 2.0**30) * UNIT + 0.5).astype(np.int64)
