"""The choice among classifiers: its metafeatures, and what every method did on public databases.

`classifiers.csv` beside this file has the traces; `python -m experiments.choice.ship` makes it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from math import exp, log, pi, sqrt, tanh
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr

from ..display import number
from ..kernel import Budget, Release, Source
from ..plans.finish import class_prior
from ..plans.linear import FEWEST
from ..plans.linear import ROWS as ROWS_OF_GROUP
from ..questions import WHOLE
from ..schema import Numeric, Schema
from ..schema.columns import DEFAULT_BINS
from .nearby import Nearby
from .options import Facts, Metafeature, Situation
from .rising import Rising
from .trace import Fact, Prediction
from .traces import read_traces

FILE = Path(__file__).with_suffix(".csv")
OPTIONS = ("privpfc", "logistic", "blend", "shares")
TO_SIZE = 3  # per cent of the budget, for the class totals
GOALS: Mapping[str, Mapping[str, float] | None] = {"both": None, "auc": {"auc": 1.0}, "accuracy": {"accuracy": 1.0}}
EPSILONS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)
WIDTH = 0.8
IMPORTANCE = {"signal": 3.0, "weights": 0.7, "columns": 0.7, "numbers": 0.5, "plenty": 0.5, "many": 0.5}
BETWEEN = ("plenty", "many")  # facts that set methods apart; more of them are worse on families left out
NARROW = 0.5
KEPT = 0.25  # of how far the quantiles of databases near by lie from their mean: they are too near in some families
# how far the ends of intervals are moved down and up, with two classes and with more, so that they hold 90 % of tables
# in families left out: see docs/choice.md, and experiments.choice.judge, which finds them
MARGINS = {
    "auc": {0.0: (0.064, 0.229), 1.0: (0.123, 0.279)},
    "accuracy": {0.0: (0.083, 0.171), 1.0: (0.231, 0.433)},
}
# the same without the share of the largest class, which a plan cannot know, and with what never falls
PLANNED = {
    "auc": {0.0: (0.063, 0.232), 1.0: (0.115, 0.263)},
    "accuracy": {0.0: (0.098, 0.162), 1.0: (0.246, 0.363)},
}
SIGNALS = np.geomspace(1, 1e7, 29).tolist()  # rows times epsilon at which a plan looks, so that nothing falls between

LARGEST = 700.0  # logarithm of a number that a float holds
LOGARITHMS = {
    "signal": "rows times epsilon",
    "weights": "weights of a linear model",
    "columns": "columns",
    "classes": "classes",
    "plenty": "rows times epsilon for each weight",
}
WORDS = {
    "rows": "rows to expect, given their noisy number",
    "numbers": "share of the columns that hold numbers",
    "many": "whether there are more than two classes",
    "majority": "share of the largest class",
}


def _count(source: Source, budget: Budget) -> "Release[object]":
    return source.count(WHOLE, budget)


def _from_answer(name: str) -> Callable[[Situation], float]:
    """The value of a fact by its name, from the class totals that were counted and from the schema."""

    def value(situation: Situation) -> float:
        totals = situation.answers["rows"]
        codes, columns, numbers, classes = _shape(situation.schema)
        return facts_of_counts(
            totals.value[0],
            totals.noise_scale,
            situation.epsilon,
            codes=codes,
            columns=columns,
            numbers=numbers,
            classes=classes,
        )[name]

    return value


def facts_of_counts(
    totals: Sequence[float] | npt.NDArray[Any],
    scale: float,
    epsilon: float,
    *,
    codes: int,
    columns: int,
    numbers: int,
    classes: int,
) -> dict[str, float]:
    """The facts of a table from noisy class totals, the scale of their noise, and public numbers.

    The number of rows is the mean of all numbers above zero that may have led to the noisy one: where noise hides it,
    about as many as the noise could hide, and never none.
    """
    noisy, noise = np.asarray(totals, np.float64), max(scale, 1e-9)
    rows = max(_mean_above_zero(float(noisy.sum()), noise * sqrt(2 * len(noisy))), 1.0)
    share = float(class_prior(noisy, sqrt(2) * noise).max())
    return {"rows": rows, **_of_rows(rows, epsilon, codes, columns, numbers, classes), "majority": share}


def _mean_above_zero(value: float, deviation: float) -> float:
    """The mean of a normal distribution with this middle and deviation, cut off at zero."""
    middle = max(value / deviation, -30.0)
    return deviation * (middle + exp(-middle * middle / 2 - float(log_ndtr(middle))) / sqrt(2 * pi))


def _of_rows(rows: float, epsilon: float, codes: int, columns: int, numbers: int, classes: int) -> dict[str, float]:
    """The facts that follow from the number of rows and from the schema."""
    weights = _weights(rows * epsilon, codes, columns, numbers, classes) * max(classes - 1, 1)
    return {
        "signal": log(rows * epsilon),
        "weights": log(weights),
        "columns": log(max(columns, 1)),
        "classes": log(max(classes, 1)),
        "numbers": numbers / max(columns, 1),
        "plenty": log(rows * epsilon / weights),
        "many": float(classes > 2),
    }


def _weights(signal: float, codes: int, columns: int, numbers: int, classes: int) -> float:
    """About how many weights for each class a linear model has, whose bins are the wider the fewer the rows."""
    bins = min(max(signal / max(columns, 1) / ROWS_OF_GROUP, FEWEST[classes > 2]), DEFAULT_BINS)
    return max(codes - numbers * (DEFAULT_BINS - bins), columns + 1)


ROWS = Metafeature("rows", _from_answer("rows"), _count, percent=TO_SIZE, hand_on="totals")
NAMES = ("signal", "weights", "columns", "classes", "numbers", "plenty", "many", "majority")
METAFEATURES = (ROWS, *(Metafeature(name, _from_answer(name)) for name in NAMES))


def _lead_of_logistic(facts: Facts) -> float:
    """About how much better than PrivPfC a logistic regression is: it needs a row times epsilon for each weight, with
    more than two classes ten rows."""
    if facts["many"]:
        return 0.03 * tanh((facts["plenty"] - log(10)) / 2)
    return 0.025 * tanh(facts["plenty"])


def _lead_of_blend(facts: Facts) -> float:
    """The same of the blend: nearly as much and, where rows are plenty, a little more."""
    plenty = 0.0 if facts["many"] else 0.01 * (facts["plenty"] > log(60))
    return 0.85 * _lead_of_logistic(facts) + plenty


FORMULAS = {"logistic": _lead_of_logistic, "blend": _lead_of_blend}  # which traces correct
SETTINGS: dict[str, Any] = {
    "importance": IMPORTANCE,
    "width": WIDTH,
    "between": BETWEEN,
    "narrow": NARROW,
    "kept": KEPT,
    "apart": "many",
    "formulas": FORMULAS,
    "limits": (0.0, 1.0),
    "certain": {("shares", "auc"): 0.5},
}


@cache
def known() -> Nearby:
    """What every method did on public databases, ready to predict."""
    return Nearby(read_traces(FILE), **SETTINGS, margins=MARGINS)


@cache
def _planned() -> Nearby:
    """The same without the share of the largest class, which has other margins."""
    return replace(known(), margins=PLANNED)


def planned(schema: Schema) -> Rising:
    """What to expect of every method on tables of this schema before a row is opened, at any rows times epsilon."""
    return _rising(*_shape(schema))


@lru_cache(maxsize=64)
def _rising(codes: int, columns: int, numbers: int, classes: int) -> Rising:
    return rising(_planned(), codes, columns, numbers, classes)


def rising(nearby: Nearby, codes: int, columns: int, numbers: int, classes: int) -> Rising:
    """Predictions for tables of these public numbers, which do not fall as rows times epsilon grow."""
    return Rising(nearby, [_of_rows(signal, 1.0, codes, columns, numbers, classes) for signal in SIGNALS])


def _shape(schema: Schema) -> tuple[int, int, int, int]:
    """Codes, columns, those that hold numbers, and classes."""
    features = schema.features
    numbers = sum(isinstance(column, Numeric) for column in features)
    return 1 + sum(column.size - 1 for column in features), len(features), numbers, len(schema.classes)


class Expected(NamedTuple):
    """What to expect of every method on a table, the public tables most like it, and whether none is like it."""

    predictions: tuple[Prediction, ...]
    nearest: tuple[str, ...]
    far: bool

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options that something is known about."""
        return tuple(dict.fromkeys(one.option for one in self.predictions))

    def of(self, option: str, measure: str) -> Prediction:
        """The prediction for an option by one measure."""
        return next(one for one in self.predictions if (one.option, one.measure) == (option, measure))

    def best(self, measure: str) -> Prediction:
        """The prediction for the option that is best by this measure."""
        return max((one for one in self.predictions if one.measure == measure), key=lambda one: one.value)


