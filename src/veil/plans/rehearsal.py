"""Rehearsal: the answers that a run would ask for, which show themselves as a plan."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

from ..display import amount, html_table, number, text_table
from ..kernel import Release
from ..schema import Schema
from ..threads import one_thread

HEADER = ["answer", "about", "epsilon", "noise scale", "95 % of counts within"]
MADE_UP = "The plan: nothing was opened or charged; questions that follow from earlier answers follow from made-up rows"
FOR_MANY = re.compile(r"(one|\d+) of \d+ by (Expected|)Correct")  # choices among candidates that were drawn
FEW = 100  # candidates that stand for all of them in a rehearsal
_pools: ContextVar[list[int] | None] = ContextVar("pools", default=None)


@contextmanager
def quickly() -> Iterator[None]:
    """Within it, a plan that would choose among thousands of candidates draws a hundred to stand for them: made-up rows
    hold no signal, so that any of them may be the one. A Rehearsal that is made within it tells the true number."""
    token = _pools.set([])
    try:
        with one_thread():
            yield
    finally:
        _pools.reset(token)


@contextmanager
def aside() -> Iterator[None]:
    """Within it, candidates are drawn for answers that no Rehearsal will tell of."""
    token = _pools.set(None if _pools.get() is None else [])
    try:
        yield
    finally:
        _pools.reset(token)


def drawn(pool: int, few: int = FEW) -> int:
    """How many candidates to draw: the whole pool or, in a rehearsal, a few of it."""
    found = _pools.get()
    if found is None:
        return pool
    found.append(pool)
    return min(pool, few)


def _in_full(releases: "Iterable[Release[Any]]") -> "Iterator[Release[Any]]":
    """The same answers; choices among a few that stood for many tell of how many."""
    pools = iter(_pools.get() or ())
    for release in releases:
        receipt = release.receipt
        few = FOR_MANY.fullmatch(receipt.question) if receipt.verb in ("choose", "choose_best") else None
        if few and (pool := next(pools, 0)):
            words = f"{few[1]} of {few[2] and 'up to '}{pool} by {few[2]}Correct"
            yield replace(release, receipt=replace(receipt, question=words))
        else:
            yield release


class Rehearsal(tuple[Release[Any], ...]):
    """Releases with made-up values and the noise that real ones would have; printed, the plan alone.

    `trace` tells how the method was chosen, if it was; `method` is its name, or that of the method that was named, and
    `epsilon` what a model by it may cost, so that time, memory and quality can be foreseen; "" and None if there is no
    model.
    """

    schema: Schema
    trace: Mapping[str, Any] | None
    method: str
    epsilon: Any

    def __new__(
        cls,
        releases: "Iterable[Release[Any]]",
        schema: Schema,
        trace: Mapping[str, Any] | None = None,
        *,
        method: str = "",
        epsilon: Any = None,
    ) -> "Rehearsal":
        self = super().__new__(cls, _in_full(releases))
        self.schema, self.trace, self.epsilon = schema, trace, epsilon
        self.method = trace["chosen"] if trace else method
        return self

    def plan(self) -> list[tuple[Any, ...]]:
        """A tuple for each answer: verb, question, share of epsilon, noise scale, and 95 % error of its counts."""
        return [plan_row(release, self.schema.rows_per_person) for release in self]

    def forecast(self) -> Any:
        """What to expect of the run: the cost, time and memory, a verdict and, if it is known, the quality."""
        # found late: a forecast knows verdicts and choices, which know rehearsals
        return import_module("veil.forecast").forecast(self, self.schema)

    @property
    def quality(self) -> tuple[Any, ...]:
        """What to expect of the model, with intervals, from what its method did on public tables; () if not known."""
        found: tuple[Any, ...] = self.forecast().quality
        return found

    def _shown(self) -> tuple[str, list[str], list[tuple[str, ...]]]:
        return MADE_UP, HEADER, [(*row[:2], *map(plan_cell, row[2:])) for row in self.plan()]

    def __repr__(self) -> str:
        return text_table(*self._shown(), all_in=".plan()")

    def _repr_html_(self) -> str:
        return html_table(*self._shown(), all_in=".plan()")


def plan_row(release: Any, people: int) -> tuple[Any, ...]:
    """One answer as a tuple: verb, question, its share of epsilon, noise scale, and the 95 % error of its counts."""
    verb, counted = release.receipt.verb, release.receipt.verb.startswith("count")
    about = release.question.describe() if release.question else release.receipt.question
    if not counted or not release.scale:
        return verb, about, release.receipt.epsilon, release.scale or None, None
    return verb, about, people / release.scale, release.scale, release.error()


def plan_cell(value: Any) -> str:
    """A number of a plan as text: exact if it is an amount and short, else about; "" for None.

    >>> plan_cell(Fraction(1, 4)), plan_cell(Fraction(9409, 240000)), plan_cell(None)
    ('0.25', '0.0392', '')
    """
    if not isinstance(value, Fraction):
        return "" if value is None else number(value)
    exact = amount(value)
    return exact if len(exact) <= 7 or not 1e-9 < value < 1e9 else number(float(value))  # floats hold no more
