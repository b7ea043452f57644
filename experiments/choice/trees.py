"""python -m experiments.choice.trees train NUMBER | learn | judge SEEDS | show: the decisions inside a tree.

`train` runs the open learner with constant decisions on databases made from public tables: every way to split (L2),
and stopping at every depth (L1). `learn` searches short formulas over the facts, with families left out. `judge` runs
the tree with decisions that were learned on other families, Veil's tree and the published learners on the tables as
they are; `show` prints the means. Results are choice-trees-train.parquet and choice-trees.parquet in
experiments/results; what they hold is not repeated. Noise is seeded.
"""

import sys
import time
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from veil.compare.data import Split, split
from veil.compare.measures import measures
from veil.errors import BadInput
from veil.models import DecisionTreeClassifier
from veil.plans.trees.jostle import always, jostle_tree, never
from veil.plans.trees.learner import WAYS, Decision, Learner
from veil.plans.trees.sizes import growing

from .. import RESULTS
from .databases import FAMILIES, FAMILY, derived

EPSILONS = (0.05, 0.1, 0.3, 1.0)
AROUND: dict[str, Any] = {"gathered": True, "handicap": 0.35, "leaf": 3}  # settings of Veil's own tree
DEEPER = 2  # levels that may be stopped before, beyond the depth of Veil's own tree
TRAIN = RESULTS / "choice-trees-train.parquet"


class Open(DecisionTreeClassifier):
    """A tree whose learner is given; it keeps what was decided."""

    def decided_by(self, learner: Learner) -> "Open":
        """The same model with this learner."""
        self.learner, self.noted = learner, list[Decision]()
        return self

    def _plan(self, source: Any, budget: Any, totals: Any = None) -> Any:
        self.noted.clear()
        return jostle_tree(source, budget, self.learner, totals=totals, noted=self.noted)


def measured(model: Any, parts: Split) -> dict[str, float]:
    """AUC and accuracy of a model on the rows that were held out, after its fit, and the seconds of the fit."""
    start = time.perf_counter()
    model.fit(parts.train, parts.labels)
    seconds = time.perf_counter() - start
    order = [[*map(str, model.classes_)].index(name) for name in parts.schema.classes]
    found = measures(parts.truth, model.predict_proba(parts.test)[:, order])
    return {"auc": found["auc"], "accuracy": found["accuracy"], "seconds": seconds}


def deeper(source: Any, cuts: Any, rows: float, budget: Any) -> int:
    """A few levels more than Veil's own tree has."""
    return growing(source, cuts, rows, budget) + DEEPER


def of_splits(parts: Split, epsilon: float, seed: int) -> Iterator[dict[str, Any]]:
    """L2: a row for each way to split, always the same, with the facts of the root."""
    model = Open(epsilon=epsilon, schema=parts.schema, random_state=seed)
    for way in WAYS:
        found = measured(model.decided_by(Learner(never, always(way), **AROUND)), parts)
        yield {"point": "L2", "option": way, **model.noted[0].facts, **found}


def of_stops(parts: Split, epsilon: float, seed: int, levels: int) -> Iterator[dict[str, Any]]:
    """L1: a row for each depth to stop at, as long as nodes are that deep, with the mean facts of these nodes."""
    model = Open(epsilon=epsilon, schema=parts.schema, random_state=seed)
    for depth in range(levels + DEEPER):
        learner = Learner(lambda facts, at=depth: facts["depth"] >= at, always("gini"), deeper, **AROUND)
        found = measured(model.decided_by(learner), parts)
        here = [decision.facts for decision in model.noted if decision.decided == "stop"]
        if not here:
            return
        yield {"point": "L1", "option": "stop", **pd.DataFrame(here).mean().to_dict(), **found}


def lines(name: str, number: int, epsilon: float) -> Iterator[dict[str, Any]]:
    """The rows of one database at one epsilon; those about stopping for every second database."""
    data = derived(name, number)
    parts, same = split(data, number), {"table": name, "number": number, "epsilon": epsilon, "family": FAMILY[name]}
    try:
        found = [*of_splits(parts, epsilon, number)]
        found += of_stops(parts, epsilon, number, int(found[0]["levels"])) if number % 2 == 0 else []
    except BadInput as refusal:
        found = [{"point": "refused", "option": str(refusal)}]
    yield from ({**same, **row} for row in found)


def train(number: int) -> None:
    """Do the runs that are missing, and keep them."""
    rows = pd.read_parquet(TRAIN).to_dict("records") if TRAIN.exists() else []
    done = {(row["table"], row["number"], row["epsilon"]) for row in rows}
    last = time.monotonic()
    for place, name in product(range(number), [name for names in FAMILIES.values() for name in names]):
        coins = np.random.default_rng([place, *name.encode(), 2])
        for epsilon in coins.choice(EPSILONS, size=2, replace=False).tolist():
            rows += [] if (name, place, epsilon) in done else lines(name, place, epsilon)
        if time.monotonic() - last > 30:
            pd.DataFrame(rows).to_parquet(TRAIN)
            print(len(rows), name, place, flush=True)
            last = time.monotonic()
    pd.DataFrame(rows).to_parquet(TRAIN)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"train": train}[sys.argv[1]](*map(int, sys.argv[2:]))
