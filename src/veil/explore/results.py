"""Results: what was published, from files alone: models with their evaluations, and tables that answer for nothing."""

from pathlib import Path
from typing import Any

import numpy as np

from ..display import amount, between_rows, number, readable
from ..drawing import Picture, heat
from ..errors import BadInput, VeilError
from ..files.artefacts import OPENED
from ..kernel import Ledger
from ..markup import escaped, listed
from ..plans.outcome import keep_apart
from .asking import Asking
from .given import KINDS, Found, Given
from .page import Safe, Site, View, entry, figure, form, paragraph, section, select, table, warning
from .pages_read import Judgement, evaluation_of

PARAMETERS: tuple[str, ...] = ()
FLATTERED = ", perhaps on rows it was trained on"
ONE = ("where", "column")
LEAD = "What was published, from the files alone. They hold released values: asking them costs nothing, however often."
NOTHING = 0.8  # width of an interval from which on it tells nothing
MOST_BARS, MOST_SIDE, MOST_LETTERS = 64, 48, 500
WORDS = {
    "model": "a model",
    "synopsis": "a table for classification",
    "histogram": "a histogram",
    "synthetic": "a synthetic table",
    "evaluation": "an evaluation",
    "report": "a report",
    "receipts": "receipts",
}


def read_published(path: Path) -> Any:
    """What a published file holds: a model, a synopsis, a histogram or a synthetic table."""
    from ..models import load_model
    from ..synopsis import load_synopsis

    try:
        return load_model(path)
    except BadInput as error:
        if str(error).endswith(tuple(OPENED.values())):
            return load_synopsis(path)
        raise


def results(site: Site, given: Given, asking: Asking) -> View:
    """The list of what was found."""
    if given.watch is None:
        words = "No folder is watched. Start with `veil explore --watch DIR`, the folder that results are written to."
        return View("Results", LEAD, "", paragraph(words))
    try:
        found = given.published()
    except BadInput as error:
        return View("Results", LEAD, "", warning(str(error)))
    shown = [one for one in found if one.kind in KINDS]
    if not shown:
        words = (
            f"Nothing was published in {given.watch} yet. What veil train and veil publish write there shows up here."
        )
        return View("Results", LEAD, "", paragraph(words))
    paid = _entries_paid(given)
    rows = [_line(site, given, one, paid, found) for one in shown]
    header = ["file", "what", "by", "epsilon", "private", "in the ledger", "measured"]
    return View("Results", LEAD, "", section("Published", table("Files, the newest first", header, rows)))


def _entries_paid(given: Given) -> set[str]:
    """The hashes of all entries of the ledgers that are open."""
    opened = [given.ledger(number) for number in range(len(given.ledgers))]
    return {receipt.hash for one in opened if isinstance(one, Ledger) for receipt in one.receipts()}


def _line(site: Site, given: Given, one: Found, paid: set[str], found: list[Found]) -> list[Any]:
    made = given.load(one, read_published)
    if isinstance(made, str):
        return [one.name, made, "-", "-", "-", "-", "-"]
    outcome = made.outcome_
    known = (
        "yes" if all(receipt.hash in paid for receipt in outcome.receipts) else "not found" if given.ledgers else "-"
    )
    judged = judgement(given, made, found) if one.kind == "model" else None
    return [
        site.link(one.name, f"results/{one.number}"),
        f"{WORDS[one.kind]} of {outcome.schema.name}",
        outcome.trace["chosen"] + " (auto)" if outcome.trace else outcome.method,
        amount(outcome.epsilon),
        "yes" if outcome.private else "NOT private",
        known,
        _measured(judged[1]) + (FLATTERED if not is_apart(made, judged[1]) else "") if judged else "-",
    ]


def judgement(given: Given, made: Any, found: list[Found]) -> tuple[Found, Judgement] | None:
    """The evaluation of a model among the reports that were found, the newest that names its last receipt: if there is
    one, of those on rows kept apart. Each is read once, however many models there are."""
    last = made.outcome_.receipts[-1].hash if made.outcome_.receipts else ""
    pages = [(one, given.load(one, evaluation_of)) for one in found if one.kind == "evaluation"]
    mine = [(one, judged) for one, judged in pages if isinstance(judged, Judgement) and judged.hash == last]
    return next((pair for pair in mine if is_apart(made, pair[1])), next(iter(mine), None))


def is_apart(made: Any, judged: Judgement) -> bool:
    """Whether, by the receipts of both, the rows that judged a model are none of those that it was trained on."""
    return keep_apart(made.outcome_.receipts, judged.accounts)


