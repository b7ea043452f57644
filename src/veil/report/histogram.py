"""The sections that only reports of histograms have: the picture first, then some answers with their intervals."""

from fractions import Fraction
from inspect import getdoc
from typing import Any

from ..choice.ranges import words_of
from ..display import large, row_count
from ..markup import escaped, plural
from ..synopsis import HISTOGRAMS, Histogram
from . import sections
from .figures import histogram_figure

ASKED = """<p>It answers any number of questions about how many rows lie in a range, for nothing:
<code>veil query FILE --where "{example}"</code>. {sure}</p>"""
SURE = """Each answer has an interval for two kinds of error together: the noise, and that rows need not be spread
evenly where nothing finer was counted."""
UNSURE = """This method has no model of its error, so answers have no intervals: besides the noise, rows need not be
spread evenly where nothing finer was counted."""
MANY = "<p>A picture has one or two columns; this histogram has more, so these are sums over the others.</p>"


def title(histogram: Histogram) -> str:
    """The title of the page."""
    return f"histogram of {histogram.schema_.name}"


def parts(histogram: Histogram, left: Fraction | None, limit: Fraction | None) -> list[str]:
    """The sections of the page in order, as HTML."""
    return [
        _headline(histogram, left, limit),
        _picture(histogram),
        _answers(histogram),
        _asked(histogram),
        sections.cost(histogram.outcome_, left, limit),
        _steps(histogram),
    ]


def _headline(histogram: Histogram, left: Fraction | None, limit: Fraction | None) -> str:
    apart, schema = "" if histogram.private_ else "NOT ", histogram.schema_
    lead = f"Noisy counts over {plural(len(histogram.columns), 'column')}: they answer how many rows lie in any range."
    tiles = sections.cost_tiles(histogram.outcome_, left, limit)
    tiles.append((row_count(histogram.query().count), "rows, about"))
    tiles.append((large(histogram.domain.size), "cells"))
    heading = f"A histogram of “{escaped(schema.name)}”, published {apart}privately"
    return sections.headline(heading, lead + sections.hidden(histogram.outcome_), tiles)


def _picture(histogram: Histogram) -> str:
    if len(histogram.columns) <= 2:
        return sections.section("What was found", histogram_figure(histogram, histogram.columns, 0))
    each = [histogram_figure(histogram, (name,), place) for place, name in enumerate(histogram.columns)]
    return sections.section("What was found", MANY, *each)


def _answers(histogram: Histogram) -> str:
    """For each column the rows in each quarter of its cells, with intervals if there are any."""
    rows = [(where, row_count(answer.count), *_ends(answer)) for where, answer in histogram.quarters()]
    header = ["where", "rows, about", "95 %: at least", "at most"][: len(rows[0])]
    said = ASKED.format(example=escaped(rows[0][0]), sure=UNSURE if histogram.spread.doubt is None else SURE)
    return sections.section("What it answers", said, sections.table("Some answers", header, rows))


def _ends(answer: Any) -> tuple[str, ...]:
    """Both ends of the interval; nothing if the method has none."""
    return tuple(map(row_count, answer.interval() or ()))


def _asked(histogram: Histogram) -> str:
    plan = HISTOGRAMS.get(histogram.method)  # None of a method that only a newer version has
    words = (plan and getdoc(plan) or "a noisy histogram").split("\n\n")[0]
    chosen = {"Chosen": escaped(words_of(histogram.trace_), 300)} if histogram.trace_ else {}
    return sections.asked(histogram.outcome_, words, chosen)


def _steps(histogram: Histogram) -> str:
    """Each question in order, with the size of its answer and the noise of a count."""
    rows = [
        (step, release.receipt.question, f"{release.value.size:,}", f"{release.error():,}")
        for step, release in enumerate(histogram.releases_, 1)
        if release.receipt.verb == "count"
    ]
    header = ["step", "asked", "noisy counts", "95 % within"]
    return sections.section("How it was counted", sections.table("Step by step", header, rows))
