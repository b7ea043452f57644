"""veil audit: look for privacy violations, in Veil's own mechanisms and in deliberately broken twins."""

from typing import Annotated

import typer

from ..errors import BadInput
from .output import Json, console, print_json, progress_bar, show_table

WIDE = 140
TITLE = "Audit: lower bounds on the epsilon that is really lost"
LEGEND = """bound: at least this much is lost, with 99.9 % confidence for all cases together; never a proof of privacy.
at claim: the bound that a mechanism which loses exactly its claim would get, so what this audit can tell apart.
could see: the largest bound that so many runs can give."""


def audit(
    deep: Annotated[
        bool, typer.Option("--deep", help="Many more trials, fresh noise; takes up to half an hour.")
    ] = False,
    only: Annotated[str | None, typer.Option(help="Only cases whose name contains this.")] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Attack every mechanism on neighbouring tables: none of ours may be caught, every broken twin must be."""
    from .. import audit as auditing  # takes longer to load than the other commands to run

    with progress_bar(as_json) as progress:
        task = progress.add_task("auditing", total=None)
        findings = auditing.audit(
            deep=deep,
            only=only,
            progress=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
        )
    if not findings:
        raise BadInput(f"no case is called {only!r}: leave out --only to see all of them")
    header, rows = auditing.table(findings)
    if as_json:
        print_json([auditing.facts(finding) for finding in findings])
    else:
        shown = len(header) - (console.width < WIDE)  # the event found is in the last column
        show_table(TITLE, header[:shown], [row[:shown] for row in rows])
        console.print(LEGEND, markup=False)
    wrong = [finding.name for finding in findings if not finding.as_expected]
    if not as_json:
        console.print("All as expected." if not wrong else f"NOT as expected: {', '.join(wrong)}", markup=False)
    if wrong:
        raise typer.Exit(1)
