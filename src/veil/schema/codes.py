"""Codes: a value as an integer below its column's declared size or, for text, the codes of all its words.

A declared column is asked for plain numbers and texts alone, before any row is looked at: errors in them raise then,
and no declared function is ever given a value. From there on no value raises or warns, a code depends on its own row's
value alone, and one beyond the declared size is clipped. So whatever is declared, truly or not, adding a row adds that
row's codes and changes nothing else.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import wording
from ..solver.cuts import guesser
from .bags import Bags, bucket, matrix_bags, text_bags
from .encoding import Codes, as_column, category_codes, columns_of, in_blocks, is_matrix, numbers
from .moments import reader
from .refusing import refuse

LABEL = ""  # the class among the columns; no declared column has this name
PERSON = None  # among the columns: whose row each is
MANY = 1 << 14  # rows from which on columns are encoded in threads
FEW_CUTS = 60
Coder = Callable[[Any], Codes | Bags]


def encode_rows(rows: Any, schema: Any, *, label: bool = True) -> dict[str, Codes | Bags]:
    """The codes of every column as {name: codes}; without the label if `label` is False."""
    coders = coders_of([column for column in schema.column if label or column.name != schema.label])
    return encode_columns(columns_of(rows, [*coders], matrices_of(schema)), coders)


def encode_column(values: Any, column: Any) -> Any:
    """The codes of one column's values."""
    encode = coder(column)
    return encode(values if column.kind == "text" and is_matrix(values) else as_column(values, column.name))


def encoder(columns: Sequence[Any], label: str | None, person: str | None) -> Callable[[Any], dict[Any, Any]]:
    """A function from rows to the codes of these columns; without a label, the class that all share; and the ids of
    people as they are. It is made of declarations alone, so that other processes can make the same."""
    coders, words = coders_of(columns), {column.name for column in columns if column.kind == "text"}
    names = wanted(columns, person)

    def encode(rows: Any) -> dict[Any, Any]:
        found = columns_of(rows, names, words)
        length = length_of(found[names[0]])
        codes: dict[Any, Any] = {} if label else {LABEL: np.zeros(length, np.uint8)}
        if person:
            refuse(len(found[person]) != length, f"column {person!r} and the others have different lengths")
            codes[PERSON] = found[person]
        return codes | encode_columns(found, coders)

    return encode


def wanted(columns: Sequence[Any], person: str | None) -> list[str]:
    """The columns that are read: all that have codes, or the first if none has, and that of the person."""
    coded = [column.name for column in columns if column.size]
    return [*(coded or [columns[0].name]), *([person] if person else [])]


def coders_of(columns: Sequence[Any]) -> dict[str, Coder]:
    """{name: function from values to codes}, for every column that is encoded."""
    wanted = [column for column in columns if column.size]
    coders = {column.name: coder(column) for column in wanted}
    refuse(len(coders) < len(wanted), wording.TWICE)  # two of one name: one would have the codes, another the size
    return coders


def matrices_of(schema: Any) -> set[str]:
    """The names of the columns that may be given as matrices: the text columns."""
    return {column.name for column in schema.column if column.kind == "text"}


def coder(column: Any) -> Coder:
    """A function from a column's values to codes, each below the column's size at this moment."""
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
    """A function from a block of values to category codes, by each value's text."""
    code_of = {str(value): min(max(int(at), 0), last) for value, at in zip(column.values, column.places, strict=True)}
    missing = last if column.missing is None else code_of[column.missing]
    return lambda block: category_codes(block, code_of, missing)


def reader_of(column: Any) -> Callable[[Any], npt.NDArray[np.float64]]:
    """A function from a block of values to floats, dates as seconds since 1970; NaN where there is no number."""
    return reader(column.format, column.unit, column.parts) if column.kind == "date" else numbers


def _bins(column: Any, last: int) -> Callable[[Any], npt.NDArray[Any]]:
    """A function from a block of values to bins, by how many inner cuts are at or below each; NaN has a bin too."""
    read, inner = reader_of(column), np.sort(np.array(column.cuts[1:-1], np.float64).ravel()[:last])
    below, own = _cuts_below(inner), min(len(inner) + 1, last)
    missing = own if column.missing is None else int(np.searchsorted(inner, float(column.missing), "right"))

    def block_codes(block: Any) -> npt.NDArray[Any]:
        codes = below(x := read(block))
        codes[np.isnan(x)] = missing
        return codes

    return block_codes


def _cuts_below(cuts: npt.NDArray[np.float64]) -> Callable[[npt.NDArray[np.float64]], npt.NDArray[Any]]:
    """A function that counts the cuts at or below each number: few are compared one after the other. Of many, somebody
    guesses the number; where the cuts around it are not on the two sides of the number, it is searched for."""
    if len(cuts) <= FEW_CUTS:
        return lambda x: _few_below(cuts, x)
    kind, ends, guess = np.min_scalar_type(len(cuts) + 1), np.r_[-np.inf, cuts, np.inf], guesser(cuts.copy())

    def below(x: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        codes: npt.NDArray[Any] = np.minimum(guess(x), len(cuts)).astype(kind, copy=False)
        wrong = np.flatnonzero(~((ends.take(codes) <= x) & (x < ends[1:].take(codes))))
        codes[wrong] = np.searchsorted(cuts, x[wrong], side="right")
        return codes

    return below


def _few_below(cuts: npt.NDArray[np.float64], x: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    codes = np.zeros(len(x), np.uint8)
    for cut in cuts:
        codes += (x >= cut).view(np.uint8)
    return codes


def _word_code(column: Any, size: int) -> Callable[[str], int | None]:
    """A function from a word in lower case to its code, None if it is not declared."""
    if column.buckets is None:
        return {str(word).lower(): code for code, word in reversed([*enumerate(column.words or ())][:size])}.get
    buckets = max(int(column.buckets), 1)
    if not column.kept:
        return partial(bucket, buckets=min(buckets, max(size, 1)))
    place = {int(kept): code for code, kept in enumerate(column.kept[:size])}
    return lambda word: place.get(bucket(word, buckets))


def encode_columns(columns: Mapping[str, Any], coders: Mapping[str, Coder]) -> dict[str, Codes | Bags]:
    """The codes of all columns; of many rows in threads, since Arrow and NumPy release the interpreter lock."""
    lengths = {name: length_of(columns[name]) for name in coders}
    for first, name in pairwise(coders):
        refuse(lengths[first] != lengths[name], f"columns {first!r} and {name!r} have different lengths")
    helpers = (os.cpu_count() or 1) - 1 if max(lengths.values(), default=0) >= MANY else 0

    def work(left: Iterator[str]) -> list[tuple[str, Codes | Bags]]:
        return [(name, coders[name](columns[name])) for name in left]

    with ThreadPoolExecutor(helpers or 1) as pool:  # starts no thread without work
        others = pool.map(work, [left := iter([*coders])] * helpers)  # all take names from one list
        codes = dict(chain(work(left), *others))
    return {name: codes[name] for name in coders}


def length_of(column: Any) -> int:
    """The number of rows of a column or matrix."""
    return int(column.shape[0]) if is_matrix(column) else len(column)
