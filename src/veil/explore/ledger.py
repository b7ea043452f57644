"""Ledger: what was paid, for what, and what is left, from the ledger's own totals. Nothing is charged by looking."""

import csv
import io
import json
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from ..display import Run, amount
from ..drawing import Picture
from ..errors import VeilError
from ..files.tables import harmless
from ..kernel import Ledger
from ..markup import escaped
from .asking import Asking
from .commands import verify_command
from .given import Found, Given
from .page import Safe, Site, View, copied, figure, folded, form, paragraph, section, select, table, verdict, warning
from .pages_read import receipts_of
from .words import decimal

PARAMETERS = ("ledger",)
LEAD = "Everything that was ever charged, oldest first. Parts of a split are disjoint: of them, the dearest counts."
MOST = Fraction(10**300)  # that a picture can show
OLD = "Without a receipt that was kept elsewhere, a file that was cut short or is old looks sound too."


def ledger(site: Site, given: Given, asking: Asking) -> View:
    """The view."""
    if not given.ledgers:
        words = "No ledger is open. Make one for your data set, and start with `veil explore --ledger FILE`."
        make = "veil ledger create clinic.ledger --limit 1 --name clinic"
        return View("Ledger", LEAD, "", Safe(paragraph(words) + copied("Command", make, "shell")))
    number = int(asking.choice("ledger", [str(place) for place in range(len(given.ledgers))]))
    names = {str(place): path.name for place, path in enumerate(given.ledgers)}
    controls = form(site, "ledger", select("ledger", "Ledger", names, str(number))) if len(names) > 1 else ""
    opened = given.ledger(number)
    if isinstance(opened, str):
        return View("Ledger", LEAD, controls, warning(f"{names[str(number)]} cannot be shown: {opened}"))
    charges, runs = opened.charges(), opened.runs()
    spent = charges[-1][1] if charges else Fraction(0)
    parts = [
        headline(opened, spent),
        unsafe(runs),
        over_time(opened, charges),
        by_run(given, runs, charges),
        by_part(charges),
        check(site, number, given),
        entries(site, number, charges),
    ]
    return View(f"Ledger of {opened.name}", LEAD, controls, "".join(parts))


def exactly(value: Fraction) -> Safe:
    """An amount in decimals; where these are rounded, the exact one is told to whoever points at it."""
    shown, exact = decimal(value), amount(value)
    return Safe(escaped(shown) if shown == exact else f'<span title="exactly {escaped(exact)}">{escaped(shown)}</span>')


def headline(opened: Ledger, spent: Fraction) -> Safe:
    """What is spent of the limit, as tiles and as a bar."""
    tiles = [
        (exactly(spent), "spent"),
        (exactly(opened.limit - spent), "left"),
        (exactly(opened.limit), "limit, for ever"),
    ]
    cards = "".join(f"<div><b>{value}</b>{words}</div>" for value, words in tiles)
    share = float(spent / opened.limit) if opened.limit else 1.0
    words = f"{decimal(spent)} of {decimal(opened.limit)} spent"
    meter = (
        f'<meter min="0" max="1" value="{share:.4f}" aria-label="{escaped(words, 100)}">{escaped(words, 100)}</meter>'
    )
    return Safe(f'<div class="tiles">{cards}</div><p>{meter}</p>')


def unsafe(runs: list[Run]) -> Safe:
    """A warning if some answers are not private."""
    count = sum(not run.private for run in runs)
    return (
        warning(f"NOT private: {count} of {len(runs)} runs, by seeded noise or rows declared public.")
        if count
        else Safe("")
    )


