"""Plan: what would a model cost and be worth, before a row is opened? Accuracy first, epsilon second."""

from dataclasses import replace
from html import escape
from typing import Any

from ..choice.classifiers import EPSILONS, OPTIONS, Expected, least_epsilon
from ..display import amount, number
from ..drawing import Picture
from ..errors import VeilError
from ..forecast import Forecast, room
from ..kernel import Budget
from ..markup import escaped, plural
from ..plans.catalogue import seconds
from ..plans.rehearsal import plan_cell
from .asking import Asking
from .commands import Training
from .foreseeing import PASTED, Asked, asked, fields, foreseen, methods, nothing_open, price_text, state
from .given import Given
from .page import Safe, Site, View, copied, entry, figure, form, paragraph, section, select, table, verdict, warning
from .words import duration, odds, short

PARAMETERS = ("schema", "rows", "epsilon", "measure", "goal", "method")
GOALS = {"auc": "AUC", "accuracy": "accuracy"}
LEAD = "Nothing is opened and nothing is charged: all of this follows from the schema and from public tables."
TAKEN = "Seconds are of one core and MB of private memory, both beyond a start, for rows in Parquet: CSV takes more."
FAR = "No public table is much like this one: take these numbers as a guess, and measure on rows that are kept apart."
SOURCE = "from what methods did on public tables; about nine in ten lie within a line, of some kinds fewer"


def plan(site: Site, given: Given, asking: Asking, pasted: str = "") -> View:
    """The view."""
    now = asked(given, asking, pasted)
    if isinstance(now, str):
        found = nothing_open(site, now)
        lead = "See what to expect of a table before you pay: give its schema, which holds no row."
        how = (
            "Start with `veil explore --schema FILE`, or paste a schema here: it is used for this answer and not kept."
        )
        shown = Safe(f"{warning(now) if given.schemas or pasted else paragraph(now)}{paragraph(how)}{found['paste']}")
        return View("Plan", lead, "", shown)
    measure = asking.choice("measure", [*GOALS])
    goal, method = asking.share("goal"), asking.choice("method", methods(now.schema), "auto")
    found_at = solved(now, measure, goal)
    if isinstance(found_at, Asked):
        now = found_at
    expected = now.expected()
    rehearsed = foreseen(now, method)
    parts = [
        solution(now, measure, goal, found_at) if goal is not None else "",
        what_to_expect(site, now, expected, measure, method),
        questions(given, now, method, rehearsed),
        to_copy(site, given, now, method),
    ]
    return View(f"Plan for {now.schema.name}", LEAD, controls(site, given, now, measure, goal, method), "".join(parts))


def controls(site: Site, given: Given, now: Asked, measure: str, goal: float | None, method: str) -> str:
    """The form; a pasted schema goes along in it."""
    kept = {"text": now.pasted} if now.pasted else None
    return form(
        site,
        "plan",
        *fields(given, now),
        select("method", "Method", methods(now.schema), method),
        select("measure", "I need", GOALS, measure),
        entry(
            "goal",
            "of at least",
            "" if goal is None else f"{goal:g}",
            more=' inputmode="decimal" size="5" placeholder="0.85"',
        ),
        hidden=kept,
        way="post" if now.pasted else "get",
    )


def solved(now: Asked, measure: str, goal: float | None) -> Asked | None:
    """The request at the least epsilon that is expected to reach a goal; None if there is none, or no goal."""
    if goal is None:
        return None
    least = least_epsilon(now.schema, now.rows, measure, goal)
    return None if least is None else replace(now, budget=Budget(f"{least:g}"))


def solution(now: Asked, measure: str, goal: float, found: Asked | None) -> Safe:
    """What the goal asks of epsilon."""
    what = f"an {GOALS[measure]} of {goal:g} with {now.rows:,} rows"
    if found is None:
        most = f"No epsilon up to {max(EPSILONS):g} is expected to give {what}"
        return warning(f"{most}: on average, tables like this one stay below.")
    sure = least_epsilon(now.schema, now.rows, measure, goal, sure=True)
    where = f"From epsilon {sure:g} up" if sure else f"At no epsilon up to {max(EPSILONS):g} do"
    words = (
        f"Expect {what} from epsilon {price_text(now.budget)} up: about half of tables like this one reach it there."
    )
    rest = f"The rest of this page is for epsilon {price_text(now.budget)}."
    return verdict(f"{words} {where} 95 % of them reach it. {rest}")


def what_to_expect(site: Site, now: Asked, expected: Expected, measure: str, method: str) -> Safe:
    """Every method's expected quality with its interval, the nearest tables, and the odds."""
    order = sorted(expected.options, key=lambda name: -expected.of(name, measure).value)
    drawn = intervals(expected, order, measure, auto_choice(expected))
    rows = [_line(site, now, expected, name) for name in order]
    header = ["method", "AUC", "90 % between", "accuracy", "90 % between", "seconds", "MB"]
    listing = table("What to expect of every method", header, rows)
    near = ", ".join(expected.nearest)
    why = f", and {site.link('why one is chosen', 'choice', **state(now))}" if now.number >= 0 else ""
    all_ = site.link("All are in Compare", "compare", tables="all")
    alike = paragraph(Safe(f"Most like it of public tables: {escaped(near, 200)}. {all_}{why}."))
    person = "one person" if now.schema.person else "one row"
    parts = [
        paragraph(odds(min(now.epsilon, 1e6), person)),
        warning(FAR) if expected.far else "",
        drawn,
        listing,
        paragraph(TAKEN, "quiet"),
        alike,
    ]
    return section(f"What to expect of {now.rows:,} rows at epsilon {price_text(now.budget)}", *parts)


