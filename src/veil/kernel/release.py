"""Release: the only thing that leaves the kernel."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ..views import Receipt, ShownRelease, ShownSparse
from .noise import Integers

Value = TypeVar("Value", covariant=True)


@dataclass(frozen=True, repr=False)
class Release(ShownRelease, Generic[Value]):
    """A noisy value, the scale of its noise (None where the scale is not public), and the receipt of what it cost."""

    value: Value
    scale: float | None
    receipt: Receipt
    question: Any = None
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SparseCounts(ShownSparse):
    """The cells of a grid whose noisy count passed the threshold: codes (cell * classes + class), sorted, and counts.

    The arrays have one canonical form, so the same release is the same bytes whichever table it came from. All other
    cells read 0.
    """

    codes: npt.NDArray[Any]
    counts: Integers
    classes: int
    threshold: int


def frozen(array: npt.NDArray[Any], dtype: Any = np.int64) -> npt.NDArray[Any]:
    """A contiguous, read-only copy of fixed type: nothing about how it was made stays in it."""
    copy = np.array(array, dtype=dtype, order="C", copy=True)
    copy.flags.writeable = False
    return copy
