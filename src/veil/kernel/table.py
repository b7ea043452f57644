"""Table: encoded rows, and exact counts of them. It never leaves the kernel."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..questions import Axis, Grid, Partition
from ..questions.grids import join
from ..schema.refusing import Sealed
from .noise import Integers
from .recoding import Recoded

WORD_ROWS = 1 << 11  # rows at a time where words are counted
LABEL = ""  # the class among the columns; no declared column has this name
BLOCK = 1 << 18  # rows at a time: temporaries stay near the cache, and memory near that of the codes


class Table(Sealed):
    """Encoded rows: codes by column, the class of each row, and the indices of the rows that belong (None: all)."""

    def __init__(self, columns: Recoded, labels: npt.NDArray[Any], classes: int, rows: Any = None) -> None:
        self.columns, self.classes, self._labels, self._rows = columns, classes, labels, rows

    def __len__(self) -> int:
        return len(self._labels if self._rows is None else self._rows)

    def column(self, name: str, part: slice = slice(None), *, finest: bool = False) -> Any:
        """The codes of a column (`LABEL`: the classes) for the rows of this table, or for a slice of them; those of the
        bins or pools that it has, or the `finest`."""
        codes = self._labels if name == LABEL else self.columns.finest[name] if finest else self.columns[name]
        return codes[part] if self._rows is None else codes[self._rows[part]]

    def recoded(self, columns: Sequence[Any]) -> "Table":
        """A table of the same rows in which the given columns have new bins or pools; the others keep their codes."""
        return Table(self.columns.again(columns), self._labels, self.classes, self._rows)

    def cells(self, partition: Partition, block: int = BLOCK) -> Iterator[tuple[Any, Any]]:
        """The cells and classes of the rows, block by block; one empty block if there are no rows. So a question is
        evaluated even then, and neither an error nor a filled cache tells whether there were rows."""
        for start in range(0, max(len(self), 1), block):
            part = slice(start, start + block)
            codes = {name: self.column(name, part) for name in (LABEL, *partition.columns)}
            yield partition.cells(codes), codes[LABEL]

    def cell_of_each(self, partition: Partition) -> Integers:
        """The cell of each row."""
        return np.concatenate([cells.astype(np.int64) for cells, _ in self.cells(partition)])

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
        cells = cells.astype(np.min_scalar_type(size - 1))  # which are sorted faster
        order = np.argsort(cells, kind="stable")
        ends = np.searchsorted(cells[order], np.arange(size), side="right")
        rows = order if self._rows is None else self._rows[order]
        return [Table(self.columns, self._labels, self.classes, part) for part in np.split(rows, ends[:-1])]
