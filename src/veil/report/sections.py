"""The sections that all reports share, each as HTML. They need an outcome alone."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from math import isnan
from typing import Any
from urllib.parse import quote

import numpy as np

from ..display import COLOURS, amount, column_rows, html_table, number, readable
from ..kernel import VERSION, WEIGHT_UNIT
from ..markup import escaped, factor, listed, plural
from ..plans.outcome import Outcome, total
from ..trusted import files_used
from ..verdicts import Verdict
from ..verdicts.tables import TableNoise, noise_of
from .counts import MOST_CODES, CountsDisplay
from .figures import SHADES, counts_figure, noise_figure, quality_figure

MOST_COLUMNS = 24  # drawn; the others are a sentence
WEAK = 5  # an epsilon from which on the factor e^epsilon hides little
SHARES = """<p>A dot is the share of a class among the rows with a code, from the released counts. The bar around it
is what the noise leaves open: in at most one of twenty codes a bar misses the true share. “Only noise”: the code may
have no rows at all.</p>"""
HEAT = """<p>A field is a code of the column (down) and a class (across): the stronger the colour, the more rows were
counted. A blank field may have none at all.</p>"""
NOISE = """<p>Every count is the true one plus random noise of a public size. A table counts the rows of each code and
class; half of them are in fields at least as large as its typical count. """
CHECK = """<p class="quiet">The full receipts are in the source of this page, in the block named receipts.
<code>veil ledger verify --against</code> compares them with the ledger.</p>"""
MEASURED = """<p>These figures were handed to this report, which did not measure them: whoever made it states that they
come from public held-out rows or from a private evaluation. The promise does not cover what was measured on private
rows in any other way.</p>"""


def unit(outcome: Outcome[Any]) -> str:
    """Who is protected, in words: a row or a person."""
    if outcome.schema.person is None:
        return "one row"
    return f"one person with at most {plural(outcome.schema.rows_per_person, 'row')}"


def apart(part: str) -> str:
    """A sentence on which part of the rows this is about; "" if all."""
    return f"<p>{escaped(part, 300)}</p>" if part else ""


def linked(links: Mapping[str, str]) -> str:
    """Links to other pages; "" if there are none."""
    found = "; ".join(f'<a href="{escape(quote(file))}">{escaped(name, 100)}</a>' for name, file in links.items())
    return f'<p class="quiet">See also: {found}.</p>' if found else ""


def banner(outcome: Outcome[Any]) -> str:
    """Why the promise does not hold; "" if it does."""
    if outcome.private:
        return ""
    reasons = []
    if any(receipt.noise == "seeded" for receipt in outcome.receipts):
        reasons.append("The noise was seeded, and whoever knows the seed can take it off again.")
    if outcome.schema.public or not reasons:
        reasons.append("The rows were declared public, and what is said about their columns may come from them.")
    rest = "The promise does not hold for anything on this page."
    return f'<p class="banner" role="alert"><strong>NOT private</strong>{" ".join(reasons)} {rest}</p>'


def verdict(found: Verdict) -> str:
    """The verdict, the first line of a page."""
    advice = f" {escaped(found.advice[:1].upper() + found.advice[1:], 400)}." if found.advice else ""
    loud, words = ' role="alert"' if found.bad else "", found.words[:1].upper() + found.words[1:]
    return f'<p class="verdict {found.level}"{loud}><strong>{escaped(words, 600)}.</strong>{advice}</p>'


def headline(title: str, lead: str, tiles: Sequence[tuple[str, str]]) -> str:
    """The title, a sentence on what it is and cost, and tiles of numbers."""
    cards = "".join(f"<div><b>{value}</b>{words}</div>" for value, words in tiles)
    return f'<h1>{title}</h1><p class="lead">{lead}</p><div class="tiles">{cards}</div>'


def hidden(outcome: Outcome[Any]) -> str:
    """A sentence on what the noise hides; "" if the promise does not hold."""
    if not outcome.private:
        return ""
    who = "one row" if outcome.schema.person is None else "one person"
    hides = f"little about {who}, at this cost" if outcome.epsilon > WEAK else f"whether any {who} was in it"
    return f" The noise hides {hides}."


def cost_tiles(outcome: Outcome[Any], left: Fraction | None, limit: Fraction | None) -> list[tuple[str, str]]:
    """Tiles (name, number): what it cost, what is left in the ledger, and what epsilon means."""
    epsilon = outcome.epsilon
    tiles = [(amount(epsilon), "epsilon, the privacy cost of this run")]
    if left is not None:
        tiles.append((amount(left), "left to spend" if limit is None else f"left to spend of {amount(limit)}"))
    if outcome.private:
        tiles.append((factor(epsilon), f"the factor by which {unit(outcome)} changes any odds, at most"))
    return tiles


def asked(outcome: Outcome[Any], words: str, facts: Mapping[str, str]) -> str:
    """The data set, the method in words, these facts, who is protected, and the schema."""
    schema = outcome.schema
    settings = {name: value for name, value in outcome.settings.items() if name != "epsilon" and value is not None}
    facts = {
        "Data set": escaped(schema.name) + (f" ({escaped(schema.source, 300)})" if schema.source else ""),
        "Method": escaped(f"{outcome.method}: {words}", 300),
        "Settings": escaped(", ".join(f"{name} {value}" for name, value in settings.items()) or "none", 300),
        **facts,
        "Protects": unit(outcome) + (f", told apart by {escaped(schema.person)}" if schema.person else ""),
    }
    pairs = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts.items())
    found = any(receipt.verb == "choose_bins" for receipt in outcome.receipts)
    caption = f"What is public: the schema{', and the bins that were found' * found}"
    public = table(caption, ["column", "kind", "codes", "of"], list(column_rows(schema)))
    return section("What was asked", f"<dl>{pairs}</dl>", public)


def cost(outcome: Outcome[Any], left: Fraction | None, limit: Fraction | None, judged: bool = False) -> str:
    """Each charge with its place in the ledger, and what remains; and whether a model had `judged` the rows before."""
    rows = [
        (r.number, f"{r.ledger[:8]} / {r.hash[:12]}", f"{r.verb} {r.question}", r.noise, amount(r.epsilon))
        for r in outcome.receipts
    ]
    spent = outcome.epsilon
    header = ["entry", "ledger / hash", "asked", "noise", "epsilon"]
    charges = table("Charges, exact", header, [*rows, ("", "", "together", "", amount(spent))])
    bar, paths = _bar(outcome, left, limit), _paths(outcome)
    return section("What it cost and what is left", bar, charges, paths, CHECK, _audited(outcome, judged))


def _audited(outcome: Outcome[Any], judged: bool) -> str:
    """The files that somebody reads to check the promise instead of trusting it."""
    files = files_used(outcome.schema, (*outcome.searched, *outcome.releases), outcome.receipts, judged=judged)
    lines = sum(file.lines for file in files)
    words = f"<p>To audit this result, read these {len(files)} files of Veil {VERSION}, {lines:,} lines with their "
    model = " but that of the model, of which each row gets its score by itself" if judged else ""
    words += f"arguments. The answers rest on no other code{model}: whatever else holds rows only hands them on.</p>"
    return words + table("Names and lengths of the files", ["file", "lines"], [*files, ("together", lines)])


def _paths(outcome: Outcome[Any]) -> str:
    """The total that each row was charged, and which charges are about which part of the rows."""
    least, most = total(outcome.receipts, pick=min), outcome.epsilon
    parts: dict[str, list[Any]] = {}
    for receipt in outcome.receipts:
        parts.setdefault(receipt.account.rstrip("/"), []).append(receipt)
    if len(parts) < 2:
        rows = "the same part of the rows" if _part(outcome) else "all rows"
        return f"<p>Every charge is about {rows}, so they add up.{_beside(outcome)}</p>"
    each = f"to {amount(most)}" if least == most else f"to {amount(least)} at least and {amount(most)} at most"
    words = "<p>Rows were set apart on the way. A row is in one part of every split, and only the charges on its path "
    words += f"concern it: those of the parts it is in, and of all rows. On every path they add up {each}."
    listed = [
        (
            part or "all rows",
            " + ".join(f"{r.verb} {amount(r.epsilon)}" for r in own),
            amount(sum(r.epsilon for r in own)),
        )
        for part, own in list(parts.items())[:MOST_COLUMNS]
    ]
    rest = f'<p class="quiet">More parts: {len(parts) - MOST_COLUMNS}.</p>' if len(parts) > MOST_COLUMNS else ""
    return f"{words}{_beside(outcome)}</p>" + table("Charges by part", ["part", "charges", "together"], listed) + rest


def _part(outcome: Outcome[Any]) -> str:
    """The ledger's name, such as 12.3, of the part of the rows that all charges are about; "" if there is none."""
    first = {receipt.account.split("/")[1] for receipt in outcome.receipts}
    return first.pop() if len(first) == 1 else ""


