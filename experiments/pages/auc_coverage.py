"""Does the interval of a private AUC hold the exact one as often as it says? Writes
experiments/results/auc-coverage.parquet.

Run by `make coverage`; --quick takes 50 runs instead of 1,000. The rows are public or made up, the noise is seeded.
"""

import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from veil import Budget, Ledger, open_source
from veil.evaluate.intervals import area_interval, pairs
from veil.evaluate.result import LEVEL
from veil.evaluate.roc import hand_till, misordered_area
from veil.evaluate.scores import score_table
from veil.plans.roc import code_scorer, roc_counts

from .. import RESULTS
from ..papers.curves import scored_texts

KEPT = RESULTS / "auc-coverage.parquet"
EPSILONS = (1, 0.3, 0.1)
RUNS, QUICK = 1000, 50


def models() -> Iterator[tuple[str, Any, Any]]:
    """A name, scores and truths for each of several models: real and made up, smooth and tied, few rows and many."""
    yield "naive Bayes on SMS, 558 rows", *scored_texts("sms_spam")
    yield "naive Bayes on sentiment, 684 rows", *scored_texts("sentiment140_20k")
    for rows in (500, 5_000, 100_000):
        yield f"two bells, {rows:,} rows", *two_bells(rows)
    yield "two near bells, 3,000 rows", *two_bells(3_000, apart=0.5)
    for leaves, rows in ((8, 5_000), (3, 2_000)):
        yield f"tree of {leaves} leaves, {rows:,} rows", *tree(leaves, rows)


def two_bells(rows: int, apart: float = 1.5) -> tuple[Any, Any]:
    """Probabilities of two normal classes so far apart, three in ten rows positive."""
    chance = np.random.default_rng(0)
    truth = chance.random(rows) < 0.3
    odds = apart * (chance.normal(size=rows) + apart * truth) - apart**2 / 2 + np.log(3 / 7)
    return 1 / (1 + np.exp(-odds)), truth


def tree(leaves: int, rows: int, learned: int = 4_000) -> tuple[Any, Any]:
    """Probabilities of a tree, each of them that of many rows."""
    x = np.random.default_rng(1).normal(size=(learned + rows, 3))
    y = x.sum(axis=1) + np.random.default_rng(2).normal(size=len(x)) > 1
    model = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(x[:learned], y[:learned])
    return model.predict_proba(x[learned:])[:, 1], y[learned:]


def coverage(runs: int = RUNS, most: int | None = None) -> Iterator[dict[str, Any]]:
    """For every model and epsilon how often the intervals of a curve's AUC and of an AUC alone hold the exact one."""
    for name, scores, truth in models():
        if most is not None and len(truth) > most:
            continue
        exact = roc_auc_score(truth, scores)
        table = score_table(scores, None, truth, None, (False, True))
        source = open_source(table.rows, table.schema, Ledger(10**9, "evaluation"), noise=7)
        scale = code_scorer("score", len(table.cuts) + 1)
        for epsilon in EPSILONS:
            found = []
            for _ in range(runs):
                counts = roc_counts(source, Budget(epsilon), *scale)
                curve = area_interval(pairs(counts, 1, (0,)), counts.tied, LEVEL)
                alone = misordered_area(source, Budget(epsilon), 1, *scale)[1]
                found.append([*_seen(curve, exact), *_seen(alone, exact)])
            names = ("curve", "curve_width", "alone", "alone_width")
            values = np.array(found).T
            row = {n: float(np.median(v) if "width" in n else v.mean()) for n, v in zip(names, values, strict=True)}
            yield {"model": name, "epsilon": float(epsilon), "runs": runs, "auc": float(exact), **row}


def coverage_of_several(runs: int = RUNS) -> Iterator[dict[str, Any]]:
    """The same for Hand and Till's M of three classes, which curves and `private_auc` find in one way."""
    for rows in (1_000, 20_000):
        scores, truth = three_bells(rows)
        pairs_of = [(i, j, np.isin(truth, (i, j))) for i in range(3) for j in range(3) if i != j]
        exact = np.mean([roc_auc_score(truth[both] == i, scores[both, i]) for i, _, both in pairs_of])
        table = score_table(scores, None, truth, None, (0, 1, 2))
        source = open_source(table.rows, table.schema, Ledger(10**9, "evaluation"), noise=7)
        scales = [code_scorer(column.name, len(table.cuts) + 1) for column in table.schema.features]
        for epsilon in EPSILONS:
            found = []
            for _ in range(runs):
                each = zip(Budget(epsilon).each(3), scales, strict=True)
                found.append(_seen(hand_till([roc_counts(source, share, *scale) for share, scale in each])[1], exact))
            held, width = float(np.mean([f[0] for f in found])), float(np.median([f[1] for f in found]))
            both = {"curve": held, "curve_width": width, "alone": held, "alone_width": width}
            yield {
                "model": f"three bells, {rows:,} rows (M)",
                "epsilon": float(epsilon),
                "runs": runs,
                "auc": exact,
                **both,
            }


def three_bells(rows: int) -> tuple[Any, Any]:
    """Probabilities of three normal classes in the plane, 1.5 from one of them to the others."""
    chance, middles, shares = np.random.default_rng(0), 1.5 * np.array([[0, 0], [1, 0], [0, 1]]), [0.5, 0.3, 0.2]
    truth = chance.choice(3, rows, p=shares)
    far = ((middles[truth] + chance.normal(size=(rows, 2)))[:, None] - middles) ** 2
    joint = np.exp(-far.sum(axis=2) / 2) * shares
    return joint / joint.sum(axis=1, keepdims=True), truth


def _seen(interval: Any, exact: float) -> tuple[bool, float]:
    return interval.low <= exact <= interval.high, interval.high - interval.low


def page() -> str:
    """The table of the guide."""
    lines = ["| model | AUC | epsilon | of a curve | its width | AUC alone | its width |", "|" + " --- |" * 7]
    for row in pyarrow.parquet.read_table(KEPT).to_pylist():
        known = f"| {row['model']} | {row['auc']:.3f} | {row['epsilon']:g} "
        lines.append(
            f"{known}| {100 * row['curve']:.1f} % | {row['curve_width']:.4f} "
            f"| {100 * row['alone']:.1f} % | {row['alone_width']:.4f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    rows = []
    runs = QUICK if "--quick" in sys.argv else RUNS
    for row in chain(coverage(runs), coverage_of_several(runs)):
        rows.append(row)
        print(row, flush=True)
    if "--quick" not in sys.argv:
        pyarrow.parquet.write_table(pa.Table.from_pylist(rows), KEPT)
        print(page())