def auto_choice(expected: Expected) -> str:
    """The option that the automatic choice would take, by both measures."""
    worth = {
        name: sum(expected.of(name, measure).value for measure in GOALS) for name in OPTIONS if name in expected.options
    }
    return max(worth, key=lambda name: worth[name])


def intervals(expected: Expected, order: list[str], measure: str, chosen: str) -> Safe:
    """A dot for what is expected of each method, and a line for where 90 % of tables lie."""
    found = [expected.of(name, measure) for name in order]
    low, high = min(one.low for one in found), max(one.high for one in found)
    names = [f"{name} (auto)" if name == chosen else name for name in order]
    drawn = Picture(
        f"expected {GOALS[measure]} of every method",
        (low - 0.02, min(high + 0.02, 1.0)),
        (len(found) - 0.5, -0.5),
        width=640,
        height=50 + 20 * len(found),
        below=GOALS[measure],
        names=names,
    )
    for place, one in enumerate(found):
        drawn.lying(place, one.low, one.high, "main" if one.option == chosen else "pale", 6)
        drawn.dots([(one.value, place)], "ink", 4)
    return figure(f"Expected {GOALS[measure]}", SOURCE, drawn.svg(), "")


def _line(site: Site, now: Asked, expected: Expected, name: str) -> list[Any]:
    cells = [
        text
        for measure in GOALS
        for one in [expected.of(name, measure)]
        for text in (short(one.value, 2), f"{one.low:.2f} to {one.high:.2f}")
    ]
    columns = len(now.schema.features)
    return [name, *cells, duration(seconds(name, now.rows, columns)), number(room(name, now.schema, now.rows))]


def questions(given: Given, now: Asked, method: str, rehearsed: Forecast | str) -> Safe:
    """What a run would ask, with noise beside expected counts, and what the ledger would have left."""
    if isinstance(rehearsed, str):
        return section(f"What {method} would ask", warning(rehearsed))
    rows = [(f"{row.answer} {row.about}", *map(plan_cell, row[2:])) for row in rehearsed.asked]
    rows.append(("together", amount(rehearsed.cost), "", "", ""))
    header = ["question", "epsilon", "noise scale", "95 % of counts within", "of about"]
    chosen = f" Here {rehearsed.trace.chosen} was chosen." if rehearsed.trace else ""
    taken = f"It takes about {duration(rehearsed.seconds)} s and {number(rehearsed.megabytes)} MB beyond a start. "
    made_up = (
        f"{taken}Rehearsed with {rehearsed.made_up:,} made-up rows, so later questions are one example of what may be "
    )
    made_up += f"asked.{chosen}"
    words = f"{rehearsed.verdict.words[:1].upper()}{rehearsed.verdict.words[1:]}."
    told = verdict(words, rehearsed.verdict.level)
    parts = [
        told,
        table("Questions, their price and their noise", header, rows),
        paragraph(made_up, "quiet"),
        balance(given, now),
    ]
    return section(f"What {method} would ask", *parts, help_with(now, rehearsed))


def balance(given: Given, now: Asked) -> Safe:
    """What the ledger of this data set has left, before and after."""
    found = given.ledger_of(now.schema)
    if found is None:
        return paragraph("No ledger of this data set is open, so nothing adds up what is spent on it.", "quiet")
    path, ledger = found
    left, cost = ledger.left, now.budget.epsilon
    words = f"{path.name} has {amount(left)} of {amount(ledger.limit)} left"
    if left < cost:
        return warning(f"{words}: it would refuse this.")
    return paragraph(f"{words}; after this it would have {amount(left - cost)}.")


def help_with(now: Asked, rehearsed: Forecast) -> Safe:
    """What would help: fewer codes where there are many."""
    wide = sorted(now.schema.features, key=lambda column: -column.size)[:3]
    codes = [f"{column.name} ({plural(column.size, 'code')})" for column in wide if column.size > 30]
    said = [rehearsed.largest] if rehearsed.largest else []
    said += (
        [f"Columns with many codes: {', '.join(codes)}. Groups or fewer bins for them leave more to each count."]
        if codes
        else []
    )
    return Safe("".join(paragraph(f"What would help: {words}") for words in said))


def to_copy(site: Site, given: Given, now: Asked, method: str) -> Safe:
    """The command, the script and the notebook."""
    steps = training(given, now, method)
    first = paragraph(f"Save the schema as {PASTED} first.") if now.pasted else ""
    words = f"{escaped('DATA.csv')} stands for your rows. Only this command opens them, and it charges "
    words += (
        f"{escaped(steps.ledger.name)}."
        if steps.ledger
        else "no ledger: give one with <code>--ledger</code> if more is to follow."
    )
    notebook = ""
    if site.served and not now.pasted:
        address = escape(site.path("plan/notebook", method=method, **state(now)))
        notebook = f'<p><a href="{address}" download="train.ipynb">The same as a notebook</a></p>'
    return section(
        "Copy it",
        first,
        paragraph(Safe(words)),
        copied("Command", steps.command(), "shell"),
        copied("Python", steps.script(), "python"),
        notebook,
    )


def training(given: Given, now: Asked, method: str) -> Training:
    """The plan as something to run."""
    from ..models import METHODS

    found = given.ledger_of(now.schema)
    return Training(
        now.path, now.schema.name, method, METHODS[method].__name__, now.budget.epsilon, found[0] if found else None
    )


def notebook(given: Given, asking: Asking) -> str:
    """The notebook of a plan, as text."""
    now = asked(given, asking)
    if isinstance(now, str):
        raise VeilError(now)
    return training(given, now, asking.choice("method", methods(now.schema), "auto")).notebook()
