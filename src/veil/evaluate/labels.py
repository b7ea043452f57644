"""Confusion matrix, accuracy and calibration curve of a model on private rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import BadInput
from ..kernel import Budget, Release, Source
from ..plans.finish import nonnegative
from ..plans.roc import code_scorer
from ..questions import Binned, grid
from .intervals import DRAWS, SEED, Interval, Numbers, share_interval
from .result import LEVEL, Evaluation, Kept, ask, class_place, spoken, told
from .scores import PREDICTION, RIGHT, prediction_table, score_table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ConfusionMatrix(Evaluation):
    """Noisy numbers of rows, true classes down and predicted ones across; whole numbers, which can be negative.

    A count lies within `error` of the exact one with 95 % confidence. `accuracy` is the share on the diagonal.
    """

    counts: Any
    classes: tuple[str, ...]
    error: int
    accuracy: float
    accuracy_interval: Interval

    @property
    def intervals(self) -> dict[str, Interval]:
        return {"accuracy": self.accuracy_interval}

    def shares(self) -> Numbers:
        """The share of each true class predicted as each class, true x predicted, from nonnegative counts."""
        possible = nonnegative(self.counts.T).T
        return np.asarray(possible / possible.sum(axis=1, keepdims=True))

    def summary(self) -> str:
        accuracy = spoken(self.accuracy, self.accuracy_interval)
        return f"confusion matrix of {len(self.classes)} classes: accuracy {accuracy}"

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        rows = [(name, *counts) for name, counts in zip(self.classes, self.counts.tolist(), strict=True)]
        return ["true class", *(f"predicted {name}" for name in self.classes)], rows


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Accuracy(Evaluation):
    """The share of rows predicted right, and its 95 % confidence interval."""

    accuracy: float
    accuracy_interval: Interval

    @property
    def intervals(self) -> dict[str, Interval]:
        return {"accuracy": self.accuracy_interval}

    def __float__(self) -> float:
        return self.accuracy

    def summary(self) -> str:
        return f"accuracy {spoken(self.accuracy, self.accuracy_interval)}"

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        return ["accuracy", "from", "to"], [tuple(self.accuracy_interval.texts(self.accuracy))]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CalibrationCurve(Evaluation):
    """For every interval of predicted probability: its middle, the share of positive rows, and the number of rows.

    `low` and `high` hold the exact share of each interval with 95 % confidence. Unpacks like scikit-learn's:
    `prob_true, prob_pred = curve`.
    """

    prob_true: Numbers
    prob_pred: Numbers
    low: Numbers
    high: Numbers
    rows: Numbers
    positive: str

    @property
    def intervals(self) -> dict[str, Interval]:
        """The interval of the positive share in the bin with most rows, by name: empty bins tell nothing."""
        place = int(np.argmax(self.rows))
        return {"share": Interval(float(self.low[place]), float(self.high[place]))}

    def __iter__(self) -> Any:
        return iter((self.prob_true, self.prob_pred))

    def summary(self) -> str:
        return f"calibration of '{self.positive}' in {len(self.prob_true)} intervals"

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        points = zip(self.prob_pred, self.prob_true, self.low, self.high, self.rows, strict=True)
        rows = [(f"{said:.2f}", *(f"{share:.3f}" for share in shares), f"{n:,.0f}") for said, *shares, n in points]
        return ["probability about", "share that is positive", "from", "to", "rows, noisy"], rows


def private_confusion_matrix(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    epsilon: Any,
    schema: Any = None,
    ledger: Any = None,
    classes: Sequence[Any] | None = None,
    random_state: Any = None,
) -> ConfusionMatrix:
    """How many private rows of each class are predicted as each; one count for all of epsilon.

    `model` is a classifier, a function of rows, or the predictions themselves; the rest as for `private_roc_curve`. A
    row without a prediction that is a class is left out of the matrix.
    """
    table = prediction_table(model, X, y, schema, classes)
    release, kept = ask(_predicted, "confusion matrix", model, table.rows, table.schema, epsilon, ledger, random_state)
    names = table.schema.classes
    counts = release.value[: len(names)].T
    right = float(np.trace(counts))
    accuracy, interval = _accuracy(right, float(counts.sum()) - right, release.noise_scale, len(names))
    numbers = {"error": release.error(), "accuracy": accuracy, "accuracy_interval": interval}
    return told(ConfusionMatrix(counts=counts, classes=names, **numbers, **kept))


def _predicted(source: Source, budget: Budget) -> Release[Any]:
    return source.count(grid(source.schema, PREDICTION), budget)


def private_accuracy(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    epsilon: Any,
    schema: Any = None,
    ledger: Any = None,
    classes: Sequence[Any] | None = None,
    random_state: Any = None,
) -> Accuracy:
    """The share of private rows that are predicted right, from noisy counts of right and wrong predictions.

    The arguments are those of `private_confusion_matrix`; a row without a prediction counts as wrong.
    """
    table = prediction_table(model, X, y, schema, classes, right=True)
    release, kept = ask(_right, "accuracy", model, table.rows, table.schema, epsilon, ledger, random_state)
    wrong, right = map(float, release.value[:, 0])
    accuracy, interval = _accuracy(right, wrong, release.noise_scale, 1)
    return told(Accuracy(accuracy=accuracy, accuracy_interval=interval, **kept))


def _right(source: Source, budget: Budget) -> Release[Any]:
    return source.count(grid(source.schema, RIGHT), budget, by_class=False)


def _accuracy(right: float, wrong: float, scale: float, classes: int) -> tuple[float, Interval]:
    """The accuracy and its interval, from noisy sums: `right` over `classes` cells, `wrong` over all others."""
    chance = np.random.default_rng(SEED)
    more = chance.laplace(0, scale, (classes, DRAWS)).sum(axis=0)
    others = chance.laplace(0, scale, (max(classes * (classes - 1), 1), DRAWS)).sum(axis=0)
    share = float(np.clip(right / max(right + wrong, 1), 0, 1))
    return share, share_interval(share, right, right + wrong, more, more + others, LEVEL)


def private_calibration_curve(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    epsilon: Any,
    schema: Any = None,
    ledger: Any = None,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    n_bins: int = 10,
    random_state: Any = None,
) -> CalibrationCurve:
    """The share of positive rows by predicted probability, in `n_bins` even intervals; one count for all of epsilon.

    The arguments are those of `private_roc_curve`; two classes only.
    """
    if not isinstance(n_bins, int) or not 1 <= n_bins <= 1000:
        raise BadInput("n_bins must be a whole number from 1 to 1000")
    scored = score_table(model, X, y, schema, classes, positive=positive)
    names = scored.schema.classes
    if len(names) > 2:
        raise BadInput(
            "a calibration curve needs two classes: give the probabilities of one, and whether rows are of it"
        )
    place = class_place(positive, names)
    edges = np.linspace(0, 1, n_bins + 1)
    inner = [float(code) for code in np.searchsorted(scored.cuts, edges[1:-1]) + 1]
    plan = partial(_between, codes=len(scored.cuts) + 1, edges=inner)
    release, kept = ask(plan, "calibration", model, scored.rows, scored.schema, epsilon, ledger, random_state)
    return told(_calibration(release, edges, place, names[place], kept))


def _between(source: Source, budget: Budget, codes: int, edges: Sequence[float]) -> Release[Any]:
    return source.count(Binned(code_scorer("score", codes)[0], edges), budget)


def _calibration(release: Release[Any], edges: Numbers, place: int, positive: str, kept: Kept) -> CalibrationCurve:
    counts = release.value[:, [place, 1 - place]].astype(np.float64)
    found = [_accuracy(yes, no, release.noise_scale, 1) for yes, no in counts]
    shares, intervals = zip(*found, strict=True)
    low, high = np.transpose(intervals)
    middles = (edges[1:] + edges[:-1]) / 2
    return CalibrationCurve(
        prob_true=np.array(shares), prob_pred=middles, low=low, high=high, rows=counts.sum(axis=1), positive=positive,
        **kept,
    )  # fmt: skip
