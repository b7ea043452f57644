"""The sections that only reports of models have."""

from fractions import Fraction
from html import escape
from inspect import getdoc

from ..display import number
from ..errors import BadInput
from ..markup import escaped, listed, plural
from ..models import PrivateClassifier
from ..models.displays import coefficients, export_text
from ..plans.until import in_words
from ..questions import Linear
from ..verdicts.evidence import is_of_words
from ..verdicts.tables import noise_of
from . import sections
from .bins import bins
from .counts import displays

WEIGHTS = """<p>Every value of a column adds its weight to the score of a class: above zero it speaks for the class,
below zero against it. All weights hold noise, and those of values that few rows have hold little else.</p>"""
TREE = """<p>The tree has a line for each branch: the values that lead there and, where it ends, the class that it says,
how sure it is, and the noisy rows of each class with the standard error of their noise. Dots stand for what is below a
branch that may have no rows at all.</p>"""


def title(model: PrivateClassifier) -> str:
    """The title of the page."""
    return f"{model.schema_.label} from {model.schema_.name}"


def parts(model: PrivateClassifier, left: Fraction | None, limit: Fraction | None) -> list[str]:
    """The sections of the page in order, as HTML."""
    found = displays(model.releases_)
    others = len(noise_of(model.releases_)) - len(found)
    return [
        _headline(model, left, limit),
        _asked(model),
        bins(model.outcome_, model.search),
        sections.cost(model.outcome_, left, limit),
        sections.noise(model.outcome_),
        sections.released(
            found, _weights(model) + _tree(model), sections.more(others, "not about one column, and not drawn")
        ),
    ]


def _headline(model: PrivateClassifier, left: Fraction | None, limit: Fraction | None) -> str:
    label, data, apart = escaped(model.schema_.label), escaped(model.schema_.name), "" if model.private_ else "NOT "
    lead = f"A {escaped(model.method.replace('-', ' '))} model, learned from noisy answers about a table."
    tables, tiles = noise_of(model.releases_), sections.cost_tiles(model.outcome_, left, limit)
    if tables:
        drowned = sum(table.drowned for table in tables)
        tiles.append((f"{drowned} of {len(tables)}", "released tables drown in noise"))
    heading = f"Predicting “{label}” from “{data}”, {apart}privately"
    return sections.headline(heading, lead + sections.hidden(model.outcome_), tiles)


def _asked(model: PrivateClassifier) -> str:
    schema, columns = model.schema_, model.scorer_.columns
    words = (getdoc(type(model)) or type(model).__name__).split("\n\n")[0]
    predicts = f"{escaped(schema.label)}: {listed(schema.classes)}"
    facts = {"Predicts": predicts, "From": f"{plural(len(columns), 'column')}: {listed(columns)}"}
    if model.outcome_.until is not None:
        facts["Goal"] = escaped(" ".join(in_words(model.outcome_)), 900)
    return sections.asked(model.outcome_, words, facts)


def _weights(model: PrivateClassifier) -> str:
    """The weights of a linear model by column and group of codes; "" for any other model."""
    fits = [release for release in model.releases_ if release.receipt.verb == "minimise"]
    if not fits or is_of_words(fits[0], model.schema_) or not isinstance(model.scorer_, Linear):
        return ""
    found = coefficients(model)
    rows = [(name, group, *map(number, weights)) for name, group, *weights in zip(*found.values(), strict=True)]
    return WEIGHTS + sections.table("Weights", list(found), rows)


def _tree(model: PrivateClassifier) -> str:
    """A tree as text, folded if it is long; "" if the model is no tree, or of another version."""
    try:
        lines = escape(export_text(model)).splitlines()
    except BadInput:
        return ""
    shown = "<pre>" + "\n".join(lines) + "</pre>"
    if len(lines) > sections.MOST_COLUMNS:
        shown = f"<details><summary>The tree: {len(lines):,} lines</summary>{shown}</details>"
    return TREE + sections.scrolled("The tree", shown)
