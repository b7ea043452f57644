"""Rows that a selector left features out of, marked with its schema: a step after it knows what they are.

Rows without the mark must have every column that a schema declares: a name that is misspelt is no selection.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..schema import Schema

MARK = "veil"


class Narrowed(np.ndarray[Any, Any]):
    """An array that can be marked."""


def mark(rows: Any, declared: Schema, selected: Schema) -> Any:
    """The rows, marked as what was selected of a declared schema."""
    texts = {"declared": declared.to_toml(), "selected": selected.to_toml()}
    if isinstance(rows, np.ndarray):
        rows = rows.view(Narrowed)
    if isinstance(rows, Narrowed) or issparse(rows):
        setattr(rows, MARK, texts)
    elif hasattr(rows, "attrs"):
        rows.attrs[MARK] = texts
    return rows


def fitting(rows: Any, declared: Schema) -> Schema:
    """The schema of rows that are declared so: with what was selected alone, if a selector of that schema did."""
    kept = vars(rows) if isinstance(rows, Narrowed) or issparse(rows) else getattr(rows, "attrs", None)
    texts = kept.get(MARK) if isinstance(kept, dict) else None
    if not isinstance(texts, dict) or texts["declared"] != declared.to_toml():
        return declared
    return Schema.loads(texts["selected"])
