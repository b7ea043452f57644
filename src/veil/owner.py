"""How rows fit their schema: exact numbers for the data's owner, so NOT private. Nothing else in Veil uses them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .display import readable, toml_text
from .files.tables import RowFile
from .schema import Categorical, Numeric, Schema, Text
from .schema.columns import MISSING
from .schema.encoding import BLOCK, category_codes, columns_of, in_blocks, texts

SHOWN = 10  # unknown values of a column
NO_VALUE = "(no value)"
UNREAD = 0.9  # share of the values of a column
COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*", re.ASCII)
CAUTION = (
    "To declare them too, paste this below the name of the column. But a schema is public: copy only what anybody\n"
    "could have known, such as another spelling. A rare diagnosis, copied from the rows, says that somebody has it."
)
BANNER = "For the owner of the data only: these are exact numbers about the rows, NOT private. Do not publish them."


@dataclass(frozen=True)
class Fit:
    """How the values of one column fit: how many are as declared, clipped to the bounds, and unknown or missing.

    `unknown` has the most frequent values that are not as declared, with how often they occur; `cut` says how many
    lose what is behind their point, since the column is declared to hold whole numbers.
    """

    column: str
    kind: str
    declared: int
    clipped: int
    missing: int
    unknown: tuple[tuple[str, int], ...]
    cut: int = 0


def fit_of(rows: Any, schema: Schema) -> Iterator[Fit]:
    """The fit of every encoded column, in the schema's order."""
    for column in schema.column:
        if not isinstance(column, Text):
            values = columns_of(rows, [column.name])[column.name]
            yield _numeric(column, values) if isinstance(column, Numeric) else _categorical(column, values)


def stranger_lines(fits: Sequence[Fit], schema: Schema) -> Iterator[str]:
    """Lines about unknown values, those of the label first, safe to print."""
    for fit in sorted(fits, key=lambda fit: fit.column != schema.label):
        if fit.unknown:
            who = "label " if fit.column == schema.label else ""
            said = ", ".join(
                f"{rows:,} {'row says' if rows == 1 else 'rows say'} {readable(text)!r}" for text, rows in fit.unknown
            )
            yield f"{who}{readable(fit.column)}: {said}; declared: {_declared(schema, fit.column)}"


def spelling_lines(fits: Sequence[Fit], schema: Schema) -> Iterator[str]:
    """Lines about values that are a declared class but for case and blanks, and about numbers with decimal commas, safe
    to print: what to change in the file."""
    for fit in fits:
        name, alike = readable(fit.column), spelled_otherwise(fit, schema)
        if alike:
            pairs = ", ".join(f"{readable(text)!r} for {readable(known)!r}" for text, known in alike.items())
            yield f"{name}: spelled otherwise: {pairs}. In the file, write each class in one way; do not declare all"
        if fit.kind == "numeric" and _has_decimal_commas(fit):
            yield f"{name}: nearly no value is a number, and they have commas: write decimals with a point, as in 1.5"


def spelled_otherwise(fit: Fit, schema: Schema) -> dict[str, str]:
    """Of the label, the unknown values that a class, or another unknown value, differs from in case or blanks alone:
    each with that one."""
    if fit.column != schema.label:
        return {}
    known, found = {_plain(name): name for name in reversed(schema.classes)}, dict[str, str]()
    for text, _ in fit.unknown if fit.kind == "categorical" else ():
        meant = known.setdefault(_plain(text), text)
        found |= {text: meant} if meant != text else {}
    return found


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _has_decimal_commas(fit: Fit) -> bool:
    """Whether nearly all values are unread, and the most frequent ones are numbers but for a comma."""
    texts = [text for text, _ in fit.unknown if text != NO_VALUE]
    rows = fit.declared + fit.clipped + fit.missing
    return (
        bool(texts)
        and fit.missing > UNREAD * rows
        and all(map(COMMA.fullmatch, texts))
        and any("," in text for text in texts)
    )


def cut_lines(fits: Sequence[Fit]) -> Iterator[str]:
    """Lines about columns of whole numbers whose values are none, safe to print: nothing else would show it."""
    for fit in fits:
        if fit.cut:
            rows = f"{fit.cut:,} of {fit.declared + fit.clipped + fit.missing:,} rows"
            yield (
                f"{readable(fit.column)}: {rows} are not whole, and count as the whole number below; if that is too "
                "coarse, leave out `integer` and `bins`"
            )


def _declared(schema: Schema, name: str) -> str:
    column = schema.get(name)
    if isinstance(column, Numeric):
        return column.group_name(range(len(column.cuts) - 1))
    names = schema.classes if name == schema.label else column.names
    return ", ".join(map(readable, names if len(names) <= SHOWN else [*names[: SHOWN // 2], "...", names[-1]]))


def proposed_toml(fits: Sequence[Fit], schema: Schema) -> Iterator[str]:
    """Lines of TOML that would also declare the unknown values of categorical columns, except empty ones."""
    for fit in fits:
        column = schema.get(fit.column)
        named = [text for text, _ in fit.unknown if text not in (MISSING, NO_VALUE)]
        alike = spelled_otherwise(fit, schema)
        new = [text for text in named if text.isprintable() and text.strip() and text not in alike]
        if isinstance(column, Categorical) and new:
            yield f"# {readable(toml_text(fit.column))}"
            yield f"values = {toml_text([*column.values, *new])}"


@dataclass(frozen=True)
class Lost:
    """How much is left out: lines that are no rows, and rows without a declared class."""

    lines: int
    of_lines: int
    rows: int
    of_rows: int


def lost_of(file: RowFile, schema: Schema) -> Lost:
    """How much of a file is left out before anything is asked."""
    rows, lines = file.read(), len(file.read(every_line=True))
    label = schema.get(schema.label) if schema.label else None
    if label is None:
        return Lost(lines - len(rows), lines, 0, len(rows))
    assert not isinstance(label, Text)  # which no schema takes for a label
    codes = label.encode(columns_of(rows, [label.name])[label.name])
    return Lost(lines - len(rows), lines, int((codes >= len(schema.classes)).sum()), len(rows))


def _categorical(column: Categorical, values: Any) -> Fit:
    declared = dict.fromkeys(column.values, 0)  # the column's own codes may hide which values are missing
    strange = in_blocks(values, lambda block: category_codes(block, declared, 1), np.uint8).astype(bool)
    missing = int(strange.sum())
    return Fit(column.name, column.kind, len(values) - missing, 0, missing, _frequent(values, strange))


def _numeric(column: Numeric, values: Any) -> Fit:
    x = in_blocks(values, column.read, np.float64)
    strange, clipped = np.isnan(x), int(((x < column.bounds[0]) | (x > column.bounds[1])).sum())
    missing = int(strange.sum())
    rest = len(values) - missing - clipped
    inside = x[(x >= column.bounds[0]) & (x <= column.bounds[1])]
    cut = int((inside != np.floor(inside)).sum()) if column.kind == "numeric" and column.integer else 0
    return Fit(column.name, column.kind, rest, clipped, missing, _frequent(values, strange), cut)


def _frequent(values: Any, wanted: npt.NDArray[np.bool_]) -> tuple[tuple[str, int], ...]:
    """The ten most frequent of the wanted values as text, with their frequencies."""
    counted: Counter[str] = Counter()
    for start in range(0, len(values), BLOCK):
        here = np.flatnonzero(wanted[start : start + BLOCK])
        found = texts(values[start : start + BLOCK]) if len(here) else []
        counted.update(found[place] or NO_VALUE for place in here)
    return tuple(counted.most_common(SHOWN))