def over_time(opened: Ledger, charges: list[tuple[Any, Fraction]]) -> Safe:
    """The total after each entry, as a step line, with the limit."""
    if not charges:
        return paragraph("Nothing was charged yet.")
    moments = [_moment(receipt.time) for receipt, _ in charges]
    start, end = min(moments), max(moments)
    room = max((end - start) * 0.04, 30.0)
    days = [(start, _day(start)), (end, _day(end))] if _day(start) != _day(end) else [((start + end) / 2, _day(start))]
    limit = float(min(opened.limit, MOST))
    drawn = Picture(
        "epsilon spent over time",
        (start - room, end + room),
        (0.0, limit * 1.12),
        width=640,
        below="time (UTC)",
        beside="epsilon spent",
        along=days,
    )
    drawn.rule(limit, f"limit {decimal(opened.limit)}")
    points = [
        (start - room, 0.0),
        *((at, float(min(total, MOST))) for at, (_, total) in zip(moments, charges, strict=True)),
    ]
    drawn.step([*points, (end + room, points[-1][1])], "main")
    drawn.dots(points[1:], "main", 2.6)
    rows = [(f"{receipt.number}", _when(receipt.time), exactly(total)) for receipt, total in charges]
    listing = table("Total after each entry", ["entry", "time (UTC)", "total"], rows, fold=True)
    return figure("Spending over time", "the ledger's own total after each entry", drawn.svg(), listing)


def _moment(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


def _when(time: str) -> str:
    return time[:16].replace("T", " ")


def by_run(given: Given, runs: list[Run], charges: list[tuple[Any, Fraction]]) -> Safe:
    """One line for each opening of the rows."""
    there = {one.name for one in given.published()}
    limits = dict[str, list[int]]()
    for receipt, _ in charges:
        limits.setdefault(receipt.run or receipt.time, []).append(receipt.number)
    rows = [
        (
            _when(run.time),
            run.purpose,
            run.note or "-",
            _file(run.file, there, given),
            Safe(exactly(run.epsilon) + (f", ex-post {exactly(run.ex_post)}" if run.ex_post is not None else "")),
            exactly(run.total),
            "yes" if run.private else "NO",
            _span(limits.get(run.run or run.time, [])),
        )
        for run in runs
    ]
    header = ["when (UTC)", "what for", "note", "file", "epsilon", "total", "private", "entries"]
    return section(
        "What it was spent on", table("Runs, oldest first", header, rows) if rows else paragraph("Nothing yet.")
    )


def _file(name: str, there: set[str], given: Given) -> str:
    short = name.replace("\\", "/").rsplit("/", 1)[-1]
    return (
        "-" if not short else f"{short}, found" if short in there else f"{short}, not found" if given.watch else short
    )


def _span(numbers: list[int]) -> str:
    return "-" if not numbers else f"{min(numbers)}" if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)}"


def by_part(charges: list[tuple[Any, Fraction]]) -> Safe:
    """What each part of the rows was charged."""
    parts = dict[str, Fraction]()
    for receipt, _ in charges:
        parts[receipt.account] = parts.get(receipt.account, Fraction(0)) + receipt.epsilon
    if len(parts) < 2:
        return Safe("")
    rows = [("all rows" if part == "/" else part, exactly(cost)) for part, cost in parts.items()]
    words = "A row is in one part of every split. Its charges are those of its parts and of all rows, so parts beside "
    words += "each other cost what the dearest does."
    return section("Parts of the rows", paragraph(words), table("Charged about each part", ["part", "epsilon"], rows))


def check(site: Site, number: int, given: Given) -> Safe:
    """A button that checks every entry, and the command that does the same."""
    button = ""
    if site.served:
        action = escaped(site.path("ledger/verify"), 500)
        hidden = f'<input type="hidden" name="ledger" value="{number}">'
        button = f'<form method="post" action="{action}">{hidden}<button type="submit">Verify now</button></form>'
    witnesses = sum(one.kind != "" for one in given.published())
    words = f"Every entry is checked against the one before and, of {witnesses} published files, every receipt against "
    words += f"its entry. {OLD}"
    return section(
        "Is it sound?", paragraph(words), button, copied("Command", verify_command(given.ledgers[number]), "shell")
    )


