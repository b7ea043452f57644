"""Whether a claim of a paper holds here, in one of three words, by one rule for all pages."""

from collections.abc import Iterable
from typing import NamedTuple

HOLDS, PART, NOT = "holds", "in part", "does not hold"
VERDICTS = (HOLDS, PART, NOT)
MANY = dict(zip(VERDICTS, ("hold", "hold in part", "do not"), strict=True))  # of several claims


class Finding(NamedTuple):
    """A claim in words, a verdict, and the numbers behind it."""

    claim: str
    verdict: str
    numbers: str

    @property
    def line(self) -> str:
        """The finding as one line of a list."""
        return f"- *{self.claim}:* {self.verdict}. {self.numbers}"


def judged(held: int, of: int, opposed: int | None = None) -> str:
    """Holds if it was so in every case; in part if there are more cases for it than against; else it does not hold."""
    opposed = of - held if opposed is None else opposed
    return HOLDS if held == of else PART if held > opposed else NOT


def listed(found: Iterable[Finding]) -> str:
    """All of them as a list."""
    return "\n".join(finding.line for finding in found)
