"""The sections of a report, each as HTML."""

from collections.abc import Sequence
from fractions import Fraction
from inspect import getdoc
from math import isnan
from typing import Any

from ..display import amount, html_table, number
from .counts import COLOURS, MOST_CODES, CountsDisplay, displays
from .facts import Noise, noise_of, total
from .figures import counts_figure, noise_figure, quality_figure
from .words import escaped, factor, listed, plural, readable

MOST_COLUMNS = 24  # drawn; the others are a sentence


def unit(model: Any) -> str:
    """Who is protected."""
    if model.schema_.person is None:
        return "one row"
    return f"one person with at most {plural(model.schema_.rows_per_person, 'row')}"


def headline(model: Any, left: Fraction | None, limit: Fraction | None) -> str:
    """What this is and what it cost, in a sentence and a few numbers."""
    epsilon, noise = total(model.receipts_), noise_of(model.releases_)
    label, data, apart = escaped(model.schema_.label), escaped(model.schema_.name), "" if model.private_ else "NOT "
    tiles = [(amount(epsilon), "epsilon, the privacy cost of this run")]
    if left is not None:
        tiles.append((amount(left), f"left{'' if limit is None else f' of {amount(limit)}'}"))
    tiles += [(factor(float(epsilon)), f"most by which {unit(model).split(' with')[0]} can change any odds")]
    tiles += [(f"{sum(row.drowned for row in noise)} of {len(noise)}", "released tables drowned in noise")]
    cards = "".join(f"<div><b>{readable(value)}</b>{words}</div>" for value, words in tiles)
    lead = f"A {escaped(model.method.replace('-', ' '))} model, learned from noisy answers about a table."
    title = f"<h1>Predicting “{label}” from “{data}”, {apart}privately</h1>"
    return f'{title}<p class="lead">{lead}</p><div class="tiles">{cards}</div>'


def banner(model: Any) -> str:
    """Why the promise does not hold; nothing if it does."""
    if model.private_:
        return ""
    reasons = []
    if any(receipt.noise == "seeded" for receipt in model.receipts_):
        reasons.append("The noise was seeded, and whoever knows the seed can take it off again.")
    if model.schema_.public or not reasons:
        reasons.append("The rows were declared public, and what is said about their columns may come from them.")
    rest = "The promise does not hold for anything on this page."
    return f'<p class="banner" role="alert"><strong>NOT private</strong>{" ".join(reasons)} {rest}</p>'


def asked(model: Any) -> str:
    """The data set, the method, the columns and who is protected."""
    schema, columns = model.schema_, model.scorer_.columns
    words = (getdoc(type(model)) or type(model).__name__).split("\n\n")[0]
    settings = [f"{name} {value}" for name, value in model.settings().items() if value is not None]
    facts = {
        "Data set": escaped(schema.name) + (f" ({escaped(schema.source, 300)})" if schema.source else ""),
        "Method": escaped(f"{model.method}: {words}", 300),
        "Settings": escaped(", ".join(settings), 300),
        "Predicts": f"{escaped(schema.label)}: {listed(schema.classes)}",
        "From": f"{plural(len(columns), 'column')}: {listed(columns)}",
        "Protects": escaped(unit(model)) + (f", known by {escaped(schema.person)}" if schema.person else ""),
    }
    pairs = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts.items())
    public = _table("What is public: the schema", ["column", "kind", "codes", "of"], list(schema._rows()))
    return _section("What was asked", f"<dl>{pairs}</dl>", public)


def cost(model: Any, left: Fraction | None, limit: Fraction | None) -> str:
    """Each charge with its place in the ledger, and what remains."""
    rows = [
        (r.number, f"{r.ledger[:8]} / {r.hash[:12]}", f"{r.verb} {r.question}", r.noise, amount(r.epsilon))
        for r in model.receipts_
    ]
    rows.append(("", "", "together", "", amount(total(model.receipts_))))
    charges = _table("Charges, exact", ["entry", "ledger / hash", "asked", "noise", "epsilon"], rows)
    check = "<p class='quiet'>The full receipts are in the source of this page, in the block named receipts; "
    check += "<code>veil ledger verify --against</code> compares them with the ledger.</p>"
    return _section("What it cost and what is left", _bar(total(model.receipts_), left, limit), charges, check)


def _bar(run: Fraction, left: Fraction | None, limit: Fraction | None) -> str:
    if left is None or limit is None:
        return f"<p>{amount(left)} is left.</p>" if left is not None else ""
    before = limit - left - run
    parts = [("run", run, "this run"), ("before", before, "other answers"), ("left", left, "left")]
    bars = "".join(f'<span class="{kind}" style="width:{float(part / limit):.2%}"></span>' for kind, part, _ in parts)
    words = "".join(f'<span class="chip {kind}"></span>{name} {amount(part)}' for kind, part, name in parts if part)
    return f'<div class="bar">{bars}</div><p>Of a limit of {amount(limit)}:{words}</p>'


def noise(model: Any) -> str:
    """How large the noise is, beside the counts it was added to."""
    tables, others = noise_of(model.releases_), [r for r in model.releases_ if not r.receipt.verb.startswith("count")]
    if not tables:
        return _section("What the noise does to the numbers", "<p>No counts were released.</p>")
    drowned = [row.name for row in tables if row.drowned]
    text = "<p>Every count is the true one plus random noise of a public size. A table counts the rows in each of its "
    text += "cells, a code of the column and a class; its typical cell is the median one. "
    text += f"{_verdict(drowned, len(tables))}</p>"
    figure = noise_figure([(row.name, row.typical, row.error) for row in tables[:MOST_COLUMNS]])
    left_out = _more(len(tables) - MOST_COLUMNS, "table is in the list below", "tables are in the list below")
    head = ["counted", "cells", "noise scale", "95 % within", "typical count", "noise"]
    listing = _table("Released tables and their noise", head, [_noise_row(row) for row in tables])
    winners = [(f"{r.receipt.verb} {r.receipt.question}", _answer(r.value)) for r in others]
    rest = _table("Other answers", ["asked", "answer"], winners) if winners else ""
    return _section("What the noise does to the numbers", text, f"<figure>{figure}</figure>", left_out, listing, rest)


