"""Audits of evaluations, from scores and labels to what the functions give back; and twins that choose thresholds for
free or give exact points."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..columns import Categorical
from ..evaluate import (
    private_accuracy,
    private_auc,
    private_calibration_curve,
    private_confusion_matrix,
    private_roc_curve,
)
from ..kernel.ledger import Ledger
from ..kernel.noise import Noise
from ..schema import Schema
from .harness import Case, Runs
from .pairs import pair
from .tables import PLENTY

SCHEMA = Schema(name="audit", label="label", column=[Categorical(name="label", values=("no", "yes"))])
HIGH, LOW = (0.9, "yes"), (0.1, "no")
FEW: dict[str, Any] = {"quick": 400, "deep": 6_000}
WHOLE_TABLE = {"what is seen": list}


def evaluations() -> Iterator[Case]:
    """Every evaluation function on the pair that is as bad for it as we know, then the twins."""
    none, one = _rows(), _rows(HIGH)
    both, more = _rows(LOW, HIGH, LOW), _rows(LOW, HIGH, LOW, HIGH)
    about = "from scores and labels to the result"
    yield Case("private_roc_curve, empty table", 1, (none, one), _running(_curve), about, **FEW, views=WHOLE_TABLE)
    yield Case("private_auc", 1, (both, more), _running(_area), about, **FEW, views=WHOLE_TABLE)
    yield Case("private_confusion_matrix", 1, (none, one), _running(_matrix), about, **FEW, views=WHOLE_TABLE)
    yield Case("private_accuracy", 1, (none, one), _running(_accuracy), about, **FEW, views=WHOLE_TABLE)
    yield Case("private_calibration_curve", 1, (none, one), _running(_calibration), about, **FEW, views=WHOLE_TABLE)
    tables = both, more
    ours = _running(_curve)
    yield from pair("exact curve", 1, tables, exact_curve, ours, **FEW, views=WHOLE_TABLE)
    yield from pair("uncharged thresholds", 1, tables, uncharged_thresholds, ours, **FEW, views=WHOLE_TABLE)


def _rows(*rows: tuple[float, str]) -> dict[str, Any]:
    return {"score": [row[0] for row in rows], "label": [row[1] for row in rows]}


def _running(see: Any) -> Runs:
    """An evaluation made anew each time, with a ledger of its own."""

    def runs(table: Any, noise: Noise, trials: int) -> list[Any]:
        asked = {"y": table["label"], "epsilon": 1, "schema": SCHEMA, "random_state": noise}
        return [see(table["score"], {**asked, "ledger": Ledger(PLENTY, SCHEMA.name)}) for _ in range(trials)]

    return runs


def _curve(scores: Any, asked: dict[str, Any]) -> tuple[Any, ...]:
    """The positives of the row's part and of the others, and whether the upper cut is near the row."""
    curve = private_roc_curve(scores, parts=2, **asked)
    counts = np.clip(np.round(curve.counts.counts[:, 1]), 0, 2).astype(int)
    return (*counts.tolist(), int(np.digitize(curve.thresholds[1], [0.1, 0.5, 0.9])))


def _area(scores: Any, asked: dict[str, Any]) -> tuple[Any, ...]:
    """The released misordered rows and sizes, in halves and whole ones."""
    wrong, sizes = private_auc(scores, **asked).releases_
    return (*np.clip(sizes.value[0], 0, 3).tolist(), int(np.clip(2 * wrong.value, -1, 3)))


def _matrix(scores: Any, asked: dict[str, Any]) -> tuple[Any, ...]:
    guesses = ["yes" if score > 0.5 else "no" for score in scores]
    return tuple(np.clip(private_confusion_matrix(guesses, **asked).counts, 0, 1).ravel().tolist())


def _accuracy(scores: Any, asked: dict[str, Any]) -> tuple[Any, ...]:
    found = private_accuracy(["yes" if score > 0.5 else "no" for score in scores], **asked)
    return tuple(np.clip(found.releases_[0].value.ravel(), 0, 1).tolist())


def _calibration(scores: Any, asked: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(np.clip(private_calibration_curve(scores, n_bins=2, **asked).rows, 0, 1).tolist())


def exact_curve(table: Any, noise: Noise, trials: int) -> list[Any]:
    """NOT PRIVATE: the ROC curve as every library draws it, exact and at thresholds taken from the rows."""
    scores, truth = np.array(table["score"]), np.array(table["label"]) == "yes"
    points = tuple((float(cut), int(truth[scores >= cut].sum())) for cut in np.unique(scores))
    return [points] * trials


def uncharged_thresholds(table: Any, noise: Noise, trials: int) -> list[Any]:
    """NOT PRIVATE: noisy counts for all of epsilon, between thresholds that are exact quantiles and cost nothing."""
    scores = np.array(table["score"])
    cut = float(np.quantile(scores, 0.5))
    noisy = (scores >= cut).sum() + noise.discrete_laplace(Fraction(1), trials)
    return [(round(cut, 3), int(np.clip(count, 0, 3))) for count in noisy]