def verify(site: Site, given: Given, asking: Asking) -> View:
    """The view after a check: whether all entries are sound, and what every published file has to say about it."""
    if not given.ledgers:
        raise VeilError("no ledger is open")
    number = int(asking.choice("ledger", [str(place) for place in range(len(given.ledgers))]))
    name, opened = given.ledgers[number].name, given.ledger(number)
    back = paragraph(site.link("Back to the ledger", "ledger", ledger=number))
    if isinstance(opened, str):
        return View("Verify", LEAD, "", Safe(warning(f"{name} is not sound, or cannot be read: {opened}") + back))
    try:
        count = opened.verify()
    except VeilError as error:
        return View("Verify", LEAD, "", Safe(warning(f"{name} is not sound: {error}") + back))
    files = [one for one in given.published()]
    rows = [(one.name, *_witness(opened, one)) for one in files]
    said = verdict(f"{name} is sound: {count:,} entries, each hashed with the one before.")
    listing = table("What published files say", ["file", "receipts", "verdict"], rows) if rows else paragraph(OLD)
    return View("Verify", LEAD, "", Safe(said + listing + back))


def _witness(opened: Ledger, one: Found) -> tuple[str, str]:
    """How many receipts a file has of this ledger, and whether they agree with it."""
    found = [receipt for receipt in receipts_of(one.path) if receipt.get("ledger") == opened.id]
    if not found:
        return "0", "unknown: it was charged elsewhere"
    try:
        opened.verify(found)
    except VeilError as error:
        return f"{len(found)}", f"CONTRADICTS: {error}"
    return f"{len(found)}", "confirmed"


def entries(site: Site, number: int, charges: list[tuple[Any, Fraction]]) -> Safe:
    """Every entry, and links to take them along."""
    if not charges:
        return Safe("")
    rows = [
        (f"{r.number}", _when(r.time), r.account, r.verb, r.question, exactly(r.epsilon), exactly(total))
        for r, total in charges
    ]
    header = ["entry", "time (UTC)", "part", "verb", "question", "epsilon", "total"]
    links = [site.link(f"All entries as {kind}", f"ledger.{kind.lower()}", ledger=number) for kind in ("CSV", "JSON")]
    take = paragraph(Safe(" · ".join(links))) if site.served else ""
    return section("Every entry", folded(f"{len(rows):,} entries", table("Entries", header, rows[:2000])), take)


def _asked_for(given: Given, asking: Asking) -> Ledger:
    """The ledger that a request is about."""
    if not given.ledgers:
        raise VeilError("no ledger is open")
    number = int(asking.choice("ledger", [str(place) for place in range(len(given.ledgers))]))
    opened = given.ledger(number)
    if isinstance(opened, str):
        raise VeilError(opened)
    return opened


def as_json(given: Given, asking: Asking) -> str:
    """All entries as JSON, each with the total after it: a witness too, that `veil ledger verify --against` takes."""
    opened = _asked_for(given, asking)
    receipts = [{**receipt.to_dict(), "total": str(total)} for receipt, total in opened.charges()]
    about = {"name": opened.name, "ledger": opened.id, "limit": str(opened.limit), "spent": str(opened.spent)}
    return json.dumps({**about, "receipts": receipts}, indent=1)


def as_csv(given: Given, asking: Asking) -> str:
    """All entries as CSV."""
    opened = _asked_for(given, asking)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        ["entry", "time", "run", "part", "verb", "question", "epsilon", "total", "private", "purpose", "note", "file"]
    )
    for r, total in opened.charges():
        words = [
            r.time,
            r.run,
            r.account,
            r.verb,
            r.question,
            str(r.epsilon),
            str(total),
            str(r.private),
            r.purpose,
            r.note,
            r.file,
        ]
        writer.writerow([r.number, *(harmless(word) for word in words)])
    return stream.getvalue()