def _verdict(drowned: Sequence[str], tables: int) -> str:
    if not drowned:
        return "In no table does a typical count drown in its noise."
    if len(drowned) == tables:
        return "<strong>In every table the typical count is no larger than its noise.</strong>"
    few = f"In {len(drowned)} of {tables} tables the typical count is no larger than its noise (red)"
    return f"<strong>{few}: {listed(drowned)}.</strong>"


def _noise_row(row: Noise) -> tuple[object, ...]:
    relative = "drowns it" if row.drowned else f"{row.error / row.typical:.0%} of it"
    return row.name, f"{row.cells:,}", number(row.scale), f"± {row.error:,}", f"{row.typical:,.0f}", relative


def _answer(value: Any) -> str:
    return value.describe() if hasattr(value, "describe") else number(value) if isinstance(value, float) else str(value)


def released(model: Any) -> str:
    """For each column the shares of the classes, or the counts of many classes."""
    found = displays(model.releases_)
    shares = [table for table in found if table.as_shares]
    heats = len(found) > len(shares)
    text = "<p>A dot is the share of a class among the rows with a code, from the released counts. Its bar holds the "
    text += "true share with 95 % confidence, whatever the noise was. “Only noise”: the code may have no rows at all.</p>"
    chips = "".join(_chip(colour, name) for colour, name in zip(COLOURS, shares[0].classes, strict=False)) if shares else ""
    heat = "<p>A field is a code of the column (down) and a class (across): the darker, the more rows. A blank field "
    heat += "may have none at all.</p>"
    figures = "".join(map(_counts, found[:MOST_COLUMNS]))
    more = _more(len(found) - MOST_COLUMNS, "column is not drawn", "columns are not drawn")
    parts = (text * bool(shares), f"<p>{chips}</p>" * bool(chips), heat * heats, f'<div class="figures">{figures}</div>')
    return _section("What was released", *parts, more, _undrawn(model, len(found)))


def _counts(table: CountsDisplay) -> str:
    notes = [] if table.as_shares else [f"darkest: {plural(int(table.counts.max()), 'row')}"]
    if len(table.names) > MOST_CODES:
        notes.append(f"the {MOST_CODES} of {len(table.names):,} codes with the most rows")
    note = f" <small>{'; '.join(notes)}</small>" if notes else ""
    return f"<figure><figcaption>{escaped(table.column)}{note}</figcaption>{counts_figure(table)}</figure>"


def _undrawn(model: Any, drawn: int) -> str:
    others = len(noise_of(model.releases_)) - drawn
    return _more(others, "table is not about one column", "tables are not about one column") if others else ""


def quality(rows: Sequence[tuple[str, float, float]]) -> str:
    """What the model is worth, as the caller measured it."""
    if not rows:
        return ""
    shown = [(name, _score(accuracy), _score(auc)) for name, accuracy, auc in rows]
    text = "<p>These figures were handed to this report. They are measured on public held-out rows, or by a private "
    text += "evaluation with a receipt of its own; measured on private rows in any other way, they would not be covered "
    text += "by the promise.</p>"
    chips = _chip(COLOURS[0], "accuracy") + _chip(COLOURS[1], "AUC", ring=True)
    table = _table("Measured by the caller", ["", "accuracy", "AUC"], shown)
    return _section("Quality", text, table, f"<p>{chips}</p><figure>{quality_figure(rows)}</figure>")


def _score(value: float | None) -> str:
    return "–" if value is None or isnan(value) else f"{value:.3f}"


def promise(model: Any) -> str:
    """The promise in three sentences."""
    epsilon, who = total(model.receipts_), unit(model)
    odds = f"at most e<sup>{amount(epsilon)}</sup> = {factor(float(epsilon))}"
    weak = " A factor this large hides little." if epsilon > 5 else ""
    sentences = [
        f"{who.capitalize()} more or less in the table changes the odds of anything here by a factor of {odds}.{weak}",
        "That holds whatever else an attacker knows, and however this page is processed.",
        "It does not hide what the whole group shows, nor the schema, which is public.",
    ]
    if not model.private_:
        sentences = [f"<s>{sentence}</s>" for sentence in sentences]
    note = "" if model.private_ else "<p><strong>For this run it does not hold: see the top of the page.</strong></p>"
    return _section("The promise", note, f"<ol>{''.join(f'<li>{sentence}</li>' for sentence in sentences)}</ol>")


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{title}</h2>{''.join(parts)}</section>"


def _table(caption: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; a long one can be unfolded."""
    table = html_table(caption, header, [[readable(cell, 120) for cell in row] for row in rows])
    if len(rows) <= MOST_COLUMNS:
        return f'<div class="scroll">{table}</div>'
    return f'<details><summary>{caption}: {len(rows):,} lines</summary><div class="scroll">{table}</div></details>'


def _more(count: int, one: str, many: str) -> str:
    return f'<p class="quiet">{count:,} more {one if count == 1 else many}.</p>' if count > 0 else ""


def _chip(colour: str, name: str, ring: bool = False) -> str:
    fill = f"box-shadow: inset 0 0 0 2px {colour}" if ring else f"background: {colour}"
    return f'<span class="chip" style="{fill}"></span>{escaped(name)}'
