"""The section of a report on the bins that were found, and a small picture of each."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..display import number
from ..markup import escaped, listed, plural
from ..plans.binned import DECLARED, FOUND, NOT_TRIED, PUBLIC, Binned, bins_of, search_cost, too_few
from ..plans.finding.search import Search
from ..plans.outcome import Outcome
from ..schema import Numeric
from . import sections

FREE = """<p>Careless bounds, such as 0 to a million, do no harm: bins are found privately within them. To keep the
public bins of a column instead, write <code>bins = "public"</code> in the schema; to give bins of your own,
<code>edges</code>.</p>"""
WORDS = {
    FOUND: "found in the rows, privately",
    PUBLIC: "public: those that follow from the bounds",
    DECLARED: "declared",
    NOT_TRIED: "public: not searched, for there are too few rows",
}
WIDTH, STRIP, GAP = 380, 12, 16  # of a picture, in pixels
Places = npt.NDArray[np.float64]


def bins(outcome: Outcome[Any], how: Search | None) -> str:
    """The bins of each numeric column, whether they were found, and what finding them cost; "" without a search."""
    columns = bins_of(outcome)
    if not columns:
        return ""
    rows = [(one.column.name, described(one.column), WORDS[one.how], _cost(one)) for one in columns]
    listing = sections.table("Numeric columns and their bins", ["column", "bins", "these are", "epsilon, about"], rows)
    return sections.section("Bins", _lead(outcome, columns, how or Search()), listing, _figures(columns), FREE)


def described(column: Numeric) -> str:
    """The bins of a column in words: how many, from where to where, and where most edges lie."""
    low, *inner, high = column.cuts
    ends = f"from {number(low)} to {number(column.bounds[1])}"
    few = len(inner) // 8  # of the outermost edges, at each end
    middle = inner[few : len(inner) - few]
    if column.edges is None or len(inner) < 2:
        return f"{plural(len(inner) + 1, 'bin')} {ends}"
    edges = f"{'most edges' if few else 'edges'} between {number(middle[0])} and {number(middle[-1])}"
    return f"{plural(len(inner) + 1, 'bin')} {ends}, {edges}"


def _lead(outcome: Outcome[Any], columns: Sequence[Binned], how: Search) -> str:
    """What was found and what it cost, or why nothing was searched."""
    spent, found = search_cost(outcome), sum(one.how == FOUND for one in columns)
    if not spent and all(one.how != NOT_TRIED for one in columns):
        return "<p>Nothing was searched: the bins of all columns are declared, or are their few values.</p>"
    if not spent:
        rows, needed = too_few(outcome, how)
        few = (
            f"about {max(rows, 0):,} rows are too few to find bins of {plural(len(outcome.schema.features), 'column')}"
        )
        return f"<p>The public bins were used: {few} at this epsilon, for which about {needed:,} would be needed.</p>"
    kept = sum(one.how == PUBLIC and bool(one.epsilon) for one in columns)
    also = f", and for {plural(kept, 'column')} the public ones were as good" if kept else ""
    share = f"{float(100 * spent / outcome.epsilon):.0f} % of all"
    cost = f"This cost epsilon {number(float(min(spent, Fraction(10**300))))}, {share}."
    return f"<p>Bins were found for {plural(found, 'column')}{also}. {cost}{_totals(outcome)}</p>"


def _totals(outcome: Outcome[Any]) -> str:
    """A sentence on the count of rows that a search begins with."""
    if not outcome.searched:
        return ""
    cost = number(float(min(outcome.searched[0].receipt.epsilon, Fraction(10**300))))
    return f" Before, the rows of each class were counted for epsilon {cost}; the model uses these counts too."


def _cost(one: Binned) -> str:
    return number(float(min(one.epsilon, Fraction(10**300)))) if one.epsilon else ""


def _figures(columns: Sequence[Binned]) -> str:
    """A picture for each way in which columns were cut, with the columns that were cut so."""
    ways: dict[Any, list[str]] = {}
    for one in columns:
        if one.how == FOUND:
            ways.setdefault((one.column.cuts, one.column.bounds), []).append(one.column.name)
    shown = [_figure(cuts, names) for (cuts, _), names in [*ways.items()][: sections.MOST_COLUMNS]]
    return f'<div class="figures">{"".join(shown)}</div>' if shown else ""


def _figure(cuts: Sequence[float], names: Sequence[str]) -> str:
    """The edges on the range between the bounds and, below, on the part of it in which they are."""
    low, first, last, high = cuts[0], cuts[min(1, len(cuts) - 1)], cuts[-2], cuts[-1]
    whole, inner = _placed(cuts, low, high), _placed(cuts[1:-1], first, last)
    ends = f"M{whole[1]:.1f} {STRIP}L0 {STRIP + GAP}M{whole[-2]:.1f} {STRIP}L{WIDTH} {STRIP + GAP}"
    lines = _strip(whole, 0) + f'<path d="{ends}" stroke="var(--line)"/>' + _strip(inner, STRIP + GAP)
    said = f"edges from {number(low)} to {number(high)}; below, from {number(first)} to {number(last)}"
    tall = 2 * STRIP + GAP
    svg = f'<svg role="img" aria-label="{escaped(said, 200)}" viewBox="-1 0 {WIDTH + 2} {tall}" width="{WIDTH}">'
    caption = f"<figcaption>{listed(names, 3)} <small>{escaped(said, 200)}</small></figcaption>"
    return f"<figure>{caption}{svg}{lines}</svg></figure>"


def _placed(edges: Sequence[float], low: float, high: float) -> Places:
    """Where edges are drawn between two of them, in pixels."""
    return WIDTH * ((np.array(edges) - low) / (high - low)) if high > low else np.zeros(len(edges))


def _strip(places: Places, top: int) -> str:
    """A bar with a line across it at each place."""
    bar = f'<rect x="0" y="{top}" width="{WIDTH}" height="{STRIP}" fill="var(--card)"/>'
    lines = "".join(f"M{place:.1f} {top}v{STRIP}" for place in dict.fromkeys(places.round(1).tolist()))
    return f'{bar}<path d="{lines}" stroke="var(--main)"/>'
