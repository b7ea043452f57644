"""Forecast: what a run would ask, cost and be worth, before a row is opened. Dry runs, notebooks and pages share it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from .choice.classifiers import expect as expected_of
from .choice.trace import Prediction, Trace
from .display import amount, html_table, text_table
from .errors import BadInput
from .kernel import Budget
from .plans.catalogue import megabytes, seconds
from .plans.outcome import total
from .plans.rehearsal import HEADER, plan_cell, plan_row
from .plans.run import GUESS, guessed_rows
from .schema import Schema
from .verdicts import Verdict
from .verdicts.evidence import of_slopes
from .verdicts.expected import dominant, of_rehearsal

MOST_ROWS = 10**12
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**12), Fraction(10**9)  # that something is predicted for
LARGE_EPSILON = 5  # from which on the odds change so much that little is hidden
Expect = Callable[[Sequence[Any], Schema], Verdict]


class Asked(NamedTuple):
    """One answer of a plan: its verb and question, what it costs, the scale of its noise, what 95 % of its counts lie
    within, and about how large a count would be; None where there is no such number."""

    answer: str
    about: str
    epsilon: Any
    scale: float | None
    within: int | None
    expected: int | None


@dataclass(frozen=True, repr=False)
class Forecast:
    """Every question with its price and noise, what all cost together, time and memory, and the quality to expect.

    `trace` tells how the method was chosen, if it was; `largest` is a sentence on the column that takes most of the
    budget, or "".
    """

    schema: Schema
    asked: tuple[Asked, ...]
    cost: Fraction
    verdict: Verdict
    largest: str = ""
    quality: tuple[Prediction, ...] = ()
    trace: Trace | None = None
    method: str = ""

    @property
    def rows(self) -> int:
        """How many rows the schema says there are, or a guess."""
        return declared_rows(self.schema)

    @property
    def made_up(self) -> int:
        """How many made-up rows the questions were rehearsed with."""
        return guessed_rows(self.schema)

    @property
    def known(self) -> str:
        """The method that time and memory are of: the one that was chosen, or named; "" if there is none."""
        return self.trace.chosen if self.trace else self.method

    @property
    def seconds(self) -> float:
        """About how long a run takes on one core: reading rows from Parquet and, if the method is known, learning."""
        return seconds(self.known, self.rows, len(self.schema.features))

    @property
    def megabytes(self) -> float:
        """About how much private memory a run takes, beside what Veil takes to start."""
        return room(self.known, self.schema, self.rows)

    def _shown(self) -> tuple[str, list[str], list[tuple[str, ...]]]:
        rows = [(*row[:2], *map(plan_cell, row[2:])) for row in self.asked]
        title = f"What a run on {self.rows:,} rows would ask, for epsilon {amount(self.cost)}; nothing was opened. "
        return title + f"{self.verdict.words[:1].upper()}{self.verdict.words[1:]}", [*HEADER, "of about"], rows

    def __repr__(self) -> str:
        return text_table(*self._shown(), all_in=".asked")

    def _repr_html_(self) -> str:
        return html_table(*self._shown(), all_in=".asked")


def forecast(
    releases: Sequence[Any],
    schema: Schema,
    expect: Expect = of_rehearsal,
    quality: Sequence[Prediction] | None = None,
    method: str = "",
) -> Forecast:
    """The forecast of a run that asks for these answers, which come from a rehearsal.

    `expect` judges them; `quality` is what to expect of the model, if that is known: what its method did on public
    tables. A Rehearsal knows its `method`.
    """
    plain = getattr(releases, "trace", None)
    trace = None if plain is None else Trace.from_dict(plain)
    method = method or getattr(releases, "method", "")
    if quality is None:  # as `veil plan` says it: the class shares of made-up rows tell nothing
        chosen = trace.chosen if trace else method
        quality = foreseen_quality(schema, chosen, getattr(releases, "epsilon", None))
    charges = {release.receipt.number: release.receipt for release in releases}
    lines = tuple(_asked(release, releases, schema) for release in releases)
    verdict, largest = expect(releases, schema), dominant(releases, schema)
    return Forecast(schema, lines, total([*charges.values()]), verdict, largest, tuple(quality), trace, method)


def _asked(release: Any, releases: Sequence[Any], schema: Schema) -> Asked:
    """One answer of the plan; for weights, the noise in rows and the rows for each weight."""
    verb, about, epsilon, scale, error = plan_row(release, schema.rows_per_person)
    if slopes := of_slopes(release, releases, schema):
        return Asked(verb, about, epsilon, slopes[0], None, round(slopes[1]))
    return Asked(verb, about, epsilon, scale, error, None if error is None else _even_count(release, schema))


def _even_count(release: Any, schema: Schema) -> int | None:
    """The average count, if rows were spread evenly; None for sparse counts, whose number is not known."""
    if hasattr(release.value, "threshold"):
        return None
    parts = release.receipt.account != "/"  # of which the made-up rows tell how large they are
    rows = float(release.value.sum()) if parts else guessed_rows(schema)
    cells: int = release.value.size
    return max(round(rows / cells), 0)


def room(method: str, schema: Schema, rows: int) -> float:
    """About how much memory, in MB, a method takes for so many rows; texts stay in it as the codes of their words."""
    words = sum(text.dtype.itemsize * text.words_per_row for text in schema.texts)
    return megabytes(method, rows) + words * rows / 1e6


def declared_rows(schema: Schema) -> int:
    """How many rows the schema says there are, or a guess."""
    return GUESS if schema.rows is None else min(schema.rows, MOST_ROWS)


def foreseen_quality(schema: Schema, method: str, epsilon: Any) -> list[Prediction]:
    """What a method is expected to reach at this epsilon; [] if nothing is known of it or there is nothing to learn."""
    if epsilon is None or len(schema.classes) < 2 or not schema.features:
        return []
    found = expected_of(schema, declared_rows(schema), predictable(Budget(epsilon)))
    return [one for one in found.predictions if one.option == method]


def predictable(cost: Budget) -> float:
    """The epsilon as a number to predict with; beyond these ends there is no noise, or nothing else."""
    return float(min(max(cost.epsilon, LEAST_EPSILON), MOST_EPSILON))


def check_learnable(schema: Schema) -> None:
    """Raise BadInput if nothing can be foreseen of a model: there is no label, or nothing to predict it from."""
    if schema.texts and not schema.features:
        raise BadInput("nothing is known of texts: see what is asked of them with veil train --dry-run")
    if schema.label is None or len(schema.classes) < 2 or not schema.features:
        raise BadInput("there is nothing to predict: the schema needs a label of two classes or more, and columns")
