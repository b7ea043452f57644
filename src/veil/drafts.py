"""Drafts of schemas, from column names, from the types that a file declares, and from the owner's answers.

No row comes here: the guesses are in guesses.toml, for everybody to read.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

from .display import readable, toml_text
from .errors import BadInput
from .files.tables import DATES
from .schema.columns import MISSING
from .schema.dates import span_of
from .schema.mistakes import OPEN

CLASSES = {  # by how the names of Arrow's types begin
    "whole": ("int", "uint"),
    "number": ("float", "double", "half", "decimal"),
    "text": ("string", "large_string", "string_view", "dictionary", "binary", "large_binary"),
    "truth": ("bool",),
    "time": DATES,
}
BY_NAME, BY_TYPE, BY_YOU = "guessed from the name: check it", "guessed from the declared type: check it", "as you said"
FILL_IN = (
    'kind = "?"  # fill in: "numeric" and bounds = [low, high]; "categorical" and values = [...]; "date"; or "text"'
)
VALUES = "values = []  # fill in: all possible values, as the file spells them"
HEAD = f"""\
# A draft made from the names of the columns{{declared}} alone. Complete and correct it from public knowledge (a code
# book, the questionnaire, common sense), never from the values in the rows: what a schema says is not protected.
# Values outside it are no error: numbers and dates are clipped, all else counts as {MISSING}."""
RANGE = re.compile(r"(\S+)\s+to\s+(\S+)")
NO_LABEL = "none"
POINT = {"x", "y"}
NAMELESS = "it has no name, as the index that pandas writes without index=False"
FEW = 25  # whole numbers that are told apart
CODE = re.compile(r"[A-Z]{0,2}[0-9][0-9A-Z]*([.-][0-9A-Z]+)?")  # such as I21.0, 62-010 or 4711
FEWEST_CODES, LONGEST_PREFIX = 8, 6


@dataclass(frozen=True)
class Proposal:
    """What a draft says about one column: its TOML lines, or why it is left out; and the source of that."""

    name: str
    lines: tuple[str, ...] = ()
    left_out: str = ""
    source: str = ""
    person: bool = False
    label: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        return tomllib.loads("\n".join(self.lines))

    @property
    def is_open(self) -> bool:
        """Whether something has to be filled in."""
        fields = self.fields
        return bool(self.lines) and (fields.get("kind") == OPEN or [] in (fields.get("bounds"), fields.get("values")))

    def describe(self) -> str:
        """The proposal in a few words."""
        if self.left_out:
            return "left out"
        fields = {"bounds": [], "values": [], **self.fields}
        if fields["kind"] == "categorical" and fields["values"]:
            return ", ".join(fields["values"])
        if fields["bounds"]:
            return " to ".join(map(str, fields["bounds"]))
        return {"text": "free text", "date": str(fields.get("unit"))}.get(fields["kind"], "unknown")


def proposals(types: Mapping[str, str]) -> list[Proposal]:
    """A proposal for each column, from its name and its declared type ("" if none is declared).

    Beside an x, a y is a place and no label.
    """
    found = [_guess(name, declared) for name, declared in types.items()]
    point = POINT <= {name.lower() for name in types}
    return [
        Proposal(one.name, (FILL_IN,)) if point and one.label and one.name.lower() in POINT else one for one in found
    ]


