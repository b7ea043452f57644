"""Build the documentation: `docs/cli.md` from the commands' own help, then every page as HTML in `site/`."""

import os
import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from .. import DOCS, ROOT

ELSEWHERE = {"index": "README.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
NAV = {
    "Start": {"index": "Veil", "guide/tutorial": "Tutorial", "guide/publishing": "Publishing"},
    "Guides": {
        **{"guide/schema": "Schema", "guide/epsilon": "Epsilon"},
        **{"guide/selection": "Selection", "guide/evaluation": "Evaluation"},
    },
    "Methods": {"algorithms": "Algorithms", "errata": "Errata"},
    "Results": {
        **{"comparison": "Comparison", "reproduction": "Reproduction"},
        **{"trees": "Trees", "reproduction-roc": "ROC curves", "selection": "Words"},
    },
    "Privacy": {"promise": "Promise", "how-it-works": "How it works", "kernel": "Kernel"},
    "Reference": {"cli": "Command line", "contributing": "Contributing", "changelog": "Changelog"},
}
STYLE = (
    "body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:1rem/1.55 system-ui;color:#222}"
    "nav{border-bottom:1px solid #ddd;padding-bottom:.6rem}nav div{display:flex;flex-wrap:wrap;gap:0 1rem}"
    "nav b{width:6rem;font-weight:500;color:#666}nav a[aria-current]{color:inherit;text-decoration:none}"
    "pre{background:#f6f6f4;padding:.8rem;overflow:auto}code{font-size:.9em}img{max-width:100%}"
    "table{border-collapse:collapse;display:block;overflow:auto}"
    "td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;text-align:left;vertical-align:top}"
)


def pages() -> dict[str, Path]:
    """Every page by its place in the site, in the order of the navigation; one that it does not name comes last."""
    found = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
    found |= {name: ROOT / file for name, file in ELSEWHERE.items()}
    known = [name for group in NAV.values() for name in group if name in found]
    return {name: found[name] for name in dict.fromkeys([*known, *found])}


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


def render(site: Path) -> int:
    """Every page as HTML, in the folders that it has in docs, with links between them; says how many there are."""
    markdown = MarkdownIt("commonmark").enable("table")
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(DOCS / "figures", site / "figures")
    found = pages()
    for name, path in found.items():
        tokens = markdown.parse(path.read_text(encoding="utf-8"))
        _point(tokens, name, found)
        body = markdown.renderer.render(tokens, markdown.options, {})
        title = next(after.content for token, after in zip(tokens, tokens[1:], strict=False) if token.tag == "h1")
        head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{STYLE}</style>"
        page = site / f"{name}.html"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"{head}<nav>{_navigation(name, found)}</nav>{body}", encoding="utf-8")
    return len(found)


def anchor(heading: str) -> str:
    """What the end of a link to a heading is called, here as on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _point(tokens: list[Any], name: str, found: dict[str, Path]) -> None:
    """Give headings their anchors, and make links and images lead to where things are in the site."""
    for token, after in zip(tokens, tokens[1:], strict=False):
        if token.type == "heading_open":
            token.attrs["id"] = anchor(after.content)
    for inside in (inside for token in tokens for inside in token.children or ()):
        for key in ("href", "src"):
            if key in inside.attrs:
                inside.attrs[key] = _link(str(inside.attrs[key]), name, found)


def _link(link: str, name: str, found: dict[str, Path]) -> str:
    """A link on a page, as the site has it."""
    file, mark, place = link.partition("#")
    if not file or ":" in file:
        return link
    target = (found[name].parent / file).resolve()
    inside = {path.resolve(): f"{other}.html" for other, path in found.items()}
    return _from(name, inside.get(target) or os.path.relpath(target, DOCS)) + mark + place


def _from(name: str, target: str) -> str:
    return Path(os.path.relpath(target, Path(name).parent)).as_posix()


def _navigation(name: str, found: dict[str, Path]) -> str:
    known = {page for group in NAV.values() for page in group}
    rest = {page: page for page in found if page not in known}
    groups = {**NAV, "More": rest} if rest else NAV
    return "".join(f"<div><b>{escape(title)}</b>{_links(name, group, found)}</div>" for title, group in groups.items())


def _links(name: str, group: dict[str, str], found: dict[str, Path]) -> str:
    here = {name: ' aria-current="page"'}
    return "".join(
        f'<a href="{_from(name, page)}.html"{here.get(page, "")}>{escape(words)}</a>'
        for page, words in group.items()
        if page in found
    )


if __name__ == "__main__":
    from . import comparison, reproduction, reproduction_roc, selected, trees

    (DOCS / "cli.md").write_text(command_line(), encoding="utf-8")
    for page in (comparison, reproduction, reproduction_roc, selected, trees):
        page.write()
    print(f"Wrote the generated pages, and {render(ROOT / 'site')} pages in site/.")
