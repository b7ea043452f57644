"""veil audit: look for privacy violations, in Veil's own mechanisms and in deliberately broken twins."""

import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from ..errors import BadInput
from .output import Json, console, echo, print_json, progress_bar, show_table

WIDE = 140
KEPT = Path("veil-audit.jsonl")
STARTED = monotonic()
TITLE = "Audit: lower bounds on the epsilon that is really lost"
LEGEND = """bound: at least this much is lost, with 99.9 % confidence for all cases together; never a proof of privacy.
at claim: the bound that a mechanism which loses exactly its claim would get, so what this audit can tell apart.
could see: the largest bound that so many runs can give."""


def audit(
    deep: Annotated[
        bool, typer.Option("--deep", help="Many more trials, fresh noise: about two hours over the number of cores.")
    ] = False,
    only: Annotated[str | None, typer.Option(help="Only cases whose name contains this.")] = None,
    keep: Annotated[
        Path, typer.Option(help="With --deep, where finished cases wait for the next start if it is stopped.")
    ] = KEPT,
    jobs: Annotated[int | None, typer.Option(min=1, help="Cases at a time; with --deep one a core if absent.")] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Test the promise by attack: ask tables that differ in one row, and see whether the answers tell them apart.

    None of Veil's questions may be caught. Every twin of one, broken on purpose, must be: else the attack is too weak.
    """
    from .. import audit as auditing  # takes longer to load than the other commands to run

    several = jobs or (os.cpu_count() or 1 if deep else 1)
    with progress_bar(as_json) as bar:
        tell = _on_bar(bar) if not bar.disable else _in_lines if deep else None
        findings = auditing.audit(deep, tell, only, keep if deep else None, several)
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


def _on_bar(bar: Any) -> Callable[[str, int, int], None]:
    """A listener that shows the next case and the number of cases on a progress bar."""
    task = bar.add_task("auditing", total=None)

    def tell(name: str, done: int, total: int) -> None:
        bar.update(task, description=f"{name} ({done} of {total} done)", completed=done, total=total)

    return tell


def _in_lines(name: str, done: int, total: int) -> None:
    """Print a line for each case, if there is no terminal for a bar."""
    echo(f"{done} of {total} done after {(monotonic() - STARTED) / 60:.0f} min; next: {name}", err=True)