def _measured(judged: Judgement) -> str:
    words = {"auc": "AUC"}.get(judged.measure, judged.measure)
    if judged.high - judged.low > NOTHING:
        return f"{words} not known: the measurement is noise"
    return f"{words} {judged.value:.3f} ({judged.low:.3f} to {judged.high:.3f})"


def result(site: Site, given: Given, asking: Asking, number_: int) -> View:
    """One of them."""
    one = given.file(number_, KINDS)
    made = given.load(one, read_published)
    if isinstance(made, str):
        return View(one.name, LEAD, "", warning(made))
    parts = [banner(made), headline(made), joined(site, given, one, made)]
    shown, controls = asked_of(site, one, made, asking) if one.kind != "model" else (Safe(""), "")
    return View(f"{one.name}: {WORDS[one.kind]} of {made.schema_.name}", LEAD, controls, "".join([*parts, shown]))


def banner(made: Any) -> Safe:
    """That the promise does not hold, if it does not."""
    if made.private_:
        return Safe("")
    why = "The noise was seeded, or the rows were declared public."
    return Safe(f'<p class="banner" role="alert"><strong>NOT private</strong>{why}</p>')


def headline(made: Any) -> Safe:
    """The verdict, and tiles."""
    verdict, outcome = made.verdict_, made.outcome_
    words = f"{verdict.words[:1].upper()}{verdict.words[1:]}."
    tiles = [
        (amount(outcome.epsilon), "epsilon it cost"),
        (str(len(outcome.receipts)), "charges"),
        (escaped(outcome.method), "method"),
    ]
    cards = "".join(f"<div><b>{value}</b>{name}</div>" for value, name in tiles)
    return Safe(
        f'<p class="verdict {escaped(verdict.level)}">{escaped(words, 600)}</p><div class="tiles">{cards}</div>'
    )


def joined(site: Site, given: Given, one: Found, made: Any) -> Safe:
    """Links to its report and its choice, and its evaluation."""
    links = [site.link("The whole report", f"results/{one.number}/report")] if site.served else []
    if one.kind == "model" and made.outcome_.trace is not None:
        links.append(site.link("Why this method", f"choice/{one.number}"))
    found = judgement(given, made, given.published()) if one.kind == "model" else None
    said = ""
    if found:
        page, judged = found
        links += [site.link("How it was measured", f"results/{page.number}/page")] if site.served else []
        where = " on rows kept apart" if is_apart(made, judged) else f"{FLATTERED}, which flatters it"
        said = paragraph(f"Measured{where}, released with 95 % confidence: {_measured(judged)}.")
    elif one.kind == "model":
        said = paragraph(
            "It was not measured on rows that were kept apart, or the report of that is not in this folder.", "quiet"
        )
    schema = made.schema_
    about = f"Columns: {listed([column.name for column in schema.features])}." if schema.features else ""
    return Safe(f"{said}<p>{' · '.join(links)}</p><p>{about}</p>")


def report_of(given: Given, number_: int) -> str:
    """The report of a published file, made anew."""
    from ..report import report

    made = given.load(given.file(number_, KINDS), read_published)
    if isinstance(made, str):
        raise VeilError(made)
    return report(made)


def page_of(given: Given, number_: int) -> bytes:
    """A report that was found, as it is: it comes with a policy under which nothing in it runs."""
    one = given.file(number_, ("evaluation", "report"))
    try:
        return one.path.read_bytes()
    except OSError:
        raise BadInput(f"{one.name} is not there any more") from None


def asked_of(site: Site, one: Found, made: Any, asking: Asking) -> tuple[Safe, str]:
    """A query and a picture of a published table, and the controls for both."""
    from ..synopsis import Histogram, SyntheticTable
    from ..synopsis.where import where

    place, columns = f"results/{one.number}", [name for name in made.columns]
    column = asking.choice("column", columns) if columns else ""
    text = asking.get("where", "")[:MOST_LETTERS]
    box = where([text], made.columns) if text.strip() else {}
    answer = made.query(box)
    low, high = (answer.interval() or (None, None)) if hasattr(answer, "interval") else _ends(answer)
    span = "" if low is None or high is None else f", 95 % sure between {between_rows(low, high, 'and')}"
    said = Safe(f'<p class="answer"><b>{escaped(f"about {answer.count:,.0f} rows")}</b>{escaped(span)}</p>')
    asked_for = paragraph(f"Where {readable(text, 200)}:" if text.strip() else "Without a condition, all rows:")
    draw = picture if isinstance(made, Histogram) else modelled if isinstance(made, SyntheticTable) else bars_of
    drawn = draw(made, column)
    controls = form(
        site,
        place,
        entry("where", "Where", text, more=' size="36" placeholder="age in 30..50 and sex = Female"'),
        select("column", "Draw", columns, column),
    )
    maps = [map_of(made)] if isinstance(made, Histogram) and len(made.columns) == 2 else []
    return Safe(
        section("Ask as often as you like", asked_for, said) + section("What was released", drawn, *maps)
    ), controls


