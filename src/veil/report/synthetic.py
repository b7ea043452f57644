"""The sections that only reports of synthetic tables have: how far the model is from what was counted comes first."""

from fractions import Fraction
from inspect import getdoc
from typing import Any

import numpy as np

from ..markup import escaped, listed, plural
from ..synopsis import SYNTHESISERS, SyntheticTable
from . import sections

APART = """<p>A row is a table that was counted with noise. “Apart” is the share of its rows that would have to move to
other cells for it to be what the synthetic rows say; “noise” the share that its own noise moves. Where both are alike,
the model says what was counted as well as anybody knows it.</p>"""
FEW = """<p>Columns that depend on each other through no line below are independent in the synthetic rows, given those
that they depend on. What was not counted together is not in them.</p>"""


def title(table: SyntheticTable) -> str:
    """The title of the page."""
    return f"synthetic table of {table.schema_.name}"


def parts(table: SyntheticTable, left: Fraction | None, limit: Fraction | None) -> list[str]:
    """The sections of the page in order, as HTML."""
    return [
        _headline(table, left, limit),
        _compared(table),
        _relations(table),
        _asked(table),
        sections.cost(table.outcome_, left, limit),
        _steps(table),
    ]


def _headline(table: SyntheticTable, left: Fraction | None, limit: Fraction | None) -> str:
    apart = "" if table.private_ else "NOT "
    lead = f"A model of {plural(len(table.columns), 'column')}, from which any number of synthetic rows can be drawn."
    tiles = sections.cost_tiles(table.outcome_, left, limit)
    tiles.append((f"{table.network.rows:,.0f}", "rows, about"))
    found = [one.apart for one in table.compared()]
    share = f"{100 * float(np.median(found)) if found else 0:.1f} %"
    tiles.append((share, "of the rows in other cells than was counted, in a typical table"))
    heading = f"A synthetic table of “{escaped(table.schema_.name)}”, published {apart}privately"
    return sections.headline(heading, lead + sections.hidden(table.outcome_), tiles)


def _compared(table: SyntheticTable) -> str:
    rows = [(" x ".join(one.columns), f"{one.apart:.3f}", f"{one.noise:.3f}") for one in table.compared()]
    listing = sections.table("Released tables", ["table", "apart", "noise"], rows)
    return sections.section("What the synthetic rows say of each released table", APART, listing)


def _relations(table: SyntheticTable) -> str:
    sizes = {axis.column: axis.size for axis in table.network.axes}
    rows = [(name, sizes[name], ", ".join(depends)) for name, depends in table.relations]
    listing = sections.table("The model", ["column", "groups", "depends on"], rows)
    left_out = table.settings_.get("left_out")
    said = f"<p>Left out: {listed([*map(str, left_out)])}, as free text.</p>" if isinstance(left_out, list) else ""
    return sections.section("Which columns depend on which", FEW, listing, said)


def _asked(table: SyntheticTable) -> str:
    plan = SYNTHESISERS.get(table.method)  # None of a method that only a newer version has
    words = (plan and getdoc(plan) or "a model of all columns").split("\n\n")[0]
    focus = table.settings_.get("focus")
    return sections.asked(table.outcome_, words, {"For": escaped(str(focus))} if focus else {})


def _steps(table: SyntheticTable) -> str:
    """Each charge in order, its share of the budget, and the size of its answers."""
    rows: list[tuple[Any, ...]] = []
    for step, receipt in enumerate(table.receipts_, 1):
        share = f"{float(100 * receipt.epsilon / table.epsilon):.0f} %"
        rows.append((step, receipt.verb, escaped(receipt.question, 300), share))
    return sections.section(
        "How the budget was spent", sections.table("Step by step", ["step", "verb", "asked", "of it all"], rows)
    )
