"""How exact amounts, schemas and small tables look, in text and in Jupyter."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from html import escape
from math import ceil, floor, log10
from typing import Any, NamedTuple

SHOWN = 20  # rows of a release, receipts of a ledger
LARGE = {6: "million", 9: "billion", 12: "trillion"}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # of classes, for all eyes
LONG = 1000  # letters of a question
BROAD = 0.05  # half of an interval from which on the third digit of a mean is not known
TOLD = 12  # names of columns in a sentence
DIGITS = 60  # of an exact amount
AMOUNT = re.compile(r"[1-9][0-9]{0,3999}(/[1-9][0-9]{0,3999})?")
PIECE = 4000  # digits that are written out at once


def amount(value: Fraction) -> str:
    """An exact fraction as people write it: 0.25, or 1/3 where no short decimal is exact; its size if it is too long.

    >>> amount(Fraction(1, 4)), amount(Fraction(1, 3)), amount(Fraction(2)), amount(Fraction(10**400))
    ('0.25', '1/3', '2', 'about 10^400')
    """
    if max(abs(value.numerator), value.denominator).bit_length() > 4 * DIGITS or len(str(value)) > DIGITS:
        size = log10(abs(value.numerator)) - log10(value.denominator)
        return f"about {float(value):.3g}" if abs(size) < 15 else f"about 10^{size:.0f}"
    for digits in range(9):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            text = f"{scaled.numerator:0{digits + 1}d}"
            return f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return str(value)


def exact_text(value: Fraction) -> str:
    """An exact fraction, however long; Python by itself writes out no more than 4,300 digits.

    >>> exact_text(Fraction(1, 3)), len(exact_text(Fraction(10**9999)))
    ('1/3', 10000)
    """
    return (
        _digits(value.numerator)
        if value.denominator == 1
        else f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    )


def _digits(value: int) -> str:
    high, low = divmod(value, 10**PIECE)
    return f"{_digits(high)}{low:0{PIECE}d}" if high > 0 else str(value)


def number(value: float) -> str:
    """About three significant digits, and all those before the point of numbers that people still write out.

    >>> number(0.12345), number(1234567.8), number(1e300)
    ('0.123', '1,234,568', '1e+300')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 10**15 else f"{value:.3g}"


def with_margin(mean: float, margin: float | None) -> str:
    """A mean and half of its interval, with two digits where the third is not known.

    >>> with_margin(0.8241, 0.0042), with_margin(0.8241, 0.0718), with_margin(0.8241, None)
    ('0.824 ± 0.004', '0.82 ± 0.07', '0.824')
    """
    if margin is None:
        return f"{mean:.3f}"
    digits = 2 if margin >= BROAD else 3
    return f"{mean:.{digits}f} ± {margin:.{digits}f}"


def percent(share: float) -> str:
    """A share in per cent, with the two digits that an estimate has.

    >>> percent(0.05123), percent(0.00129), percent(1)
    ('5.1 %', '0.13 %', '100 %')
    """
    return f"{float(f'{100 * share:.2g}'):g} %"


def whole_rows(value: float) -> str:
    """About how many rows, in whole ones and at least one: there are no 34.7 rows.

    >>> whole_rows(34.7), whole_rows(0.2), whole_rows(12345.6)
    ('35 rows', '1 row', '12,346 rows')
    """
    count = max(round(value), 1)
    return "1 row" if count == 1 else f"{count:,} rows"


def row_count(value: float) -> str:
    """About how many rows, to a tenth: an answer has 4.05e-05 rows only on paper.

    >>> row_count(12.34)
    '12.3'
    """
    return number(round(value, 1) + 0.0)  # no -0


def between_rows(low: float, high: float, word: str = "to") -> str:
    """An interval of numbers of rows, in whole ones that hold it.

    >>> between_rows(0.612, 35.3), between_rows(1130.2, 1169.9, "and")
    ('0 to 36', '1,130 and 1,170')
    """
    return f"{floor(low):,} {word} {ceil(high):,}"


