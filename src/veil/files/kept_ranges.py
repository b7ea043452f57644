"""Kept results about ranges: exact counts of PUBLIC rows, one noisy draw of every method, and its errors by width.

A zip of JSON and of the bytes of all counts, plane by plane. What a stranger may have written is checked here.
"""

import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from math import floor, log10, prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..kernel import VERSION
from .parts import insist, open_parts, read_array, read_json

Numbers = npt.NDArray[np.float64]
FORMAT = 1
NAME, COUNTS = "ranges.json", "counts.npy"
STAMP = (1980, 1, 1, 0, 0, 0)  # the same content is the same bytes
MOST_BYTES = 1 << 24
MOST = 1e15  # of any number
SIDES = {1: (1024,), 2: (64, 64)}  # cells that are kept, at most; of more columns none are
MOST_CELLS = 1 << 15  # of one column
MOST_AXES, MOST_TABLES, MOST_DRAWS, MOST_WIDTHS = 6, 100, 1000, 32
MOST_LETTERS = 200  # of a name
BITS = 8  # of a noisy count that are kept, or more: what is left out is less than a sixth of its error


@dataclass(frozen=True)
class Axis:
    """A column in public cells: the ends of all cells if it holds numbers, else what each is called."""

    name: str
    size: int
    edges: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    integer: bool = False

    def span(self, first: int, last: int) -> str:
        """What the cells from one to another cover, the last one included."""
        if self.names:
            ends = dict.fromkeys((self.names[first], self.names[last]))
        else:
            high = self.edges[last + 1] - self.integer
            ends = dict.fromkeys(f"{value:,.{self._digits}f}" for value in (self.edges[first], high))
        return " to ".join(ends)

    @cached_property
    def _digits(self) -> int:
        """Digits after the point that tell neighbouring cells apart."""
        narrow = min(abs(high - low) for low, high in pairwise(self.edges))
        return 0 if self.integer or narrow >= 10 else min(1 - floor(log10(max(narrow, 1e-9))), 10)


@dataclass(frozen=True)
class Draw:
    """What one method came to for one epsilon: noisy counts of one draw, and over several how far ranges were off on
    average, in rows, with the margin of the 95 % interval, for each width."""

    method: str
    epsilon: float
    cells: Numbers | None
    errors: tuple[tuple[float, float | None], ...]
    trials: int
    seconds: float


@dataclass(frozen=True)
class Ranged:
    """Public rows in the cells of one or more columns, and all draws over them.

    `widths` are the most cells that a range of each width has; `source` says who made the rows."""

    data: str
    source: str
    axes: tuple[Axis, ...]
    rows: int
    truth: Numbers | None
    widths: tuple[int, ...]
    draws: tuple[Draw, ...]
    date: str = ""
    version: str = ""

    @property
    def title(self) -> str:
        """Its name and its columns."""
        return f"{self.data} by {' and '.join(axis.name for axis in self.axes)}"

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(draw.method for draw in self.draws))

    @property
    def epsilons(self) -> tuple[float, ...]:
        return tuple(sorted({draw.epsilon for draw in self.draws}))

    def draw(self, method: str, epsilon: float) -> Draw | None:
        """What a method came to for an epsilon; None if it was not measured."""
        return next((draw for draw in self.draws if (draw.method, draw.epsilon) == (method, epsilon)), None)


def width_words(widths: Sequence[int]) -> list[str]:
    """Every width as it is written.

    >>> width_words([4, 16, 20])
    ['1-4', '5-16', '17-20']
    """
    return [f"{low:,}-{high:,}" for low, high in zip([1, *(end + 1 for end in widths)], widths, strict=False)]


def write_ranges(path: str | os.PathLike[str], tables: Sequence[Ranged]) -> None:
    """Write these to a file. True counts stay as they are, noisy ones lose digits that are far below their error."""
    arrays = [np.zeros(0)]

    def kept(cells: Numbers | None) -> bool:
        arrays.extend([] if cells is None else [cells.ravel()])
        return cells is not None

    body = {"format": FORMAT, "version": VERSION, "tables": [_to_json(table, kept) for table in tables]}
    planes = np.ascontiguousarray(np.concatenate(arrays).astype("<f4").view(np.uint8).reshape(-1, 4).T)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in ((NAME, json.dumps(body, separators=(",", ":")).encode()), (COUNTS, _npy(planes))):
            file.writestr(zipfile.ZipInfo(name, STAMP), content, zipfile.ZIP_DEFLATED, 9)


def shortened(cells: Numbers | None, truth: Numbers | None) -> Numbers | None:
    """Noisy counts in steps of a sixth of their mean error or, where they are small, of 2^-BITS of themselves: so that
    neither what is added up over many small cells nor a single large one is moved."""
    if cells is None or truth is None:
        return None
    error = max(float(np.abs(cells - truth).mean()), 1e-6)
    steps = np.exp2(np.floor(np.log2(np.maximum(np.abs(cells), 1e-9)))) / 2**BITS
    steps = np.minimum(steps, 2.0 ** np.floor(np.log2(error / 6)))
    return np.asarray(np.round(cells / steps) * steps, np.float64)


