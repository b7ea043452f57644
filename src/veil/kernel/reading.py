"""From rows to a table of codes: rows that do not count are left out, and the words of each row are shuffled once."""

from typing import Any

import numpy as np

from .. import wording
from ..schema import Schema
from ..schema.bags import Bags
from ..schema.codes import coders_of, encode_columns, length_of, matrices_of
from ..schema.encoding import columns_of
from ..schema.fine import finest
from ..schema.refusing import refuse
from .noise import Noise
from .people import keep_per_person
from .recoding import Recoded
from .table import WORD_ROWS, Table


def read_table(rows: Any, schema: Schema, noise: Noise) -> Table:
    """Rows as a Table of codes. Left out, each by itself: rows whose label is no class, rows without a person, a
    person's surplus rows."""
    read = {column.name: finest(column, anew=True) for column in schema.column}
    coders, person = coders_of([*read.values()]), [schema.person] if schema.person else []
    refuse(person and isinstance(rows, np.ndarray) and not rows.dtype.names, wording.NAMELESS)
    columns = columns_of(rows, [*(coders or [schema.column[0].name]), *person], matrices_of(schema))
    length = length_of(next(iter(columns.values())))
    codes = {name: _shuffled(found, noise) for name, found in encode_columns(columns, coders).items()}
    labels = codes[schema.label] if schema.label else np.zeros(length, np.uint8)
    keep = labels < len(schema.classes)
    for name in person:
        refuse(len(columns[name]) != length, f"column {name!r} and the others have different lengths")
        keep &= keep_per_person(columns[name], schema.rows_per_person, noise)
    recoded = Recoded(codes, read, {}).again([column for column in schema.column if read[column.name] is not column])
    return Table(recoded, labels, len(schema.classes), None if keep.all() else np.flatnonzero(keep))


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
