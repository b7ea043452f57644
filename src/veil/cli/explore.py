"""veil explore: a page on this machine that shows what privacy costs before it is paid, and what was paid."""

from pathlib import Path
from typing import Annotated

import typer

from .output import console, echo, write_text


def explore(
    results: Annotated[
        list[Path] | None,
        typer.Option(help="Results of veil compare, of classifiers or of ranges; may be given several times."),
    ] = None,
    schema: Annotated[
        list[Path] | None, typer.Option(help="A schema to plan for, a TOML file; may be given several times.")
    ] = None,
    ledger: Annotated[list[Path] | None, typer.Option(help="A ledger in a file; may be given several times.")] = None,
    watch: Annotated[
        Path | None, typer.Option(help="A folder: models and tables that are written there show up.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen on this machine; a free port for 0.")
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write the same views to one file, and serve nothing.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Open a page on this machine: compare methods, plan a model, read the ledger, ask what was published.

    It never opens rows and never charges: every path ends in a command, a script or a notebook to copy.
    """
    from ..explore.given import Given
    from ..explore.serve import serve

    given = Given(tuple(results or ()), tuple(schema or ()), tuple(ledger or ()), watch)
    given.check()
    if export is not None:
        from ..explore.export import export as exported

        write_text(export, exported(given), force)
        console.print(f"Wrote {export}: one file, to open in any browser.", markup=False)
        return
    serve(given, port, _tell, not no_browser)


def _tell(address: str) -> None:
    echo(f"Open {address}")
    echo("It is for you alone: whoever has this address sees what you see. Ctrl-C ends it.")
