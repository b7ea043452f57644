"""What the report of a synopsis says that others do not."""

from fractions import Fraction
from inspect import getdoc
from typing import Any

from ..display import amount, number
from ..plans.run import total
from ..synopsis import PUBLISHERS, Synopsis
from ..synopsis.table import shown
from . import sections
from .counts import CountsDisplay
from .facts import noise_of
from .words import escaped, listed, plural

SUMMED = """<p>Each figure sums the released counts over all other columns. The noise of so many counts adds up, which
the bars take into account.</p>"""
CUT = """<p><strong>Counts up to {threshold} were not released and count as 0</strong>, so the figures show fewer rows
than there are, and their bars do not tell how many fewer.</p>"""


def title(synopsis: Synopsis) -> str:
    """What the page is called."""
    return f"synopsis of {synopsis.schema_.name}"


def parts(synopsis: Synopsis, left: Fraction | None, limit: Fraction | None) -> list[str]:
    """The sections, from what it is to what was released."""
    found = [CountsDisplay.from_synopsis(synopsis, column) for column in synopsis.grid.columns]
    cut = "" if synopsis.threshold is None else CUT.format(threshold=f"{synopsis.threshold:,}")
    noise = sections.counts_noise(noise_of(synopsis.releases_))
    return [
        _headline(synopsis, left, limit),
        _asked(synopsis),
        _kept(synopsis),
        _steps(synopsis),
        sections.cost(synopsis, left, limit),
        sections.section("What the noise does to the numbers", noise),
        sections.released(found, SUMMED, cut),
    ]


def _headline(synopsis: Synopsis, left: Fraction | None, limit: Fraction | None) -> str:
    apart, schema = "" if synopsis.private_ else "NOT ", synopsis.schema_
    lead = f"Noisy counts of {_by(synopsis)}, from which queries are answered and synthetic rows are drawn."
    cells = synopsis.grid.size * len(synopsis.release_.classes)
    tiles = sections.cost_tiles(synopsis, left, limit)
    tiles.append((f"{len(synopsis.grid.columns)} of {len(schema.features)}", "columns were kept"))
    tiles.append((_many(cells), "counts, each with noise of its own"))
    heading = f"A table of “{escaped(schema.name)}”, published {apart}privately"
    return sections.headline(heading, lead + sections.hidden(synopsis), tiles)


def _by(synopsis: Synopsis) -> str:
    label = f" by “{escaped(synopsis.schema_.label)}”" if synopsis.schema_.label else ""
    return f"{plural(len(synopsis.grid.columns), 'column')}{label}"


def _many(count: int) -> str:
    return f"{count:,}" if count < 10**9 else f"{count:.1e}" if count < 10**300 else "more than 10^300"


def _asked(synopsis: Synopsis) -> str:
    words = (getdoc(PUBLISHERS.get(synopsis.method)) or "a noisy table").split("\n\n")[0]
    return sections.asked(synopsis, words, {"For": _label(synopsis)})


def _label(synopsis: Synopsis) -> str:
    return f"{escaped(synopsis.schema_.label)}: {listed(synopsis.schema_.classes)}"


def _kept(synopsis: Synopsis) -> str:
    """The columns of the grid with the names of their groups, what was left out, and the noise of a cell."""
    schema, axes = synopsis.schema_, synopsis.grid.axes
    rows = [(axis.column, schema.get(axis.column).size, axis.size, shown(axis.names, 12)) for axis in axes]
    dropped = [column.name for column in schema.features if column.name not in synopsis.grid.columns]
    left_out = f"<p>Left out: {listed(dropped)}. The table says nothing about them.</p>" if dropped else ""
    listing = sections.table("Kept, and how finely", ["column", "declared codes", "groups", "of"], rows)
    return sections.section("What was kept", _cells(synopsis), listing, left_out)


def _cells(synopsis: Synopsis) -> str:
    release = synopsis.release_
    size = f"The table has {_many(synopsis.grid.size)} cells, each counted for {len(release.classes)} classes."
    noise = f"Noise of scale {number(float(release.scale or 0))} leaves 95 % of counts within {release.error():,}."
    return f"<p>{size} {noise}</p>"


def _steps(synopsis: Synopsis) -> str:
    """Each question in its order, its part of the budget, and the answer."""
    spent, rows = total(synopsis.receipts_), []
    for step, receipt in enumerate(synopsis.receipts_, 1):
        answers = [_answer(release) for release in synopsis.releases_ if release.receipt.number == receipt.number]
        share = f"{float(100 * receipt.epsilon / spent):.0f} %"
        rows.append((step, f"{receipt.verb} {receipt.question}", amount(receipt.epsilon), share, "; ".join(answers)))
    header = ["step", "asked", "epsilon", "of it all", "answer"]
    return sections.section("How the budget was spent", sections.table("Step by step", header, rows))


def _answer(release: Any) -> str:
    if release.receipt.verb == "count":
        return f"{release.value.size:,} noisy counts"
    if release.receipt.verb == "count_sparse":
        return f"{len(release.value.counts):,} noisy counts above {release.value.threshold:,}"
    return sections.answer(release.value)
