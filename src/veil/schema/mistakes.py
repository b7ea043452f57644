"""The mistakes in a schema, listed all at once, with what to write instead and, for a file, the line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from ..display import readable
from ..errors import BadInput

KINDS = '"categorical", "numeric", "date" or "text"'
COMPLAINTS = {  # in our words, where those of the validation library speak of Python
    "extra_forbidden": "is not a known key",
    "missing": "is required",
    "too_short": "must not be empty",
    "too_long": "is too long",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "model_attributes_type": "must be a table",
}
INSTEAD = {
    "bounds": "bounds = [lowest, highest]",
    "values": 'values = ["...", "..."], all that are possible',
    "name": 'name = "..."',
    "column": "a [[column]] for every column to be used",
}
DATES = 'bounds = ["2015-01-01", "2024-12-31"]'
OPEN = "?"  # what a draft says where somebody has to fill something in
MOST_TOLD = 50
HEADER = re.compile(r"\s*\[\[\s*[\"']?column[\"']?\s*\]\]")
KEY = re.compile(r"""\s*["']?([A-Za-z0-9_-]+)["']?\s*[.=]""")
Lines = Mapping[tuple[int | None, str | None], int]


class Mistake(NamedTuple):
    """One mistake, and its column and key (None if it belongs to none)."""

    column: int | None
    key: str | None
    said: str


class BadSchema(BadInput):
    """Raised for a schema, or a column of one, with mistakes."""

    def __init__(self, mistakes: Sequence[Mistake], lines: Lines | None = None) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__(_listed(self.mistakes, lines or {}))


def _listed(mistakes: Sequence[Mistake], lines: Lines) -> str:
    """One mistake as a sentence; several in the order of the file, below a line that says how many."""
    placed = [(_line(mistake, lines), mistake.said) for mistake in mistakes]
    said = [f"line {line}: {text}" if line else text for line, text in sorted(placed, key=lambda one: one[0])]
    more = [f"and {len(said) - MOST_TOLD} more"] * (len(said) > MOST_TOLD)
    return said[0] if len(said) == 1 else "\n  ".join([f"{len(said)} problems:", *said[:MOST_TOLD], *more])


def _line(mistake: Mistake, lines: Lines) -> int:
    """The line of the mistake's key, or of its column; 0 if unknown."""
    return lines.get((mistake.column, mistake.key)) or lines.get((mistake.column, None)) or 0


def lines_of(text: str, columns: int) -> dict[tuple[int | None, str | None], int]:
    """{(column, key): line} for a schema in TOML; without columns, if headers and columns do not match in number."""
    found: dict[tuple[int | None, str | None], int] = {}
    column = -1
    for number, line in enumerate(text.splitlines(), 1):
        if HEADER.match(line):
            column += 1
            found[column, None] = number
        elif key := KEY.match(line):
            found.setdefault((None if column < 0 else column, key[1]), number)
    return found if column + 1 == columns else {place: line for place, line in found.items() if place[0] is None}


def mistakes_in(error: Any, fields: Mapping[str, Any], known: Sequence[str]) -> list[Mistake]:
    """The mistakes that the validation library found, one for each key."""
    problems = error.errors(include_url=False)
    meant = {_meant(problem["loc"][0], known) for problem in problems if problem["type"] == "extra_forbidden"}
    found: dict[Any, Mistake] = {}
    for problem in problems:
        kind, place = problem["type"], problem["loc"]
        if kind == "missing" and place in [(key,) for key in meant] or kind == "too_short" and fields.get(place[0]):
            continue  # not missing: misspelt, or with mistakes inside
        for mistake in _mistakes(problem, fields, known):
            found.setdefault((mistake.column, mistake.key or mistake.said), mistake)
    return [*found.values()]


def _mistakes(problem: Any, fields: Mapping[str, Any], known: Sequence[str]) -> Iterator[Mistake]:
    place, inner = problem["loc"], problem.get("ctx", {}).get("error")
    if isinstance(inner, BadSchema):  # of a column, which has listed its own mistakes
        yield from (mistake._replace(column=place[1]) for mistake in inner.mistakes)
    elif problem["type"] == "value_error":
        said = problem["msg"].removeprefix("Value error, ")
        first = next((key for key in known if said.startswith(f"{key} ")), None)
        yield Mistake(None, str(place[0]) if place else first, said)
    elif place[0] == "column" and not isinstance(fields.get("column", []), (list, tuple)):
        yield Mistake(None, "column", "column must be a list: write column=[...], also for a single one")
    elif place[0] == "column" and len(place) > 1:
        yield Mistake(place[1], "kind", _of_column(problem["type"], fields["column"][place[1]]))
    else:
        yield Mistake(None, str(place[0]), _sentence(problem, fields, known))


def _of_column(kind: str, column: Any) -> str:
    """A sentence about a column that is not a table, or has an unknown kind."""
    if not isinstance(column, Mapping):
        return f"a column {COMPLAINTS['dict_type']}"
    name = f"column {column['name']!r}" if "name" in column else "a column"
    return f"{name}: fill in `kind`: {KINDS}" if column.get("kind") == OPEN else f"{name} needs a kind: {KINDS}"


def _sentence(problem: Any, fields: Mapping[str, Any], known: Sequence[str]) -> str:
    """A sentence about one key, with what to write instead."""
    kind, key = problem["type"], str(problem["loc"][0])
    if kind == "extra_forbidden":
        meant = _meant(key, known)
        instead = f"did you mean {meant}?" if meant else f"there are {', '.join(known)}"
        return f"{readable(key)} {COMPLAINTS[kind]}: {instead}"
    instead = DATES if key == "bounds" and fields.get("kind") == "date" else INSTEAD.get(key, "")
    if key in fields and fields[key] in ([], ()) and instead:
        return f"{key} must not be empty: fill in {instead}"
    inside = kind == "missing" and len(problem["loc"]) > 1  # an item of a list, not a key
    said = "is too short" if inside else COMPLAINTS.get(kind, problem["msg"].removeprefix("Input "))
    return f"{key} {said}" + (f": write {instead}" if instead and kind in ("missing", "too_short") else "")


def _meant(key: Any, known: Sequence[str]) -> str:
    """A hint at the known key that a misspelt one is close to; "" if there is none."""
    return next(iter(get_close_matches(str(key).lower(), known, 1, 0.7)), "")


def name_and_kind(column: Any) -> tuple[str | None, str | None]:
    """The name and kind of a declared column, None where it has none or is no table at all."""
    held = column if isinstance(column, Mapping) else {key: getattr(column, key, None) for key in ("name", "kind")}
    name, kind = held.get("name"), held.get("kind")
    return name if isinstance(name, str) else None, kind if isinstance(kind, str) else None
