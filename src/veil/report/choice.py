"""The section of a report on how the method was chosen: the facts and their price, and what every method promised."""

from fractions import Fraction

from ..choice import Trace
from ..choice.classifiers import fact_words
from ..display import amount, number
from ..markup import escaped, listed
from ..models import AutoClassifier
from . import sections
from .figures import expected_figure

LEAD = """<p>By what every method did on public tables, {why}. What the choice knew of the rows cost epsilon {price},
and the method used it too: choosing cost nothing more.</p>"""
DRAWN = """<p>A dot is what to expect of a method, and about nine tables in ten lie within its line, of some kinds
fewer: how well a label can be predicted at all differs more than the methods do. The first is the chosen one.</p>"""
FAR = "<p>No public table is much like this one: take these numbers as a guess.</p>"
BAD = "<p>That was expected before the rows were asked; the verdict of this report says what came of it.</p>"


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
    rows = [(*fact_words(fact), number(fact.noise) if fact.noise else "", _price(fact.price)) for fact in trace.facts]
    return sections.table("What the choice knew", ["fact", "value", "standard deviation of its noise", "epsilon"], rows)


def _price(price: Fraction) -> str:
    return amount(price) if price else "free"


def _out(trace: Trace) -> str:
    """The options that could not be used, with the reasons; "" if there are none."""
    rows = list((trace.left_out or {}).items())
    return sections.table("Left out, by what is public", ["method", "why"], rows) if rows else ""
