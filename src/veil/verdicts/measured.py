"""What an evaluation is worth: how narrow its intervals are."""

from collections.abc import Mapping

from ..display import readable
from ..schema import Schema
from .evidence import Releases
from .learned import FIRST
from .rows import counted
from .verdict import Verdict, cost, level_of, more_epsilon, worst

LEADS = {"nothing": "nearly nothing is known"}
WIDTHS = (0.1, 0.25, 0.5)  # of an interval of a share: where good, fair and poor end


def of_intervals(intervals: Mapping[str, tuple[float, float]], releases: Releases, schema: Schema) -> Verdict:
    """The verdict on shares that lie between two ends each: of what is known best, and what is not known is named."""
    widths = {name: high - low for name, (low, high) in intervals.items()}
    rows = counted(releases)
    level = worst(level_of(min(widths.values()), WIDTHS), "nothing" if rows and rows.none else "good")
    unknown = [readable(name) for name, width in widths.items() if width >= WIDTHS[-1]]
    if unknown and level in ("good", "fair"):
        level = "fair" if 2 * len(unknown) <= len(widths) else "poor"
    said = f"{LEADS.get(level, level)}: {_words(widths, unknown)}"
    if level == "good":
        return Verdict(level, said)
    epsilon = more_epsilon(cost(releases), max(widths.values()) / WIDTHS[0])
    more = f"try {epsilon}, or more test rows" if epsilon else "try more test rows"
    return Verdict(level, said, rows.advice() if rows and rows.none else more)


def _words(widths: Mapping[str, float], unknown: list[str]) -> str:
    known = [width for width in widths.values() if width < WIDTHS[-1]]
    if not known:
        return "the exact value may be nearly anything, since there are too few rows for this epsilon"
    within = f"to within {max(known) / 2:.2f} of what was measured, with 95 % confidence"
    if not unknown:
        return f"the exact value is known {within}"
    rare = ", ".join(unknown[:FIRST]) + (f" and {len(unknown) - FIRST:,} more" if len(unknown) > FIRST else "")
    return f"{len(known)} of {len(widths)} classes are known {within}; there are too few rows of {rare}"
