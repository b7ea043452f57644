"""Questions that may be asked of a table: partitions of its rows, and scorers built from released values.

A partition puts every row in exactly one cell, by a rule that depends on the row alone. Scorers work in whole numbers
of 2^-20 for the same reason: the last bit of a floating-point sum can depend on how many other rows there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .bags import Bag, Bags
from .columns import Categorical, Numeric, Text
from .errors import BadInput
from .schema import Schema

UNIT = 1 << 20  # scores of rows are whole numbers of 1 / UNIT
Codes = Mapping[str, npt.NDArray[Any]]
Integers = npt.NDArray[np.int64]


class Partition(Protocol):
    """Puts every row in exactly one of `size` cells."""

    @property
    def size(self) -> int: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    def cells(self, codes: Codes) -> npt.NDArray[Any]: ...

    def describe(self) -> str: ...


class Scorer(Protocol):
    """Gives every row a whole number for each class."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def classes(self) -> int: ...

    def scores(self, codes: Codes) -> Integers: ...

    def describe(self) -> str: ...


@dataclass(frozen=True)
class Axis:
    """A column, its codes gathered into groups: `groups[code]` is the group, `names[group]` its name."""

    column: str
    groups: tuple[int, ...]
    names: tuple[str, ...] = field(compare=False)

    @cached_property
    def size(self) -> int:
        return len(self.names)

    @cached_property
    def table(self) -> npt.NDArray[Any] | None:
        """The group of each code; None where every code is its own group."""
        if self.groups == tuple(range(len(self.groups))):
            return None
        return np.array(self.groups, np.min_scalar_type(self.size - 1))

    def pick(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The group of each row."""
        return codes if self.table is None else np.take(self.table, codes)


@dataclass(frozen=True)
class Grid:
    """Combinations of bins, categories or groups of them, one axis a column; no axis at all is the whole table."""

    axes: tuple[Axis, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.axes):
            raise BadInput("a grid can hold a column only once")

    def __and__(self, other: "Grid") -> "Grid":
        return Grid(self.axes + other.axes)

    @cached_property
    def size(self) -> int:
        return prod([axis.size for axis in self.axes])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple([axis.column for axis in self.axes])

    def cells(self, codes: Codes) -> npt.NDArray[Any]:
        """Mixed-radix numbers, the last axis fastest, in the narrowest type that holds them (at most 2^63 cells)."""
        if not self.axes:
            return np.zeros(_rows(codes), np.uint8)
        return join([(axis.pick(codes[axis.column]), axis.size) for axis in self.axes])

    def names(self, cell: int) -> tuple[str, ...]:
        """The name of a cell on every axis."""
        names = []
        for axis in reversed(self.axes):
            cell, group = divmod(int(cell), axis.size)
            names.append(axis.names[group])
        return tuple(reversed(names))

    def describe(self) -> str:
        return " x ".join(f"{axis.column}[{axis.size}]" for axis in self.axes) or "all rows"


def join(parts: Sequence[tuple[npt.NDArray[Any], int]]) -> npt.NDArray[Any]:
    """Mixed-radix numbers of several parts, each step in the narrowest type that holds it."""
    cells, size = parts[0]
    for part, radix in parts[1:]:
        size *= radix
        narrow = np.min_scalar_type(max(size - 1, radix))
        cells = np.multiply(cells, narrow.type(radix), dtype=narrow, casting="unsafe")
        np.add(cells, part, out=cells, casting="unsafe")
    return cells


WHOLE = Grid()


def axis(column: Categorical | Numeric, level: int = -1) -> Grid:
    """The grid of one column at a level of its hierarchy, from 0 (one group) to -1 (every code its own)."""
    return _grouped(column, column.levels[level])


def runs(column: Numeric, count: int) -> Grid:
    """The grid of a numeric column whose bins are gathered into at most this many runs; missing values stay apart."""
    bins = len(column.cuts) - 1
    groups = [code * min(count, bins) // bins for code in range(bins)]
    return _grouped(column, tuple(groups if column.missing is not None else [*groups, groups[-1] + 1]))


def _grouped(column: Categorical | Numeric, groups: tuple[int, ...]) -> Grid:
    members: list[list[int]] = [[] for _ in range(max(groups) + 1)]
    for code, group in enumerate(groups):
        members[group].append(code)
    return Grid((Axis(column.name, groups, tuple(map(column.group_name, members))),))


def grid(schema: Schema, *columns: str) -> Grid:
    """The finest grid over these columns."""
    return Grid(sum((axis(_encoded(schema, name)).axes for name in columns), ()))


def _encoded(schema: Schema, name: str) -> Categorical | Numeric:
    column = schema.get(name)
    if not isinstance(column, (Categorical, Numeric)):
        raise BadInput(f"column {name!r} is free text: no grid can hold it")
    return column


def bag(schema: Schema, column: str | None = None, *, words: Sequence[int] | None = None, most: Any = None) -> Bag:
    """Words of a text column (the only one, if none is named): all of them, or those with these codes.

    `most` words of a row count, as many as the schema says without it.
    """
    names = [text.name for text in schema.texts]
    if column is None and len(names) != 1:
        raise BadInput("the schema must have one text column with words or buckets: name the one that is meant")
    text = schema.get(names[0] if column is None else column)
    if not isinstance(text, Text) or not text.size:
        raise BadInput(f"column {text.name!r} has no words: declare it as text, with words or buckets")
    if most is not None and (type(most) is not int or not 1 <= most <= 2**12):
        raise BadInput("the words of a row that count must be a whole number from 1 to 4096")
    chosen = None if words is None else tuple(sorted({int(word) for word in words}))
    return Bag(text.name, text.size if chosen is None else len(chosen), most or text.words_per_row, chosen)


@dataclass(frozen=True, eq=False)
class Tree:
    """The leaves of a tree: `cut` sends a row to a branch, and the branch to one of its leaves."""

    cut: Partition
    branches: tuple[Partition, ...]

    def __post_init__(self) -> None:
        if self.cut.size != len(self.branches):
            raise BadInput("a tree needs one branch for every cell of its cut")

    @cached_property
    def size(self) -> int:
        return sum(branch.size for branch in self.branches)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in (self.cut, *self.branches) for name in part.columns))

    @cached_property
    def steps(self) -> tuple[Integers, Integers] | None:
        """The column of every inner node and the start of its codes in the second array: there, for each code, the next
        node or ~leaf. None if a cut is not of one column."""
        nodes: list[tuple[Partition, int]] = [(self, 0)]
        after, at = list[int](), list[tuple[int, int]]()
        for node, leaf in nodes:  # it grows on the way
            cut, branches = (node.cut, node.branches) if isinstance(node, Tree) else (node, (WHOLE,) * node.size)
            if not isinstance(cut, Grid) or len(cut.axes) != 1:
                return None
            ways = list[int]()
            for branch in branches:
                ways.append(~leaf if branch.size == 1 else len(nodes))
                nodes += [(branch, leaf)] if branch.size > 1 else []
                leaf += branch.size
            at.append((self.columns.index(cut.columns[0]), len(after)))
            after += [ways[group] for group in cut.axes[0].groups]
        return np.array(at).T.copy(), np.array(after)

    def cells(self, codes: Codes) -> Integers:
        if self.steps is not None:
            return self._walk(codes, *self.steps)
        taken = self.cut.cells(codes)
        leaves, offset = np.empty(len(taken), np.int64), 0
        for number, branch in enumerate(self.branches):
            rows = np.flatnonzero(taken == number)
            leaves[rows] = branch.cells({name: codes[name][rows] for name in branch.columns} or {"": rows})
            leaves[rows] += offset  # in the wide type: the branch's own may not hold it
            offset += branch.size
        return leaves

    def _walk(self, codes: Codes, at: Integers, after: Integers) -> Integers:
        """The leaf of each row: step by step, all that are not yet in theirs go on to the next node."""
        table = np.concatenate([codes[name] for name in self.columns])
        rows = np.arange(len(table) // len(self.columns))
        leaves, node, first = np.empty(len(rows), np.int64), np.zeros(len(rows), np.int64), at[0] * len(rows)
        while len(rows):
            node = after.take(at[1].take(node) + table.take(first.take(node) + rows))
            going = np.flatnonzero(node >= 0)
            leaves[rows] = ~node
            rows, node = rows.take(going), node.take(going)
        return leaves

    def describe(self) -> str:
        return f"tree of {self.size} leaves on {', '.join(self.columns)}"


@dataclass(frozen=True, eq=False)
class Binned:
    """Intervals of a class's score: cell j holds the scores from `edges[j-1]` up to, not including, `edges[j]`."""

    scorer: Scorer
    edges: Sequence[float]
    label: int = -1

    @cached_property
    def cuts(self) -> Integers:
        cuts = fixed_point(self.edges)
        if cuts.ndim != 1 or np.any(np.diff(cuts) <= 0):
            raise BadInput("edges must increase, by at least 1e-6")
        return cuts

    @property
    def size(self) -> int:
        return len(self.cuts) + 1

    @property
    def columns(self) -> tuple[str, ...]:
        return self.scorer.columns

    def cells(self, codes: Codes) -> Integers:
        return np.searchsorted(self.cuts, self.scorer.scores(codes)[:, self.label], side="right")

    def describe(self) -> str:
        return f"{self.size} intervals of the score of {self.scorer.describe()}"


@dataclass(frozen=True, eq=False)
class Predicted:
    """The predicted class: the one with the highest score, the first of them on a tie."""

    scorer: Scorer

    @property
    def size(self) -> int:
        return self.scorer.classes

    @property
    def columns(self) -> tuple[str, ...]:
        return self.scorer.columns

    def cells(self, codes: Codes) -> Integers:
        return np.asarray(self.scorer.scores(codes).argmax(axis=1))

    def describe(self) -> str:
        return f"class predicted by {self.scorer.describe()}"


@dataclass(frozen=True, eq=False)
class CellScores:
    """A score for every cell of a partition and class."""

    partition: Partition
    values: npt.ArrayLike

    @cached_property
    def table(self) -> Integers:
        table = fixed_point(self.values)
        if table.ndim != 2 or len(table) != self.partition.size or not table.size:
            raise BadInput("cell scores need one row for each cell and one column for each class")
        return table

    @property
    def columns(self) -> tuple[str, ...]:
        return self.partition.columns

    @property
    def classes(self) -> int:
        return int(self.table.shape[1])

    def scores(self, codes: Codes) -> Integers:
        return np.take(self.table, self.partition.cells(codes), axis=0)

    def describe(self) -> str:
        return f"cells of {self.partition.describe()}"


@dataclass(frozen=True, eq=False)
class Sum:
    """The scores of several tables of cells, or of nodes of drawn trees, added up."""

    parts: tuple[Scorer, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.columns))

    @property
    def classes(self) -> int:
        return self.parts[0].classes

    def scores(self, codes: Codes) -> Integers:
        scores = self.parts[0].scores(codes)
        for part in self.parts[1:]:
            scores += part.scores(codes)
        return scores

    def describe(self) -> str:
        return f"the sum over {len(self.parts)} partitions of {', '.join(self.columns) or 'nothing'}"


