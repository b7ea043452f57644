"""What all commands share: tables on the terminal, JSON, and files that are written whole or not at all."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from ..addresses import is_address
from ..display import exact_text, printable, readable
from ..errors import BadInput
from ..files.tables import new_file, writing
from ..progress import Line, told

MOST = 1000  # letters of one cell
MOST_FLOAT = 1e300
UNLIMITED = 10_000  # letters of a line that no terminal cuts


def _width() -> int | None:
    """The width of output: None for a terminal (Rich finds it out), unlimited for a file or a program."""
    return None if sys.stdout.isatty() or "COLUMNS" in os.environ else UNLIMITED


class SafeConsole(Console):
    """A console that prints no control characters: a name in a schema may hold any."""

    def print(self, *things: Any, **how: Any) -> None:
        super().print(*(printable(thing, "\n") if isinstance(thing, str) else thing for thing in things), **how)


console = SafeConsole(highlight=False, width=_width())
Json = typer.Option("--json", help="Print JSON for machines.")
Encoding = Annotated[str, typer.Option(help="How a CSV is written: utf-8, latin-1, cp1252, utf-16 or another.")]
Multiline = Annotated[
    bool, typer.Option("--multiline", help="Values of a CSV may hold line ends; a stray quote can then swallow lines.")
]


def show_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table, numbers to the right; nothing is cut. The first column, which people type again, does not wrap."""
    console.print(
        printable(title), style="bold", markup=False
    )  # the title of a narrow table would be broken to its width
    table = Table(box=box.SIMPLE_HEAD)
    cells = [[readable(cell, MOST) for cell in row] for row in rows]
    for i, name in enumerate(header):
        numeric = bool(cells) and all(row[i].replace(",", "").lstrip("-").replace(".", "").isdigit() for row in cells)
        least = max((cell_len(row[0]) for row in cells), default=0) if i == 0 else None
        side: Literal["right", "left"] = "right" if numeric else "left"
        table.add_column(escape(printable(name)), justify=side, overflow="fold", no_wrap=i == 0, min_width=least)
    for row in cells:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table)


def progress_bar(quiet: bool) -> Progress:
    """A progress bar on the error stream; none if `quiet`, or if nobody sees it there."""
    # asked of the stream itself: a console may be told by the environment that any file is a terminal
    return Progress(console=Console(stderr=True), transient=True, disable=quiet or not sys.stderr.isatty())


@contextmanager
def steps(*names: str, quiet: bool = False) -> Iterator[Callable[[], None]]:
    """A progress bar over named steps, with a line below it about the work inside a step; call the yielded function at
    the end of each. It tells nothing about the rows."""
    with progress_bar(quiet) as bar:
        task, inside = bar.add_task(names[0], total=len(names)), Line(bar)
        coming = iter([*names[1:], "done"])

        def step() -> None:
            inside.clear()
            bar.update(task, advance=1, description=next(coming))

        with told(inside):
            yield step


class Stopped(SystemExit):
    """Raised when a command was interrupted and has already said what that means."""


def check_paths(out: Path | None, *paths: Path | str | None) -> None:
    """Raise if one file has two purposes: writing one would destroy the other. The folder of `out` must exist."""
    if out and not out.parent.is_dir():
        raise BadInput(f"{out} cannot be written: there is no folder {out.parent}; make it first")
    named = [path.resolve() for path in files_of(out, *paths)]
    if len(set(named)) < len(named):
        raise BadInput("one path is given for two files: what is read and what is written must be different files")


def files_of(*places: Path | str | None) -> list[Path]:
    """The paths among these, without addresses of databases."""
    return [Path(place) for place in places if place is not None and not is_address(place)]


def amounts(**exact: Fraction | float) -> dict[str, Any]:
    """Amounts for JSON: each as a number under its name, and the exact fraction as text beside it."""
    numbers = {name: as_number(value) for name, value in exact.items()}
    fractions = {name: value for name, value in exact.items() if isinstance(value, Fraction)}
    return {**numbers, **{f"{name}_exact": exact_text(value) for name, value in fractions.items()}}


def as_number(value: Fraction | float) -> float:
    """A number that JSON can hold: a float, or an integer if it is too large for one."""
    return float(value) if -MOST_FLOAT < value < MOST_FLOAT else int(value)


def echo(text: str, nl: bool = True, err: bool = False) -> None:
    """Print text without its control characters."""
    typer.echo(printable(text, "\n"), nl=nl, err=err)


def print_json(value: Any) -> None:
    echo(json.dumps(value, indent=2))


def write_text(path: Path, text: str, force: bool = False) -> None:
    """Write a new file, whole or not at all; an existing one is replaced only with `force`."""
    with new_file(path, force=force) as draft, writing(path):
        draft.write_text(text, encoding="utf-8")
