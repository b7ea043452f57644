"""The verdict on a synthetic table: how much of the tables that its model was made from may be noise."""

from fractions import Fraction

import numpy as np

from ..display import number
from ..plans.run import guessed_rows
from ..questions import Grid
from ..schema import Schema
from .evidence import Releases
from .expected import if_rows
from .verdict import Verdict, level_of, more_epsilon

SHARES = (0.05, 0.2, 0.6)  # of the rows that noise moves in a typical table, at which good, fair and poor end


def of_tables(releases: Releases, rows: float, paid: Fraction) -> Verdict:
    """Good if noise moves fewer than 5 % of the rows of a typical table to other cells; `paid` is what all cost."""
    share = moved(releases, rows)
    level = level_of(share, SHARES)
    words = f"in a typical table that was counted, noise moves about {number(100 * min(share, 1))} % of the rows"
    more = more_epsilon(paid, share / SHARES[0])
    advice = "" if level == "good" else f"try {more}, or keep fewer columns" if more else "keep fewer columns"
    return Verdict(level, words, advice)


def of_rehearsed_tables(releases: Releases, schema: Schema) -> Verdict:
    """The verdict to expect, from the rows that the schema guesses."""
    share = moved(releases, float(guessed_rows(schema)))
    said = f"noise moves about {number(100 * min(share, 1))} % of the rows of a typical table"
    return Verdict(level_of(share, SHARES), f"expected{if_rows(schema)}: {said}")


def moved(releases: Releases, rows: float) -> float:
    """The share of the rows that noise moves to other cells, in the median table of one column or more."""
    tables = [one for one in releases if one.receipt.verb == "count" and isinstance(one.question, Grid)]
    shares = [one.question.size * one.noise_scale / (2 * max(rows, 1.0)) for one in tables if one.question.axes]
    return float(np.median(shares)) if shares else 1.0
