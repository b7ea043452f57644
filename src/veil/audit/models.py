"""Audits of whole models: from the rows through `fit` to what the saved file would hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..kernel import Budget, Ledger, Release, Source, SparseCounts
from ..kernel.noise import Noise
from ..models import (
    METHODS,
    AutoClassifier,
    BlendClassifier,
    ClassSharesClassifier,
    DecisionTreeClassifier,
    DiffGenClassifier,
    LinearSVMClassifier,
    LogisticRegressionClassifier,
    NaiveBayesClassifier,
    PrivateClassifier,
    PrivGeneClassifier,
    PrivPfCClassifier,
    ProjectedHistogramClassifier,
    RandomForestClassifier,
)
from ..plans.naive_bayes import naive_bayes
from ..plans.outcome import Outcome
from ..questions import Scorer
from ..questions.scorers import UNIT
from .harness import Case, Runs, View
from .pairs import pair
from .tables import EMPTY, LONE, PLENTY, SCHEMA, TWO, Table

FEATURES = {"colour": ["red"], "age": [1]}  # of the row that one of the tables has
CODES = SCHEMA.encode(FEATURES, label=False)
VIEWS: dict[str, View] = {
    "counts of the row's cells": lambda seen: np.clip(seen[:, :-1], 0, 1),
    "predicted class of the row": lambda seen: (seen[:, -1] > 0.5).astype(np.int64),
    "counts and columns": lambda seen: [tuple(np.clip(run[:-1], 0, 2)) for run in seen],
}


def models() -> Iterator[Case]:
    """Every model on its worst pair of tables, and a twin that forgets to divide its budget."""
    for name, twin in TWINS.items():
        slower = name in ("logistic", "svm", "privgene")  # they take steps, and their twins are caught sooner
        quick = 700 if slower else 1_000
        runs: dict[str, Any] = {"quick": quick, "deep": 10_000, "views": VIEWS}
        yield from pair(f"undivided {name}", 2, (EMPTY, LONE), fitting(twin), fitting(METHODS[name]), **runs)


def fitting(kind: type[PrivateClassifier]) -> Runs:
    """Runs that fit a model anew: the first and last released count that the row is in, and the row's probability."""

    def runs(table: Table, noise: Noise, trials: int) -> Any:
        return np.array([_seen(kind, table, noise) for _ in range(trials)])

    runs.__doc__ = kind.__doc__
    return runs


def _seen(kind: type[PrivateClassifier], table: Table, noise: Noise) -> list[float]:
    ledger = Ledger(PLENTY, SCHEMA.name)
    model = kind(epsilon=TWO.epsilon, schema=SCHEMA, ledger=ledger, random_state=noise).fit(table)
    counts = [_count(release) for release in model.releases_ if release.receipt.verb.startswith("count")]
    if model.releases_[-1].receipt.verb == "minimise":
        counts.append(_quarters(model.scorer_))
    columns = len(getattr(model.releases_[-1].question, "columns", ()))
    return [counts[0], counts[-1], columns, float(model.predict_proba(FEATURES)[0, list(model.classes_).index("yes")])]


def _count(release: Release[Any]) -> int:
    """The released count of rows like the one in question, for the first class."""
    cell = int(release.question.cells({"": np.zeros(1, np.uint8), **CODES})[0])
    if isinstance(release.value, SparseCounts):
        place = np.flatnonzero(release.value.codes == cell * release.value.classes)
        return int(release.value.counts[place[0]]) if place.size else 0
    return int(release.value[cell, 0])


def _quarters(scorer: Any) -> int:
    """How strongly the row's weights point to its class, in quarters of a unit of the score."""
    (first, second), start = scorer.scores(CODES)[0], scorer.start
    return int(first - second - start[0] + start[1]) // (UNIT // 4)


class _UndividedNaiveBayes(NaiveBayesClassifier):
    """NOT PRIVATE: naive Bayes that spends the whole budget on every column, and tells the ledger of one."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        for _ in source.schema.features[1:]:
            naive_bayes(source, budget, columns=["colour"])
        return naive_bayes(source, budget, columns=["age"])


class _UndividedPrivPfC(PrivPfCClassifier):
    """NOT PRIVATE: PrivPfC that spends nearly the whole budget on its counts, then on its size and choice again."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 3), totals)


class _UndividedProjected(ProjectedHistogramClassifier):
    """NOT PRIVATE: a projected histogram whose steps each take what all of them may."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 3), totals)


class _UndividedDiffGen(DiffGenClassifier):
    """NOT PRIVATE: DiffGen whose choices and counts each take what all of them may."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 3), totals)


class _UndividedPrivGene(PrivGeneClassifier):
    """NOT PRIVATE: PrivGene of which every survivor of every population takes what all of them may."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 100), totals)


class _RepeatedLogistic(LogisticRegressionClassifier):
    """NOT PRIVATE: a logistic regression as sharp as the mean of twenty fits, of which one is paid."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 20), totals)


class _RepeatedSVM(LinearSVMClassifier):
    """NOT PRIVATE: a support vector machine as sharp as the mean of twenty fits, of which one is paid."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 20), totals)


class _UndividedTree(DecisionTreeClassifier):
    """NOT PRIVATE: a tree of which every level takes what all of them may."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 3), totals)


class _UndividedForest(RandomForestClassifier):
    """NOT PRIVATE: a forest of which every tree takes what all of them may."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 3), totals)


class _UndividedBlend(BlendClassifier):
    """NOT PRIVATE: a blend as sharp as the mean of twenty, of which one is paid."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 20), totals)


class _UndividedShares(ClassSharesClassifier):
    """NOT PRIVATE: class shares as sharp as the mean of nine counts, of which one is paid."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 3), totals)


class _UndividedAuto(AutoClassifier):
    """NOT PRIVATE: a choice as sharp as the mean of twenty, of which one is paid."""

    def _run(self, source: Source, budget: Budget) -> Outcome[Any]:
        return super()._run(source, Budget(budget.epsilon * 20))


TWINS: dict[str, type[PrivateClassifier]] = {
    "naive-bayes": _UndividedNaiveBayes,
    "privpfc": _UndividedPrivPfC,
    "projected": _UndividedProjected,
    "diffgen": _UndividedDiffGen,
    "privgene": _UndividedPrivGene,
    "logistic": _RepeatedLogistic,
    "svm": _RepeatedSVM,
    "tree": _UndividedTree,
    "forest": _UndividedForest,
    "blend": _UndividedBlend,
    "shares": _UndividedShares,
    "auto": _UndividedAuto,
}