def _beside(outcome: Outcome[Any]) -> str:
    """A sentence on what a part of the rows costs beside others; "" if this is about all rows."""
    part = f" The ledger calls this part {_part(outcome)}. No row is in two parts, so all parts together cost "
    return f"{part}what the dearest of them costs." if _part(outcome) else ""


def _bar(outcome: Outcome[Any], left: Fraction | None, limit: Fraction | None) -> str:
    if left is None or limit is None:
        return ""
    run = Fraction(0) if _part(outcome) else outcome.epsilon  # of one part, it may be among what others cost
    others = "spent in all" if _part(outcome) else "other answers"
    parts = [("run", run, "this run"), ("before", limit - left - run, others), ("left", left, "left")]
    bars = "".join(f'<span class="{kind}" style="width:{float(part / limit):.2%}"></span>' for kind, part, _ in parts)
    words = "".join(f'<span class="chip {kind}"></span>{name} {amount(part)}' for kind, part, name in parts if part)
    return f'<p>Of a limit of {amount(limit)}:</p><div class="bar">{bars}</div>{_legend(words)}'


def noise(outcome: Outcome[Any]) -> str:
    """The size of the noise in relation to the counts it was added to, and the answers that are not counts."""
    tables = noise_of(outcome.releases)
    others = [r for r in outcome.releases if not r.receipt.verb.startswith("count")]
    answers = [(f"{r.receipt.verb} {r.receipt.question}", answer(r.receipt.verb, r.value)) for r in others]
    parts = [counts_noise(tables)] if tables else []
    parts += [table("Other answers", ["asked", "answer"], answers)] if answers else []
    return section("What the noise does to the numbers", *parts)