def _guess(name: str, declared: str) -> Proposal:
    plain = re.sub("[^a-z0-9]+", "_", re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_")
    if not name.strip():
        return Proposal(name, left_out=NAMELESS)
    kind = next((kind for kind, starts in CLASSES.items() if declared.startswith(starts)), "other" if declared else "")
    for guess in _guesses():
        by_type = guess.get("declared", False)
        fits = kind in guess.get("types", (*CLASSES,)) if declared else not by_type
        if fits and any(fnmatchcase(plain, pattern) for pattern in guess["names"]):
            source = BY_TYPE if by_type else BY_NAME
            lines, marks = tuple(guess.get("write", ())), {key: guess.get(key, False) for key in ("person", "label")}
            return Proposal(name, lines, guess.get("leave_out", ""), source, **marks)
    odd = f'kind = "?"  # a {readable(declared)}: make numbers or text of it in the file, or leave it out here'
    return Proposal(name, (odd if declared else FILL_IN,))


@cache
def _guesses() -> Sequence[Mapping[str, Any]]:
    text = (resources.files(__package__) / "guesses.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["guess"])


def label_of(wanted: str | None, found: Sequence[Proposal]) -> tuple[str | None, tuple[str, ...]]:
    """The label and its classes, as given ("income" or "income:low,high") or, without that, guessed from the names.

    "" if there is none: "none" says so, and so does a table in which no column can be one. None if it is not known.
    """
    if wanted is None:
        likely = [proposal.name for proposal in found if proposal.label]
        return (likely[0] if len(likely) == 1 else None if any(map(_may_be_label, found)) else ""), ()
    if wanted == NO_LABEL and NO_LABEL not in [proposal.name for proposal in found]:
        return "", ()
    name, classes = _named(wanted, found)
    return name, _split(classes)


def _may_be_label(proposal: Proposal) -> bool:
    """Whether the column is categorical, or may be: nothing is known of it."""
    return not proposal.left_out and (proposal.is_open or proposal.fields.get("kind") == "categorical")


def told(found: Sequence[Proposal], said: Sequence[str]) -> list[Proposal]:
    """The proposals, changed by statements such as "age: 18 to 97"; see `answered`."""
    new = {proposal.name: proposal for proposal in found}
    for name, answer in (_named(one, found) for one in said):
        new[name] = answered(new[name], answer)
    return [*new.values()]


def _named(said: str, found: Sequence[Proposal]) -> tuple[str, str]:
    """The column that a statement is about, and the text after the colon."""
    names = [proposal.name for proposal in found]
    for place in [len(said), *(i for i, letter in enumerate(said) if letter == ":")]:
        if said[:place] in names:
            return said[:place], said[place + 1 :]
    known = ", ".join(map(readable, names))
    form = " (and write `name: what it holds`)" if any(said.startswith(f"{name} ") for name in names) else ""
    raise BadInput(f"there is no column {said.partition(':')[0]!r}: choose among {known}{form}")


def with_label(found: Sequence[Proposal], label: str, classes: Sequence[str]) -> list[Proposal]:
    """The proposals with this column made categorical, with these classes or with classes to be filled in."""
    values = f"values = {toml_text(classes)}" if classes else VALUES
    lines = ('kind = "categorical"', values)
    new = Proposal(label, lines, source=BY_YOU if classes else "")
    return [new if p.name == label and (classes or not _is_binary(p)) else p for p in found]


def _is_binary(proposal: Proposal) -> bool:
    """Whether a proposed column has exactly two values."""
    return proposal.fields.get("kind") == "categorical" and len(proposal.fields["values"]) == 2


def answered(proposal: Proposal, answer: str) -> Proposal:
    """The proposal changed by an answer: empty, `skip`, `text`, `18 to 97`, `2015-01-01 to 2024-12-31` or `a, b, c`."""
    said = answer.strip()
    ends = RANGE.fullmatch(said)
    if not said:
        return proposal
    if said in ("skip", "text"):
        return replace(proposal, lines=('kind = "text"',) * (said == "text"), left_out="as you said" * (said == "skip"))
    if ends is None and "," not in said:
        raise BadInput("write `low to high`, `a, b, c`, `text`, `skip`, or nothing")
    lines = _range_lines(*ends.groups()) if ends else _value_lines(_split(said))
    return Proposal(proposal.name, lines, source=BY_YOU)


def _value_lines(values: Sequence[str]) -> tuple[str, ...]:
    """The TOML lines of a categorical column with these values; for what looks like hierarchical codes, an offer to
    group them by their first characters."""
    found = [len({value[:length] for value in values}) for length in range(1, LONGEST_PREFIX + 1)]
    lengths = [length for length, many in enumerate(found, 1) if 1 < many <= len(values) / 2]
    lengths = [length for length in lengths if found[length - 1] not in found[: length - 1]]  # a finer one only
    codes = len(values) >= FEWEST_CODES and all(map(CODE.fullmatch, values)) and lengths
    offer = (f"# levels = {lengths}  # groups them by so many first characters, if their hierarchy is so",)
    return ('kind = "categorical"', f"values = {toml_text(values)}", *(offer if codes else ()))


def _range_lines(low: str, high: str) -> tuple[str, ...]:
    """The TOML lines of a numeric or date column with this range; 1 to 5 are integers, 1.0 to 5.0 are not."""
    try:
        bounds = float(low), float(high)
    except ValueError:
        return _date_lines(low, high)
    few = "." not in low + high and all(end.is_integer() for end in bounds) and 0 < bounds[1] - bounds[0] < FEW
    whole = ("integer = true", f"bins = {bounds[1] - bounds[0] + 1:.0f}") if few else ()
    return ('kind = "numeric"', f"bounds = {toml_text(bounds)}", *whole)


def _date_lines(low: str, high: str) -> tuple[str, ...]:
    try:
        span_of(low), span_of(high)
    except ValueError:
        raise BadInput("write `low to high` with two numbers or two dates such as 2024-12-31") from None
    return ('kind = "date"', f"bounds = {toml_text([low, high])}", 'unit = "year"')


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def draft(name: str, found: Sequence[Proposal], label: str | None, declared: bool, source: str) -> str:
    """The text of a schema to be completed."""
    people = [proposal.name for proposal in found if proposal.person]
    lines = [HEAD.format(declared=" and their declared types" if declared else "")]
    lines += [f"name = {toml_text(name)}  # of the data set; its ledger goes by this name"]
    if label is None:
        lines += [f'label = "{OPEN}"  # fill in: the categorical column to predict; delete the line if there is none']
    elif label == "":
        lines += ['# without a label: for publishing; to train, name the column to predict: label = "..."']
    else:
        lines += [f"label = {toml_text(label)}  # {source}"]
    if len(people) == 1:
        lines += [f"person = {toml_text(people[0])}  # {BY_NAME}; of each person, one row is kept"]
    for proposal in found:
        lines += ["", *_column_lines(proposal, proposal.name in people and len(people) == 1)]
    return "\n".join(lines) + "\n"


def _column_lines(proposal: Proposal, is_person: bool) -> list[str]:
    name = toml_text(proposal.name)
    if proposal.left_out:
        why = "it is the person above" if is_person else proposal.left_out
        return [f"# {name} is left out: {why}"]
    source = f"  # {proposal.source}" if proposal.source and not proposal.is_open else ""
    return ["[[column]]", f"name = {name}{source}", *proposal.lines]


def ask_about(proposal: Proposal, ask: Callable[[str], str], say: Callable[[str], None]) -> Proposal:
    """The proposal after asking about it, repeatedly if an answer is not understood."""
    while True:
        try:
            return answered(proposal, ask(f"{readable(proposal.name)} [{readable(proposal.describe(), 200)}]"))
        except BadInput as problem:
            say(str(problem))
