"""How exact amounts, schemas, complaints about them and small tables look, in text and in Jupyter."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from html import escape
from math import log10
from typing import Any

SHOWN = 20  # rows of a release, receipts of a ledger
LARGE = {6: "million", 9: "billion", 12: "trillion"}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # of classes, for all eyes
LONG = 1000  # letters of a question
DIGITS = 60  # of an exact amount
KINDS = 'needs a kind: "categorical", "numeric" or "text"'
COMPLAINTS = {  # in our words, where those of the validation library speak of Python
    "extra_forbidden": "is not a known key",
    "missing": "is required",
    "too_short": "must not be empty",
    "too_long": "is too long",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "model_attributes_type": "must be a table",
    "union_tag_not_found": KINDS,
    "union_tag_invalid": KINDS,
}


def amount(value: Fraction) -> str:
    """An exact fraction as people write it: 0.25, or 1/3 where no short decimal is exact; its size if it is too long.

    >>> amount(Fraction(1, 4)), amount(Fraction(1, 3)), amount(Fraction(2)), amount(Fraction(10**400))
    ('0.25', '1/3', '2', 'about 10^400')
    """
    if len(str(value)) > DIGITS:
        size = log10(abs(value.numerator)) - log10(value.denominator)
        return f"about {float(value):.3g}" if abs(size) < 15 else f"about 10^{size:.0f}"
    for digits in range(9):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            text = f"{scaled.numerator:0{digits + 1}d}"
            return f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return str(value)


def number(value: float) -> str:
    """About three significant digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def large(value: int) -> str:
    """A count of things, however many they are.

    >>> large(180), large(8_067_360), large(3 * 10**12), large(10**20)
    ('180', '8.1 million', '3.0 trillion', 'about 10^20')
    """
    if value < 10**6:
        return f"{value:,}"
    if value < 10**15:
        power, name = max((power, name) for power, name in LARGE.items() if value >= 10**power)
        return f"{value / 10**power:.1f} {name}"
    return f"about 10^{int(value.bit_length() * log10(2))}"


def readable(text: object, most: int = 60) -> str:
    """Text that can be shown: characters that cannot be printed become spaces, the middle of a long one is left out."""
    shown = "".join(letter if letter.isprintable() else " " for letter in str(text))
    return shown if len(shown) <= most else f"{shown[: most // 2]}…{shown[len(shown) - (most - 1) // 2 :]}"


def column_rows(schema: Any) -> Iterator[tuple[str, str, str, str]]:
    """The columns of a schema, as a table shows them: name, kind, number of codes, and some of these."""
    for column in schema.column:
        label = column.name == schema.label
        names = schema.classes if label else column.names  # rows without a declared class are left out
        shown = ", ".join(map(readable, names if len(names) < 6 else [*names[:3], "...", names[-1]]))
        yield readable(column.name), f"{column.kind} {'label' if label else ''}".strip(), str(len(names)), shown


def schema_toml(schema: Any) -> str:
    """A schema as TOML text."""
    head = schema.model_dump(exclude={"column"}, exclude_none=True, exclude_defaults=True)
    lines = [f"{key} = {toml_text(value)}" for key, value in head.items()]
    for column in schema.column:
        fields = {
            "name": column.name,
            "kind": column.kind,
            **column.model_dump(exclude_none=True, exclude_defaults=True),
        }
        lines += ["", "[[column]]", *(f"{key} = {toml_text(value)}" for key, value in fields.items())]
    return "\n".join(lines) + "\n"


def toml_text(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_text(str(key))} = {toml_text(inside)}" for key, inside in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def first_complaint(error: Any, fields: Mapping[str, Any]) -> str:
    """One sentence about one mistake in a schema: an unknown key if there is one, since it explains a missing one."""
    found = error.errors(include_url=False, include_context=False)
    first = next((problem for problem in found if problem["type"] == "extra_forbidden"), found[0])
    kind, place = first["type"], first["loc"]
    if kind == "value_error":
        return str(first["msg"].removeprefix("Value error, "))
    said = COMPLAINTS.get(kind, first["msg"].removeprefix("Input "))
    if place[0] == "column" and len(place) > 1:
        column = fields["column"][place[1]]
        name = column.get("name") if isinstance(column, Mapping) else None
        return f"a column {said}" if name is None else f"column {name!r} {said}"
    inside = kind == "missing" and len(place) > 1  # an item of a list, not a key
    return f"{place[0]} {'is too short' if inside else said}"