def facts_of(schema: Schema, rows: float, epsilon: float) -> dict[str, float]:
    """The facts of a table that declares its number of rows; free, since nothing is asked. The share of the largest
    class is not among them."""
    return _of_rows(max(rows, 1.0), epsilon / schema.rows_per_person, *_shape(schema))


def expect(schema: Schema, rows: float, epsilon: float) -> Expected:
    """How good every method is expected to be on a table of this schema, from what it did on public tables; no number
    falls as epsilon grows."""
    facts, nearby = facts_of(schema, rows, epsilon), planned(schema)
    lines = [
        Prediction(option, measure, *table[place].tolist())
        for measure, table in nearby.predict(facts).items()
        for place, option in enumerate(nearby.traces.options)
    ]
    return Expected(tuple(lines), nearby.nearest(facts), nearby.far(facts))


def least_epsilon(schema: Schema, rows: float, measure: str, goal: float, *, sure: bool = False) -> float | None:
    """The least epsilon at which the best method is expected to reach a goal, or with `sure` to reach it on 95 % of
    tables like this one; None if it is so at none of EPSILONS."""
    for epsilon in EPSILONS:
        best = expect(schema, rows, epsilon).best(measure)
        if (best.low if sure else best.value) >= goal:
            return epsilon
    return None


def fact_words(fact: Fact) -> tuple[str, str]:
    """A fact as people say it, and its value."""
    if fact.name in LOGARITHMS:
        return LOGARITHMS[fact.name], number(exp(min(fact.value, LARGEST)))
    if fact.name == "many":
        return WORDS[fact.name], "yes" if fact.value else "no"
    return WORDS.get(fact.name, fact.name), number(fact.value)
