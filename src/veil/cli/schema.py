"""veil schema: write and check the public description of a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..display import column_rows
from ..files import RowFile
from ..owner import BANNER, Fit, Lost, draft, fit_of, lost_of
from ..schema import Schema
from .output import Encoding, Json, Multiline, console, echo, print_json, show_table, write_text

app = typer.Typer(
    help="Write and check the public description of a table.",
    epilog="Example: veil schema check survey.toml",
    no_args_is_help=True,
)
LINES = "Lines left out, because they have too few or too many fields"
CLASSES = "Rows left out, because their label is not a declared class"


@app.command(epilog="Example: veil schema new survey.csv --out survey.toml")
def new(
    data: Annotated[
        Path, typer.Argument(help="CSV, gzipped CSV or Parquet; only the names and declared types are read.")
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write the draft; the terminal if absent.")] = None,
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Draft a schema from the column names alone, to be completed from public knowledge."""
    text = draft(data.name.split(".")[0], RowFile(data, encoding, multiline).types())
    if out is None:
        echo(text, nl=False)
        return
    write_text(out, text, force)
    echo(f"Wrote {out}. Complete it from public knowledge, then run: veil schema check {out}")


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
    """Check a schema and show its codes; with --rows, how a table fits it."""
    public = Schema.read(schema)
    file = RowFile(rows, encoding, multiline) if rows else None
    fits = list(fit_of(file.read(), public)) if file else []
    if as_json:
        classes = {public.label: len(public.classes)}  # rows without a declared class are left out
        codes = {column.name: classes.get(column.name, column.size) for column in public.column}
        print_json({"name": public.name, "codes": codes, **(_exact(fits, lost_of(file, public)) if file else {})})
        return
    show_table(f"Schema '{public.name}' is sound", ["column", "kind", "codes", "of"], column_rows(public))
    if file:
        console.print(BANNER, style="bold red")
        header = ["column", "kind", "as declared", "clipped", "unknown or missing"]
        show_table(f"How {rows} fits", header, [tuple(vars(fit).values()) for fit in fits])
        lost = lost_of(file, public)
        console.print(f"{LINES}: {lost.lines:,} of {lost.of_lines:,}")
        console.print(f"{CLASSES}: {lost.rows:,} of {lost.of_rows:,}")


def _exact(fits: list[Fit], lost: Lost) -> dict[str, Any]:
    """How rows fit, for machines."""
    return {"not private": [vars(fit) for fit in fits], "left out, not private": vars(lost)}