def receipt_rows(receipt: Any) -> list[tuple[str, str]]:
    """What a receipt says, line by line."""
    reason = "the noise was seeded" if receipt.noise == "seeded" else "the rows were declared public"
    mark = "yes" if receipt.private else f"NO: {reason}"
    rows = [("asked", f"{receipt.verb} {receipt.question}"), ("of", receipt.data)]
    rows += [("cost", f"epsilon {amount(receipt.epsilon)}"), ("protects", receipt.protects), ("private", mark)]
    rows += [("noise", receipt.noise), ("entry", f"{receipt.number} of ledger {receipt.ledger[:8]}")]
    return [*rows, ("time", receipt.time), *([("part", receipt.account)] if receipt.account != "/" else [])]


def ledger_title(ledger: Any) -> str:
    """The limit of a ledger, and what is spent of it."""
    spent, limit = ledger.spent, ledger.limit
    return f"Ledger '{readable(ledger.name)}': {amount(spent)} of {amount(limit)} spent, {amount(limit - spent)} left"


def ledger_text(ledger: Any) -> str:
    """A ledger with its latest receipts."""
    receipts = ledger.receipts()
    hidden, unsafe = len(receipts) - SHOWN, sum(not receipt.private for receipt in receipts)
    lines = [ledger_title(ledger), *[f"  ... {hidden} earlier answers"] * (hidden > 0)]
    lines += [f"  {amount(r.epsilon):>8}  {r.verb} {readable(r.question, LONG)}" for r in receipts[-SHOWN:]]
    return "\n".join(lines + [f"  not private: {unsafe} of {len(receipts)} answers"] * (unsafe > 0))


def ledger_html(ledger: Any) -> str:
    """The same for notebooks."""
    rows = [(r.number, amount(r.epsilon), r.verb, r.question, r.private, r.time) for r in ledger.receipts()[-SHOWN:]]
    return html_table(ledger_title(ledger), ["entry", "epsilon", "verb", "question", "private", "time"], rows)


def release_title(release: Any) -> str:
    """What a release answers, what it cost and what its noise does."""
    receipt = release.receipt
    noise = f", noise scale {number(release.scale)}" if release.scale is not None else ""
    if receipt.verb.startswith("count"):
        noise += f" (95 % of counts within {release.error()})"
    what, mark = f"{receipt.verb} {readable(receipt.question, LONG)}", "" if receipt.private else "; NOT private"
    return f"Release: {what} for epsilon {amount(receipt.epsilon)}{noise}{mark}"


def release_rows(release: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The header and the rows of a table that shows a release."""
    try:
        columns = release.columns()
    except TypeError:
        value = release.value
        return ["value"], [(value.describe() if hasattr(value, "describe") else value,)]
    return list(columns), list(zip(*columns.values(), strict=True))


def release_text(release: Any) -> str:
    """A release in plain text."""
    return text_table(release_title(release), *release_rows(release), all_in=".columns()")


def release_html(release: Any) -> str:
    """The same for notebooks."""
    return html_table(release_title(release), *release_rows(release), all_in=".columns()")


def html_table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[object]], most: int | None = SHOWN, all_in: str = ""
) -> str:
    """A small HTML table for notebooks: its first rows, how many there are more, and where; every cell is escaped."""
    rows = list(rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows[:most])
    rest = _hidden(len(rows), most, all_in)
    foot = f'<tfoot><tr><td colspan="{len(header)}">{escape(rest)}</td></tr></tfoot>' if rest else ""
    title = f"<caption>{escape(caption)}</caption>"
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table>"


def _hidden(rows: int, most: int | None, all_in: str) -> str:
    """How many rows of a table are not shown, and where all are; nothing if none are hidden."""
    if most is None or rows <= most:
        return ""
    return f"... {rows - most:,} more row{'s' * (rows > most + 1)}{f'; all are in {all_in}' if all_in else ''}"


def text_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[object]], all_in: str = "") -> str:
    """A small table in plain text: its first rows, how many there are more, and where."""
    cut = [[readable(cell) for cell in row] for row in rows[:SHOWN]]
    widths = [max(map(len, column)) for column in zip(map(readable, header), *cut, strict=True)]
    lines = ["  " + "  ".join(map(str.ljust, map(readable, row), widths)).rstrip() for row in [header, *cut]]
    rest = _hidden(len(rows), SHOWN, all_in)
    return "\n".join([caption, *lines] + [f"  {rest}"] * bool(rest))
