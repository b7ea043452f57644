"""Option and Metafeature: what a choice is between, and what it may depend on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from inspect import Parameter, signature
from typing import Any

from ..errors import BadInput
from ..kernel import Budget, Release, Source
from ..plans.run import try_out
from ..schema import Schema

Facts = Mapping[str, float]
Predict = Callable[[Facts], float]


@dataclass(frozen=True)
class Situation:
    """What is public when a metafeature is computed: schema, epsilon of a row, and earlier facts and answers."""

    schema: Schema
    epsilon: float
    facts: Facts = field(default_factory=dict)
    answers: Mapping[str, Release[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Metafeature:
    """A number that a choice may depend on, by name.

    `value` computes it from a `Situation`, and so from what is public: it is free. If the number tells of the rows,
    `ask` puts a question to them for `percent` of the budget, and the answer joins the situation under this name before
    `value` is called. A question that would have less than `least` epsilon for each row is not asked: its noise would
    tell nothing. An option that takes an answer by the name `hand_on` gets it and need not pay for it again.
    """

    name: str
    value: Callable[[Situation], float]
    ask: Callable[[Source, Budget], Release[Any]] | None = None
    percent: int = 0
    least: Fraction = Fraction(0)
    hand_on: str = ""

    def __post_init__(self) -> None:
        if (self.ask is None) != (self.percent == 0) or not 0 <= self.percent < 100:
            raise BadInput(
                f"metafeature {self.name!r}: one that asks the rows has a percent of 1 to 99, others have none"
            )


def _nothing_to_run(source: Source, budget: Budget) -> Any:
    raise BadInput("this option is a name without a plan: use `pick`, which runs nothing")


@dataclass(frozen=True)
class Option:
    """One way to answer, by name.

    `answer(source, budget, ...)` is a plan; an option of a choice inside another plan has none. `predict` tells from
    the facts how good it will be, the higher the better: a formula of the programmer's, or None to learn it from
    traces; a formula is corrected by traces if there are some. `check(schema, budget)` raises BadInput if the option
    cannot be used; without it the plan is tried on no rows.
    """

    name: str
    answer: Callable[..., Any] = _nothing_to_run
    predict: Predict | None = None
    check: Callable[[Schema, Budget], None] | None = None

    def run(self, source: Source, budget: Budget, given: Mapping[str, Release[Any]]) -> Any:
        """The answer, with those of the given answers that it takes by name."""
        taken = [*signature(self.answer).parameters.values()][2:]
        every, names = any(one.kind is Parameter.VAR_KEYWORD for one in taken), {one.name for one in taken}
        return self.answer(source, budget, **{name: one for name, one in given.items() if every or name in names})

    def refusal(self, schema: Schema, budget: Budget) -> str:
        """Why the option cannot be used on tables of this schema, by public facts alone; "" if it can."""
        try:
            if self.check is not None:
                self.check(schema, budget)
            else:
                try_out(self.answer, schema, budget)
        except BadInput as refused:
            return str(refused)
        return ""
