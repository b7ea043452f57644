"""veil audit: look for privacy violations, in Veil's own mechanisms and in deliberately broken twins."""

from typing import Annotated

import typer
from rich.progress import Progress

from .. import audit as auditing
from .output import Json, console, print_json, show_table


def audit(
    deep: Annotated[
        bool, typer.Option("--deep", help="Many more trials, fresh noise; takes up to half an hour.")
    ] = False,
    only: Annotated[str | None, typer.Option(help="Only cases whose name contains this.")] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Attack every mechanism on neighbouring tables: none of ours may be caught, every broken twin must be."""
    with Progress(console=console, transient=True, disable=as_json) as progress:
        task = progress.add_task("auditing", total=None)
        findings = auditing.audit(
            deep=deep,
            only=only,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
    header, rows = auditing.table(findings)
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        show_table("Audit: lower bounds on the epsilon that is really lost", header, rows)
    wrong = [finding.name for finding in findings if not finding.as_expected]
    if not as_json:
        console.print("All as expected." if not wrong else f"NOT as expected: {', '.join(wrong)}", markup=False)
    if wrong:
        raise typer.Exit(1)
