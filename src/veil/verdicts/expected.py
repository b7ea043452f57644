"""The verdict to expect of a run before it is made: its noise in relation to the rows that the schema guesses."""

from math import sqrt

from ..display import readable
from ..plans.finding.pools import candidates
from ..plans.run import GUESS, guessed_rows
from ..questions import Grid
from ..schema import Schema
from .evidence import TYPICAL, Evidence, Releases, of_counts, of_weights
from .learned import MEASURE, PULLS, SHARES, advice, part_words, pull_words
from .measured import WIDTHS
from .verdict import Verdict, level_of, worst

ASIDE = "coarser bins or groups for it, or leave it out"
HALF = 0.5  # share of the budget or the codes from which a column is dominant
LEADS = {"nothing": "expected: nearly nothing"}


def of_rehearsal(releases: Releases, schema: Schema) -> Verdict:
    """The verdict to expect of a run that asks for these answers, which come from a rehearsal.

    The made-up rows of a rehearsal hold no signal, so that of a table with a label of medium difficulty is assumed.
    """
    asked = [one for one in releases if one.receipt.account.startswith(releases[0].receipt.account)]
    evidence, weights = of_counts(asked), of_weights(asked, schema)
    if weights is not None:
        level, said = worst("fair", level_of(1 - weights.pull, PULLS)), pull_words(weights)
    elif evidence is not None:
        level, said = level_of(_noise_share(evidence), SHARES), _counts_words(evidence)
    else:
        return Verdict("unknown", "expected: not known, since no counts by class would be released")
    to_do = "" if level == "good" else MEASURE if weights and level == "fair" else _advice(level, asked, evidence)
    return Verdict(level, f"{_lead(level)}{if_rows(schema)}: {said}", to_do)


def _noise_share(evidence: Evidence) -> float:
    expected = float(evidence.noise.sum()) + TYPICAL * evidence.room
    return evidence.likely / expected if expected > 0 else 2.0


def _counts_words(evidence: Evidence) -> str:
    part = part_words(_noise_share(evidence))
    return f"{part} of what sets the classes apart may be noise, for a label of middling difficulty"


def _advice(level: str, asked: Releases, evidence: Evidence | None) -> str:
    found = evidence and Evidence(float(evidence.noise.sum()) + TYPICAL * evidence.room, evidence.noise, evidence.room)
    return advice(level, asked, found or None)


def of_rehearsed_curve(releases: Releases, schema: Schema) -> Verdict:
    """The verdict to expect of an evaluation: about how wide the interval of the AUC would be."""
    counts = [one for one in releases if one.receipt.verb == "count" and one.question.size > 1]
    rows = guessed_rows(schema) / max(len(schema.classes), 1)
    errors = [3 * one.noise_scale * sqrt(2 * one.question.size / 3) / max(rows, 1) for one in counts]
    width = min(2 * max(errors, default=1.0), 1.0)
    level = level_of(width, WIDTHS)
    said = f"{_lead(level)}{if_rows(schema)}: an interval of the AUC about {width:.2f} wide"
    return Verdict(level, said, "" if level == "good" else "try more epsilon, or more test rows")


def _lead(level: str) -> str:
    return LEADS.get(level, f"expected: {level}")


def if_rows(schema: Schema) -> str:
    """ " with N rows", as the schema says, or " if there are N rows", as a guess."""
    return f" with {guessed_rows(schema):,} rows" if schema.rows is not None else f" if there are {GUESS:,} rows"


def dominant(releases: Releases, schema: Schema) -> str:
    """A sentence about the column that takes most of the budget or of the codes, with advice; "" if none does."""
    grids = [(one, one.question) for one in releases if one.receipt.verb == "count" and isinstance(one.question, Grid)]
    parts = {grid.columns[0]: 1 / one.scale for one, grid in grids if len(grid.axes) == 1 and one.scale}
    of_what = "the budget"
    if len(parts) < 3:
        pooled = candidates(schema.features)  # which have few codes after a search
        parts = {column.name: float(column.size) for column in schema.features if column not in pooled}
        of_what = "all codes"
    name, most = max(parts.items(), key=lambda pair: pair[1], default=("", 0.0))
    if len(parts) < 3 or most < HALF * sum(parts.values()):
        return ""
    return f"Column {readable(name)!r} takes {100 * most / sum(parts.values()):.0f} % of {of_what}: try {ASIDE}."
