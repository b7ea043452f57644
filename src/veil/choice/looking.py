"""Looking at the metafeatures of rows: what is public is free, what tells of the rows is asked and paid for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadInput, VeilError
from ..kernel import Budget, Release, Source
from ..plans.outcome import total
from ..plans.run import made_up_source
from ..schema import Schema
from .options import Metafeature, Situation
from .trace import Fact

MADE_UP = 1_000  # rows to try functions on
MOST = Fraction(10**9)  # epsilon of a row, above which there is no noise to speak of


class Seen(NamedTuple):
    """The facts, the budget that is left, and the answers that options need not pay for again."""

    facts: tuple[Fact, ...]
    left: Budget
    given: dict[str, Release[Any]]


def look(metafeatures: Sequence[Metafeature], source: Source, budget: Budget) -> Seen:
    """The metafeatures of a source in their order, each paid its percent of the budget if it asks the rows.

    One that would have too little epsilon is skipped and costs nothing: whether it is depends on the budget alone.
    """
    situation, facts = Situation(source.schema, float(min(source.per_row(budget), MOST))), list[Fact]()
    left, given = budget.epsilon, dict[str, Release[Any]]()
    for one in metafeatures:
        noise, price = 0.0, Fraction(0)
        if one.ask is not None:
            part = budget.split(one.percent, 100 - one.percent)[0]
            if source.per_row(part) < one.least:
                continue
            start = len(source.record.receipts)
            release = one.ask(source, part)
            if not isinstance(release, Release) or total(source.record.receipts[start:]) != part.epsilon:
                raise BadInput(f"the ask of metafeature {one.name!r} must return a release, and cost what it is given")
            noise, price, left = _deviation(release), part.epsilon, left - part.epsilon
            situation = replace(situation, answers={**situation.answers, one.name: release})
            given |= {one.hand_on: release} if one.hand_on else {}
        facts.append(Fact(one.name, computed(one.value, situation, f"metafeature {one.name!r}"), noise, price))
        situation = replace(situation, facts={**situation.facts, one.name: facts[-1].value})
    return Seen(tuple(facts), Budget(left), given)


def look_at_made_up(metafeatures: Sequence[Metafeature], schema: Schema, budget: Budget) -> Seen:
    """The same of made-up rows, so that what a programmer wrote is tried before anything is charged."""
    return look(metafeatures, made_up_source(schema, budget, MADE_UP), budget)


def computed(how: Callable[[Any], Any], given: Any, what: str) -> float:
    """The finite number that a programmer's function gives. Raises BadInput if it fails, or gives anything else; what
    it failed with is not repeated, since it may hold anything."""
    try:
        found = how(given)
    except VeilError:
        raise
    except Exception as error:
        raise BadInput(f"{what} must give one finite number, and failed with {type(error).__name__}") from None
    return finite(found, what)


def finite(value: Any, what: str) -> float:
    """A finite number. Raises BadInput for anything else."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = float("nan")
    if not np.isfinite(found):
        raise BadInput(f"{what} must give one finite number")
    return found


def _deviation(release: Release[Any]) -> float:
    """The standard deviation of the noise in one number of an answer; 0 for answers without a scale."""
    return float(np.sqrt(2) * release.scale) if release.scale else 0.0
