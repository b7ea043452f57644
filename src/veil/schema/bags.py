"""Bags of words: the declared words that each row has, from texts or from a matrix; total, and row by row.

A word of a text is a run of two or more letters, digits or underscores, in lower case. An entry of a matrix says that
the row has the word if it is above zero, several entries of one place being added up: negative numbers and what is not
a number are no words, fractions are.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from .. import wording
from ..errors import BadInput
from .encoding import BLOCK, is_sparse, numbers, quiet, texts
from .refusing import refuse

WORD = re.compile(r"\w\w+")
ENTRIES = 1 << 18  # of a matrix read at a time, to bound the memory beside the result
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bags:
    """The words of all rows in one array: those of row i are `words[starts[i]:starts[i + 1]]`, as in a CSR matrix."""

    starts: Integers
    words: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: Any) -> "Bags":
        """The bags of a slice of rows, or of the rows with these indices, in this order."""
        if isinstance(rows, slice):
            first, end, _ = rows.indices(len(self))
            starts = self.starts[first : max(end, first) + 1]
            return Bags(starts - starts[0], self.words[starts[0] : starts[-1]])
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[:-1][rows] - starts[:-1], lengths)
        return Bags(starts, self.words[places])

    @property
    def rows(self) -> Integers:
        """The row index of every entry of `words`."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def sums(self, table: Integers) -> Integers:
        """For every row, the sum of table[word] over its words; `table` holds integers."""
        running = np.zeros((len(self.words) + 1, table.shape[1]), np.int64)
        np.cumsum(table[self.words], axis=0, out=running[1:])
        return np.asarray(running[self.starts[1:]] - running[self.starts[:-1]])


def joined_bags(parts: Sequence[Bags]) -> Bags:
    """The bags of all rows of these parts, one part after the other."""
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    return Bags(np.append(0, np.cumsum(lengths)), np.concatenate([part.words for part in parts]))


def text_bags(column: Any, code: Callable[[str], int | None], dtype: npt.DTypeLike) -> Bags:
    """The distinct declared words of every text; a value that has no text has no words."""
    starts, words = array("q", [0]), array("I")
    with quiet():
        for start in range(0, len(column), BLOCK):
            for text in texts(column[start : start + BLOCK]):
                words.extend(sorted(_codes(text, code)))
                starts.append(len(words))
    return Bags(np.array(starts, np.int64), np.array(words, dtype))


def _codes(text: str | None, code: Callable[[str], int | None]) -> Iterable[int]:
    found = {code(word) for word in WORD.findall(text.lower())} if text else set()
    return found - {None}  # type: ignore[return-value]


def bucket(word: str, buckets: int) -> int:
    """The hash bucket of a word, the same on every machine."""
    return crc32(word.encode("utf-8", "surrogatepass")) % buckets


def matrix_bags(matrix: Any, size: int, name: str, dtype: npt.DTypeLike) -> Bags:
    """The words of every row of a matrix, sparse or dense, with a column for each word."""
    refuse(matrix.ndim != 2 or matrix.shape[1] != size, wording.MATRIX_SIZE.format(name, size))
    odd = matrix.dtype.kind not in "biuf" and (is_sparse(matrix) or matrix.dtype.kind == "c")
    refuse(odd, f"column {name!r} must be a matrix of real numbers")
    rows = matrix if isinstance(matrix, np.ndarray) else _by_rows(matrix, name)
    entries = int(rows.size if isinstance(rows, np.ndarray) else rows.nnz)
    step = max(ENTRIES * max(rows.shape[0], 1) // max(entries, 1), 1)
    starts, words = [np.zeros(1, np.int64)], [np.zeros(0, dtype)]
    with quiet():
        for first in range(0, rows.shape[0], step):
            lengths, found = _block(rows[first : first + step], size)
            starts.append(starts[-1][-1] + np.cumsum(lengths))
            words.append(found.astype(dtype))
    return Bags(np.concatenate(starts), np.concatenate(words))


def _by_rows(matrix: Any, name: str) -> Any:
    """A sparse matrix in CSR form, checked: an index beyond its ends would read other memory. In a matrix that is CSR
    already, column indices that are no words do no harm, and are left out row by row."""
    try:
        starts = matrix.indptr if matrix.format in ("csr", "csc", "bsr") else np.zeros(1)
        if hasattr(matrix, "indptr"):  # SciPy's check stops if the last start is not positive
            matrix.check_format(full_check=matrix.format != "csr")
        places = matrix.coords[0] if matrix.format == "coo" else np.zeros(0)
        if np.all(np.diff(starts) >= 0) and np.all((places >= 0) & (places < matrix.shape[0])):
            return matrix.tocsr()
    except (ValueError, TypeError, IndexError):
        pass
    raise BadInput(f"column {name!r} is no sound sparse matrix: make it anew")


def _block(part: Any, size: int) -> tuple[Any, Any]:
    """The number of words in each row of a block, and the words themselves."""
    if isinstance(part, np.ndarray):
        known = part if part.dtype.kind in "biuf" else np.column_stack([numbers(column) for column in part.T])
        found, words = np.nonzero(known > 0)
        return np.bincount(found, minlength=len(part)), words
    part = part.copy()
    part.sum_duplicates()
    kept = (part.data > 0) & (part.indices >= 0) & (part.indices < size)
    rows = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))[kept]
    return np.bincount(rows, minlength=part.shape[0]), part.indices[kept]
