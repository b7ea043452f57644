"""Class totals, by which plans size what they ask: counted once, before or during a search for bins."""

from typing import Any

from ..kernel import Budget, Release, Source
from ..questions import WHOLE

TO_SIZE = 3  # per cent of the budget
Known = Release[Any] | None  # class totals, if they were counted before


def sized(source: Source, budget: Budget, totals: Known) -> tuple[Release[Any], Budget]:
    """The class totals, for 3 % of the budget unless they are known already, and the budget that is left."""
    if totals is not None:
        return totals, budget
    to_size, rest = budget.split(TO_SIZE, 100 - TO_SIZE)
    return source.count(WHOLE, to_size), rest