def counts_noise(tables: Sequence[TableNoise]) -> str:
    figure = noise_figure([(table.name, table.typical, table.error) for table in tables[:MOST_COLUMNS]])
    rest = more(len(tables) - MOST_COLUMNS, "in the list below")
    header = ["counted", "fields", "noise scale", "95 % of counts within", "typical count", "its noise"]
    listing = table("Released tables and their noise", header, list(map(_noise_row, tables)))
    return f"{NOISE}{_verdict(tables)}</p><figure>{figure}</figure>{rest}{listing}"


def _verdict(tables: Sequence[TableNoise]) -> str:
    drowned = [table.name for table in tables if table.drowned]
    if not drowned:
        return "In no table does the typical count drown in its noise."
    if len(drowned) == len(tables):
        return "<strong>In every table the typical count is no larger than its noise.</strong>"
    words = f"In {len(drowned)} of {len(tables)} tables the typical count is no larger than its noise (red)"
    return f"<strong>{words}: {listed(drowned)}.</strong>"


def _noise_row(row: TableNoise) -> tuple[object, ...]:
    relative = "drowns it" if row.drowned else f"{100 * row.error / row.typical:.0f} % of it"
    return row.name, f"{row.fields:,}", number(row.scale), f"± {row.error:,}", f"{row.typical:,}", relative


def answer(verb: str, value: Any) -> str:
    """An answer that is not a count, in a few words."""
    if verb == "choose_each":
        return f"one for {plural(value.size, 'cell')}"
    if verb == "segments":
        return f"{plural(value.size, 'run')} of cells"
    if isinstance(value, np.ndarray):
        return f"{value.size:,} weights from {number(value.min() / WEIGHT_UNIT)} to {number(value.max() / WEIGHT_UNIT)}"
    return value.describe() if hasattr(value, "describe") else number(value) if isinstance(value, float) else str(value)


