"""The site: every page, the reference of the public names, and a gallery of examples, gathered and built by Sphinx."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

from .. import DOCS, ROOT

ELSEWHERE = {"index": "README.md", **{name.lower(): f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "SECURITY")}}
NAV = {
    "Start": ["guide/tutorial", "gallery/index"],
    "Guides": [
        f"guide/{name}"
        for name in (
            *("schema", "epsilon", "explore", "choice", "publishing", "ranges", "selection", "evaluation", "verdicts"),
            *("large", "team", "choice-ranges", "choice-trees"),
        )
    ],
    "Methods": ["algorithms", "errata"],
    "Results": [
        "claims",
        "comparison",
        "more-tables",
        "synthetic",
        "ranges",
        "choice",
        "choice-ranges",
        "reproduction",
        "trees",
        "reproduction-roc",
        "selection",
    ],
    "Privacy": ["promise", "how-it-works", "kernel", "advisories", "security"],
    "Reference": ["cli", "api", "contributing", "changelog"],
}
ROOMS = {  # what is written in these modules and folders
    "What is public": ("schema",),
    "Budgets, ledgers and outcomes": ("kernel", "plans", "views"),
    "Classifiers and selectors": ("models",),
    "Automatic choice": ("choice",),
    "Publishing": ("synopsis",),
    "Evaluation": ("evaluate",),
    "Questions": ("questions",),
    "Reading files, verdicts and progress": ("files", "verdicts", "progress", "datasets"),
    "Errors and warnings": ("errors",),
}
TOP = re.compile(r"\]\(((?:\.\./)+)?(CONTRIBUTING|CHANGELOG|SECURITY)\.md")
LINK = re.compile(r"(\]\()(?!\w+:|#)([^)#]+)")


def pages() -> dict[str, Path]:
    """Every page by its place in the site."""
    found = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
    return {**{name: ROOT / file for name, file in ELSEWHERE.items()}, **found}


def gather(folder: Path) -> None:
    """Put all pages where Sphinx finds them, with the table of contents on the first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS / "figures", folder / "figures")
    shutil.copytree(ROOT / "examples", folder / "examples")
    for name, path in pages().items():
        place = folder / f"{name}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_moved(path) + (_contents() if name == "index" else ""), encoding="utf-8")
    (folder / "api.md").write_text(reference(), encoding="utf-8")


def _moved(path: Path) -> str:
    """The text of a page; links to and from pages outside of docs lead to where these are now."""
    text = path.read_text(encoding="utf-8")
    if path.parent != ROOT:
        return TOP.sub(lambda link: f"]({(link[1] or '')[3:]}{link[2].lower()}.md", text)
    text = LINK.sub(lambda link: link[1] + link[2].removeprefix("docs/"), text)
    return TOP.sub(lambda link: f"]({link[2].lower()}.md", text)


def _contents() -> str:
    """The table of contents; a page that it does not name comes last."""
    known = {page for group in NAV.values() for page in group}
    rest = [page for page in pages() if page not in known | {"index"}]
    groups = {**NAV, "More": rest} if rest else NAV
    trees = (f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(group) for title, group in groups.items())
    return "".join(f"\n{tree}\n```\n" for tree in trees)


def reference() -> str:
    """The public names with their docstrings, by the room that they are written in."""
    import veil

    lines = ["# The public names", "", "Everything here is imported from `veil`.", ""]
    for title, rooms in ROOMS.items():
        lines += [f"## {title}", ""]
        for name in sorted(veil.__all__):
            if _room(getattr(veil, name)) in rooms:
                lines += [
                    f"### {name}",
                    "",
                    "```{eval-rst}",
                    f".. auto{_kind(getattr(veil, name))}:: veil.{name}",
                    "```",
                    "",
                ]
    return "\n".join(lines)


def _room(value: Any) -> str:
    return [*getattr(value, "__module__", "veil.questions.grids").split("."), ""][1]


def _kind(value: Any) -> str:
    return "class" if isinstance(value, type) else "function" if callable(value) else "data"


def render(site: Path) -> None:
    """Build the site in this folder; any warning is an error."""
    from sphinx.cmd.build import build_main

    source, cache = (site.parent / f"{site.name}-{name}" for name in ("pages", "cache"))
    gather(source)
    strict = ["--quiet", "--fail-on-warning", "--keep-going"]
    if build_main([*strict, "--conf-dir", str(DOCS), "--doctree-dir", str(cache), str(source), str(site)]):
        sys.exit("the site could not be built: see above")


if __name__ == "__main__":
    render(Path(sys.argv[1]))
