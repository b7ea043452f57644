"""Build the documentation: the pages that are generated, then the site, in `build/site`."""

import os
from collections.abc import Iterator
from importlib import import_module

from .. import DOCS, ROOT

PAGES = (
    *("cards", "choice", "choice_ranges", "claims", "comparison", "more", "ranges", "reproduction", "reproduction_roc"),
    *("scale", "selected", "synthetic", "trees"),
)


def command_line() -> str:
    """The help of every command, as one page."""
    os.environ.update(COLUMNS="100", TERM="dumb", NO_COLOR="1", _TYPER_FORCE_DISABLE_TERMINAL="1")
    from typer.main import get_command

    from veil.cli import app

    intro = "# The command line\n\nGenerated from the commands' own help by `make docs`.\n\n"
    codes = "Exit codes: 0 success, 2 bad input, 3 the budget refuses, 1 anything else.\n"
    codes += "With `--json`, an amount of epsilon is a number under its name, and beside it the exact one as text: "
    codes += '`"epsilon": 0.1, "epsilon_exact": "1/10"`. Receipts have the exact text alone, as the ledger has it.\n'
    return intro + codes + "".join(_help(get_command(app), ["veil"]))


def _help(command, path: list[str]) -> Iterator[str]:
    from typer.testing import CliRunner

    from veil.cli import app

    said = CliRunner().invoke(app, [*path[1:], "--help"], prog_name="veil", terminal_width=100).output
    lines = "\n".join(line.rstrip() for line in said.strip().splitlines())
    yield f"\n## {' '.join(path)}\n\n```text\n{lines}\n```\n"
    for name, inside in sorted(getattr(command, "commands", {}).items()):
        yield from _help(inside, [*path, name])


if __name__ == "__main__":
    from .site import render

    (DOCS / "cli.md").write_text(command_line(), encoding="utf-8")
    for name in PAGES:
        import_module(f".{name}", __package__).write()
    render(ROOT / "build" / "site")
    print("Wrote the generated pages, and the site: open build/site/index.html")
