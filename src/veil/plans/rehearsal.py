"""Rehearsal: the answers that a run would ask for, which show themselves as a plan."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from ..display import amount, html_table, number, text_table
from ..kernel import Release
from ..schema import Schema

HEADER = ["answer", "about", "epsilon", "noise scale", "95 % of counts within"]
MADE_UP = "The plan: nothing was opened or charged; questions that follow from earlier answers follow from made-up rows"


class Rehearsal(tuple[Release[Any], ...]):
    """Releases with made-up values and the noise that real ones would have; printed, the plan alone.

    `trace` tells how the method was chosen, if it was.
    """

    schema: Schema
    trace: Mapping[str, Any] | None

    def __new__(
        cls, releases: "Iterable[Release[Any]]", schema: Schema, trace: Mapping[str, Any] | None = None
    ) -> "Rehearsal":
        self = super().__new__(cls, releases)
        self.schema, self.trace = schema, trace
        return self

    def plan(self) -> list[tuple[Any, ...]]:
        """A tuple for each answer: verb, question, share of epsilon, noise scale, and 95 % error of its counts."""
        return [plan_row(release, self.schema.rows_per_person) for release in self]

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
    """A number of a plan as text; "" for None."""
    return "" if value is None else amount(value) if isinstance(value, Fraction) else number(value)
