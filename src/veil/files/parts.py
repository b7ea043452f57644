"""Reading the parts of a file from a stranger within bounds: sizes that it states are checked before they are used.

The memory needed follows from the unpacked size of a file: JSON at most `MOST_JSON` bytes, about twenty times as much
in memory, since it may have no more lists and maps than its length allows; arrays at most `MOST` bytes, each once.
"""

import json
import os
import struct
import zipfile
from io import BytesIO
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

MOST = 1 << 30  # bytes of all parts, unpacked
MOST_JSON = 1 << 27  # bytes of a part that is no array
MOST_NAMES = 1 << 22  # bytes of the directory of parts
LETTERS = 12  # bytes of JSON for each list or map in it, at least
FEW = 1000  # lists and maps that may be shorter
END = struct.Struct("<4s4H2LH")  # of a zip: a mark, four numbers, size and place of the list, comment
TYPES = ("int64", "uint8", "float64", "bool", "int8", "int16", "int32", "uint16", "uint32", "uint64", "float32")
MOST_NAMED = 1 << 25  # codes of all grids that are named again, as long as they would be written out
MOST_EMPTY = 1 << 16  # rows or columns of an array without numbers


def insist(right: bool) -> None:
    """Raise unless the condition holds, as for a file that does not make sense."""
    if not right:
        raise ValueError


def open_parts(path: str | os.PathLike[str]) -> zipfile.ZipFile:
    """An open zip file, once its directory was checked: it is short, no part is there twice, and all of them fit.

    A part cannot be larger than the directory says: reading stops there.
    """
    with open(path, "rb") as stream:
        stream.seek(0, os.SEEK_END)
        insist(END.size <= stream.tell())
        stream.seek(-min(stream.tell(), END.size + 20), os.SEEK_END)
        last = stream.read()
    mark, *_, size, _, comment = END.unpack(last[-END.size :])
    insist(mark == b"PK\5\6" and not comment and size <= MOST_NAMES and not last.startswith(b"PK\6\7"))
    file = zipfile.ZipFile(path)
    names, sizes = file.namelist(), [part.file_size for part in file.infolist()]
    insist(len(set(names)) == len(names) and sum(sizes) <= MOST)
    insist({part.compress_type for part in file.infolist()} <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
    insist(all(size <= MOST_JSON for name, size in zip(names, sizes, strict=True) if not name.endswith(".npy")))
    return file


def read_json(text: bytes) -> Any:
    """The parsed JSON; refused if it has more lists and maps than its length allows, which would take much memory."""
    insist(len(text) <= MOST_JSON)
    insist(text.count(b"[") + text.count(b"{") <= FEW + len(text) // LETTERS)
    return json.loads(text)


def read_array(text: bytes) -> npt.NDArray[Any]:
    """The array in a .npy file that is exactly as long as its header says; it shares the memory of the bytes."""
    stream = BytesIO(text)
    insist(np.lib.format.read_magic(stream) == (1, 0))
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    insist(dtype.name in TYPES and dtype.isnative and all(0 <= length for length in shape))
    numbers: int = prod(shape)
    insist(numbers * dtype.itemsize == len(text) - stream.tell() and (numbers > 0 or max(shape) <= MOST_EMPTY))
    return np.frombuffer(text, dtype, offset=stream.tell()).reshape(shape, order="F" if fortran else "C")


def codes_of(grid: Any) -> int:
    """The number of codes that a grid puts into groups, which is what it takes where it is used."""
    return sum(len(axis.groups) for axis in grid.axes)


class Arrays:
    """The arrays of a file, each of which can be taken once, so that naming one often takes no more memory; and the
    grids that were read so far, each of which can be named again."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts: dict[int, bytes] = dict(enumerate(parts))
        self.grids, self.named = list[Any](), 0

    def grid(self, place: Any) -> Any:
        """The grid with this index."""
        insist(type(place) is int and 0 <= place)
        self.named += codes_of(found := self.grids[place])
        insist(self.named <= MOST_NAMED)
        return found

    def take(self, place: Any) -> npt.NDArray[Any]:
        """The array with this index."""
        insist(type(place) is int)
        return read_array(self._parts.pop(place))

    def integers(self, place: Any) -> npt.NDArray[Any]:
        """Distinct integers too large for NumPy, from rows of bytes."""
        rows = self.take(place)
        insist(rows.dtype == np.uint8 and rows.ndim == 2 and len(rows) <= 256 ** min(rows.shape[1], 8))
        return np.fromiter((int.from_bytes(row.tobytes(), "big") for row in rows), object, len(rows))
