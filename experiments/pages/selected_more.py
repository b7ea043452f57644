"""Figures 2 to 4 of the paper on selecting words, for docs/selection.md."""

from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Any

import pyarrow.parquet

from .. import RESULTS
from ..papers.words_more import BUDGETS, FOLDS, LEARNERS, NOT_PRIVATE, SELECTED, TRUE

KEPT = RESULTS / "selection-more.parquet"
WAYS = {
    "none": "no selection",
    "perturb": "noisy counts",
    "cluster": "clusters",
    "rows divided": "noisy counts, rows divided instead of the budget",
    "majority": "always the larger class",
}
ABOVE = {"perturb": "noisy counts", "cluster": "clusters", "sieve": "sparse vector", "peel": "peel and check"}


def section() -> Iterable[str]:
    """Accuracy by learner and budget, F1 by threshold, and what of the paper's claims holds."""
    found = pyarrow.parquet.read_table(KEPT).to_pylist()
    yield "\n## Regression, budgets, and rows divided instead\n\n"
    yield "Made by `python -m experiments.papers.words_more` on the SMS (the paper's figures 2 to 4), means of "
    yield f"{FOLDS} folds; 5 words of a text count, selections by how many rows have a word.\n"
    for learner in LEARNERS:
        yield f"\n{learner}, accuracy in percent:\n\n"
        yield from _table(found, "budgets", learner, WAYS, BUDGETS, 100, "epsilon")
    yield "\n" + _claims(found) + "\n"
    yield "\nF1 of the words that were selected at epsilon 1, against how many are truly above the threshold:\n\n"
    names = {**ABOVE, **{name: f"{name}, NOT private" for name in NOT_PRIVATE}}
    yield from _table(found, "thresholds", "", names, TRUE, 1, "words above")


def _table(
    found: list[dict[str, Any]],
    figure: str,
    learner: str,
    names: dict[str, str],
    places: Sequence[float],
    scale: int,
    x: str,
) -> Iterable[str]:
    yield f"| method | {' | '.join(f'{x} {place:g}' for place in places)} |\n"
    yield "|" + " --- |" * (1 + len(places)) + "\n"
    for method, name in names.items():
        cells = [_mean(found, figure, learner, method, place) * scale for place in places]
        yield f"| {name} | {' | '.join(f'{cell:.1f}' if scale == 100 else f'{cell:.2f}' for cell in cells)} |\n"


def _mean(found: list[dict[str, Any]], figure: str, learner: str, method: str, place: float) -> float:
    key = (figure, learner, method, float(place))
    return mean(row["value"] for row in found if (row["figure"], row["learner"], row["method"], row["setting"]) == key)


def _claims(found: list[dict[str, Any]]) -> str:
    """The paper: selection helps regression too, and dividing rows instead of the budget does not pay."""

    def won(first: str, second: str, learner: str) -> int:
        return sum(
            _mean(found, "budgets", learner, first, e) > _mean(found, "budgets", learner, second, e) for e in BUDGETS
        )

    erm = max(won(way, "none", "ERM") for way in SELECTED[1:])
    rows = [won("rows divided", "perturb", learner) for learner in LEARNERS]
    large = sum(won("rows divided", "majority", learner) for learner in LEARNERS)
    both = 2 * len(BUDGETS)
    return (
        f"The paper: selection helps regression too; here with {erm} of {len(BUDGETS)} budgets (the better way). "
        "Dividing the rows instead of the budget leaves accuracy near that of the larger class; here it is better than "
        f"dividing the budget in {sum(rows)} of {both} cells, and better than the larger class in {large}."
    )
