"""Choice: why this method? Every option with its prediction, not only the winner, and where the choice flips."""

import json
from collections.abc import Sequence
from functools import lru_cache

from ..choice.classifiers import EPSILONS, fact_words
from ..choice.trace import Fact, Prediction, Trace
from ..display import amount, number
from ..drawing import Picture
from ..errors import VeilError
from ..kernel import Budget
from ..schema import Schema
from .asking import Asking
from .closer import legend
from .foreseeing import Asked, asked, fields, price_text, state
from .given import Found, Given
from .page import Safe, Site, View, figure, folded, form, paragraph, section, table, warning
from .words import short

PARAMETERS = ("schema", "rows", "epsilon")
LEAD = "The automatic choice predicts every method from what it did on public tables, and takes the best."
MEASURED = """On families of tables that it had not seen, the choice was measured in docs/choice.md: how far it is from
the best method in hindsight, and how often its intervals hold."""


def choice(site: Site, given: Given, asking: Asking) -> View:
    """The view of a choice that is to come."""
    now = asked(given, asking)
    if isinstance(now, str):
        problem = warning(now) if given.schemas else paragraph(now)
        how = paragraph("Start with veil explore --schema FILE, or paste a schema in Plan.")
        return View("Choice", LEAD, "", Safe(problem + how + listed(site, given)))
    try:
        trace = foreseen_choice(now.schema.to_toml(), now.rows, str(now.budget.epsilon))
    except VeilError as error:
        return View("Choice", LEAD, form(site, "choice", *fields(given, now)), warning(str(error)))
    said = f"With {now.rows:,} rows and epsilon {price_text(now.budget)}, {trace.chosen} would be chosen for "
    said += f"{now.schema.name}, by public facts alone. A run also counts the classes, for 3 % of epsilon that the "
    said += "method uses too, and may choose otherwise."
    link = as_data(site, "choice.json", **state(now)) if now.number >= 0 else Safe("")
    parts = [paragraph(said, "lead"), told(trace), link, flips(now), listed(site, given)]
    return View(f"Choice for {now.schema.name}", LEAD, form(site, "choice", *fields(given, now)), "".join(parts))


@lru_cache(maxsize=512)
def foreseen_choice(text: str, rows: int, price: str) -> Trace:
    """The choice to expect for the text of a schema, kept for a while."""
    from ..models.auto import foresee

    return foresee(Schema.loads(text), rows, Budget(price))


def chosen(site: Site, given: Given, number_: int) -> View:
    """The view of a choice that was made, from the file of its model."""
    from ..models import load_model

    one = given.file(number_, ("model",))
    model = given.load(one, load_model)
    if isinstance(model, str):
        return View(f"Choice for {one.name}", LEAD, "", warning(model))
    if model.outcome_.trace is None:
        words = (
            f"The method of {one.name} was named by whoever trained it: {model.outcome_.method}. Nothing was chosen."
        )
        return View(f"Choice for {one.name}", LEAD, "", Safe(paragraph(words) + listed(site, given)))
    trace = Trace.from_dict(model.outcome_.trace)
    price = f"What the choice knew of the rows cost epsilon {amount(trace.price)} of {amount(model.outcome_.epsilon)}, "
    price += "and the method used it too."
    said, link = f"It picked {trace.chosen}, {trace.why}. {price}", as_data(site, f"choice/{number_}.json")
    parts = [paragraph(said, "lead"), told(trace), link, listed(site, given)]
    return View(f"Choice for {one.name}", LEAD, "", "".join(parts))


def as_data(site: Site, place: str, **asked_for: str) -> Safe:
    """A link to the trace as JSON."""
    return paragraph(site.link("The trace as JSON", place, **asked_for)) if site.served else Safe("")


def as_json(given: Given, asking: Asking) -> str:
    """The trace of a choice that is to come, as JSON."""
    now = asked(given, asking)
    if isinstance(now, str):
        raise VeilError(now)
    return _plain(foreseen_choice(now.schema.to_toml(), now.rows, str(now.budget.epsilon)))


def chosen_as_json(given: Given, asking: Asking, number_: int) -> str:
    """The trace of a choice that was made, as JSON: the one in the file of its model."""
    from ..models import load_model

    model = given.load(given.file(number_, ("model",)), load_model)
    if isinstance(model, str):
        raise VeilError(model)
    if model.outcome_.trace is None:
        raise VeilError("the method was named by whoever trained it: nothing was chosen")
    return _plain(Trace.from_dict(model.outcome_.trace))


def _plain(trace: Trace) -> str:
    return json.dumps(trace.to_dict(), indent=1)


def told(trace: Trace) -> Safe:
    """Facts, options, why not the others, and the nearest tables."""
    parts = [facts(trace), options(trace)]
    if trace.nearest:
        near = f"Most like it among public tables: {', '.join(trace.nearest)}."
        parts.append(paragraph(near + (" None is really like it: take this as a guess." if trace.far else "")))
    return Safe("".join(parts) + paragraph(MEASURED, "quiet"))


def facts(trace: Trace) -> Safe:
    """What the choice knew, with noise and price; said once if all of it was free."""
    header = ["fact", "value", "noise", "epsilon", "from"]
    if not any(fact.price or fact.noise for fact in trace.facts):
        said = paragraph("All of it from the schema or from earlier answers, without noise of its own and for nothing.")
        return section("What it knows", said, table("Facts", header[:2], [fact_words(fact) for fact in trace.facts]))
    return section("What it knows", table("Facts", header, [_fact_line(fact) for fact in trace.facts]))


def _fact_line(fact: Fact) -> tuple[str, ...]:
    noise, price = f"± {number(fact.noise)}" if fact.noise else "none", amount(fact.price) if fact.price else "0"
    return (*fact_words(fact), noise, price, "asked" if fact.price else "schema, or earlier answers")


