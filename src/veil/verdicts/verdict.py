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
    """What a result is worth: `level` is good, fair, poor, nothing, or unknown where its answers do not tell.

    `words` is a sentence that says why, `advice` what to do about it, if there is anything to be done.
    """

    level: str
    words: str
    advice: str = ""

    @property
    def bad(self) -> bool:
        """Whether somebody would be misled who took the result for a success."""
        return self.level in ("poor", "nothing")

    def __str__(self) -> str:
        return f"{self.words}." + f" {self.advice[:1].upper()}{self.advice[1:]}." * bool(self.advice)

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return {"level": self.level, "words": self.words, "advice": self.advice}


def warn_if_bad(verdict: Verdict) -> None:
    """Say in Python that a result is worth little, where it was asked for."""
    if verdict.bad:
        warn(str(verdict), LittleLearned)


def shown(verdict: Verdict) -> str:
    """What a line about a result ends with if the result is worth little; else nothing."""
    return f"; {verdict.words}" if verdict.bad else ""


def worst(*levels: str) -> str:
    """The worst of these levels; what is not known counts for nothing."""
    return max((level for level in levels if level in LEVELS), key=LEVELS.index, default="unknown")


def level_of(value: float, ends: Sequence[float]) -> str:
    """The level of a number that is better the smaller it is, by where good, fair and poor end."""
    return LEVELS[sum(value >= end for end in ends)]


def more_epsilon(cost: Fraction, wanted: float) -> str:
    """An epsilon to try that is about as many times what was paid; nothing if none that is worth the name would do."""
    times = next((times for times in MORE if times >= wanted), None)
    return f"epsilon {amount(cost * times)}" if times and cost * times <= MOST_EPSILON else ""


def cost(releases: Sequence[Release[Any]]) -> Fraction:
    """What these answers cost together; several of them may have one receipt."""
    return total(list({release.receipt.number: release.receipt for release in releases}.values()))
