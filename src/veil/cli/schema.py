"""veil schema: write and check the public description of a table."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..display import column_rows, readable
from ..drafts import BY_NAME, BY_YOU, Proposal, ask_about, draft, label_of, proposals, told, with_label
from ..errors import BadInput
from ..files.tables import RowFile, new_file
from ..markup import plural
from ..owner import (
    BANNER,
    CAUTION,
    Fit,
    Lost,
    cut_lines,
    fit_of,
    lost_of,
    proposed_toml,
    spelling_lines,
    stranger_lines,
)
from ..plans.finding.bins import MOST
from ..schema import Schema
from .bounds import careless, searched, within
from .output import Encoding, Json, Multiline, console, echo, print_json, show_table

app = typer.Typer(
    help="Write and check the public description of a table.",
    epilog="Example: veil schema check survey.toml",
    no_args_is_help=True,
)
LINES = "Lines left out, because they have too few or too many fields"
MOST_NAMED = 12
FINE = (
    "That is fine: models find bins within them, privately, for a part of epsilon. For bins of your own write `edges`, "
    'for those that follow from the bounds `bins = "public"`.'
)
CLASSES = "Rows left out, because their label is not a declared class"


@app.command(epilog="Example: veil schema new survey.csv --label income:low,high --out survey.toml")
def new(
    data: Annotated[
        Path, typer.Argument(help="CSV, gzipped CSV or Parquet; only the names and declared types are read.")
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write the draft; the terminal if absent.")] = None,
    label: Annotated[
        str | None,
        typer.Option(
            help="The column to predict, and its classes if you like: income:low,high; none for publishing only."
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="What a column holds: 'age: 18 to 97' (whole numbers; 'rate: 0.0 to 6.0' if not), 'town: Bonn, Oslo', "
            "'notes: text' or 'code: skip'."
        ),
    ] = None,
    ask: Annotated[
        bool | None,
        typer.Option(
            "--ask/--no-ask", help="Ask about each column, or do not; on a terminal it is asked if you say neither."
        ),
    ] = None,
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Draft a schema from the column names alone, to be completed from public knowledge."""
    types = RowFile(data, encoding, multiline).types()
    found: Sequence[Proposal] = told(proposals(types), column or ())
    answers = ask if ask is not None else out is not None and sys.stdin.isatty() and sys.stdout.isatty()
    target, classes = label_of(label, found)
    if out is None:
        echo(_draft(data, types, *_complete(found, target, classes, answers, label)), nl=False)
        return
    with new_file(out, force=force) as place:  # which complains before anything is asked
        found, target, source = _complete(found, target, classes, answers, label)
        place.write_text(_draft(data, types, found, target, source), encoding="utf-8")
    echo(f"Wrote {out}{_summary(found, target)}")
    echo(_next(data, out, found, target))


def _draft(data: Path, types: Mapping[str, str], found: Sequence[Proposal], target: str | None, source: str) -> str:
    return draft(data.name.split(".")[0], found, target, any(types.values()), source)


def _complete(
    found: Sequence[Proposal], target: str | None, classes: Sequence[str], answers: bool, label: str | None
) -> tuple[Sequence[Proposal], str | None, str]:
    """The proposals, the label and where it was taken from, after asking questions if `answers` are given."""
    if answers:
        target, classes = (target, classes) if label else _ask_label(target, found)
        found = _asked(found, target, bool(classes))
    found = with_label(found, target, classes) if target and (classes or not answers) else found
    return found, target, BY_YOU if label or answers else BY_NAME


def _summary(found: Sequence[Proposal], target: str | None) -> str:
    """A sentence on how many columns of a draft are guessed, and how many are to be filled in."""
    kept = [proposal for proposal in found if not proposal.left_out]
    guessed = sum(bool(proposal.source) for proposal in kept) - sum(p.is_open and bool(p.source) for p in kept)
    parts = {"left out": [proposal.name for proposal in found if proposal.left_out], "to fill in": _open(found, target)}
    said = [f"; {what}: {', '.join(map(_shown, names))}" for what, names in parts.items() if names]
    unlabelled = " It has no label, which publishing does not need; training does." * (target == "")
    return f": {guessed} of {len(found)} columns proposed{''.join(said)}.{unlabelled}"


def _shown(name: str) -> str:
    return readable(name) if name.strip() else "a column without a name"


def _open(found: Sequence[Proposal], target: str | None) -> list[str]:
    """The columns in which something has to be filled in, and the label if it is missing."""
    return [p.name for p in found if p.is_open and not p.left_out] + ["the label (which column to predict)"] * (
        target is None
    )


def _next(data: Path, out: Path, found: Sequence[Proposal], target: str | None) -> str:
    """What to do next with a draft, as text."""
    if _open(found, target):
        return f"Complete it from public knowledge, then run: veil schema check {out}"
    return f"Read it, and correct it from public knowledge. Then run: veil schema check {out} --rows {data}"


def _prompt(text: str) -> str:
    return str(typer.prompt(text, default="", show_default=False, err=True))


def _say(text: str) -> None:
    echo(text, err=True)


