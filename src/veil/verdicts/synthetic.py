"""The verdict on a synthetic table: how much of the tables that its model was made from may be noise."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..display import percent, readable
from ..plans.run import guessed_rows
from ..questions import Grid
from ..schema import Schema
from .evidence import Releases
from .expected import if_rows
from .learned import missing_words
from .rows import CHECK, counted, mostly_first, mostly_missing
from .verdict import Verdict, level_of, more_epsilon, worst

SHARES = (0.05, 0.2, 0.6)  # of the rows that noise moves in a typical table, at which good, fair and poor end
LEADS = {"nothing": "nearly all is noise"}
NARROWER = "declare bounds that are nearer to what is usual"
MOST_NAMES = 3  # that are listed
FEWER = "keep fewer columns: more epsilon alone will hardly do"


def of_tables(releases: Releases, schema: Schema, rows: float, paid: Fraction, blurred: Sequence[str] = ()) -> Verdict:
    """Good if noise moves fewer than 5 % of the rows of a typical table to other cells, and rows and values arrived;
    `paid` is what all cost. Fair at best if the means of some columns are `blurred` by noise in wide bins."""
    share, found = moved(releases, rows), counted(releases)
    missing, first = mostly_missing(releases), mostly_first(releases)
    lost = "poor" if 2 * len(missing + first) > len(schema.column) else "fair" if missing or first else "good"
    lost = worst(lost, "fair") if blurred else lost
    level = worst(level_of(share, SHARES), lost, found.level(schema) if found else "good")
    noise = f"in a typical table that was counted, noise moves about {percent(min(share, 1))} of the rows"
    parts = (
        found.words(schema) if found else "",
        missing_words(missing),
        first_words(first),
        blurred_words(blurred),
        noise,
    )
    words = f"{LEADS.get(level, level)}: {'; '.join(filter(None, parts))}"
    if level == "good":
        return Verdict(level, words)
    if found and found.level(schema) != "good":
        return Verdict(level, words, found.advice())
    if blurred and not (missing or first) and share < SHARES[0]:
        return Verdict(level, words, NARROWER)
    more = more_epsilon(paid, share / SHARES[0])
    return Verdict(level, words, CHECK if missing or first else f"try {more}, or keep fewer columns" if more else FEWER)


def first_words(columns: list[str]) -> str:
    """A sentence part about columns in which no rows stand out but those of the first group, that of missing values
    too."""
    said = missing_words(columns)
    return said.replace("are missing", "are their first, missing") if said else ""


def blurred_words(columns: Sequence[str]) -> str:
    """A sentence part about columns whose mean could largely be noise in the wide bins of their bounds."""
    names = ", ".join(readable(name) for name in columns[:MOST_NAMES]) + (", ..." if len(columns) > MOST_NAMES else "")
    return f"noise in wide bins could make up a large part of the mean of {names}" if columns else ""


def of_rehearsed_tables(releases: Releases, schema: Schema) -> Verdict:
    """The verdict to expect, from the rows that the schema guesses."""
    share = moved(releases, float(guessed_rows(schema)))
    said = f"noise moves about {percent(min(share, 1))} of the rows of a typical table"
    return Verdict(level_of(share, SHARES), f"expected{if_rows(schema)}: {said}")


def moved(releases: Releases, rows: float) -> float:
    """The share of the rows that noise moves to other cells, in the median table of one column or more."""
    tables = [one for one in releases if one.receipt.verb == "count" and isinstance(one.question, Grid)]
    shares = [one.question.size * one.noise_scale / (2 * max(rows, 1.0)) for one in tables if one.question.axes]
    return float(np.median(shares)) if shares else 1.0
