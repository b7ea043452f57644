"""Codes: the value of a row as a whole number below its column's declared size, or as those of the words that it has.

All that is asked of a declared column are plain numbers and texts, before any row is looked at: what is wrong with them
raises then, and no declared function is ever given a value. From there on no value raises or warns, a code follows from
its own row's value alone, and one beyond the declared size is brought below it. So whatever is declared, truly or not,
adding a row adds that row's codes and changes nothing else.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..progress import advance
from .bags import Bags, bucket, matrix_bags, text_bags
from .encoding import Codes, as_column, category_codes, columns_of, in_blocks, is_matrix, numbers
from .moments import reader

MANY = 1 << 14  # rows from which on columns are encoded at once
Coder = Callable[[Any], Codes | Bags]


def encode_rows(rows: Any, schema: Any, *, label: bool = True) -> dict[str, Codes | Bags]:
    """The codes of every column by name; without the label if it is not wanted."""
    coders = coders_of(schema, label)
    return encode_columns(columns_of(rows, [*coders], matrices_of(schema)), coders)


def encode_column(values: Any, column: Any) -> Any:
    """The codes of one column's values."""
    encode = coder(column)
    return encode(values if column.kind == "text" and is_matrix(values) else as_column(values, column.name))


def coders_of(schema: Any, label: bool = True) -> dict[str, Coder]:
    """What makes the codes of every column that has any, by name."""
    wanted = [column for column in schema.column if column.size and (label or column.name != schema.label)]
    coders = {column.name: coder(column) for column in wanted}
    if len(coders) < len(wanted):  # one would have the codes, another the size
        raise BadInput("two columns have the same name: rename one, or leave it out")
    return coders


def matrices_of(schema: Any) -> set[str]:
    """The names of the columns that may be matrices: those of words."""
    return {column.name for column in schema.column if column.kind == "text"}


def coder(column: Any) -> Coder:
    """What makes codes of a column's values, each below the size that it has now."""
    size, name, kind = max(int(column.size), 0), str(column.name), column.kind
    dtype = np.min_scalar_type(last := max(size - 1, 0))
    if kind == "text":
        code = _word_code(column, size)
        return lambda values: (
            matrix_bags(values, size, name, dtype) if is_matrix(values) else text_bags(values, code, dtype)
        )
    block_codes = {"categorical": _categories, "numeric": _bins, "date": _bins}[kind](column, last)
    return lambda values: in_blocks(values, block_codes, dtype)


def _categories(column: Any, last: int) -> Callable[[Any], npt.NDArray[Any]]:
    """By each value's text."""
    code_of = {str(value): min(code, last) for code, value in enumerate(column.values)}
    missing = min(len(column.values), last) if column.missing is None else code_of[column.missing]
    return lambda block: category_codes(block, code_of, missing)


def reader_of(column: Any) -> Callable[[Any], npt.NDArray[np.float64]]:
    """What reads each value of a block as a number, those of dates as moments; not a number where there is none."""
    return reader(column.format, column.unit, column.parts) if column.kind == "date" else numbers


def _bins(column: Any, last: int) -> Callable[[Any], npt.NDArray[Any]]:
    """By how many inner cuts are at or below each number; what is none has a code of its own, or a declared place."""
    read, inner = reader_of(column), np.array([float(cut) for cut in column.cuts[1:-1]], np.float64)[:last]
    own = min(len(inner) + 1, last)
    missing = own if column.missing is None else int(np.searchsorted(inner, float(column.missing), "right"))

    def block_codes(block: Any) -> npt.NDArray[Any]:
        codes = _cuts_below(inner, x := read(block))
        codes[np.isnan(x)] = missing
        return codes

    return block_codes


def _cuts_below(cuts: npt.NDArray[np.float64], x: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """How many cuts are at or below each number; for few of them, comparing all is four times as fast as searching."""
    if len(cuts) > 60:
        return np.searchsorted(cuts, x, side="right")
    codes = np.zeros(len(x), np.uint8)
    for cut in cuts:
        codes += (x >= cut).view(np.uint8)
    return codes


def _word_code(column: Any, size: int) -> Callable[[str], int | None]:
    """The code of a word in lower case, None if it is not one of the column's."""
    if column.buckets is None:
        return {str(word).lower(): code for code, word in reversed([*enumerate(column.words or ())][:size])}.get
    buckets = max(int(column.buckets), 1)
    if not column.kept:
        return partial(bucket, buckets=min(buckets, max(size, 1)))
    place = {int(kept): code for code, kept in enumerate(column.kept[:size])}
    return lambda word: place.get(bucket(word, buckets))


def encode_columns(columns: Mapping[str, Any], coders: Mapping[str, Coder]) -> dict[str, Codes | Bags]:
    """The codes of columns, several at a time: Arrow and NumPy let go of the interpreter while they work."""
    for first, name in pairwise(coders):
        if length_of(columns[first]) != length_of(columns[name]):
            raise BadInput(f"columns {first!r} and {name!r} have different lengths")
    many = any(length_of(columns[name]) >= MANY for name in coders)
    advance("encoding columns")  # not one by one: whether threads help would show that there are many rows
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        each: Any = pool.map if many else map
        return dict(zip(coders, each(lambda name: coders[name](columns[name]), coders), strict=True))


def length_of(column: Any) -> int:
    """How many rows a column has, or a matrix."""
    return int(column.shape[0]) if is_matrix(column) else len(column)
