"""Build the documentation: `docs/cli.md` from the commands' own help, then every page as HTML in `site/`."""

import os
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parent.parent
PAGES = {
    "index": ROOT / "README.md",
    **{name: ROOT / "docs" / f"{name}.md" for name in ("promise", "how-it-works", "kernel", "errata", "cli")},
    **{name.lower(): ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG")},
}
STYLE = (
    "body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:1rem/1.55 system-ui;color:#222}nav a{margin-right:1rem}"
    "pre{background:#f6f6f4;padding:.8rem;overflow:auto}code{font-size:.9em}table{border-collapse:collapse}"
    "td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;text-align:left;vertical-align:top}"
)


def command_line() -> str:
    """The help of every command, as one page."""
    os.environ.update(COLUMNS="100", TERM="dumb", NO_COLOR="1", _TYPER_FORCE_DISABLE_TERMINAL="1")
    from typer.main import get_command

    from veil.cli import app

    intro = "# The command line\n\nGenerated from the commands' own help by `make docs`.\n\n"
    codes = "Exit codes: 0 success, 2 bad input, 3 the budget refuses, 1 anything else.\n"
    return intro + codes + "".join(_help(get_command(app), ["veil"]))


def _help(command, path: list[str]) -> Iterator[str]:
    from typer.testing import CliRunner

    from veil.cli import app

    said = CliRunner().invoke(app, [*path[1:], "--help"], prog_name="veil", terminal_width=100).output
    lines = "\n".join(line.rstrip() for line in said.strip().splitlines())
    yield f"\n## {' '.join(path)}\n\n```text\n{lines}\n```\n"
    for name, inside in sorted(getattr(command, "commands", {}).items()):
        yield from _help(inside, [*path, name])


def render(site: Path) -> None:
    """Every page as HTML, with links between them."""
    markdown = MarkdownIt("commonmark").enable("table")
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir()
    nav = "".join(f'<a href="{name}.html">{escape(name)}</a>' for name in PAGES)
    for name, path in PAGES.items():
        body = markdown.render(path.read_text(encoding="utf-8"))
        for other, target in PAGES.items():
            for link in (target.name, f"docs/{target.name}", target.stem):
                body = body.replace(f'href="{link}"', f'href="{other}.html"')
        head = f"<!doctype html><meta charset=utf-8><title>Veil: {name}</title><style>{STYLE}</style>"
        (site / f"{name}.html").write_text(f"{head}<nav>{nav}</nav>{body}", encoding="utf-8")


if __name__ == "__main__":
    (ROOT / "docs" / "cli.md").write_text(command_line(), encoding="utf-8")
    render(ROOT / "site")
    print(f"Wrote docs/cli.md and {len(PAGES)} pages in site/.")
