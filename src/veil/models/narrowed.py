"""A mark on rows that a selector returned, with the names it kept, so that the next step knows which columns are
missing on purpose.

Rows without the mark must have every column that a schema declares, so that a misspelt name is not taken for a
selection. A mark travels with the rows, through files too, and anybody may have written it. So it holds names alone,
and can only leave declared columns or words out: types, bounds and who is protected are declared, never marked.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..schema import Schema, Text

MARK = "veil"


class Narrowed(np.ndarray[Any, Any]):
    """An array that can have attributes, to carry the mark."""


def mark(rows: Any, declared: Schema, selected: Schema) -> Any:
    """The rows, marked with the columns and words that were selected from a declared schema."""
    names = {"of": declared.name, "columns": [c.name for c in selected.column], "words": _words(selected)}
    if isinstance(rows, np.ndarray):
        rows = rows.view(Narrowed)
    if isinstance(rows, Narrowed) or issparse(rows):
        setattr(rows, MARK, names)
    elif hasattr(rows, "attrs"):
        rows.attrs[MARK] = names
    return rows


def fitting(rows: Any, declared: Schema) -> Schema:
    """The schema for these rows: the declared one or, if they bear a mark of it, the part of it that was selected.

    A mark that names anything that is not declared is ignored.
    """
    kept = vars(rows) if isinstance(rows, Narrowed) or issparse(rows) else getattr(rows, "attrs", None)
    names = kept.get(MARK) if isinstance(kept, dict) else None
    if not isinstance(names, dict) or names.get("of") != declared.name:
        return declared
    columns, words = _texts(names.get("columns")), _texts(names.get("words"))
    known = {column.name for column in declared.column}
    if not columns <= known or declared.label not in (None, *columns) or not words <= {*_words(declared)}:
        return declared
    cut = [_cut(column, words) for column in declared.column if column.name in columns]
    return declared.model_copy(update={"column": tuple(cut)}) if len(cut) > (declared.label is not None) else declared


def _words(schema: Schema) -> list[str]:
    return [name for text in schema.texts for name in text.names]


def _texts(names: Any) -> set[str]:
    """The set of names in a list of texts; empty for anything else."""
    known = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    return set(names) if known else set()


def _cut(column: Any, words: set[str]) -> Any:
    """The column as declared; a text column with the selected words alone."""
    places = [place for place, name in enumerate(column.names) if name in words] if isinstance(column, Text) else []
    return column.only(places) if places else column
