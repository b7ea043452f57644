"""Verdict: a level, a sentence, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..display import amount
from ..errors import LittleLearned, warn
from ..kernel import Release
from ..plans.outcome import total

LEVELS = ("good", "fair", "poor", "nothing")  # and "unknown", where answers do not tell
MORE = (2, 5, 10)  # times epsilon, that can be asked for
MOST_EPSILON = 10


@dataclass(frozen=True)
class Verdict:
    """How good a result is: `level` is good, fair, poor or nothing, or unknown if its answers do not show it.

    `words` is a sentence that says why, `advice` what to do about it, if there is anything to be done.
    """

    level: str
    words: str
    advice: str = ""

    @property
    def bad(self) -> bool:
        """Whether it would be misleading to take the result for a success."""
        return self.level in ("poor", "nothing")

    def __str__(self) -> str:
        return f"{self.words}." + f" {self.advice[:1].upper()}{self.advice[1:]}." * bool(self.advice)

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dict, for JSON."""
        return {"level": self.level, "words": self.words, "advice": self.advice}


def warn_if_bad(verdict: Verdict) -> None:
    """Warn (LittleLearned) if a result is mostly noise."""
    if verdict.bad:
        warn(str(verdict), LittleLearned)


def shown(verdict: Verdict) -> str:
    """The end of a line about a result: "; " and the verdict's words if it is bad, else ""."""
    return f"; {verdict.words}" if verdict.bad else ""


def worst(*levels: str) -> str:
    """The worst of these levels, "unknown" aside."""
    return max((level for level in levels if level in LEVELS), key=LEVELS.index, default="unknown")


def level_of(value: float, ends: Sequence[float]) -> str:
    """The level of a number, smaller being better; `ends` are the values at which good, fair and poor end."""
    return LEVELS[sum(value >= end for end in ends)]


def more_epsilon(cost: Fraction, wanted: float) -> str:
    """An epsilon to try, about `wanted` times the cost, as text; "" if it would be unreasonably large."""
    times = next((times for times in MORE if times >= wanted), None)
    return f"epsilon {amount(cost * times)}" if times and cost * times <= MOST_EPSILON else ""


def cost(releases: Sequence[Release[Any]]) -> Fraction:
    """The epsilon that these answers cost together; several of them may share a receipt."""
    return total(list({release.receipt.number: release.receipt for release in releases}.values()))