def brief(seconds: float) -> str:
    """Seconds in few letters.

    >>> brief(0.01), brief(0.423), brief(75.4)
    ('<0.1', '0.4', '75')
    """
    return "<0.1" if seconds < 0.1 else f"{seconds:.1f}" if seconds < 10 else f"{seconds:,.0f}"


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


def printable(text: object, keep: str = "") -> str:
    """Text whose unprintable characters, which could control a terminal, are spaces; except those in `keep`."""
    shown = str(text)
    return shown if shown.isprintable() else "".join(c if c.isprintable() or c in keep else " " for c in shown)


def readable(text: object, most: int = 60) -> str:
    """Text that can be shown: unprintable characters become spaces, and the middle of a long text is left out."""
    shown = printable(text)
    return shown if len(shown) <= most else f"{shown[: most // 2]}…{shown[len(shown) - (most - 1) // 2 :]}"


def absent(wanted: Sequence[object], present: Iterable[object], of: str) -> str:
    """A sentence about the columns that are not there, which names those that may be meant; "" if all are there.

    A file may have no line of names: then a row stands in its place, and a pivoted table has values as names. So a name
    is repeated only if it is like a wanted one: nearly, where one at least is there as wanted, else but for case and
    punctuation.

    >>> absent(["age", "town"], ["Age", "town"], "the rows")
    "the rows have no column 'age' (did you mean 'Age'?): check the names against the schema"
    """
    known = {name: None for name in present if isinstance(name, str)}
    if not (missing := [name for name in wanted if name not in known]):
        return ""
    named, others = len(missing) < len(wanted), [*known.keys() - {*wanted}]
    told = ", ".join(_meant(name, sorted(others), named) for name in missing[:TOLD])
    more = f" and {len(missing) - TOLD:,} more" if len(missing) > TOLD else ""
    where = "" if named or "?" in told else ", and that the first line of a file has them"
    return f"{of} have no column {told}{more}: check the names against the schema{where}"


def _meant(name: object, known: Sequence[str], named: bool) -> str:
    """A column that is absent, and the one that may be meant by it."""
    alike = {_plain(other): other for other in reversed(known)}
    near = get_close_matches(_plain(name), alike, 1, 0.8) if named else [_plain(name)] * (_plain(name) in alike)
    said = repr(readable(name)) if isinstance(name, str) else repr(name)
    return f"{said} (did you mean {readable(alike[near[0]])!r}?)" if near else said


def _plain(name: object) -> str:
    return re.sub(r"[\W_]+", "", str(name).lower())


def of_texts(schema: Any, to_publish: bool = False) -> str:
    """What to add to a complaint about too few columns, where there is a text; "" if there is none."""
    texts = [column for column in schema.column if column.kind == "text"]
    unused = [readable(column.name) for column in texts if not column.size]
    if to_publish:
        return "; free text cannot be published" * bool(texts)
    if unused:
        return f"; the text column {unused[0]!r} is used once the schema gives it buckets = 4096, or words = [...]"
    return "; words of a text are learned from by sparse-naive-bayes" * bool(texts)


def column_rows(schema: Any) -> Iterator[tuple[str, str, str, str]]:
    """A row for each column of a schema: name, kind, number of codes, and some of their names."""
    for column in schema.column:
        if column.kind == "text" and not column.size:
            yield readable(column.name), column.kind, "0", "nothing, until it has words or buckets"
            continue
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
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)


