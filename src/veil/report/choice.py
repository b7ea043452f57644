"""The section of a report on how the method was chosen: the facts and their price, and what every method promised."""

from fractions import Fraction
from math import exp

from ..choice import Fact, Trace
from ..display import amount, number
from ..models import AutoClassifier
from . import sections
from .figures import expected_figure
from .words import escaped, listed

LARGEST = 700.0  # logarithm of a number that a float holds
LEAD = """<p>By what every method did on public tables, {why}. What the choice knew of the rows cost epsilon {price},
and the method used it too: choosing cost nothing more.</p>"""
DRAWN = """<p>A dot is what to expect of a method, and 90 % of tables like this one lie within its line: how well a
label can be predicted at all differs more than the methods do. The first is the one that was chosen.</p>"""
FAR = "<p>No public table is much like this one: take these numbers as a guess.</p>"
BAD = "<p>That was expected before the rows were asked; the verdict of this report says what came of it.</p>"
LOGARITHMS = {
    "signal": "rows times epsilon",
    "weights": "weights of a linear model",
    "columns": "columns",
    "classes": "classes",
    "plenty": "rows times epsilon for each weight",
}
WORDS = {
    "rows": "rows, less a standard deviation of the noise in their number",
    "numbers": "share of the columns that hold numbers",
    "many": "whether there are more than two classes",
    "majority": "share of the largest class",
}


def choice(model: object) -> str:
    """How the method was chosen, as HTML; "" for a model whose method was given."""
    if not isinstance(model, AutoClassifier):
        return ""
    trace = model.trace_
    if not trace.predictions:
        return sections.section("The choice", f"<p>Veil took {escaped(f'{trace.chosen}, {trace.why}', 300)}.</p>")
    lead = LEAD.format(why=escaped(trace.in_short(), 300), price=amount(trace.price))
    near = f'<p class="quiet">Most like it among public tables: {listed(trace.nearest)}.</p>'
    return sections.section(
        "The choice",
        lead,
        FAR * trace.far,
        DRAWN,
        BAD * model.verdict_.bad,
        _figures(trace),
        near,
        _facts(trace),
        _out(trace),
    )


def _figures(trace: Trace) -> str:
    """A figure for each measure, the chosen option first and then the best."""
    parts = []
    for measure in dict.fromkeys(one.measure for one in trace.predictions):
        found = [one for one in trace.predictions if one.measure == measure]
        found.sort(key=lambda one: (one.option != trace.chosen, -one.value))
        parts.append(expected_figure(measure, [(one.option, one.value, one.low, one.high) for one in found]))
    return "".join(f"<figure>{part}</figure>" for part in parts)


def _facts(trace: Trace) -> str:
    rows = [(*_said(fact), number(fact.noise) if fact.noise else "", _price(fact.price)) for fact in trace.facts]
    return sections.table("What the choice knew", ["fact", "value", "standard deviation of its noise", "epsilon"], rows)


def _said(fact: Fact) -> tuple[str, str]:
    """A fact in words, and its value; of a logarithm, what it is of."""
    if fact.name in LOGARITHMS:
        return LOGARITHMS[fact.name], number(exp(min(fact.value, LARGEST)))
    if fact.name == "many":
        return WORDS[fact.name], "yes" if fact.value else "no"
    return WORDS.get(fact.name, fact.name), number(fact.value)


def _price(price: Fraction) -> str:
    return amount(price) if price else "free"


def _out(trace: Trace) -> str:
    """The options that could not be used, with the reasons; "" if there are none."""
    rows = list((trace.left_out or {}).items())
    return sections.table("Left out, by what is public", ["method", "why"], rows) if rows else ""
