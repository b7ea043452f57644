"""Table 1 of PriROC again (Stoddard, Chen, Machanavajjhala 2014): how far private ROC curves lie from the exact ones.

Two sets of short texts, each with as many test rows of each label as in the paper; a naive Bayes classifier of the
words, trained on the other rows. All of it is PUBLIC, and noise is seeded and protects nobody.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB

from veil.errors import BadInput
from veil.evaluate import private_roc_curve
from veil.files.tables import new_file

from .priroc import PUBLISHED, Curve, area_between, exact_curve

TEXTS = {"sms_spam": ("spam", 77, 481), "sentiment140_20k": ("positive", 299, 385)}  # positives, negatives to test on
EPSILONS = (1.0, 0.5, 0.25, 0.1)
OURS = "veil"
RUNS, QUICK_RUNS = 201, 11
PAPER = {  # area between the curves, by method, for the epsilons in order
    "sms_spam": {
        "laplace": (0.218, 0.343, 0.372, 0.442),
        "fixed-space": (0.034, 0.042, 0.079, 0.146),
        "recursive-medians": (0.023, 0.029, 0.054, 0.092),
    },
    "sentiment140_20k": {
        "laplace": (0.073, 0.108, 0.211, 0.340),
        "fixed-space": (0.065, 0.094, 0.151, 0.229),
        "recursive-medians": (0.055, 0.063, 0.102, 0.203),
    },
}
Progress = Callable[[str, int, int], None]


def reproduce_roc(
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = lambda name, done, total: None,
) -> pa.Table:
    """A row for every data set, method, epsilon and run: the area between the exact and the private curve."""
    rows: list[dict[str, Any]] = []
    methods = (*PUBLISHED, OURS)
    steps = len(TEXTS) * len(methods) * len(EPSILONS)
    for data in TEXTS:
        scores, positive = scored_texts(data)
        exact = exact_curve(scores, positive)
        for method in methods:
            for epsilon in EPSILONS:
                progress(f"{data} {method}", len(rows) // (QUICK_RUNS if quick else RUNS), steps)
                for run in range(QUICK_RUNS if quick else RUNS):
                    area = area_between(exact, private_curve(method, scores, positive, epsilon, run))
                    rows.append({"data": data, "method": method, "epsilon": epsilon, "run": run, "area": area})
    table = pa.Table.from_pylist(rows)
    if out is not None:
        with new_file(out, force=True) as draft:
            pyarrow.parquet.write_table(table, draft)
    return table


def private_curve(method: str, scores: Any, positive: Any, epsilon: float, run: int) -> Curve:
    """The curve of one method, by a seed."""
    if method != OURS:
        return PUBLISHED[method](scores, positive, epsilon, np.random.default_rng([run, round(1000 * epsilon)]))
    curve = private_roc_curve(scores, y=positive, epsilon=epsilon, classes=(False, True), random_state=run)
    return curve.fpr, curve.tpr


def scored_texts(data: str) -> tuple[Any, Any]:
    """The classifier's probabilities for the test rows, and which of them are positive."""
    label, positives, negatives = TEXTS[data]
    table = pd.read_csv(_file(data), dtype=str, keep_default_na=False)
    truth = (table["label"] == label).to_numpy()
    chance = np.random.default_rng(0)
    picked = [chance.permutation(np.flatnonzero(truth == kind)) for kind in (True, False)]
    test = np.concatenate([picked[0][:positives], picked[1][:negatives]])
    training = np.setdiff1d(np.arange(len(truth)), test)
    words = CountVectorizer(binary=True, min_df=2)
    seen = words.fit_transform(table["text"].iloc[training])
    model = BernoulliNB().fit(seen, truth[training])
    return model.predict_proba(words.transform(table["text"].iloc[test]))[:, 1], truth[test]


def _file(data: str) -> Path:
    path = Path(os.environ.get("VEIL_DATA", "")) / f"{data}.csv.gz"
    if not path.is_file():
        raise BadInput(f"the paper's data are needed: set VEIL_DATA to a folder that has {path.name}")
    return path


def table_one(results: pa.Table) -> Iterator[dict[str, Any]]:
    """The median area for every data set, method and epsilon, beside the paper's."""
    rows = results.to_pylist()
    for data in TEXTS:
        for method in (*PUBLISHED, OURS):
            for place, epsilon in enumerate(EPSILONS):
                found = [r["area"] for r in rows if (r["data"], r["method"], r["epsilon"]) == (data, method, epsilon)]
                paper = PAPER[data].get(method)
                known = {"data": data, "method": method, "epsilon": epsilon, "area": round(median(found), 3)}
                yield {**known, "paper": paper[place] if paper else None}
