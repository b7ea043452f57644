"""Shelf: codes of rows that come in batches; those of many rows in files, and used as if they were in memory.

Codes are as private as rows. The files have no name, so nobody else can open them, and they are gone with the process,
however that ends. They are written once, before anything is asked: all answers are about the same rows.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import wording
from ..errors import BadInput
from ..schema.bags import Bags, joined_bags

BLOCK = 1 << 18  # codes at a time
MOST = 1 << 24  # bytes of codes in memory: more are put into files


class Shelf:
    """Codes by column, batch after batch; all batches have the same columns and types."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._held, self._files = most, dict[Any, list[Any]](), dict[Any, Any]()

    def add(self, batch: Mapping[Any, Any]) -> None:
        """Append the codes of a batch."""
        for name, codes in batch.items():
            self._held.setdefault(name, []).append(codes)
        if sum(codes.nbytes for _, parts in self._in_arrays() for codes in parts) > self._most:
            self._put_down()

    def columns(self) -> dict[Any, Any]:
        """The codes of all batches: in memory, or as arrays that only point into files. Words stay in memory."""
        if self._files:
            self._put_down()
        dtypes = {name: parts[0].dtype for name, parts in self._in_arrays()}
        return {name: _mapped(self._files[name], dtypes[name]) if name in self._files else _joined(parts)
                for name, parts in self._held.items()}  # fmt: skip

    def _put_down(self) -> None:
        """Move what is held in arrays to the ends of files, but for an empty array, which tells the type."""
        for name, parts in self._in_arrays():
            with _room():
                file = self._files[name] if name in self._files else self._files.setdefault(name, TemporaryFile())
                for codes in parts:
                    file.write(np.ascontiguousarray(codes).data)
            parts[:] = [parts[0][:0].copy()]

    def _in_arrays(self) -> list[tuple[Any, list[Any]]]:
        return [(name, parts) for name, parts in self._held.items() if not isinstance(parts[0], Bags)]


def taken(codes: npt.NDArray[Any], places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """codes[places]: in memory, or in a file if the places are in one."""
    if not isinstance(places, np.memmap):
        return np.take(codes, places)
    shelf = Shelf(most=0)
    for start in range(0, len(places), BLOCK):
        shelf.add({"": np.take(codes, places[start : start + BLOCK])})
    return np.asanyarray(shelf.columns()[""])


def _joined(parts: list[Any]) -> Any:
    return joined_bags(parts) if isinstance(parts[0], Bags) else np.concatenate(parts)


def _mapped(file: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    with _room(), file:
        file.flush()
        return np.memmap(file, dtype, "r") if file.tell() else np.zeros(0, dtype)


@contextmanager
def _room() -> Iterator[None]:
    """Say that the disk is full, and nothing about what did not fit."""
    try:
        yield
    except OSError:
        raise BadInput(wording.STREAM_DISK) from None
