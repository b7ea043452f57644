"""From rows to a table of codes: rows that do not count are left out, and the words of each row are shuffled once."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import wording
from ..progress import advance
from ..schema import Schema
from ..schema.bags import Bags
from ..schema.codes import LABEL, PERSON, encoder, wanted
from ..schema.fine import finest
from ..schema.refusing import refuse
from ..schema.streams import stream_of
from .noise import Noise
from .people import keep_per_person, numbers_of
from .recoding import Recoded
from .shelf import Shelf
from .table import WORD_ROWS, Share, Table


def read_table(given: Any, schema: Schema, noise: Noise) -> Table:
    """Rows as a Table of codes. Left out, each by itself: rows whose label is no class, rows without a person, a
    person's surplus rows."""
    read = {column.name: finest(column, anew=True) for column in schema.column}
    refuse(schema.person and isinstance(given, np.ndarray) and not given.dtype.names, wording.NAMELESS)
    codes = _codes(given, schema, [*read.values()])
    found = {name: _shuffled(some, noise) for name, some in codes.items()}
    labels, people = found[schema.label or LABEL], found.pop(PERSON, None)
    rows = _kept(labels, people, schema, noise)
    recoded = Recoded(found, read, {}).again([column for column in schema.column if read[column.name] is not column])
    return Table(recoded, labels, len(schema.classes), rows)


def _kept(labels: npt.NDArray[Any], people: Any, schema: Schema, noise: Noise) -> Any:
    """The share of rows that count, None if all do."""
    if people is None and labels.max(initial=0) < len(schema.classes):
        return None
    keep = labels < len(schema.classes)
    if people is not None:
        keep &= keep_per_person(people, schema.rows_per_person, noise)
    return None if keep.all() else Share(keep.view(np.uint8), 1)


def _codes(rows: Any, schema: Schema, columns: Sequence[Any]) -> dict[Any, Any]:
    """The codes of all columns, of the label and of people; of a stream in files, batch by batch.

    Of a stream, rows whose label is no class are left out at once, unless others are drawn at random beside them.
    """
    stream, people, make = stream_of(rows), dict[str, int](), partial(encoder, columns, schema.label, schema.person)
    encode, names = make(), wanted(columns, schema.person)
    if stream is None:
        advance("encoding columns")  # not one by one: whether threads help would show that there are many rows
        return _numbered(encode(rows), people)
    shelf = Shelf()
    for found in chain([encode({name: [] for name in names})], stream.coded(make, names)):
        codes = _numbered(found, people)
        keep = codes[schema.label or LABEL] < len(schema.classes)
        shelf.add(codes if schema.person or schema.texts else {name: some[keep] for name, some in codes.items()})
    return shelf.columns()


def _numbered(codes: Mapping[Any, Any], people: dict[str, int]) -> dict[Any, Any]:
    """The codes with the number of each row's person, if they have ids of people."""
    return {name: numbers_of(some, people) if name is PERSON else some for name, some in codes.items()}


def _shuffled(codes: Any, noise: Noise) -> Any:
    """Bags with the words of each row in a random order, drawn once; codes of other columns unchanged.

    The first words of a row are then a random draw of it, whatever the other rows are: questions about few words of a
    row see these, and adding a row adds no more than that.
    """
    if not isinstance(codes, Bags):
        return codes
    words = codes.words.copy()
    for start in range(0, len(codes), WORD_ROWS):
        part, first = codes[start : start + WORD_ROWS], codes.starts[start]
        words[first : first + len(part.words)] = part.words[np.lexsort((noise.words(len(part.words)), part.rows))]
    return Bags(codes.starts, words)
