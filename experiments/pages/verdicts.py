"""Is what is called good good, and what is called nothing nothing? Writes experiments/results/verdicts.parquet.

`python -m experiments.pages.verdicts` takes some minutes. The tables are public, found through VEIL_DATA, and the noise
is seeded.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from veil import LittleLearned
from veil.compare.data import Data, Split, load, split
from veil.compare.measures import hand_till
from veil.compare.methods import in_order, on_codes
from veil.models import METHODS
from veil.verdicts.verdict import LEVELS

from .. import RESULTS

KEPT = RESULTS / "verdicts.parquet"
CHECKS = RESULTS / "checks.parquet"
TUNED = ("fair", "iris", "cmc", "nursery", "more/pima", "more/titanic", "more/phoneme", "more/splice")
JUDGED = (
    *("adult", "hiv1625", "breast_cancer", "wine", "bank_additional", "satellite"),
    *("more/vehicle", "more/page_blocks", "more/tic_tac_toe", "more/marketing"),
)
WAYS = ("naive-bayes", "privpfc", "projected", "tree", "forest", "logistic", "svm")
EPSILONS, SHUFFLED = (0.01, 0.05, 0.2, 1, 3, 10), (0.1, 1, 10)
MOST_ROWS = 12_000


def runs(names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """A row for every model: its table, epsilon, whether the labels were shuffled, its verdict, and its worth."""
    for name in names:
        data = load(name, published=True)
        if len(data.frame) > MOST_ROWS:
            rows = data.frame.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
            data = Data(name, data.schema, rows)
        whole = split(data, 0)
        ceiling = max(hand_till(whole.truth, on_codes(model, whole)(whole.test)) for model in without_privacy())
        labels = whole.labels.sample(frac=1, random_state=1).reset_index(drop=True)
        for shuffled, parts in ((False, whole), (True, replace(whole, labels=labels))):
            for epsilon in SHUFFLED if shuffled else EPSILONS:
                known = {"table": name, "epsilon": float(epsilon), "shuffled": shuffled, "ceiling": ceiling}
                seed = int(1000 * epsilon) + shuffled
                yield from ({**known, **judged(parts, way, epsilon, seed)} for way in WAYS)


def without_privacy() -> tuple[Any, ...]:
    """Two models that see everything."""
    forest = RandomForestClassifier(200, min_samples_leaf=5, random_state=0)
    return forest, make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(C=0.3, max_iter=300))


def judged(parts: Split, way: str, epsilon: float, seed: int) -> dict[str, Any]:
    """A model's verdict and its AUC, or M, on rows that it has not seen."""
    model = METHODS[way](epsilon=epsilon, schema=parts.schema, random_state=seed)
    model.fit(parts.train, parts.labels)
    odds = in_order(model.predict_proba(parts.test), model.classes_, parts.schema.classes)
    return {"method": way, "level": model.verdict_.level, "auc": hand_till(parts.truth, odds)}


def page(results: Path = KEPT) -> str:
    """The table of the guide, of the tables that no threshold was chosen on."""
    kept = [row for row in pyarrow.parquet.read_table(results).to_pylist() if row["table"] in JUDGED]
    lines = ["| method | " + " | ".join(LEVELS) + " |", "| --- |" + " --- |" * len(LEVELS)]
    for way in WAYS:
        cells = [_cell([row for row in kept if (row["method"], row["level"]) == (way, level)]) for level in LEVELS]
        lines.append(f"| {way} | {' | '.join(cells)} |")
    return "\n".join(lines)


def checks(results: Path = CHECKS) -> str:
    """A sentence on what checks of weights tell, on true labels, on shuffled ones and where values are missing."""
    kept = pyarrow.parquet.read_table(results).to_pylist()
    of = {kind: [row for row in kept if row["kind"] == kind] for kind in ("true", "shuffled", "missing")}
    fair = {kind: sum(row["level"] == "fair" for row in rows) for kind, rows in of.items()}
    lost = max((row["auc"] for row in of["true"] if row["level"] == "nothing"), default=0.5)
    return (
        f"Of {len(of['true'])} such models of {len({row['table'] for row in kept})} tables at epsilon .05 to 5, "
        f"{fair['true']} of true labels are called fair, {fair['shuffled']} of shuffled ones and {fair['missing']} of "
        "tables whose values had all gone missing; true ones that are called nothing have an AUC of at most "
        f"{lost:.2f}."
    )


def _cell(rows: list[dict[str, Any]]) -> str:
    """How many models, what they are worth on average, and how many of them learned from shuffled labels."""
    real = [worth(row) for row in rows if not row["shuffled"]]
    mean = f"{np.mean(real):.2f} of {len(real)}" if real else "none"
    return f"{mean}; {len(rows) - len(real)} shuffled"


def worth(row: dict[str, Any]) -> float:
    """The lead over chance, as a share of what is possible without privacy."""
    return float((row["auc"] - 0.5) / (row["ceiling"] - 0.5))


if __name__ == "__main__":
    warnings.simplefilter("ignore", LittleLearned)
    pyarrow.parquet.write_table(pa.Table.from_pylist([*runs((*TUNED, *JUDGED))]), KEPT)
    print(page())