def _ask_label(guess: str | None, found: Sequence[Proposal]) -> tuple[str | None, tuple[str, ...]]:
    """Ask for the column to predict and its classes; an empty answer takes the guess."""
    while True:
        answer = _prompt(f"Column to predict, such as income or income:low,high [{readable(guess or 'none')}]").strip()
        try:
            return label_of(answer, found) if answer else (guess or "", ())
        except BadInput as problem:
            _say(str(problem))


def _asked(found: Sequence[Proposal], target: str | None, known: bool) -> list[Proposal]:
    """The proposals after asking about every column, except a label whose classes are known."""
    _say("For each column: Enter to accept, `18 to 97`, `2015-01-01 to 2024-12-31`, `a, b, c`, `text` or `skip`.")
    found = with_label(found, target, ()) if target else found
    return [p if known and p.name == target else ask_about(p, _prompt, _say) for p in found]


@app.command(epilog="Example: veil schema check survey.toml --rows survey.csv")
def check(
    schema: Annotated[Path, typer.Argument(help="The schema, a TOML file.")],
    rows: Annotated[
        Path | None, typer.Option(help="Also show how these rows fit. For the owner only, NOT private.")
    ] = None,
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Check a schema, and show the bins and categories that it makes; with --rows, how a table fits it."""
    public = Schema.read(schema)
    file = RowFile(rows, encoding, multiline) if rows else None
    fits = list(fit_of(file.read(), public)) if file else []
    if as_json:
        classes = {public.label: len(public.classes)}  # rows without a declared class are left out
        codes = {column.name: classes.get(column.name, column.size) for column in public.column}
        names = [column.name for column in searched(public)]
        found = {"found in the rows": names} if names else {}
        print_json(
            {"name": public.name, "codes": codes, **found, **(_exact(fits, lost_of(file, public)) if file else {})}
        )
        return
    show_table(f"Schema '{public.name}' is sound", ["column", "kind", "codes", "of"], _rows(public))
    _say_unit(public)
    _say_careless(public)
    if file:
        console.print(BANNER, style="bold red")
        header = ["column", "kind", "as declared", "clipped", "unknown or missing"]
        show_table(f"How {rows} fits", header, [_counted(fit) for fit in fits])
        lost = lost_of(file, public)
        console.print(f"{LINES}: {lost.lines:,} of {lost.of_lines:,}")
        console.print(f"{CLASSES}: {lost.rows:,} of {lost.of_rows:,}")
        if cut := [*cut_lines(fits)]:
            console.print("\nDeclared as whole numbers:", style="bold")
            console.print("\n".join(cut), markup=False, soft_wrap=True)
        _show_strangers(fits, public)


def _rows(schema: Schema) -> Iterator[tuple[str, str, str, str]]:
    """A row of the table about each column; bins that a model will find cannot be shown yet."""
    found = {column.name: within(column) for column in searched(schema)}
    for column, (name, kind, codes, shown) in zip(schema.column, column_rows(schema), strict=True):
        unknown = column.name in found
        yield name, kind, f"up to {MOST + 3}" if unknown else codes, found[column.name] if unknown else shown


def _say_unit(schema: Schema) -> None:
    """Print what is protected, if it is not a row: of a person, rows beyond the declared number have no say."""
    if schema.person:
        rows, name = plural(schema.rows_per_person, "row"), readable(schema.person)
        kept = f"of each {name}, {rows} drawn at random will be kept, and no row without one"
        more = "if people have more rows than that, rows_per_person = N keeps more, for N times the noise"
        console.print(f"A person is protected, not a row: {kept}; {more}.", markup=False, soft_wrap=True)


def _say_careless(schema: Schema) -> None:
    """Print which bounds look careless, judged by themselves alone, and that this does no harm."""
    looks = [(readable(column.name), why) for column in searched(schema) if (why := careless(column))]
    if looks:
        listed = ", ".join(f"{name} ({why})" for name, why in looks[:MOST_NAMED])
        rest = f" and {len(looks) - MOST_NAMED} more" if len(looks) > MOST_NAMED else ""
        console.print(f"Bounds that look careless: {listed}{rest}. {FINE}", markup=False, soft_wrap=True)


def _counted(fit: Fit) -> tuple[Any, ...]:
    """A row of the table about one column; of clipped values also the share: a few are harmless, many are not."""
    rows = fit.declared + fit.clipped + fit.missing
    share = f" ({fit.clipped / rows:.1%})" if fit.clipped else ""
    return fit.column, fit.kind, fit.declared, f"{fit.clipped}{share}", fit.missing


def _show_strangers(fits: Sequence[Fit], public: Schema) -> None:
    """Print the unknown values, and TOML that would declare them."""
    lines, toml = [*stranger_lines(fits, public), *spelling_lines(fits, public)], [*proposed_toml(fits, public)]
    if lines:
        console.print("\nNot as declared, the most frequent values first:", style="bold")
        console.print("\n".join(lines), markup=False, soft_wrap=True)
    if toml:
        console.print("", CAUTION, "", *toml, sep="\n", markup=False, soft_wrap=True)


def _exact(fits: list[Fit], lost: Lost) -> dict[str, Any]:
    """How rows fit the schema, as plain values for JSON."""
    return {"not private": [vars(fit) for fit in fits], "left out, not private": vars(lost)}
