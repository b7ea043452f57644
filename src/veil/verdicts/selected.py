"""Verdicts on selections: how large the noise of the choices is in relation to the number of rows."""

from math import log

from ..display import whole_rows
from ..schema import Schema
from .evidence import Releases, of_counts
from .learned import of_answers
from .tables import noise_of
from .verdict import Verdict, cost, level_of, more_epsilon

LEADS = {"nothing": "the choice is nearly all noise"}
CHOICES = (0.01, 0.03, 0.1)  # noise of a choice over rows at which good, fair and poor end
CHOSEN = ("choose", "choose_best", "choose_above", "sift")


def of_selection(releases: Releases, schema: Schema, selected: int, candidates: int) -> Verdict:
    """The verdict on a selection of `selected` features out of `candidates`.

    Choices release no counts, so their noise is compared with the rows that the schema declares. They do not show
    whether these rows arrived, or whether any feature is better than others.
    """
    if not releases:
        return Verdict("unknown", f"all {candidates:,} are kept, for nothing: there are no more than may be selected")
    if not selected:
        return Verdict("unknown", "nothing reached the threshold, which is an answer too", "try a lower threshold")
    scales = [release.scale for release in releases if release.receipt.verb in CHOSEN and release.scale is not None]
    if not scales:
        return of_answers(releases, schema) if of_counts(releases) else _of_sizes(releases)
    noise = max(scales) * log(max(candidates, 2))
    said = f"features whose scores differ by less than about {whole_rows(noise)} may be chosen one for the other"
    if not schema.rows:
        return Verdict("unknown", f"not known: {said}", "write rows = N in the schema to know whether that is much")
    level = level_of(noise / schema.rows, CHOICES)
    epsilon = more_epsilon(cost(releases), noise / schema.rows / CHOICES[0])
    advice = "" if level == "good" else f"try {epsilon}, or to select fewer" if epsilon else "try to select fewer"
    lead = LEADS.get(level, level)
    return Verdict(level, f"{lead}, if the {schema.rows:,} declared rows arrived: {said}", advice)


def _of_sizes(releases: Releases) -> Verdict:
    """The verdict on features selected by their number of rows: whether a typical count stands out of the noise."""
    table = next(iter(noise_of(releases)), None)
    if table is None:
        return Verdict("unknown", "not known: no noise was released that features could be set beside")
    beside = f"a typical count of {table.typical:,} beside noise of ± {table.error:,}"
    if not table.drowned:
        return Verdict("good", f"good: {beside}")
    return Verdict("nothing", f"{LEADS['nothing']}: {beside}", "try more epsilon, or fewer features to choose from")
