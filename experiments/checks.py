"""python -m experiments.checks: what the verdicts on models of weights say, of true labels, of shuffled ones, and of
values that never arrived.

`AutoClassifier` is fitted to eleven public tables with two classes, with no method to choose but logistic regression
and the blend, so that 3 % of epsilon count the classes in intervals of the model's own odds. Noise is seeded. Results
go to checks.parquet in experiments/results.
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd

from veil.compare.data import split
from veil.compare.measures import measures
from veil.models import AutoClassifier

from . import RESULTS
from .choice.databases import table

FILE = RESULTS / "checks.parquet"
TABLES = (
    *("adult", "bank_additional", "acs_national2019", "br2000", "hiv1625", "fair"),
    *(f"more/{name}" for name in ("phoneme", "pima", "titanic", "marketing", "twonorm")),
)
EPSILONS = (0.05, 0.2, 1.0, 5.0)
KINDS = ("true", "shuffled", "missing")
SPLIT, SEED = 5, 7


def run(name: str, kind: str, epsilon: float) -> dict[str, Any]:
    """The verdict on a model, and the AUC on the rows that were held out."""
    parts = split(table(name), SPLIT)
    labels = np.random.default_rng(1).permutation(parts.labels) if kind == "shuffled" else parts.labels
    rows = parts.train.assign(**dict.fromkeys(parts.train.columns)) if kind == "missing" else parts.train
    model = AutoClassifier(epsilon=epsilon, schema=parts.schema, random_state=SEED, options=["logistic", "blend"])
    model.fit(rows, labels)
    order = [[*map(str, model.classes_)].index(label) for label in parts.schema.classes]
    found = measures(parts.truth, model.predict_proba(parts.test)[:, order])
    told = {"table": name, "kind": kind, "epsilon": epsilon, "level": model.verdict_.level}
    return {**told, "auc": float(np.float32(found["auc"]))}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = [run(name, kind, epsilon) for name in TABLES for kind in KINDS for epsilon in EPSILONS]
    pd.DataFrame(found).to_parquet(FILE)
