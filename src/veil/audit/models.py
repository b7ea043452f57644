"""Audits of whole models: from the rows through `fit` to what the saved file would hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..kernel.budget import Budget
from ..kernel.ledger import Ledger
from ..kernel.noise import Noise
from ..kernel.source import Source
from ..models import NaiveBayesClassifier
from ..plans.naive_bayes import naive_bayes
from ..questions import Linear
from .harness import Case, View
from .pairs import pair
from .tables import EMPTY, LONE, PLENTY, SCHEMA, TWO, Table

FEATURES = {"colour": ["red"], "age": [1]}  # of the row that one of the tables has
CODES = {name: int(codes[0]) for name, codes in SCHEMA.encode(FEATURES, label=False).items()}
VIEWS: dict[str, View] = {
    "counts of the row's cells": lambda seen: np.clip(seen[:, :-1], 0, 1),
    "predicted class of the row": lambda seen: (seen[:, -1] > 0.5).astype(np.int64),
}


def models() -> Iterator[Case]:
    """Every model on its worst pair of tables, and a twin that forgets to divide its budget."""
    runs: dict[str, Any] = {"quick": 1_000, "deep": 10_000, "views": VIEWS}
    yield from pair("undivided budget", 2, (EMPTY, LONE), undivided, naive_bayes_model, **runs)


def naive_bayes_model(table: Table, noise: Noise, trials: int) -> Any:
    """Naive Bayes, fitted anew each time: the released counts that the row is in, and its probability."""
    return np.array([_seen(NaiveBayesClassifier, table, noise) for _ in range(trials)])


def undivided(table: Table, noise: Noise, trials: int) -> Any:
    """NOT PRIVATE: naive Bayes that spends the whole budget on every column, and tells the ledger of one."""
    return np.array([_seen(_Undivided, table, noise) for _ in range(trials)])


def _seen(kind: type[NaiveBayesClassifier], table: Table, noise: Noise) -> list[float]:
    ledger = Ledger(PLENTY, SCHEMA.name)
    model = kind(epsilon=TWO.epsilon, schema=SCHEMA, ledger=ledger, random_state=noise).fit(table)
    counts = [release.value[CODES[release.question.columns[0]], 0] for release in model.releases_]
    return [*counts, float(model.predict_proba(FEATURES)[0, list(model.classes_).index("yes")])]


class _Undivided(NaiveBayesClassifier):
    def _plan(self, source: Source, budget: Budget) -> Linear:
        for _ in source.schema.features[1:]:
            naive_bayes(source, budget, columns=["colour"])
        return naive_bayes(source, budget, columns=["age"])
