"""Own: a question made anew from its public parts and checked against the schema, before it is charged.

Whoever asks may hold on to a question and change it, or have given it a size or methods of its own. So the kernel never
asks what it is handed, but a copy of it, which is of a closed list of kinds and cannot fail on a row afterwards.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .. import wording
from ..errors import BadInput
from ..questions import (
    Axis,
    Bag,
    Binned,
    CellScores,
    Drawn,
    Grid,
    Grouped,
    Linear,
    Odds,
    PathScores,
    Predicted,
    Sum,
    Tree,
)
from ..questions.drawn import WIDEST
from ..schema import Categorical, Numeric, Schema, Text
from ..schema.refusing import refuse
from .noise import Integers

DEEPEST = 60
DENSE_LIMIT = 200_000_000  # counts in one dense answer
MOST_COUNTS = 1 << 24  # of words, or of all cells in which something is chosen
MOST_SUMMED = 1000  # scores of 50 bits each: their sum cannot overflow


def whole(value: Any, what: str, low: int, high: int) -> int:
    """The number as a Python integer; refuses one that is not whole or not in this range. A fraction could pass a
    comparison and fail on a row; a NumPy integer would wrap around in later arithmetic."""
    kind = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not kind or not low <= (number := int(value)) <= high:  # what is compared is what is used
        raise BadInput(f"{what} must be a whole number from {low} to {high}")
    return number


def own_integers(values: Any, shape: tuple[int | None, ...], low: int, high: int, otherwise: str) -> Integers:
    """A copy of an array of whole numbers, if it has this shape (None for any length) and they lie in this range. It is
    copied twice: what makes an array of itself may keep it, to change it later."""
    given = np.array(np.array(values))
    wanted = [found if side is None else side for side, found in zip(shape, given.shape, strict=False)]
    refuse(given.ndim != len(shape) or [*given.shape] != wanted or not given.size, otherwise)
    refuse(given.dtype.kind not in "iu" or given.min() < low or given.max() > high, otherwise)
    return given.astype(np.int64)


@dataclass(frozen=True)
class Owner:
    """Makes questions anew. Grids and axes that several of them share are made once, and shared by the copies."""

    schema: Schema
    known: dict[int, Any] = field(default_factory=dict)  # by the identity of what was given, which is kept alive

    def __call__(self, question: Any, *, dense: bool = True) -> Any:
        """A copy of a partition or a bag that fits the schema; one that does not is refused."""
        return self.bag(question) if type(question) is Bag else self.partition(question, dense=dense)

    def partition(self, partition: Any, *, dense: bool = True) -> Any:
        """A copy of the partition; with `dense`, refuses one with too many cells to count one by one."""
        found = self._partition(partition, 0)
        if dense:
            self._countable(found)
        if type(found) is not Grid:  # a trial without rows: what fails must fail before the charge
            found.cells({"": np.zeros(0, np.uint8), **{name: np.zeros(0, np.uint8) for name in found.columns}})
        return found

    def bag(self, bag: Any) -> Bag:
        """A copy of a bag with every word once; their number bounds the reach of a row."""
        kinds = (type(bag.column), type(bag.size), type(bag.most)) if type(bag) is Bag else ()
        refuse(kinds != (str, int, int) or type(bag.words) not in (tuple, type(None)), wording.BAG)
        column = self.schema.get(bag.column)
        refuse(not isinstance(column, Text) or not column.size, wording.NO_WORDS.format(bag.column))
        codes = range(column.size) if bag.words is None else bag.words
        if bag.words is not None and ({*map(type, codes)} != {int} or not all(a < b for a, b in pairwise(codes))):
            raise BadInput("a bag must have one word at least, and each of them once, in the order of the vocabulary")
        refuse(bag.size != len(codes) or not 0 <= codes[0] <= codes[-1] < column.size, wording.BAG_SIZE)
        refuse(2 * bag.size * len(self.schema.classes) > MOST_COUNTS, wording.MANY_WORDS)
        return Bag(bag.column, bag.size, whole(bag.most, "most, the words of a row that count,", 1, 2**12), bag.words)

    def _partition(self, given: Any, depth: int) -> Any:
        refuse(depth > DEEPEST, f"a question can be nested {DEEPEST} deep at most: use a shallower tree")
        if type(given) is Grid and type(given.axes) is tuple:
            return self._once(given, lambda one: Grid(tuple([self._once(axis, self._axis) for axis in one.axes])))
        if type(given) is Grouped:
            return self._grouped(given, depth)
        if type(given) is Tree and type(given.branches) is tuple:
            cut, *branches = [self._partition(part, depth + 1) for part in (given.cut, *given.branches)]
            return Tree(cut, tuple(branches))
        if type(given) is Drawn:
            return self._drawn(given)
        if type(given) is Predicted:
            return Predicted(self._scorer(given.scorer, depth))
        if type(given) is Binned:
            scorer = self._scorer(given.scorer, depth)
            label = whole(given.label, "the binned label", -scorer.classes, scorer.classes - 1)
            return Binned(scorer, given.edges, label)
        raise BadInput(wording.PARTITION)

    def _countable(self, found: Any) -> Any:
        many = found.size * len(self.schema.classes) > DENSE_LIMIT
        refuse(many, f"{found.describe()} has too many cells to count one by one: use count_sparse or fewer columns")
        return found

    def _once(self, given: Any, copied: Callable[[Any], Any]) -> Any:
        """The copy, made once; with it what was given, or something made later could have the same identity."""
        if id(given) not in self.known:
            self.known[id(given)] = given, copied(given)
        return self.known[id(given)][1]

    def _grouped(self, given: Grouped, depth: int) -> Grouped:
        grid, numbers = given.grid, given.numbers
        kinds = type(grid) is Grid and type(numbers) is np.ndarray and numbers.dtype.kind in "iu"
        refuse(not kinds, wording.GROUPED)
        grid, numbers = self._countable(self._partition(grid, depth + 1)), np.array(numbers)
        size = whole(given.size, "the number of groups", 1, grid.size + 1)
        refuse(numbers.shape != (grid.size,) or numbers.min() < 0 or numbers.max() >= size, wording.CELL_NUMBERS)
        return Grouped(grid, numbers, size)

    def _axis(self, given: Any) -> Axis:
        parts = (given.column, given.groups, given.names) if type(given) is Axis else ()
        refuse([*map(type, parts)] != [str, tuple, tuple] or {*map(type, given.groups)} != {int}, wording.AXES)
        column = self.schema.get(given.column)
        refuse(not isinstance(column, (Categorical, Numeric)), wording.FREE_TEXT.format(given.column))
        refuse(len(given.groups) != column.size, wording.GROUPS.format(given.column))
        refuse(set(given.groups) != set(range(len(given.names))), wording.GROUP_NUMBERS.format(given.column))
        return Axis(*parts)

    def _drawn(self, given: Drawn) -> Drawn:
        fixed = (type(given.axes), type(given.halved)) == (tuple, tuple) and {*map(type, given.halved)} == {bool}
        numbers = (given.depth, given.seed, given.most, given.first)
        refuse(not fixed or len(given.axes) != len(given.halved) or {*map(type, numbers)} != {int}, wording.DRAWN)
        limits = ((1, DEEPEST), (0, WIDEST), (1, WIDEST), (-1, len(given.axes) - 1))
        for number, (least, most) in zip(numbers, limits, strict=True):
            whole(number, "a number of a drawn tree", least, most)
        found = Drawn(tuple([self._axis(axis) for axis in given.axes]), given.halved, *numbers)
        refuse(len({*found.columns}) < len(found.columns), "a drawn tree must have every column once")
        refuse(found.size * len(self.schema.classes) >= WIDEST, wording.DRAWN_WIDE)
        return found

    def _scorer(self, given: Any, depth: int) -> Any:
        if type(given) is CellScores:
            partition = self._countable(self._partition(given.partition, depth + 1))
            return CellScores(partition, given.values)
        if type(given) is PathScores and type(given.tree) is Drawn and type(given.nodes) is np.ndarray:
            return PathScores(self._drawn(given.tree), np.array(given.nodes), given.values)
        if type(given) is Sum:
            return self._sum(given, depth)
        if type(given) is Linear:
            return self._linear(Linear(given.weights, given.constant))
        if type(given) is Odds and type(given.scorer) is not Odds:
            scorer = self._scorer(given.scorer, depth)
            whole(scorer.classes, "the number of classes that have odds", 2, WIDEST)
            return Odds(scorer, whole(given.label, "the class of the odds", 0, scorer.classes - 1))
        raise BadInput("a scorer must be CellScores, PathScores, Linear, Sum or the Odds of one of these")

    def _sum(self, given: Sum, depth: int) -> Sum:
        kinds = {CellScores, PathScores, Linear}
        refuse(type(given.parts) is not tuple or not {*map(type, given.parts)} <= kinds, wording.SUM)
        found = Sum(tuple([self._scorer(part, depth) for part in given.parts]))
        many = not 0 < len(found.parts) <= MOST_SUMMED
        refuse(many or len({part.classes for part in found.parts}) > 1, wording.SUMMED.format(MOST_SUMMED))
        return found

    def _linear(self, found: Linear) -> Linear:
        for name, table in found.tables.items():
            column = self.schema.get(name)  # words can have weights, though a row has many
            refuse(isinstance(column, Text) and not column.size, wording.WORDLESS.format(name))
            refuse(table.shape != (column.size, found.classes), wording.WEIGHT_TABLE.format(name))
        return found


def own_score(score: Any, schema: Schema, kinds: tuple[type, ...]) -> Any:
    """A copy of the score, with a range of its own; refuses one not on the closed list, or with other weights."""
    refuse(type(score) not in kinds, f"a score must be one of {', '.join(kind.__name__ for kind in kinds)}")
    refuse(len(getattr(score, "weights", ())) not in (0, len(schema.classes)), wording.WEIGHTS)
    given = {name: getattr(score, name, None) for name in ("cell", "label", "most")}
    return replace(score, **{name: int(value) for name, value in given.items() if isinstance(value, int)})
