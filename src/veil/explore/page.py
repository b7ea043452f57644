"""The parts of a page: its frame, controls, tables and figures, as HTML in which every text is escaped."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib import resources
from typing import Any
from urllib.parse import quote, urlencode

from ..kernel import VERSION
from ..markup import escaped

VIEWS = {"compare": "Compare", "plan": "Plan", "ledger": "Ledger", "results": "Results", "choice": "Choice"}
LONG = 400  # letters of a cell
FOLDED = 16  # lines of a table from which on it is folded


class Safe(str):
    """HTML that is ready: all texts in it are escaped."""


@dataclass(frozen=True)
class Site:
    """Where pages lie: the path before all links, or "" in a file that stands by itself and links to nothing."""

    base: str = ""
    band: str = ""
    now: Mapping[str, str] = field(default_factory=dict)

    @property
    def served(self) -> bool:
        """Whether somebody answers."""
        return bool(self.base)

    def path(self, place: str, **asked: Any) -> str:
        """The address of a view with these parameters."""
        given = {name: str(value) for name, value in asked.items() if value not in (None, "")}
        return f"{self.base}{quote(place)}{'?' if given else ''}{urlencode(given)}"

    def link(self, text: object, place: str, label: str = "", **asked: Any) -> Safe:
        """A link to a view, or the text alone in a file; `label` is read aloud after the text."""
        said = f'<span class="aside"> {escaped(label, LONG)}</span>' if label else ""
        inside = f"{html(text)}{said}"
        return Safe(f'<a href="{escape(self.path(place, **asked))}">{inside}</a>' if self.served else inside)


@dataclass(frozen=True)
class View:
    """One view: its title, a sentence, the controls, and what they change."""

    title: str
    lead: str
    controls: str
    content: str
    status: int = 200


def html(text: object) -> str:
    """HTML as it is, any other text escaped."""
    return text if isinstance(text, Safe) else escaped(text, LONG)


@cache
def style() -> str:
    """The style of all pages: that of reports, and what only these pages have."""
    package = resources.files("veil")
    texts = [(package / room / "style.css").read_text(encoding="utf-8") for room in ("report", "explore")]
    return "".join(texts)


@cache
def script() -> str:
    """The script, which only saves reloads: everything works without it."""
    return (resources.files("veil") / "explore" / "script.js").read_text(encoding="utf-8")


def digest(text: str) -> str:
    """How a content security policy names a style or a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def policy() -> str:
    """What a page may load: its own style and script, and answers of this server alone."""
    rules = {
        "default-src": "'none'",
        "style-src": digest(style()),
        "script-src": digest(script()),
        "connect-src": "'self'",
        "img-src": "data:",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def frame(site: Site, name: str, view: View) -> str:
    """A whole page."""
    title = f"{view.title} - Veil" if view.title else "Veil"
    meta = f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escaped(title, 100)}</title>'
    links = "".join(_entry(site, key, words, name) for key, words in VIEWS.items())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{meta}
<link rel="icon" href="data:,">
<style>{style()}</style>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header><div><strong class="brand">Veil</strong><nav aria-label="Views">{links}</nav></div>
<p class="band">{html(site.band)}</p></header>
<main>
{body(view)}
</main>
<footer class="foot"><p>Veil {escaped(VERSION)}. This page reads results, schemas, ledgers and published files. It never
opens rows and never charges: what it ends in is yours to copy and to run.</p></footer>
<script>{script()}</script>
</body>
</html>
"""


def _entry(site: Site, key: str, words: str, name: str) -> str:
    here = ' aria-current="page"' if key == name else ""
    return f'<a href="{escape(site.path(key))}"{here}>{words}</a>'


def body(view: View) -> str:
    """The inside of a page."""
    return f"""<h1>{escaped(view.title, 200)}</h1>