def receipt_rows(receipt: Any) -> list[tuple[str, str]]:
    """The fields of a receipt as (name, text)."""
    reason = "the noise was seeded" if receipt.noise == "seeded" else "the rows were declared public"
    mark = "yes" if receipt.private else f"NO: {reason}"
    rows = [("asked", f"{receipt.verb} {readable(receipt.question, LONG)}"), ("of", readable(receipt.data, LONG))]
    rows += [("encoded by", receipt.engine)]
    rows += [("cost", f"epsilon {amount(receipt.epsilon)}"), ("protects", receipt.protects), ("private", mark)]
    rows += [("noise", receipt.noise), ("entry", f"{receipt.number} of ledger {receipt.ledger[:8]}")]
    rows += [("time", receipt.time), *([("part", receipt.account)] if receipt.account != "/" else [])]
    words = [("for", receipt.purpose), ("file", receipt.file), ("note", receipt.note)]
    return [(name, readable(text, LONG)) for name, text in [*rows, *words] if text]


class Run(NamedTuple):
    """All that was asked from one opening of the rows on: `epsilon` is the rise of the ledger's total, `total` its
    value after the last answer; `ex_post` what was looked at lost, where that is known afterwards to be less."""

    run: str
    time: str
    purpose: str
    file: str
    note: str
    answers: int
    epsilon: Fraction
    total: Fraction
    private: bool
    ex_post: Fraction | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; amounts as exact fractions in text."""
        amounts = {"epsilon": self.epsilon, "total": self.total, "ex_post": self.ex_post}
        return self._asdict() | {name: exact_text(known) for name, known in amounts.items() if known is not None}


def runs_of(charges: Iterable[tuple[Any, Fraction]], realised: Iterable[Mapping[str, Any]] = ()) -> list[Run]:
    """Receipts (each with the ledger's total after it) grouped into runs, ordered by their last answer; `realised` are
    the ledger's records of what was lost ex-post."""
    groups: dict[tuple[str, str], list[tuple[Any, Fraction, Fraction]]] = {}
    before = Fraction(0)
    for receipt, total in charges:
        groups.setdefault((receipt.run, receipt.time), []).append((receipt, total - before, total))
        before = total
    told = {str(record.get("run")): record for record in realised}
    ordered = sorted(groups.values(), key=lambda group: group[-1][0].number)
    return [_run(group, told.get(group[0][0].run, {})) for group in ordered]


def _run(group: list[tuple[Any, Fraction, Fraction]], realised: Mapping[str, Any]) -> Run:
    first, verbs = group[0][0], dict.fromkeys(receipt.verb for receipt, _, _ in group)
    cost, private = sum((rise for _, rise, _ in group), Fraction(0)), all(receipt.private for receipt, _, _ in group)
    purpose = first.purpose or f"ask: {', '.join(verbs)}"
    whole = all(receipt.account.startswith(str(realised.get("account", "-"))) for receipt, _, _ in group)
    known = whole and realised.get("reserved") == str(cost)  # else something was asked beside what was reserved
    ex_post = Fraction(text) if known and AMOUNT.fullmatch(text := str(realised.get("ex_post"))) else None
    return Run(first.run, first.time, purpose, first.file, first.note, len(group), cost, group[-1][2], private, ex_post)


def run_rows(runs: Sequence[Run]) -> tuple[list[str], list[tuple[str, ...]]]:
    """The header and rows of a table of runs; empty columns are left out."""
    header = ["time (UTC)", "what for", "file", "note", "answers", "cost", "ex-post", "total", "private"]
    rows = [(_moment(run.time), run.purpose, run.file, run.note, str(run.answers), *_costs(run)) for run in runs]
    seldom = ("file", "note", "ex-post")
    kept = [i for i, name in enumerate(header) if name not in seldom or any(row[i] for row in rows)]
    return [header[i] for i in kept], [tuple(readable(row[i], LONG) for i in kept) for row in rows]


def _moment(time: str) -> str:
    return time[:16].replace("T", " ") if time.endswith("+00:00") else time


def _costs(run: Run) -> tuple[str, str, str, str]:
    ex_post = "" if run.ex_post is None else amount(run.ex_post)
    return amount(run.epsilon), ex_post, amount(run.total), "yes" if run.private else "NO"


def ledger_title(ledger: Any) -> str:
    """A ledger's name, its limit, and what is spent of it, in one line."""
    spent, limit = ledger.spent, ledger.limit
    return f"Ledger '{readable(ledger.name)}': {amount(spent)} of {amount(limit)} spent, {amount(limit - spent)} left"


def earlier(runs: Sequence[Run], how: str) -> list[str]:
    """A line that says how to see earlier runs, if there are any, as a list."""
    return [f"... {len(runs) - SHOWN} earlier runs: {how}"] * (len(runs) > SHOWN)


def ledger_line(ledger: Any) -> str:
    """A ledger in one line, which also says whether all of its answers are private."""
    unsafe = any(not receipt.private for receipt in ledger.receipts())
    return ledger_title(ledger) + ", not all of it private" * unsafe


def ledger_text(ledger: Any) -> str:
    """A ledger with its latest runs, as text."""
    runs = ledger.runs()
    hidden, unsafe = earlier(runs, "ledger.runs()"), sum(not run.private for run in runs)
    lines = [text_table(ledger_title(ledger), *run_rows(runs[-SHOWN:]))] if runs else [ledger_title(ledger)]
    lines += [f"  {line}" for line in hidden]
    return "\n".join(lines + [f"  not private: {unsafe} of {len(runs)} runs"] * (unsafe > 0))


def ledger_html(ledger: Any) -> str:
    """A ledger with its latest runs, as HTML for notebooks."""
    runs = ledger.runs()
    title = " ".join([f"{ledger_title(ledger)}.", *earlier(runs, "ledger.runs()")])
    return html_table(title, *run_rows(runs[-SHOWN:]))


def release_title(release: Any) -> str:
    """A release in one line: the question, its cost and its noise."""
    receipt = release.receipt
    noise = f", noise scale {number(release.scale)}" if release.scale is not None else ""
    if receipt.verb.startswith("count"):
        noise += f" (95 % of counts within {release.error()})"
    what, mark = f"{receipt.verb} {readable(receipt.question, LONG)}", "" if receipt.private else "; NOT private"
    return f"Release: {what} for epsilon {amount(receipt.epsilon)}{noise}{mark}"


def release_rows(release: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The header and rows of a table that shows a release."""
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
    """A release as HTML for notebooks."""
    return html_table(release_title(release), *release_rows(release), all_in=".columns()")


def html_table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[object]], most: int | None = SHOWN, all_in: str = ""
) -> str:
    """A small HTML table for notebooks: the first rows, how many more there are, and where; every cell is escaped."""
    rows = list(rows)
    head = "".join(f"<th>{_escaped(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows[:most])
    rest = _hidden(len(rows), most, all_in)
    foot = f'<tfoot><tr><td colspan="{len(header)}">{_escaped(rest)}</td></tr></tfoot>' if rest else ""
    title = f"<caption>{_escaped(caption)}</caption>"
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table>"


def _escaped(cell: object) -> str:
    return escape(printable(cell, "\n"))


def _hidden(rows: int, most: int | None, all_in: str) -> str:
    """A note on how many rows are not shown, and where all of them are; "" if none are hidden."""
    if most is None or rows <= most:
        return ""
    return f"... {rows - most:,} more row{'s' * (rows > most + 1)}{f'; all are in {all_in}' if all_in else ''}"


def text_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[object]], all_in: str = "") -> str:
    """A small table in plain text: the first rows, how many more there are, and where."""
    cut = [[readable(cell) for cell in row] for row in rows[:SHOWN]]
    widths = [max(map(len, column)) for column in zip(map(readable, header), *cut, strict=True)]
    lines = ["  " + "  ".join(map(str.ljust, map(readable, row), widths)).rstrip() for row in [header, *cut]]
    rest = _hidden(len(rows), SHOWN, all_in)
    return "\n".join([printable(caption), *lines] + [f"  {rest}"] * bool(rest))