@dataclass(frozen=True, eq=False)
class Linear:
    """A sum of weights, one table of (code, class) for each column, and a constant for each class; a row has one code
    in a column, or as many as it has words."""

    weights: Mapping[str, npt.ArrayLike]
    constant: npt.ArrayLike

    @cached_property
    def tables(self) -> dict[str, Integers]:
        return {name: fixed_point(table) for name, table in self.weights.items()}

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.tables)  # of the weights as they were when first looked at

    @cached_property
    def start(self) -> Integers:
        start = fixed_point(self.constant)
        if start.ndim != 1 or not start.size:
            raise BadInput("a linear scorer needs a list with one constant for each class")
        return start

    @property
    def classes(self) -> int:
        return len(self.start)

    def scores(self, codes: Codes) -> Integers:
        scores = np.tile(self.start, (_rows(codes), 1))
        for name, table in self.tables.items():
            found: Any = codes[name]
            scores += found.sums(table) if isinstance(found, Bags) else table[found]
        return scores

    def describe(self) -> str:
        return f"weights on {', '.join(self.columns) or 'nothing'}"


def fixed_point(values: npt.ArrayLike | Iterable[float]) -> Integers:
    """Numbers as whole multiples of 1 / UNIT, clipped so that sums over columns cannot overflow."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise BadInput("scores and edges must be numbers, in rows of equal length") from None
    if np.isnan(array).any():
        raise BadInput("a score or an edge is not a number")
    return np.floor(np.clip(array, -(2.0**30), 2.0**30) * UNIT + 0.5).astype(np.int64)


def _rows(codes: Codes) -> int:
    return len(next(iter(codes.values())))
