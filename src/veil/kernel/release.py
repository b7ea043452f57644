"""Release: the only thing that leaves the kernel."""

from dataclasses import dataclass
from math import ceil, exp, log
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ..display import release_html, release_text
from ..questions import Grid
from .ledger import Receipt
from .noise import Integers

COUNTS = ("count", "count_sparse", "count_words", "count_words_sparse")
Value = TypeVar("Value", covariant=True)


@dataclass(frozen=True, repr=False)
class Release(Generic[Value]):
    """A noisy value, the scale of its noise (None where the scale is not public), and the receipt of what it cost."""

    value: Value
    scale: float | None
    receipt: Receipt
    question: Any = None
    classes: tuple[str, ...] = ()

    def error(self, confidence: float = 0.95) -> int:
        """How far a count lies from the truth, at most, with this confidence; from the scale alone."""
        if self.scale is None or self.receipt.verb not in COUNTS:
            raise TypeError("only counts have an error in rows")
        a = exp(-1 / self.scale) if self.scale else 0.0
        return max(ceil(-log((1 - confidence) * (1 + a) / 2) * self.scale) - 1, 0)

    def columns(self) -> dict[str, list[Any]]:
        """A count as named columns, one row a cell and class: `pandas.DataFrame(release.columns())`."""
        if not isinstance(self.question, Grid):
            raise TypeError("only counts over a grid have named cells")
        if isinstance(self.value, SparseCounts):
            cells, labels, counts = *self.value.cells(), self.value.counts
        else:
            table = np.asarray(self.value)
            cells, labels, counts = *map(np.ravel, np.indices(table.shape)), table.ravel()
        names = [self.question.names(cell) for cell in cells]
        columns: dict[str, list[Any]] = {
            axis: [name[i] for name in names] for i, axis in enumerate(self.question.columns)
        }
        if len(self.classes) > 1:
            columns["class"] = [self.classes[label] for label in labels]
        return {**columns, "count": [int(count) for count in counts]}

    def __repr__(self) -> str:
        return release_text(self)

    def _repr_html_(self) -> str:
        return release_html(self)


@dataclass(frozen=True)
class SparseCounts:
    """The cells of a grid whose noisy count passed the threshold: codes (cell * classes + class), sorted, and counts.

    The arrays have one canonical form, so the same release is the same bytes whichever table it came from. All other
    cells read 0.
    """

    codes: npt.NDArray[Any]
    counts: Integers
    classes: int
    threshold: int

    def cells(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The cell and the class of each entry."""
        return self.codes // self.classes, self.codes % self.classes


def frozen(array: npt.NDArray[Any], dtype: Any = np.int64) -> npt.NDArray[Any]:
    """A contiguous, read-only copy of fixed type: nothing about how it was made stays in it."""
    copy = np.array(array, dtype=dtype, order="C", copy=True)
    copy.flags.writeable = False
    return copy
