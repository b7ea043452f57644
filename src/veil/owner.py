"""How rows fit their schema: a view for the data's owner, exact and therefore NOT private. Nothing else in Veil uses
it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .columns import MISSING, Categorical, Numeric, Text
from .display import readable, toml_text
from .encoding import category_codes, columns_of, in_blocks, numbers
from .files import NESTED, TIMES, RowFile
from .schema import Schema

BANNER = "For the owner of the data only: these are exact numbers about the rows, NOT private. Do not publish them."


@dataclass(frozen=True)
class Fit:
    """How the values of one column fit: how many are as declared, clipped to the bounds, and unknown or missing."""

    column: str
    kind: str
    declared: int
    clipped: int
    missing: int


def fit_of(rows: Any, schema: Schema) -> Iterator[Fit]:
    """The fit of every encoded column, in the schema's order."""
    for column in schema.column:
        if not isinstance(column, Text):
            values = columns_of(rows, [column.name])[column.name]
            yield _numeric(column, values) if isinstance(column, Numeric) else _categorical(column, values)


@dataclass(frozen=True)
class Lost:
    """What takes no part: lines that are no rows, and of the others those of no declared class."""

    lines: int
    of_lines: int
    rows: int
    of_rows: int


def lost_of(file: RowFile, schema: Schema) -> Lost:
    """What is left out of a file before anything is asked of it."""
    rows, lines = file.read(), len(file.read(every_line=True))
    label = schema.get(schema.label) if schema.label else None
    without = label.encode(columns_of(rows, [label.name])[label.name]) >= len(schema.classes) if label else np.zeros(0)
    return Lost(lines - len(rows), lines, int(without.sum()), len(rows))


def _categorical(column: Categorical, values: Any) -> Fit:
    declared = dict.fromkeys(column.values, 0)  # the column's own codes may hide which values are missing
    missing = int(in_blocks(values, lambda block: category_codes(block, declared, 1), np.uint8).sum())
    return Fit(column.name, column.kind, len(values) - missing, 0, missing)


def _numeric(column: Numeric, values: Any) -> Fit:
    x = in_blocks(values, numbers, np.float64)
    missing, clipped = int(np.isnan(x).sum()), int(((x < column.bounds[0]) | (x > column.bounds[1])).sum())
    return Fit(column.name, column.kind, len(values) - missing - clipped, clipped, missing)


def draft(name: str, types: dict[str, str]) -> str:
    """A schema to be completed, from the names of the columns and, where known, their declared types."""
    lines = [
        "# A draft made from the names of the columns alone. Complete it from public knowledge (a code book, the",
        "# questionnaire, common sense), never from the values in the rows: what a schema says is not protected.",
        f"# Values outside it are no error: numbers are clipped, all else counts as {MISSING}.",
        f"name = {toml_text(name)}  # of the data set; its ledger goes by this name",
        'label = "?"  # the categorical column to predict; delete the line if there is none',
    ]
    for column, kind in types.items():
        lines += ["", "[[column]]", f"name = {toml_text(column)}", *_draft_kind(kind)]
    return "\n".join(lines) + "\n"


def _draft_kind(kind: str) -> list[str]:
    if kind.startswith(("int", "uint")):
        return ['kind = "numeric"', "bounds = []  # fill in: [lowest, highest] possible value", "integer = true"]
    if kind.startswith(("float", "double", "half", "decimal")):
        return ['kind = "numeric"', "bounds = []  # fill in: [lowest, highest] possible value"]
    if kind.startswith((*NESTED, *TIMES)):
        return [f'kind = "?"  # a {readable(kind)}: make numbers or text of it in the file, or leave it out here']
    if kind == "bool":
        return ['kind = "categorical"', 'values = ["False", "True"]']
    if kind:
        return ['kind = "categorical"', 'values = []  # fill in: all possible values; or kind = "text" for free text']
    return ['kind = "?"  # fill in: "numeric" and bounds = [low, high]; "categorical" and values = [...]; or "text"']
