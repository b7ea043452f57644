"""Table: encoded rows, and exact counts of them. It never leaves the kernel."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..progress import advance
from ..questions import Axis, Bag, Drawn, Grid, Partition
from ..questions.grids import join
from .bag_minimise import WordRows
from .minimise import Blocks
from .noise import Integers, Noise
from .tally import Tally, added_up, as_one, bundles

LABEL = ""  # the class among the columns; no declared column has this name
BLOCK = 1 << 18  # rows at a time: temporaries stay near the cache, and memory near that of the codes
WORD_ROWS = 1 << 11  # rows at a time where words are counted
TOGETHER = 1 << 11  # cells of grids that are counted as one: their counters stay in the fastest cache


class Table:
    """Codes by column, the class of each row, and which rows belong (None: all of them)."""

    def __init__(
        self, columns: Mapping[str, npt.NDArray[Any]], labels: npt.NDArray[Any], classes: int, rows: Any = None
    ) -> None:
        self._columns, self._labels, self._rows = columns, labels, rows
        self.classes = classes

    def __len__(self) -> int:
        return len(self._labels if self._rows is None else self._rows)

    def _blocks(self, partition: Partition, block: int = BLOCK) -> Iterator[tuple[Any, Any]]:
        """The cells and labels of the rows, a block at a time; one empty block if there are none.

        So a question is evaluated even then, and neither an error nor a filled cache tells whether there were rows.
        """
        for start in range(0, max(len(self), 1), block):
            rows: Any = slice(start, start + block)
            rows = rows if self._rows is None else self._rows[rows]
            labels = self._labels[rows]
            yield (
                partition.cells({LABEL: labels, **{n: self._columns[n][rows] for n in partition.columns if n}}),
                labels,
            )

    def tabulate(self, partition: Partition, by_class: bool = True) -> Integers:
        """Exact counts, cells x classes (x 1 without classes)."""
        classes = self.classes if by_class else 1
        size = partition.size * classes
        if type(partition) is Grid and classes > 1:  # the class as one more axis is the fastest way to join it
            partition, classes = self._with_class(partition), 1
        counts = np.zeros(size, np.int64)
        for cells, labels in self._blocks(partition, max(BLOCK, size)):
            joined = cells if classes == 1 else join([(cells, partition.size), (labels, classes)])
            counts += np.bincount(joined.astype(np.intp, copy=False), minlength=size)
        return counts.reshape(-1, self.classes if by_class else 1)

    def tabulate_all(self, partitions: Sequence[Partition], by_class: bool = True) -> list[Integers]:
        """Exact counts of each. Small grids of different columns are counted as one grid, and added up apart."""
        counts, most = list[Integers](), TOGETHER // (self.classes if by_class else 1)
        for places in bundles(partitions, range(len(partitions)), most):
            some = [partitions[place] for place in places]
            counts += added_up(self.tabulate(as_one(some), by_class), some)
            advance("counting tables", len(counts), len(partitions))
        return counts

    def tabulate_each(self, grids: Sequence[Grid]) -> Iterator[tuple[int, Integers]]:
        """The place of every grid and its exact counts, in an order of their own; of a huge one, of occupied cells."""
        return self._tally().each(grids)

    def tabulate_within(
        self, partition: Partition, axes: Sequence[Axis]
    ) -> Iterator[tuple[list[int], list[int], Integers]]:
        """The places of some axes, where the groups of each start, and exact counts of these in each cell of the
        partition: groups x cells x classes."""
        return self._tally().within(self._cells(partition), partition.size, axes)

    def _tally(self) -> Tally:
        rows: Any = slice(None) if self._rows is None else self._rows
        return Tally(lambda name: self._columns[name][rows], self._labels[rows], self.classes)

    def _cells(self, partition: Partition) -> npt.NDArray[np.int64]:
        """The cell of each row."""
        return np.concatenate([cells.astype(np.int64) for cells, _ in self._blocks(partition)])

    def blocks(self, grids: Sequence[Grid], label: int | None) -> Blocks:
        """The group of every row on each grid of one axis, and whether it is of this class, or of which one."""
        rows: Any = slice(None) if self._rows is None else self._rows
        codes = [grid.axes[0].pick(self._columns[grid.columns[0]][rows]) for grid in grids]
        labels, numbers = self._labels[rows], np.arange(self.classes)[:, None]
        truth = labels == numbers if label is None else np.where(labels == label, 1, -1)[None]
        return Blocks(codes, [grid.size for grid in grids], truth.astype(np.float64))

    def occupied(self, grid: Grid | Drawn) -> tuple[npt.NDArray[Any], Integers]:
        """The cells that hold rows, once each, sorted (cell * classes + class), and their counts; of any grid."""
        if isinstance(grid, Drawn):
            leaves = [cells * self.classes + labels for cells, labels in self._blocks(grid)]
            return np.unique(np.concatenate(leaves), return_counts=True)
        numbers: npt.NDArray[Any] = np.zeros(len(self), np.int64)
        codes = np.zeros(1, object if grid.size * self.classes >= 2**62 else np.int64)
        for piece in _pieces(self._with_class(grid)):
            cells = np.concatenate([cells for cells, _ in self._blocks(piece)])
            digits, inside = np.unique(cells, return_inverse=True)
            pairs, numbers = np.unique(numbers * len(digits) + inside, return_inverse=True)
            before, after = np.divmod(pairs, max(len(digits), 1))
            codes = codes[before] * piece.size + digits[after].astype(codes.dtype)
        return codes, np.bincount(numbers, minlength=len(codes)).astype(np.int64)

    def word_counts(self, bag: Bag, by_class: bool = True) -> Integers:
        """Exact counts, words x classes (x 1 without classes), every row for as many words as the bag allows."""
        return self._word_counts(bag, bag.most, self.classes if by_class else 1)

    def word_tables(self, bag: Bag) -> Integers:
        """Exact counts of the rows with a word and of those without it: words x 2 x classes. All words count."""
        having = self._word_counts(bag, None, self.classes)
        labels = self._labels if self._rows is None else self._labels[self._rows]
        totals = np.bincount(labels.astype(np.intp, copy=False), minlength=self.classes)[: self.classes]
        return np.stack([having, totals - having], axis=1)

    def word_rows(self, bag: Bag, label: int) -> WordRows:
        """The words of every row, as many as the bag allows, and whether it is of this class."""
        rows: Any = slice(None) if self._rows is None else self._rows
        part: Any = self._columns[bag.column]
        part = part if self._rows is None else part[rows]
        places, holders = _first(_places(bag, part.words), part.rows, bag.most)
        truth = np.where(self._labels[rows] == label, 1.0, -1.0)
        return WordRows(places, holders, truth, bag.size, bag.reach)

    def _word_counts(self, bag: Bag, most: int | None, classes: int) -> Integers:
        bags: Any = self._columns[bag.column]
        counts = np.zeros(bag.size * classes, np.int64)
        for start in range(0, len(self), WORD_ROWS):
            rows: Any = slice(start, start + WORD_ROWS) if self._rows is None else self._rows[start : start + WORD_ROWS]
            part = bags[rows]
            places, holders = _first(_places(bag, part.words), part.rows, most)
            labels = self._labels[rows][holders].astype(np.intp) if classes > 1 else 0
            counts += np.bincount(places * np.intp(classes) + labels, minlength=len(counts))
        return counts.reshape(-1, classes)

    def _with_class(self, grid: Grid) -> Grid:
        """The class as one more axis, the fastest."""
        return Grid((*grid.axes, Axis(LABEL, tuple(range(self.classes)), ("",) * self.classes)))

    def split(self, partition: Partition) -> "list[Table]":
        """One table for every cell, occupied or not."""
        return self._parts(self._cells(partition), partition.size)

    def split_at_random(self, weights: list[int], noise: Noise) -> "list[Table]":
        """One table for each weight; every row is drawn by itself, once."""
        drawn = noise.below(sum(weights), len(self))
        return self._parts(np.searchsorted(np.cumsum(weights), drawn, side="right"), len(weights))

    def _parts(self, cells: npt.NDArray[Any], size: int) -> "list[Table]":
        order = np.argsort(cells, kind="stable")
        ends = np.searchsorted(cells[order], np.arange(size), side="right")
        rows = order if self._rows is None else self._rows[order]
        return [Table(self._columns, self._labels, self.classes, part) for part in np.split(rows, ends[:-1])]

    def __reduce__(self) -> NoReturn:
        raise TypeError("private rows cannot be copied or pickled")

    def __repr__(self) -> str:
        return "<private rows>"


def _places(bag: Bag, words: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The place of each word among those of the bag, -1 if it has none."""
    place = np.full(int(bag.codes[-1]) + 2, -1, np.int32)  # the last stands for all words beyond
    place[bag.codes] = np.arange(bag.size)
    return np.asarray(place.take(words, mode="clip"))  # in words' own type the last place may not exist


def _first(places: npt.NDArray[Any], rows: Integers, most: int | None) -> tuple[npt.NDArray[Any], Integers]:
    """The places of words that are asked about, not -1, and their rows; of every row the first `most`."""
    asked = np.flatnonzero(places >= 0)
    places, rows = places[asked], rows[asked]
    if most is None:
        return places, rows
    kept = np.arange(len(rows)) - np.searchsorted(rows, rows) < most
    return places[kept], rows[kept]


def _pieces(grid: Grid) -> list[Grid]:
    """The grid as a product of grids of fewer than 2^62 cells each."""
    pieces = [Grid()]
    for axis in grid.axes:
        one = Grid((axis,))
        if pieces[-1].size * one.size < 2**62:
            pieces[-1] &= one
        else:
            pieces.append(one)
    return pieces