def _ends(answer: Any) -> tuple[float, float]:
    """The interval of a synopsis' estimate, from its standard error."""
    return max(answer.count - 1.96 * answer.standard_error, 0.0), answer.count + 1.96 * answer.standard_error


def picture(made: Any, column: str) -> Safe:
    """A histogram's column as bars with intervals."""
    from ..synopsis.histogram.runs import bars, span_text

    place = made.columns.index(column)
    declared, runs = made.schema_.features[place], bars(made.domain.shape[place], MOST_BARS)
    answers = [made.within(place, run) for run in runs]
    rows = [
        (f"{column} {span_text(declared, run)}", f"{answer.count:,.0f}", _interval(answer))
        for run, answer in zip(runs, answers, strict=True)
    ]
    ends = [answer.interval() or (answer.count, answer.count) for answer in answers]
    return _drawn(column, [answer.count for answer in answers], ends, rows)


def _interval(answer: Any) -> str:
    found = answer.interval()
    return between_rows(*found) if found else "-"


def bars_of(made: Any, column: str) -> Safe:
    """A synopsis' column as bars with the error of their noise."""

    marginal = made.marginal([column])
    counts, errors = marginal.counts.ravel(), np.asarray(marginal.error()).ravel()
    names = marginal.names[column]
    ends = [(float(count - error), float(count + error)) for count, error in zip(counts, errors, strict=True)]
    rows = [
        (name, f"{count:,}", f"± {number(error)}") for name, count, error in zip(names, counts, errors, strict=True)
    ]
    return _drawn(column, [float(count) for count in counts], ends, rows)


def modelled(made: Any, column: str) -> Safe:
    """A synthetic table's column as bars: what its model says, which has no intervals."""
    counts = [float(count) for count in made.marginal([column])]
    rows = [(name, f"{count:,.0f}", "-") for name, count in zip(made.names(column), counts, strict=True)]
    return _drawn(column, counts, [(count, count) for count in counts], rows, "as the model says, without intervals")


def _drawn(
    column: str,
    counts: list[float],
    ends: list[tuple[float, float]],
    rows: list[tuple[str, str, str]],
    what: str = "released; bars with what the noise leaves open (95 %)",
) -> Safe:
    high = max([high for _, high in ends] + [1.0])
    few = len(rows) <= 12
    along = [
        (place + 0.5, readable(row[0].removeprefix(f"{column} "), 60 // max(len(rows), 1) + 4))
        for place, row in enumerate(rows)
    ]
    ends_up = (0.0, high * 1.05)
    drawn = Picture(
        f"released rows by {column}",
        (0, max(len(counts), 1)),
        ends_up,
        width=640,
        beside="rows",
        below=readable(column, 40),
        along=along if few else along[:: max(len(along) - 1, 1)],
    )
    drawn.bars([(place, place + 1, max(count, 0.0)) for place, count in enumerate(counts)])
    for place, (low, top) in enumerate(ends):
        middle = place + 0.5
        if top > low:
            drawn.line([(middle, max(low, 0.0)), (middle, max(top, 0.0))], "ink thin")
    listing = table(f"Rows by {column}", [column, "about", "95 %"], rows, fold=True)
    return figure(f"Rows by {column}", what, drawn.svg(), listing)


def map_of(made: Any) -> Safe:
    """A histogram of two columns as a map."""
    cells = np.asarray(made.table, float)
    steps = [max(1, -(-size // MOST_SIDE)) for size in cells.shape]
    for axis, step in enumerate(steps):
        edges = np.arange(0, cells.shape[axis], step)
        cells = np.add.reduceat(cells, edges, axis=axis)
    first, second = made.columns
    svg = heat(f"rows by {first} across and {second} up", cells.tolist(), float(cells.max()))
    most = number(float(cells.max()))
    note = f"{first} across, {second} up. Each shade is twice the one before; the strongest is {most} rows."
    return figure("Map", "released", svg, "", note)
