"""The base classes of questions: partitions and scorers. No row comes here."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Encoded = Mapping[str, npt.NDArray[Any]]  # the codes of rows, by column
Integers = npt.NDArray[np.int64]


class Described:
    """A question that can describe itself, for receipts."""

    def describe(self) -> str:
        """The question in a few words."""
        return DESCRIPTIONS[type(self).__name__](self)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns whose codes it is given; no other column is handed to it."""
        kind = type(self).__name__
        if kind not in COLUMNS:  # a class derived from one of them
            kind = next(base.__name__ for base in type(self).__mro__ if base.__name__ in COLUMNS)
        return tuple(COLUMNS[kind](self))


class Named:
    """A grid whose cells have names, for whoever shows them."""

    axes: tuple[Any, ...]

    def names(self, cell: int) -> tuple[str, ...]:
        """The name of a cell's group on every axis."""
        names = []
        for axis in reversed(self.axes):
            cell, group = divmod(int(cell), axis.size)
            names.append(axis.names[group])
        return tuple(reversed(names))


class Partition(Protocol):
    """Puts every row in exactly one of `size` cells, so that one row can move `reach` = 1 of its counts."""

    reach: int

    @property
    def size(self) -> int: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    def cells(self, codes: Encoded) -> npt.NDArray[Any]: ...

    def describe(self) -> str: ...


class Scorer(Protocol):
    """Gives every row an integer score for each class, rows x classes."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def classes(self) -> int: ...

    def scores(self, codes: Encoded) -> Integers: ...

    def describe(self) -> str: ...


def _of_parts(*parts: Any) -> Iterable[str]:
    return dict.fromkeys(name for part in parts for name in part.columns)


COLUMNS: dict[str, Callable[[Any], Iterable[str]]] = {
    "Bag": lambda q: (q.column,),
    "Grid": lambda q: [axis.column for axis in q.axes],
    "Drawn": lambda q: (axis.column for axis in q.axes),
    "Linear": lambda q: q.tables,  # of the weights at the first look
    "Grouped": lambda q: q.grid.columns,
    "Tree": lambda q: _of_parts(q.cut, *q.branches),
    "PathScores": lambda q: q.tree.columns,
    "Binned": lambda q: q.scorer.columns,
    "Predicted": lambda q: q.scorer.columns,
    "CellScores": lambda q: q.partition.columns,
    "Sum": lambda q: _of_parts(*q.parts),
    "Odds": lambda q: q.scorer.columns,
}
DESCRIPTIONS: dict[str, Callable[[Any], str]] = {
    "Grid": lambda q: " x ".join(f"{axis.column}[{axis.size}]" for axis in q.axes) or "all rows",
    "Grouped": lambda q: f"{q.size} groups of the cells of {q.grid.describe()}",
    "Tree": lambda q: f"tree of {q.size} leaves on {', '.join(q.columns)}",
    "Drawn": lambda q: f"drawn tree of depth {q.depth} on {', '.join(q.columns)}, seed {q.seed}",
    "PathScores": lambda q: f"{len(q.nodes)} nodes of {q.tree.describe()}",
    "Binned": lambda q: f"{q.size} intervals of the score of {q.scorer.describe()}",
    "Predicted": lambda q: f"class predicted by {q.scorer.describe()}",
    "CellScores": lambda q: f"cells of {q.partition.describe()}",
    "Sum": lambda q: f"the sum over {len(q.parts)} partitions of {', '.join(q.columns) or 'nothing'}",
    "Linear": lambda q: f"weights on {', '.join(q.columns) or 'nothing'}",
    "Odds": lambda q: f"class {q.label} by {q.scorer.describe()}",
    "Bag": lambda q: f"{q.column}[{q.size} words, {q.reach} a row]",
}
