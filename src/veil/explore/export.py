"""The same views as one file that stands by itself: no script, nothing fetched, to keep or to hand on."""

from collections.abc import Iterator
from dataclasses import replace

from ..kernel import VERSION
from ..markup import escaped
from . import choice, compare, ledger, plan, ranges, results
from .asking import Asking
from .closer import near
from .given import KINDS, Given
from .page import VIEWS, Safe, Site, View, digest, folded, html, style
from .picking import picked
from .words import MEASURES as WORDS

MOST_BYTES = 1_000_000
MOST_TABLES = 8  # of range queries
MEASURES = ("auc", "accuracy")
NAMES = {**VIEWS, "ranges": "Range queries"}
HOLDS = """This file holds what is written on it and nothing else: no row was opened for it. It tells of names of
columns, of purposes and of times where a schema, a ledger or published files are on it."""


def export(given: Given) -> str:
    """All views that something is open for, on one page of at most a megabyte."""
    site, left = Site("", given.in_words), MOST_BYTES
    parts = dict[str, str]()
    for name, words, view in views(site, given):
        text = f'<article id="{name}"><h2 class="view">{escaped(words)}</h2>{_inside(view)}</article>'
        parts[name] = text
        left -= len(text.encode())
    more = _more_of_compare(site, given, left - len(style()) - 20_000)
    if "compare" in parts:
        parts["compare"] = parts["compare"].replace("</article>", f"{more}</article>")
    links = "".join(f'<a href="#{name}">{NAMES[name]}</a>' for name in parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {digest(style())}; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Explored with Veil</title>
<style>{style()}</style>
</head>
<body>
<header><div><strong class="brand">Veil</strong><nav aria-label="Views">{links}</nav></div>
<p class="band">{html(given.in_words)}</p></header>
<main>
<h1>What privacy costs</h1>
{"".join(parts.values())}
</main>
<footer class="foot"><p>Made by Veil {escaped(VERSION)}. {HOLDS}</p></footer>
</body>
</html>
"""


def views(site: Site, given: Given) -> Iterator[tuple[str, str, View]]:
    """The views that something is open for."""
    nothing = Asking()
    if given.compared or not given.results:
        yield "compare", VIEWS["compare"], compare.compare(site, given, nothing)
    if given.ranged or not given.results:
        yield "ranges", NAMES["ranges"], _all_ranges(site, given)
    if given.schemas:
        yield "plan", VIEWS["plan"], plan.plan(site, given, nothing)
        yield "choice", VIEWS["choice"], choice.choice(site, given, nothing)
    if given.ledgers:
        yield "ledger", VIEWS["ledger"], ledger.ledger(site, given, nothing)
    if given.watch:
        yield "results", VIEWS["results"], _all_results(site, given)


def _all_ranges(site: Site, given: Given) -> View:
    """Range queries on the first table, and on each of the others."""
    first, (tables, _) = ranges.ranges(site, given, Asking()), given.ranges()
    more = [
        folded(table.title, ranges.content_of(site, ranges.asked(tables, Asking(data=str(place)))))
        for place, table in enumerate(tables)
        if 0 < place < MOST_TABLES
    ]
    return replace(first, content=first.content + "".join(more))


def _all_results(site: Site, given: Given) -> View:
    """The list of what was published, and each of it."""
    listed = results.results(site, given, Asking())
    each = [results.result(site, given, Asking(), one.number) for one in given.published() if one.kind in KINDS]
    return replace(listed, content=listed.content + "".join(folded(one.title, one.content) for one in each))


def _inside(view: View) -> str:
    return f'<p class="lead">{html(view.lead)}</p>{_lower(view.content)}'


def _lower(text: str) -> Safe:
    """The same with headings one level lower, since the names of the views stand above them."""
    for level in (3, 2):
        text = text.replace(f"<h{level}>", f"<h{level + 1}>").replace(f"</h{level}>", f"</h{level + 1}>")
    return Safe(text)


def _more_of_compare(site: Site, given: Given, room: int) -> str:
    """The grid at every epsilon and by both measures, and every table, as long as there is room."""
    found, _ = given.comparison()
    if not found:
        return ""
    first = picked(found, Asking())
    pieces = list[str]()
    choices = [replace(first, measure=measure, epsilon=epsilon) for measure in MEASURES for epsilon in found.epsilons]
    for now in choices:
        words = f"{WORDS[now.measure]} at epsilon {now.epsilon:g}"
        pieces.append(folded(words, _lower(compare.grid_section(site, now))))
    for name in found.tables:
        pieces.append(folded(f"On {name}", _lower(near(replace(first, table=name, method="")))))
    shown = list[str]()
    for piece in pieces:
        room -= len(piece.encode())
        if room < 0:
            rest = len(pieces) - len(shown)
            shown.append(f'<p class="quiet">{rest} more would make this file too large: veil explore shows them.</p>')
            break
        shown.append(piece)
    return "".join(shown)
