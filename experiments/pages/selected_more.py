"""Figures 2 to 4 of the paper on selecting words, for docs/selection.md."""

from collections.abc import Iterable, Sequence
from functools import cache
from statistics import mean

import pyarrow.parquet

from .. import RESULTS
from ..papers.words_more import BUDGETS, FOLDS, LEARNERS, NOT_PRIVATE, TRUE
from .findings import listed

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
    from . import word_claims

    yield "\n## Regression, budgets, and rows divided instead\n\n"
    yield "Made by `python -m experiments.papers.words_more` on the SMS (the paper's figures 2 to 4), means of "
    yield f"{FOLDS} folds; 5 words of a text count, selections by how many rows have a word.\n"
    for learner in LEARNERS:
        yield f"\n{learner}, accuracy in percent:\n\n"
        yield from _table("budgets", learner, WAYS, BUDGETS, 100, "epsilon")
    yield f"\nWhat the paper says:\n\n{listed(word_claims.budgets())}\n"
    yield "\nF1 of the words that were selected at epsilon 1, against how many are truly above the threshold:\n\n"
    names = {**ABOVE, **{name: f"{name}, NOT private" for name in NOT_PRIVATE}}
    yield from _table("thresholds", "", names, TRUE, 1, "words above")
    yield f"\nWhat the paper says:\n\n{listed(word_claims.thresholds())}\n"


@cache
def means(figure: str) -> dict[tuple[str, str, float], float]:
    """The means over folds of a figure, by learner, method and setting."""
    found: dict[tuple[str, str, float], list[float]] = {}
    for row in pyarrow.parquet.read_table(KEPT).to_pylist():
        if row["figure"] == figure:
            found.setdefault((row["learner"], row["method"], row["setting"]), []).append(row["value"])
    return {key: mean(values) for key, values in found.items()}


def _table(
    figure: str, learner: str, names: dict[str, str], places: Sequence[float], scale: int, x: str
) -> Iterable[str]:
    yield f"| method | {' | '.join(f'{x} {place:g}' for place in places)} |\n"
    yield "|" + " --- |" * (1 + len(places)) + "\n"
    for method, name in names.items():
        cells = [means(figure)[learner, method, place] * scale for place in places]
        yield f"| {name} | {' | '.join(f'{cell:.1f}' if scale == 100 else f'{cell:.2f}' for cell in cells)} |\n"
