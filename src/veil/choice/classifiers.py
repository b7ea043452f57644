"""The choice among classifiers: its metafeatures, and what every method did on public databases.

`classifiers.csv` beside this file has the traces; `python -m experiments.choice.ship` makes it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..kernel import Budget, Release, Source
from ..questions import WHOLE
from ..schema import Numeric, Schema
from .nearby import Nearby
from .options import Metafeature, Situation
from .trace import Prediction
from .traces import read_traces

FILE = Path(__file__).with_suffix(".csv")
OPTIONS = ("logistic", "privpfc", "blend", "naive-bayes")
TO_SIZE = 3  # per cent of the budget, for the class totals
GOALS: Mapping[str, Mapping[str, float] | None] = {"both": None, "auc": {"auc": 1.0}, "accuracy": {"accuracy": 1.0}}
WIDTH = 0.8
MARGINS = {"auc": 0.02, "accuracy": 0.02}  # so that 90 % of tables in families left out lie within: see docs/choice.md


def _count(source: Source, budget: Budget) -> "Release[object]":
    return source.count(WHOLE, budget)


def _rows(situation: Situation) -> float:
    """The noisy number of rows less a standard deviation of its noise, so that doubt leads to what few rows need."""
    totals = situation.answers["rows"]
    deviation = totals.noise_scale * np.sqrt(2 * totals.value.size)
    return float(max(totals.value.sum() - deviation, 1.0))


def _signal(situation: Situation) -> float:
    """The logarithm of rows times epsilon."""
    return float(np.log(situation.facts["rows"] * situation.epsilon))


def _weights(situation: Situation) -> float:
    """The logarithm of how many weights a linear model would have."""
    codes = 1 + sum(column.size - 1 for column in situation.schema.features)
    return float(np.log(codes * max(len(situation.schema.classes) - 1, 1)))


def _columns(situation: Situation) -> float:
    return float(np.log(max(len(situation.schema.features), 1)))


def _classes(situation: Situation) -> float:
    return float(np.log(max(len(situation.schema.classes), 1)))


def _numbers(situation: Situation) -> float:
    """The share of columns that hold numbers."""
    features = situation.schema.features
    return sum(isinstance(column, Numeric) for column in features) / max(len(features), 1)


ROWS = Metafeature("rows", _rows, _count, percent=TO_SIZE, hand_on="totals")
PUBLIC = (
    Metafeature("signal", _signal),
    Metafeature("weights", _weights),
    Metafeature("columns", _columns),
    Metafeature("classes", _classes),
    Metafeature("numbers", _numbers),
)
METAFEATURES = (ROWS, *PUBLIC)


@cache
def known() -> Nearby:
    """What every method did on public databases, ready to predict."""
    return Nearby(read_traces(FILE), width=WIDTH, margins=MARGINS)


class Expected(NamedTuple):
    """What to expect of every method on a table, the public tables most like it, and whether none is like it."""

    predictions: tuple[Prediction, ...]
    nearest: tuple[str, ...]
    far: bool

    def best(self, measure: str, options: Sequence[str] = OPTIONS) -> Prediction:
        """The prediction for the option that is best by this measure."""
        return max((p for p in self.predictions if p.measure == measure and p.option in options), key=lambda p: p.value)


def facts_of(schema: Schema, rows: float, epsilon: float) -> dict[str, float]:
    """The facts of a table that declares its number of rows; free, since nothing is asked."""
    facts = {"rows": max(rows, 1.0)}
    for one in PUBLIC:
        facts[one.name] = one.value(Situation(schema, epsilon / schema.rows_per_person, facts))
    return facts


def expect(schema: Schema, rows: float, epsilon: float) -> Expected:
    """How good every method is expected to be on a table of this schema, from what it did on public tables."""
    facts, nearby = facts_of(schema, rows, epsilon), known()
    tables = nearby.predict(facts)
    lines = [
        Prediction(option, measure, *(float(min(max(value, 0.0), 1.0)) for value in table[place]))
        for measure, table in tables.items()
        for place, option in enumerate(nearby.traces.options)
    ]
    return Expected(tuple(lines), nearby.nearest(facts), nearby.far(facts))