<p class="lead">{html(view.lead)}</p>
{view.controls}
<div id="content" tabindex="-1">
{view.content}
</div>"""


def section(title: str, *parts: str) -> Safe:
    """A section with a title."""
    return Safe(f"<section><h2>{escaped(title, 200)}</h2>{''.join(parts)}</section>")


def paragraph(text: object, kind: str = "") -> Safe:
    """A paragraph."""
    named = f' class="{kind}"' if kind else ""
    return Safe(f"<p{named}>{html(text)}</p>")


def warning(text: object) -> Safe:
    """A paragraph that nobody may miss."""
    return Safe(f'<p class="verdict poor" role="alert">{html(text)}</p>')


def verdict(text: str, level: str = "good") -> Safe:
    """A sentence that judges, with a colour that says no more than it does."""
    return Safe(f'<p class="verdict {escaped(level)}">{escaped(text, 600)}</p>')


def table(
    caption: str, header: Sequence[object], rows: Iterable[Sequence[object]], kind: str = "", fold: bool = False
) -> Safe:
    """A table in a box that can be scrolled, by keyboard too; the first cell of a row names it."""
    lines = [[html(cell) for cell in row] for row in rows]
    head = "".join(f'<th scope="col">{html(name)}</th>' for name in header)
    inside = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in lines
    )
    named = f' class="{kind}"' if kind else ""
    shown = f"<table{named}><caption>{escaped(caption, 200)}</caption><thead><tr>{head}</tr></thead>"
    shown = box(caption, f"{shown}<tbody>{inside}</tbody></table>")
    return folded(f"{caption}: {len(lines):,} lines", shown) if fold or len(lines) > FOLDED else Safe(shown)


def box(name: str, inside: str) -> Safe:
    """What may be wider than the page, in a region that scrolls."""
    return Safe(f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(name, 200)}">{inside}</div>')


def folded(summary: str, inside: str, opened: bool = False) -> Safe:
    """What is shown on demand."""
    return Safe(f"<details{' open' * opened}><summary>{escaped(summary, 200)}</summary>{inside}</details>")


def figure(title: str, source: str, svg: str, numbers: str, note: str = "") -> Safe:
    """A figure with its title, where its numbers come from, and the same numbers as a table."""
    caption = f"<figcaption>{escaped(title, 200)} <small>{escaped(source, 300)}</small></figcaption>"
    said = f'<p class="quiet note">{html(note)}</p>' if note else ""
    return Safe(f"<figure>{caption}{svg}{said}{numbers}</figure>")


def form(site: Site, place: str, *fields: str, hidden: Mapping[str, str] | None = None, way: str = "get") -> str:
    """Controls that ask for a view; "" in a file, where nobody answers."""
    if not site.served:
        return ""
    kept = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in (hidden or {}).items()
    )
    return (
        f'<form class="controls" method="{way}" action="{escape(site.path(place))}">{kept}{"".join(fields)}'
        '<button type="submit">Show</button></form>'
    )


def select(name: str, label: str, options: Mapping[str, str] | Sequence[str], chosen: str) -> str:
    """A list to choose from: values, or values and what they are called."""
    named = options if isinstance(options, Mapping) else {option: option for option in options}
    inside = "".join(
        f'<option value="{escape(value)}"{" selected" * (value == chosen)}>{escaped(text, 80)}</option>'
        for value, text in named.items()
    )
    return f'<label>{escaped(label)}<select name="{escape(name)}">{inside}</select></label>'


def entry(
    name: str, label: str, value: object, *, kind: str = "text", stops: Sequence[str] = (), more: str = ""
) -> str:
    """A field to write into, with a few values to choose from."""
    listed, use = "", ""
    if stops:
        listed = "".join(f'<option value="{escape(stop)}"></option>' for stop in stops)
        listed, use = f'<datalist id="{escape(name)}-stops">{listed}</datalist>', f' list="{escape(name)}-stops"'
    field_ = f'<input name="{escape(name)}" type="{kind}" value="{escape(str(value))}" autocomplete="off"{use}{more}>'
    return f"<label>{escaped(label)}{field_}{listed}</label>"


def slider(name: str, label: str, value: int, most: int, said: str) -> str:
    """A slider over whole numbers from 0 on; `said` is what its place stands for."""
    ends = f'min="0" max="{most}" value="{value}" aria-valuetext="{escape(said)}"'
    told = f'<output data-of="{escape(name)}">{escaped(said, 60)}</output>'
    return f'<label><span>{escaped(label)} {told}</span><input type="range" name="{escape(name)}" {ends}></label>'


def tabs(site: Site, label: str, links: Sequence[tuple[str, str, Mapping[str, object]]], here: int) -> str:
    """Links to views that stand side by side: a text, a place and its parameters; "" in a file."""
    if not site.served:
        return ""
    current = {here: ' aria-current="page"'}
    shown = "".join(
        f'<a href="{escape(site.path(place, **asked))}"{current.get(number, "")}>{escaped(text, 80)}</a>'
        for number, (text, place, asked) in enumerate(links)
    )
    return f'<nav class="tabs" aria-label="{escape(label)}">{shown}</nav>'


def copied(title: str, text: str, language: str) -> Safe:
    """Text to copy: a command, a script or a notebook."""
    named = f'class="copy" tabindex="0" role="region" aria-label="{escaped(title, 200)}"'
    shown = f"<pre {named}><code>{escape(text)}</code></pre>"
    return Safe(f'<div class="give" data-language="{language}"><h3>{escaped(title, 100)}</h3>{shown}</div>')