def options(trace: Trace) -> Safe:
    """Every option with its predictions, and why it was not taken."""
    measures = [*dict.fromkeys(one.measure for one in trace.predictions)]
    worth = {name: sum(one.value for one in trace.predictions if one.option == name) for name in _names(trace)}
    order = sorted(worth, key=lambda name: (name != trace.chosen, -worth[name]))
    rows = [(name, *_cells(trace, name, measures), _why(trace, name)) for name in order]
    rows += [
        (name, *["-"] * (2 * len(measures)), f"left out: {reason}") for name, reason in (trace.left_out or {}).items()
    ]
    named = [{"auc": "AUC"}.get(measure, measure) for measure in measures]
    header = ["option", *(cell for name in named for cell in (name, "90 % between")), "why not"]
    drawn = "".join(_figure(trace, order, measure) for measure in measures)
    return section(
        "What it expects of every option", Safe(f'<div class="pair">{drawn}</div>'), table("Options", header, rows)
    )


def _names(trace: Trace) -> list[str]:
    return [*dict.fromkeys(one.option for one in trace.predictions)]


def _cells(trace: Trace, name: str, measures: Sequence[str]) -> list[str]:
    found = {one.measure: one for one in trace.predictions if one.option == name}
    return [
        text
        for measure in measures
        for text in (
            (short(found[measure].value), f"{found[measure].low:.2f} to {found[measure].high:.2f}")
            if measure in found
            else ("-", "-")
        )
    ]


def _why(trace: Trace, name: str) -> str:
    if name == trace.chosen:
        return "picked"
    mine, best = ({one.measure: one for one in trace.predictions if one.option == who} for who in (name, trace.chosen))
    less = sum(best[measure].value - mine[measure].value for measure in mine if measure in best) / max(len(mine), 1)
    overlap = all(mine[measure].high >= best[measure].low for measure in mine if measure in best)
    return f"{short(less)} less on average{', though their intervals overlap' if overlap else ''}"


def _figure(trace: Trace, order: Sequence[str], measure: str) -> Safe:
    found = {one.option: one for one in trace.predictions if one.measure == measure}
    lines: list[Prediction] = [found[name] for name in order if name in found]
    words = {"auc": "AUC"}.get(measure, measure)
    ends = min(one.low for one in lines) - 0.02, min(max(one.high for one in lines) + 0.02, 1.0)
    drawn = Picture(
        f"expected {words} of every option",
        ends,
        (len(lines) - 0.5, -0.5),
        height=50 + 20 * len(lines),
        below=words,
        names=[one.option for one in lines],
    )
    for place, one in enumerate(lines):
        kind = "main" if one.option == trace.chosen else "pale"
        drawn.lying(place, one.low, one.high, kind, 6)
        drawn.dots([(one.value, place)], "ink", 4)
    return figure(
        f"Expected {words}",
        "from public tables; about nine in ten lie within a line, of some kinds fewer",
        drawn.svg(),
        "",
    )


def flips(now: Asked) -> Safe:
    """Where the choice changes when epsilon does."""
    text, found = now.schema.to_toml(), list[tuple[float, Trace]]()
    for epsilon in EPSILONS:
        try:
            found.append((epsilon, foreseen_choice(text, now.rows, f"{epsilon:g}")))
        except VeilError:
            continue
    if not found:
        return Safe("")
    names = [*dict.fromkeys(name for _, trace in found for name in _names(trace))]
    curves = {
        name: [
            (at, one.value)
            for at, trace in found
            for one in trace.predictions
            if (one.option, one.measure) == (name, "auc")
        ]
        for name in names
    }
    values = [value for points in curves.values() for _, value in points]
    drawn = Picture(
        "expected AUC of every option over epsilon",
        (EPSILONS[0], EPSILONS[-1]),
        (min(values) - 0.01, max(values) + 0.01),
        width=640,
        logs=True,
        below="epsilon",
        beside="expected AUC",
    )
    colours = dict(zip(dict.fromkeys(trace.chosen for _, trace in found), ("main", "second", "third"), strict=False))
    for name, points in sorted(curves.items(), key=lambda pair: pair[0] in colours):
        drawn.line(points, colours.get(name, "pale"))
    for at, trace in found:
        drawn.dots(
            [(at, next(one.value for one in trace.predictions if (one.option, one.measure) == (trace.chosen, "auc")))],
            colours.get(trace.chosen, "main"),
        )
    drawn.post(min(max(now.epsilon, EPSILONS[0]), EPSILONS[-1]), "", "here")
    rows = [(f"{at:g}", trace.chosen) for at, trace in found]
    words = "A dot marks the option that would be chosen, by AUC and accuracy together."
    listing = legend(colours) + folded(
        "The same as a table", table("What would be chosen", ["epsilon", "option"], rows[:18])
    )
    return section(
        "Where the choice flips",
        figure("Over epsilon", f"predicted for {now.rows:,} rows", drawn.svg(), listing, words),
    )


def listed(site: Site, given: Given) -> Safe:
    """Links to the choices of models that were found."""
    models = [one for one in given.published() if one.kind == "model"]
    if not models:
        return Safe("")
    rows = [[site.link(one.name, f"choice/{one.number}"), _picked(given, one)] for one in models]
    return section("Choices that were made", table("Models", ["model", "picked"], rows))


def _picked(given: Given, one: Found) -> str:
    """The method that was picked for a model, or that none was."""
    from ..models import load_model

    made = given.load(one, load_model)
    if isinstance(made, str):
        return "-"
    trace = made.outcome_.trace
    return str(trace["chosen"]) if trace else f"nothing, {made.outcome_.method} was named"