def released(found: Sequence[CountsDisplay], first: str = "", last: str = "") -> str:
    """For each column its class shares, or its counts if there are many classes, between two notes."""
    drawn = [table for table in found if not table.only_noise.all()]
    drowned = [table.column for table in found if table.only_noise.all()]
    figures = "".join(_counts(table, place) for place, table in enumerate(drawn[:MOST_COLUMNS], 1))
    parts = [
        first,
        _how_to_read(drawn),
        f'<div class="figures">{figures}</div>',
        more(len(drawn) - MOST_COLUMNS, "not drawn"),
    ]
    if drowned:
        parts.append(f"<p>Only noise, so not drawn: {plural(len(drowned), 'column')} ({listed(drowned)}).</p>")
    return section("What was released", *parts, last)


def _how_to_read(drawn: Sequence[CountsDisplay]) -> str:
    shares = [table for table in drawn if table.as_shares]
    text = HEAT if len(shares) < len(drawn) else ""
    if not shares:
        return text
    chips = "".join(_chip(colour, name) for colour, name in zip(COLOURS, shares[0].classes, strict=False))
    return f"{text}{SHARES}{_legend(chips)}"


def _counts(table: CountsDisplay, place: int) -> str:
    notes = [] if table.as_shares else [f"strongest: {plural(int(table.counts.max()), 'row')}"]
    if len(table.names) > MOST_CODES:
        notes.append(f"the {MOST_CODES} of {len(table.names):,} codes with the most rows")
    note = f" <small>{'; '.join(notes)}</small>" if notes else ""
    return f"<figure><figcaption>{escaped(table.column)}{note}</figcaption>{counts_figure(table, place)}</figure>"


def quality(rows: Sequence[tuple[str, float, float]]) -> str:
    """Accuracy and AUC as the caller measured them; "" without measures."""
    if not rows:
        return ""
    shown = [(name, _score(accuracy), _score(auc)) for name, accuracy, auc in rows]
    listing = table("Measured by the caller", ["model", "accuracy", "AUC"], shown)
    chips = _chip(COLOURS[0], "accuracy") + _chip(COLOURS[1], "AUC", ring=True)
    return section("Quality", MEASURED, listing, _legend(chips), f"<figure>{quality_figure(rows)}</figure>")


def _score(value: float | None) -> str:
    return "–" if value is None or isnan(value) else f"{value:.3f}"


def promise(outcome: Outcome[Any]) -> str:
    """The promise in three sentences, struck out where it does not hold."""
    epsilon = outcome.epsilon
    odds = f"at most e<sup>{amount(epsilon)}</sup> = {factor(epsilon)}"
    weak = " (a factor this large hides little)" if epsilon > WEAK else ""
    sentences = [
        f"{unit(outcome).capitalize()} more or less in the table changes the odds of anything here by {odds}{weak}.",
        "That holds whatever else an attacker knows, and however this page is processed.",
        "It does not hide what the whole group shows, nor the schema, which is public.",
    ]
    if outcome.private:
        return section("The promise", f"<ol>{''.join(f'<li>{text}</li>' for text in sentences)}</ol>")
    struck = "".join(f"<li><s>{text}</s></li>" for text in sentences)
    return section("The promise", f"<p><strong>It does not hold for this run.</strong></p><ol>{struck}</ol>")


def section(title: str, *parts: str) -> str:
    """A section of the page, with a title."""
    return f"<section><h2>{title}</h2>{''.join(parts)}</section>"


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; a long one is folded."""
    shown = html_table(caption, header, [[readable(cell, 120) for cell in row] for row in rows], None)
    if len(rows) <= MOST_COLUMNS:
        return scrolled(caption, shown)
    return f"<details><summary>{caption}: {len(rows):,} lines</summary>{scrolled(caption, shown)}</details>"


def scrolled(name: str, inside: str) -> str:
    """What may be wider than the page, in a region that scrolls, by keyboard too."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(name, 200)}">{inside}</div>'


def more(count: int, words: str) -> str:
    """A note that `count` tables are not shown; "" if that is none."""
    verb = "is" if count == 1 else "are"
    return f'<p class="quiet">{plural(count, "more table")} {verb} {words}.</p>' if count > 0 else ""


def _legend(chips: str) -> str:
    return f'<p class="legend">{chips}</p>'


def _chip(colour: str, name: str, ring: bool = False) -> str:
    shade = SHADES.get(colour, colour)
    fill = f"box-shadow: inset 0 0 0 2px {shade}" if ring else f"background: {shade}"
    return f'<span class="chip" style="{fill}"></span>{escaped(name)}'