def _npy(array: npt.NDArray[Any]) -> bytes:
    from io import BytesIO

    stream = BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _to_json(table: Ranged, kept: Any) -> dict[str, Any]:
    """All of a table but its counts, which `kept` takes in this order."""
    about = {name: getattr(table, name) for name in ("data", "source", "rows", "widths", "date", "version")}
    return {
        **about,
        "axes": [{**asdict(axis), "edges": _ends(axis.edges)} for axis in table.axes],
        "cells": kept(table.truth),
        "draws": [
            {**vars(draw), "errors": _rounded(draw.errors), "cells": kept(shortened(draw.cells, table.truth))}
            for draw in table.draws
        ],
    }


def _ends(edges: tuple[float, ...]) -> list[float]:
    """Edges as they are written: the first and the last alone if all cells are equally wide."""
    even = len(edges) > 2 and np.allclose(edges, np.linspace(edges[0], edges[-1], len(edges)), rtol=0, atol=1e-9)
    return [edges[0], edges[-1]] if even else list(edges)


def _rounded(errors: Sequence[tuple[float, float | None]]) -> list[list[float | None]]:
    return [[None if value is None else float(f"{value:.4g}") for value in pair] for pair in errors]


def holds_ranges(path: Path) -> bool:
    """Whether a file is one of these, by its parts."""
    try:
        with zipfile.ZipFile(path) as file:
            return NAME in file.NameToInfo
    except Exception:  # a zip can be broken in many ways
        return False


def read_ranges(path: str | os.PathLike[str]) -> tuple[Ranged, ...]:
    """What such a file holds. Raises BadInput for any other file."""
    try:
        insist(os.path.getsize(path) <= MOST_BYTES)
        with open_parts(path) as file:
            insist(sum(part.file_size for part in file.infolist()) <= MOST_BYTES)
            body, planes = read_json(file.read(NAME)), read_array(file.read(COUNTS))
        newer = type(body["format"]) is int and body["format"] > FORMAT
        tables = () if newer else _tables(body, planes)
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}: check the path") from None
    except Exception:  # a file from a stranger can be wrong in any way
        raise BadInput(f"{path} holds no results about ranges, or was damaged: choose another file") from None
    if newer:
        raise BadInput(f"{path} holds results of a newer version of Veil: upgrade")
    return tables


def _tables(body: Any, planes: npt.NDArray[Any]) -> tuple[Ranged, ...]:
    insist(planes.dtype == np.uint8 and planes.ndim == 2 and len(planes) == 4 and body["format"] == FORMAT)
    small = np.ascontiguousarray(planes.T).view("<f4").ravel()
    insist(len(body["tables"]) <= MOST_TABLES and bool((np.abs(small) < MOST).all()))  # no NaN either
    counts = small.astype(np.float64)
    insist(sum(len(table["draws"]) for table in body["tables"]) <= MOST_DRAWS)
    left = iter(counts)
    found = tuple(_table(table, left) for table in body["tables"])
    titles = {table.title for table in found}
    insist(next(left, None) is None and len(titles) == len(found))
    return found


def _table(table: Any, left: Any) -> Ranged:
    axes = tuple(map(_axis, table["axes"]))
    shape = tuple(axis.size for axis in axes)
    insist(1 <= len(axes) <= MOST_AXES)

    def cells(there: Any) -> Numbers | None:
        if there is not True:
            return None
        insist(len(shape) in SIDES and all(size <= most for size, most in zip(shape, SIDES[len(shape)], strict=True)))
        return np.fromiter(left, np.float64, prod(shape)).reshape(shape)

    truth = cells(table["cells"])
    widths = tuple(map(_whole, table["widths"]))
    insist(1 <= len(widths) <= MOST_WIDTHS and list(widths) == sorted({*widths}))
    draws = tuple(_draw(draw, cells(draw["cells"] and truth is not None), len(widths)) for draw in table["draws"])
    insist(len({(draw.method, draw.epsilon) for draw in draws}) == len(draws) > 0)
    texts = [_text(table[name]) for name in ("data", "source", "date", "version")]
    return Ranged(texts[0], texts[1], axes, _whole(table["rows"]), truth, widths, draws, *texts[2:])


def _draw(draw: Any, cells: Numbers | None, widths: int) -> Draw:
    errors = tuple((_number(mean), None if margin is None else _number(margin)) for mean, margin in draw["errors"])
    insist(len(errors) == widths and _number(draw["epsilon"]) > 0)
    return Draw(
        *(_text(draw["method"]), _number(draw["epsilon"]), cells, errors),
        *(_whole(draw["trials"]), _number(draw["seconds"])),
    )


def _axis(axis: Any) -> Axis:
    edges, names = tuple(map(_number, axis["edges"])), tuple(map(_text, axis["names"]))
    size = _whole(axis["size"])
    insist(0 < size <= MOST_CELLS)
    edges = tuple(np.linspace(*edges, size + 1).tolist()) if len(edges) == 2 else edges
    insist(len(edges) == size + 1 and not names or len(names) == size and not edges)
    insist(list(edges) == sorted(edges))
    return Axis(_text(axis["name"]), size, edges, names, axis["integer"] is True)


def _text(value: Any) -> str:
    insist(isinstance(value, str) and len(value) <= MOST_LETTERS)
    return str(value)


def _whole(value: Any) -> int:
    insist(type(value) is int and 0 <= value < MOST)
    return int(value)


def _number(value: Any) -> float:
    insist(type(value) in (int, float) and abs(value) < MOST)  # no NaN either
    return float(value)
