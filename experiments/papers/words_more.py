"""Figures 2 to 4 of Stoddard, Chen and Machanavajjhala 2014 again, on the SMS: regression instead of naive Bayes, F1
against the threshold, several budgets, and rows divided instead of the budget.

A few of the ten folds of `words`; the number of the fold is also the seed. Methods that are NOT private need exact
counts, which the experiments have because the texts are public.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from veil.files.tables import new_file
from veil.kernel import Budget, Source
from veil.plans.selecting.selection import select_above, select_best
from veil.plans.sparse_logistic import sparse_logistic
from veil.plans.sparse_naive_bayes import sparse_naive_bayes

from .words import KEPT, MOST_OF_A_TEXT, SHARE, SHARE_OF_CLUSTERS, WORDS, Fold, _exact, _judged, _Texts, agreement

DATA = "sms_spam"
FOLDS, QUICK = 3, 1
BUDGETS = (0.1, 0.25, 0.5, 1.0, 2.0)
TRUE = (5, 10, 20, 50, 100)  # words that are truly above the threshold
LEARNERS: dict[str, Callable[..., Any]] = {"naive Bayes": sparse_naive_bayes, "ERM": sparse_logistic}
SELECTED = ("none", "perturb", "cluster")
NOT_PRIVATE = ("threshold testing", "noise-cut")
Row = dict[str, Any]


def reproduce_more(*, quick: bool = False, out: str | os.PathLike[str] | None = None) -> pa.Table:
    """A row for every figure, method, setting and fold: an accuracy, or an F1 of the words that were selected."""
    texts, rows = _Texts(DATA), list[Row]()
    for number in range(QUICK if quick else FOLDS):
        fold = texts.fold(number)
        rows += [{**row, "fold": number} for row in (*_budgets(fold), *_thresholds(fold))]
        _keep(rows, out)
    return pa.Table.from_pylist(rows)


def _budgets(fold: Fold) -> Iterator[Row]:
    """Accuracy of both learners (figures 2 and 4), with the budget divided between selecting and learning, or the
    rows."""
    majority = float(_exact("majority", fold)["accuracy"])
    for learner, learn in LEARNERS.items():
        for epsilon in BUDGETS:
            known = {"figure": "budgets", "learner": learner, "setting": epsilon}
            for way in SELECTED:
                yield {**known, "method": way, "value": _accuracy(fold, learn, way, epsilon)}
            halves = fold.source.split_at_random(1, 1)
            apart = _learned(fold, learn, halves[1], Budget(epsilon), _words(halves[0], "perturb", Budget(epsilon)))
            yield {**known, "method": "rows divided", "value": apart}
            yield {**known, "method": "majority", "value": majority}


def _accuracy(fold: Fold, learn: Callable[..., Any], way: str, epsilon: float) -> float:
    budget = Budget(epsilon)
    if way == "none":
        return _learned(fold, learn, fold.source, budget, None)
    share = SHARE_OF_CLUSTERS if way == "cluster" else SHARE
    to_select, to_learn = budget.split(share, 1 - share)
    return _learned(fold, learn, fold.source, to_learn, _words(fold.source, way, to_select))


def _words(source: Source, way: str, budget: Budget) -> list[int]:
    return list(select_best(source, budget, k=KEPT, method=way, score="count", words_per_row=WORDS).places)


def _learned(fold: Fold, learn: Callable[..., Any], source: Source, budget: Budget, words: list[int] | None) -> float:
    scorer = learn(source, budget, words=words, words_per_row=WORDS)
    scores = scorer.scores({source.schema.texts[0].name: fold.test})
    return float(_judged(scores / 2.0**20, fold)["accuracy"])


def _thresholds(fold: Fold) -> Iterator[Row]:
    """F1 against the threshold (figure 3) at epsilon 1, which is all for the selection."""
    for true in TRUE:
        lowest = int(np.sort(fold.counts)[-true])
        above = set(np.flatnonzero(fold.counts >= lowest).tolist())
        known = {"figure": "thresholds", "learner": "", "setting": float(true)}
        for way in ("perturb", "cluster", "sieve", "peel"):
            given = {"score": "count", "words_per_row": MOST_OF_A_TEXT, "method": way}
            found = select_above(fold.source, Budget(1), threshold=lowest, at_most=true, **given)
            yield {**known, "method": way, "value": agreement(set(found.places), above)["f1"]}
        chance = np.random.default_rng([fold.number, true])
        for method in NOT_PRIVATE:
            noisy = fold.counts + (chance.laplace(scale=2, size=len(fold.counts)) if method == "noise-cut" else 0)
            bar = lowest + chance.laplace(scale=2 if method == "noise-cut" else 1)
            selected = set(np.flatnonzero(noisy > bar).tolist())
            yield {**known, "method": method, "value": agreement(selected, above)["f1"]}


def _keep(rows: list[Row], out: str | os.PathLike[str] | None) -> None:
    if out is not None:
        with new_file(out, force=True) as draft:
            pyarrow.parquet.write_table(pa.Table.from_pylist(rows), draft)


if __name__ == "__main__":
    from .. import RESULTS

    reproduce_more(out=RESULTS / "selection-more.parquet")
