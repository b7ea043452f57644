"""The sections that only reports of synopses have."""

from fractions import Fraction
from inspect import getdoc
from typing import Any

from ..display import large, number
from ..markup import escaped, listed, plural
from ..synopsis import PUBLISHERS, Synopsis
from ..synopsis.cells import noise_alone
from ..synopsis.table import shown
from ..verdicts.tables import noise_of
from . import sections
from .counts import CountsDisplay

SUMMED = """<p>Each figure sums the released counts over all other columns, and so does their noise, as the bars
show.</p>"""
CUT = """<p>Each figure sums the released counts over all other columns. <strong>Noisy counts up to {threshold} were not
released and count as 0</strong>, so rows are absent from the figures, and nobody can say where. If nearly all cells
are empty, about {cells} of the counts are noise alone, with about {rows} rows.</p>"""


def title(synopsis: Synopsis) -> str:
    """The title of the page."""
    return f"synopsis of {synopsis.schema_.name}"


def parts(synopsis: Synopsis, left: Fraction | None, limit: Fraction | None) -> list[str]:
    """The sections of the page in order, as HTML."""
    found = [CountsDisplay.from_synopsis(synopsis, column) for column in synopsis.grid.columns]
    return [
        _headline(synopsis, left, limit),
        _asked(synopsis),
        _kept(synopsis),
        _steps(synopsis),
        sections.cost(synopsis.outcome_, left, limit),
        _noise(synopsis),
        sections.released(found, _summed(synopsis)),
    ]


def _headline(synopsis: Synopsis, left: Fraction | None, limit: Fraction | None) -> str:
    apart, schema = "" if synopsis.private_ else "NOT ", synopsis.schema_
    lead = f"Noisy counts of {_by(synopsis)}: they answer queries, and synthetic rows of these columns come from them."
    tiles = sections.cost_tiles(synopsis.outcome_, left, limit)
    tiles.append((f"{len(synopsis.grid.columns)} of {len(schema.features)}", "columns were kept"))
    tiles.append(_counts_tile(synopsis))
    heading = f"A table of “{escaped(schema.name)}”, published {apart}privately"
    return sections.headline(heading, lead + sections.hidden(synopsis.outcome_), tiles)


def _counts_tile(synopsis: Synopsis) -> tuple[str, str]:
    counts = large(synopsis.grid.size * len(synopsis.release_.classes))
    if synopsis.threshold is None:
        return counts, "counts, each with noise of its own"
    return f"{len(synopsis.release_.value.counts):,}", f"of {counts} noisy counts passed the threshold"


def _by(synopsis: Synopsis) -> str:
    label = f" by “{escaped(synopsis.schema_.label)}”" if synopsis.schema_.label else ""
    return f"{plural(len(synopsis.grid.columns), 'column')}{label}"


def _asked(synopsis: Synopsis) -> str:
    plan = PUBLISHERS.get(synopsis.method)  # None of a method that only a newer version has
    words = (plan and getdoc(plan) or "a noisy table").split("\n\n")[0]
    return sections.asked(synopsis.outcome_, words, {"For": _label(synopsis)})


def _label(synopsis: Synopsis) -> str:
    return f"{escaped(synopsis.schema_.label)}: {listed(synopsis.schema_.classes)}"


def _kept(synopsis: Synopsis) -> str:
    """The columns of the grid with the names of their groups, the columns left out, and the noise of a cell."""
    schema, axes = synopsis.schema_, synopsis.grid.axes
    rows = [(axis.column, schema.get(axis.column).size, axis.size, shown(axis.names, 12)) for axis in axes]
    dropped = [column.name for column in schema.features if column.name not in synopsis.grid.columns]
    left_out = (
        f"<p>Left out: {listed(dropped)}. The table says nothing about them, and synthetic rows do not have them.</p>"
        if dropped
        else ""
    )
    listing = sections.table("Kept, and how finely", ["column", "declared codes", "groups", "of"], rows)
    return sections.section("What was kept", _cells(synopsis), listing, left_out)


def _cells(synopsis: Synopsis) -> str:
    release = synopsis.release_
    size = f"The table has {large(synopsis.grid.size)} cells, each counted for {len(release.classes)} classes."
    noise = f"Noise of scale {number(release.noise_scale)} leaves 95 % of counts within {release.error():,}."
    return f"<p>{size} {noise}</p>"


def _steps(synopsis: Synopsis) -> str:
    """Each question in order, its share of the budget, and the answer."""
    spent, rows = synopsis.epsilon, []
    for step, receipt in enumerate(synopsis.receipts_, 1):
        answers = [_answer(release) for release in synopsis.releases_ if release.receipt.number == receipt.number]
        share = f"{float(100 * receipt.epsilon / spent):.0f} %"
        asked, cost = f"{receipt.verb} {receipt.question}", number(float(min(receipt.epsilon, Fraction(10**300))))
        rows.append((step, asked, cost, share, "; ".join(answers)))
    header = ["step", "asked", "epsilon, about", "of it all", "answer"]
    return sections.section("How the budget was spent", sections.table("Step by step", header, rows))


def _noise(synopsis: Synopsis) -> str:
    """The noise in relation to the counts, for releases of all cells; in a sparse one, all counts stand out."""
    tables = noise_of([release for release in synopsis.releases_ if release.receipt.verb == "count"])
    return sections.section("What the noise does to the numbers", sections.counts_noise(tables)) if tables else ""


def _summed(synopsis: Synopsis) -> str:
    """How to read sums of counts, and what a threshold does to them."""
    if synopsis.threshold is None:
        return SUMMED
    cells, rows = map(number, noise_alone(synopsis.release_))
    return CUT.format(threshold=f"{synopsis.threshold:,}", cells=cells, rows=rows)


def _answer(release: Any) -> str:
    if release.receipt.verb == "count":
        return f"{release.value.size:,} noisy counts"
    if release.receipt.verb == "count_sparse":
        return f"{len(release.value.counts):,} noisy counts above {release.value.threshold:,}"
    return sections.answer(release.receipt.verb, release.value)
