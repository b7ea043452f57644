"""Verdicts on models and tables, from the noisy answers they were learned from."""

from math import exp, sqrt

from ..display import number
from ..questions import Bag
from ..schema import Schema
from .evidence import Evidence, Releases, Weights, of_check, of_counts, of_weights, teaches
from .rows import CHECK, counted, mostly_missing
from .tables import noise_of
from .verdict import LEVELS, Verdict, cost, level_of, more_epsilon, worst

SHARES = (0.25, 0.75, 1.25)  # shares of noise at which good, fair and poor end
CHECKS = (0.25, 0.4, 0.75)  # the same for counts in intervals of a model's own odds, which should tell more clearly
PULLS = (0.35, 0.6, 0.85)  # shares of a weight not decided by rows at which good, fair and poor end
PARTS = ((0.1, "less than a tenth"), (0.25, "less than a quarter"), (0.5, "less than half"), (0.75, "most"))
FIRST = 3  # columns that are named
LEADS = {"nothing": "nearly nothing was learned"}
LESS = "fewer columns, or wider bins"
LESS_OF_WORDS = "fewer words or buckets, or fewer words_per_row"
MORE = "try a larger epsilon, or more rows"
MEASURE = "weights do not tell whether the columns tell the classes apart: measure it, with veil evaluate"


def of_answers(releases: Releases, schema: Schema) -> Verdict:
    """The verdict on what was learned from these answers."""
    rows, missing = counted(releases), mostly_missing(releases)
    evidence, weights = of_counts(releases), of_weights(releases, schema)
    check = of_check(releases) if weights or evidence is None else None
    check = check if check and check.tells else None
    if weights is None and any(release.receipt.verb.startswith("minimise") for release in releases):
        return Verdict("unknown", "not known: the weights are of another version of Veil", MEASURE)
    level = worst(
        noise_level(evidence, weights, check),
        rows.level(schema) if rows else "good",
        "fair" if missing or weights else "good",
    )
    found = [
        rows.words(schema) if rows else "",
        missing_words(missing),
        weights_words(weights) if weights else "" if check and evidence is None else counts_words(evidence, releases),
        check_words(check) if check else "",
    ]
    said = f"{LEADS.get(level, level)}: {'; '.join(filter(None, found))}"
    if level == "good":
        return Verdict(level, said)
    if rows is not None and rows.level(schema) != "good":
        return Verdict(level, said, rows.advice())
    unseen = missing or (check is not None and check.noise_share >= CHECKS[1])
    if weights is None and evidence is None and check is None:
        return Verdict(level, said, MORE)
    known = None if weights and level == "fair" else check or evidence
    return Verdict(level, said, CHECK if unseen else advice(level, releases, known))


def noise_level(evidence: Evidence | None, weights: Weights | None, check: Evidence | None = None) -> str:
    """The level by noise alone. For weights at best "fair": they do not show whether columns separate the classes.
    Counts in intervals of a model's own odds, a check, can tell that they do not."""
    if weights is not None:
        by_pull = level_of(1 - weights.pull, PULLS[: 2 if weights.of_words else 3])
        by_check = level_of(check.noise_share, CHECKS) if check else "fair"
        return worst("fair", by_check, by_pull, "poor" if weights.noise >= weights.size else "good")
    if evidence is None:  # no counts but, perhaps, those of a model's own odds
        return level_of(check.noise_share, CHECKS) if check else "nothing"
    return level_of(evidence.noise_share, SHARES)


def part_words(share: float) -> str:
    """A share of noise in words, since it is an estimate, and digits would look exact."""
    return next((words for end, words in PARTS if share < end), "nearly all")


def counts_words(evidence: Evidence | None, releases: Releases) -> str:
    """A sentence part: how much of the difference between classes may be noise, and how many tables drown in it."""
    if evidence is None:
        return "no counts by class were released that could tell classes apart"
    tables = [table for table in noise_of([*filter(teaches, releases)]) if table.fields > 1]
    drowned = sum(table.drowned for table in tables)
    said = f"{part_words(evidence.noise_share)} of what sets the classes apart may be noise"
    return f"{said}, and {drowned:,} of {len(tables):,} released tables drown in it" if drowned else said


def pull_words(weights: Weights) -> str:
    """A sentence part: how much of a typical weight the rows decide, and by what factor noise alone changes odds."""
    return (
        f"a typical weight is {100 * weights.pull:.0f} % the rows' doing, and noise alone changes odds by a factor of "
        f"{_factor(weights.noise)}"
    )


def weights_words(weights: Weights) -> str:
    """As `pull_words`, with the factor by which the weights themselves change odds."""
    return f"{pull_words(weights)}, the weights themselves by {_factor(weights.size)}"


def check_words(check: Evidence) -> str:
    """A sentence part: how much of the difference between classes in the model's own odds may be noise."""
    return f"{part_words(check.noise_share)} of what sets the classes apart in its own odds may be noise"


def _factor(log_odds: float) -> str:
    return number(exp(min(log_odds, 700)))


def missing_words(missing: list[str]) -> str:
    """A sentence part naming the columns that have nearly no declared values; "" if there are none."""
    if not missing:
        return ""
    named = ", ".join(map(repr, missing[:FIRST]))
    rest = f" and {len(missing) - FIRST:,} more" if len(missing) > FIRST else ""
    return f"nearly all values of column{'s' * (len(missing) > 1)} {named}{rest} are missing or not as declared"


def advice(level: str, releases: Releases, evidence: Evidence | None) -> str:
    """A sentence part: what to do against the noise."""
    if level == "fair" and evidence is None:
        return MEASURE
    wanted = sqrt(evidence.noise_share / SHARES[0]) if evidence else 2 * LEVELS.index(level)
    epsilon = more_epsilon(cost(releases), wanted)
    less = LESS_OF_WORDS if any(isinstance(release.question, Bag) for release in releases) else LESS
    return f"try {epsilon}, {less}" if epsilon else f"more epsilon alone will hardly do: try {less}, or more rows"
