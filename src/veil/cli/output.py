"""What commands share: tables on the terminal, JSON for machines, files that are whole or absent."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from ..display import readable
from ..errors import BadInput
from ..files import new_file

MOST = 1000  # letters of one cell
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for the start of a formula
console = Console(highlight=False)
Json = typer.Option("--json", help="Print JSON for machines.")


def show_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; numbers to the right."""
    table = Table(title=escape(title), box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    cells = [[str(cell) for cell in row] for row in rows]
    for i, name in enumerate(header):
        numeric = bool(cells) and all(row[i].replace(",", "").lstrip("-").replace(".", "").isdigit() for row in cells)
        table.add_column(escape(name), justify="right" if numeric else "left")
    for row in cells:
        table.add_row(*(escape(readable(cell, MOST)) for cell in row))
    console.print(table)


@contextmanager
def steps(*names: str) -> Iterator[Callable[[], None]]:
    """A progress bar over named steps; call what it yields at the end of each. It tells nothing about the rows."""
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(names[0], total=len(names))
        coming = iter([*names[1:], "done"])
        yield lambda: progress.update(task, advance=1, description=next(coming))


def check_paths(*paths: Path | None) -> None:
    """Refuse one file for two purposes: writing one would destroy the other."""
    named = [path.resolve() for path in paths if path]
    if len(set(named)) < len(named):
        raise BadInput("one path is given for two files: what is read and what is written must be different files")


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2))


def write_text(path: Path, text: str, force: bool = False) -> None:
    """Write a new file, whole or not at all; an existing one only if asked to."""
    with new_file(path, force=force) as draft:
        draft.write_text(text, encoding="utf-8")
