"""Audits of evaluations, from scores and labels to the results; and twins that choose thresholds for free or return
exact points."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..evaluate import (
    private_accuracy,
    private_auc,
    private_calibration_curve,
    private_confusion_matrix,
    private_roc_curve,
)
from ..kernel import Budget, Ledger
from ..kernel.noise import Noise
from ..schema import Categorical, Schema
from .harness import Case, Runs
from .pairs import pair
from .tables import ONE, PLENTY, TWO

SCHEMA = Schema(name="audit", label="label", column=[Categorical(name="label", values=("no", "yes"))])
HIGH, LOW = (0.9, "yes"), (0.1, "no")
FEW: dict[str, Any] = {"quick": 400, "deep": 6_000}
WHOLE_TABLE = {"what is seen": list}


def evaluations() -> Iterator[Case]:
    """A case for every evaluation function, on the worst pair of tables that we know, then the twins."""
    none, one = _rows(), _rows(HIGH)
    about = "from scores and labels to the result"
    yield Case("private_confusion_matrix", 1, (none, one), _running(_matrix), about, **FEW, views=WHOLE_TABLE)
    yield Case("private_accuracy", 1, (none, one), _running(_accuracy), about, **FEW, views=WHOLE_TABLE)
    yield Case("private_calibration_curve", 1, (none, one), _running(_calibration), about, **FEW, views=WHOLE_TABLE)
    tables = _rows(LOW, HIGH, LOW), _rows(LOW, HIGH, LOW, HIGH)
    ours = _running(_curve)
    yield from pair("exact curve", 1, tables, exact_curve, ours, **FEW, views=WHOLE_TABLE)
    yield from pair("uncharged thresholds", 1, tables, uncharged_thresholds, ours, **FEW, views=WHOLE_TABLE)
    yield from _spending_twice()


def _spending_twice() -> Iterator[Case]:
    """Cases of curves and areas on tables where one row moves every answer.

    The score of a row at the top lies above every threshold, so its part of the curve is known, and one row in the
    middle lets it move the thresholds too. A positive below two negatives, the first of its class, is a whole
    misordered row and a whole row of the smaller class.
    """
    middle, top, good, bad = (0.5, "no"), (1.0, "yes"), (0.9, "no"), (0.1, "yes")
    curve, area = _running(_upper_part, TWO), _running(_misordered_and_size, TWO)
    runs: dict[str, Any] = {"quick": 1_100, "deep": 6_000, "views": WHOLE_TABLE}
    yield from pair("curve for twice its price", 2, (_rows(middle), _rows(middle, top)), double_curve, curve, **runs)
    runs = {"quick": 1_400, "deep": 6_000, "views": {"for the row": _for_the_row}}
    yield from pair(
        "auc for twice its price", 2, (_rows(good, good), _rows(good, good, bad)), double_area, area, **runs
    )


def _rows(*rows: tuple[float, str]) -> dict[str, Any]:
    return {"score": [row[0] for row in rows], "label": [row[1] for row in rows]}


def _running(see: Any, budget: Budget = ONE) -> Runs:
    """Runs of an evaluation, each with a ledger of its own."""

    def runs(table: Any, noise: Noise, trials: int) -> list[Any]:
        asked = {"y": table["label"], "epsilon": budget, "schema": SCHEMA, "random_state": noise}
        return [see(table["score"], {**asked, "ledger": Ledger(PLENTY, SCHEMA.name)}) for _ in range(trials)]

    return runs


def _curve(scores: Any, asked: dict[str, Any]) -> tuple[Any, ...]:
    """Positives in the row's part of the curve and in the others, and whether the upper cut is near the row."""
    curve = private_roc_curve(scores, parts=2, **asked)
    counts = np.clip(np.round(curve.counts.counts[:, 1]), 0, 2).astype(int)
    return (*counts.tolist(), int(np.digitize(curve.thresholds[1], [0.1, 0.5, 0.9])))


def _upper_part(scores: Any, asked: dict[str, Any]) -> tuple[bool, bool]:
    """An observation: whether the positives of the upper part, and the cut below it, point to the row."""
    curve = private_roc_curve(scores, parts=2, **asked)
    return bool(curve.counts.counts[-1, 1] > 0), bool(curve.thresholds[1] > 0.5)


def _misordered_and_size(scores: Any, asked: dict[str, Any]) -> tuple[float, int]:
    """An observation: the released number of misordered rows, and of positives."""
    wrong, sizes = private_auc(scores, **asked).releases_
    return wrong.value, int(sizes.value[0, 1])


def _for_the_row(seen: list[Any]) -> Any:
    """How strongly both answers point to the row, weighted three to one as they share the budget; in eighths."""
    wrong, positives = np.transpose(seen)
    return np.round(8 * (3 * np.clip(wrong, 0, 1) + np.clip(positives, 0, 1)))


def _matrix(scores: Any, asked: dict[str, Any]) -> tuple[Any, ...]:
    guesses = ["yes" if score > 0.5 else "no" for score in scores]
    return tuple(np.clip(private_confusion_matrix(guesses, **asked).counts, 0, 1).ravel().tolist())


def _accuracy(scores: Any, asked: dict[str, Any]) -> tuple[Any, ...]:
    found = private_accuracy(["yes" if score > 0.5 else "no" for score in scores], **asked)
    return tuple(np.clip(found.releases_[0].value.ravel(), 0, 1).tolist())


def _calibration(scores: Any, asked: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(np.clip(private_calibration_curve(scores, n_bins=2, **asked).rows, 0, 1).tolist())


def double_curve(table: Any, noise: Noise, trials: int) -> list[Any]:
    """NOT PRIVATE: a curve whose thresholds and counts cost twice what the ledger is told."""
    return list(_running(_upper_part, Budget(2 * TWO.epsilon))(table, noise, trials))


def double_area(table: Any, noise: Noise, trials: int) -> list[Any]:
    """NOT PRIVATE: an AUC whose misordered rows and sizes cost twice what the ledger is told."""
    return list(_running(_misordered_and_size, Budget(2 * TWO.epsilon))(table, noise, trials))


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
