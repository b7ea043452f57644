"""Table: encoded rows, and exact counts of them. It never leaves the kernel."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..questions import Axis, Grid, Partition
from ..questions.grids import join
from ..schema.codes import LABEL
from ..schema.refusing import Sealed
from .noise import Integers
from .recoding import Recoded

WORD_ROWS = 1 << 11  # rows at a time where words are counted
FEW = 16  # parts that are told apart by a number for each row; of more, each has the indices of its rows
BLOCK = 1 << 18  # rows at a time: temporaries stay near the cache, and memory near that of the codes


class Share(NamedTuple):
    """The rows of one of a few parts: those of all rows for which `cells` has its `number`; a byte for each row."""

    cells: npt.NDArray[np.uint8]
    number: int

    def blocks(self, size: int) -> Iterator[Integers]:
        """The indices of the rows, for so many of all rows at a time."""
        for start in range(0, max(len(self.cells), 1), size):
            yield np.flatnonzero(self.cells[start : start + size] == self.number) + start


class Table(Sealed):
    """Encoded rows: codes by column, the class of each row, and which rows belong: all (None), a Share, or indices."""

    def __init__(self, columns: Recoded, labels: npt.NDArray[Any], classes: int, rows: Any = None) -> None:
        self.columns, self.classes, self._labels, self._rows = columns, classes, labels, rows

    def __len__(self) -> int:
        if isinstance(self._rows, Share):
            return sum(map(len, self._rows.blocks(BLOCK)))
        return len(self._labels if self._rows is None else self._rows)

    def blocks(self, size: int = BLOCK) -> Iterator[Any]:
        """The rows of this table block by block, each as what `column` takes; one empty block if there are none."""
        if isinstance(self._rows, Share):
            return self._rows.blocks(size)
        parts = (slice(start, start + size) for start in range(0, max(len(self), 1), size))
        return parts if self._rows is None else (self._rows[part] for part in parts)

    def column(self, name: str, block: Any = None, *, finest: bool = False) -> Any:
        """The codes of a column (`LABEL`: the classes) for the rows of this table, or of one of its blocks; those of
        the bins or pools that it has, or the `finest`."""
        codes = self._labels if name == LABEL else self.columns.finest[name] if finest else self.columns[name]
        block = self._own() if block is None else block
        return codes if block is None else codes[block]

    def _own(self) -> Any:
        """What picks the rows of this table among all: None, a mask, or indices."""
        return self._rows.cells == self._rows.number if isinstance(self._rows, Share) else self._rows

    def recoded(self, columns: Sequence[Any]) -> "Table":
        """A table of the same rows in which the given columns have new bins or pools; the others keep their codes."""
        return Table(self.columns.again(columns), self._labels, self.classes, self._rows)

    def cells(self, partition: Partition, block: int = BLOCK) -> Iterator[tuple[Any, Any]]:
        """The cells and classes of the rows, block by block; one empty block if there are no rows. So a question is
        evaluated even then, and neither an error nor a filled cache tells whether there were rows."""
        for part in self.blocks(block):
            codes = {name: self.column(name, part) for name in (LABEL, *partition.columns)}
            yield partition.cells(codes), codes[LABEL]

    def cell_of_each(self, partition: Partition) -> npt.NDArray[Any]:
        """The cell of each row."""
        kind = np.min_scalar_type(max(partition.size - 1, 0))
        return np.concatenate([cells.astype(kind) for cells, _ in self.cells(partition)])

    def tabulate(self, partition: Partition, by_class: bool = True) -> Integers:
        """Exact counts, cells x classes (x 1 without classes)."""
        classes = self.classes if by_class else 1
        size = partition.size * classes
        if type(partition) is Grid and classes > 1:  # the class as one more axis is the fastest way to join it
            partition, classes = self.with_class(partition), 1
        counts = np.zeros(size, np.int64)
        for cells, labels in self.cells(partition, max(BLOCK, size)):
            joined = cells if classes == 1 else join([(cells, partition.size), (labels, classes)])
            counts += np.bincount(joined.astype(np.intp, copy=False), minlength=size)
        return counts.reshape(-1, self.classes if by_class else 1)

    def with_class(self, grid: Grid) -> Grid:
        """The class as one more axis, the fastest."""
        return Grid((*grid.axes, Axis(LABEL, tuple(range(self.classes)), ("",) * self.classes)))

    def split(self, cells: npt.NDArray[Any], size: int) -> "list[Table]":
        """One table for each of `size` cells, occupied or not; `cells` has the cell of each row."""
        own = self._own()
        if size <= FEW:
            every = cells.astype(np.uint8, copy=False) if own is None else np.full(len(self._labels), size, np.uint8)
            every[slice(None) if own is None else own] = cells
            return [Table(self.columns, self._labels, self.classes, Share(every, number)) for number in range(size)]
        order = np.argsort(cells, kind="stable")
        ends = np.searchsorted(cells[order], np.arange(size), side="right")
        rows = order if own is None else np.arange(len(self._labels))[own][order]
        return [Table(self.columns, self._labels, self.classes, part) for part in np.split(rows, ends[:-1])]
