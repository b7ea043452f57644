"""Verdicts on evaluations: how narrow the intervals are, and whether they exclude the value of guessing."""

from collections.abc import Mapping

from ..display import readable
from ..schema import Schema
from .evidence import Releases
from .learned import FIRST
from .rows import CHECK, counted
from .verdict import Verdict, cost, level_of, more_epsilon, worst

LEADS = {"good": "well measured", "fair": "roughly measured", "poor": "hardly measured"}
LEADS["nothing"] = "nearly nothing is known"
CHECK_MODEL = f"see what the model's own report says of it, and {CHECK}"
WIDTHS = (0.1, 0.25, 0.5)  # widths of an interval at which good, fair and poor end


def of_intervals(
    intervals: Mapping[str, tuple[float, float]], releases: Releases, schema: Schema, chance: float | None = None
) -> Verdict:
    """The verdict on measured shares with these intervals, by the narrowest of them; those that are too wide are named.

    `chance` is the share that guessing reaches: a model that may be no better is no success.
    """
    widths = {name: high - low for name, (low, high) in intervals.items()}
    rows = counted(releases)
    level = worst(level_of(min(widths.values()), WIDTHS), "nothing" if rows and rows.none else "good")
    unknown = [readable(name) for name, width in widths.items() if width >= WIDTHS[-1]]
    if unknown and level in ("good", "fair"):
        level = "fair" if 2 * len(unknown) <= len(widths) else "poor"
    if chance is not None and level in ("good", "fair") and not _beats(chance, intervals):
        said = f"perhaps no better than guessing, which has an AUC of {chance}: {_words(widths, unknown)}"
        return Verdict("poor", said, CHECK_MODEL)
    said = f"{LEADS[level]}: {_words(widths, unknown)}"
    if level == "good":
        return Verdict(level, said)
    epsilon = more_epsilon(cost(releases), max(widths.values()) / WIDTHS[0])
    more = f"try {epsilon}, or more test rows" if epsilon else "try more test rows"
    return Verdict(level, said, rows.advice() if rows and rows.none else more)


def _beats(chance: float, intervals: Mapping[str, tuple[float, float]]) -> bool:
    """Whether an interval that is narrow enough lies above `chance`."""
    return any(low > chance for low, high in intervals.values() if high - low < WIDTHS[-1])


def _words(widths: Mapping[str, float], unknown: list[str]) -> str:
    known = [width for width in widths.values() if width < WIDTHS[-1]]
    if not known:
        return "the exact value may be nearly anything, since there are too few rows for this epsilon"
    within = f"to within {max(max(known) / 2, 0.005):.2g} of what was measured, with 95 % confidence"
    if not unknown:
        return f"the exact value is known {within}"
    rare = ", ".join(unknown[:FIRST]) + (f" and {len(unknown) - FIRST:,} more" if len(unknown) > FIRST else "")
    are = "is" if len(known) == 1 else "are"
    return f"{len(known)} of {len(widths)} classes {are} known {within}; too few rows are of {rare} or of the others"
