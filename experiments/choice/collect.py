"""python -m experiments.choice.collect train|judge|more NUMBER: what every method does on public databases.

`train` runs every method once on databases made from public tables, at three epsilons each; `judge` on the tables as
they are, with several splits; `more` with more splits on those tables whose means vary most. Results go to
choice-train.parquet and choice-judge.parquet in experiments/results, a row for every run with the public facts about
its database; what they hold is not repeated. Noise is seeded, and PrivPfC has at most MOST_CANDIDATES candidates.
"""

import sys
import time
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from veil.compare.data import Data, Split, split
from veil.compare.measures import measures
from veil.errors import BadInput
from veil.models import METHODS
from veil.plans.histograms import privpfc

from .. import RESULTS
from .databases import FAMILIES, FAMILY, TABLES, derived, table

OPTIONS = ("naive-bayes", "logistic", "svm", "tree", "forest", "privpfc", "projected", "blend", "shares")
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0)
WIDER = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
KEY = ["database", "epsilon", "seed"]
MOST_CANDIDATES = 5_000  # as in all runs that are kept; the default has more, and takes ten times as long
FIRST = 1000  # seed
VARYING = (  # tables whose means over five splits vary most, if their runs are short
    *("more/monk2", "more/titanic", "more/tic_tac_toe", "iris", "hiv1625", "cmc", "more/pima", "wine", "breast_cancer"),
    *("more/vehicle", "more/page_blocks", "more/phoneme", "more/splice", "more/skillcraft", "bank_additional"),
)


def run(parts: Split, method: str, epsilon: float, seed: int) -> dict[str, Any]:
    """How good one model is on the rows that were held out, and how long its fit took."""
    model = METHODS[method](epsilon=epsilon, schema=parts.schema, random_state=seed)
    start = time.perf_counter()
    model.fit(parts.train, parts.labels)
    seconds = time.perf_counter() - start
    order = [[*map(str, model.classes_)].index(name) for name in parts.schema.classes]
    found = measures(parts.truth, model.predict_proba(parts.test)[:, order])
    return {"method": method, **found, "seconds": seconds}


def facts(parts: Split) -> dict[str, Any]:
    """What a chooser may know of a database: sizes that the schema declares, and the class totals, here exact."""
    features = parts.schema.features
    counts = parts.labels.value_counts()
    return {
        "rows": len(parts.labels),
        "classes": len(parts.schema.classes),
        "columns": len(features),
        "numbers": sum(column.kind == "numeric" for column in features),
        "codes": 1 + sum(column.size - 1 for column in features),
        "widest": max(column.size for column in features),
        "totals": [int(counts.get(name, 0)) for name in parts.schema.classes],
        "majority": float((parts.truth == np.bincount(parts.truth).argmax()).mean()),
    }


def runs(name: str, data: Data, seed: int, epsilon: float) -> Iterator[dict[str, Any]]:
    """The rows of one database at one epsilon, a row for each method that can be fitted."""
    parts = split(data, seed)
    same = {"database": name, "family": FAMILY[name.split(" ")[0]], "epsilon": epsilon, "seed": seed, **facts(parts)}
    same["relabelled"] = relabelled(name.split(" ")[0], data)
    for method in OPTIONS:
        try:
            yield {**same, **run(parts, method, epsilon, seed)}
        except BadInput as refusal:
            yield {**same, "method": method, "refused": str(refusal)}


def relabelled(name: str, data: Data) -> bool:
    """Whether a database has another column of its table for a label."""
    return FAMILY[name] != "simulated" and str(data.schema.label) != str(table(name).schema.label)


def wanted(kind: str, number: int) -> Iterator[tuple[str, Any, float, int]]:
    """The databases to run: name, how to make it, epsilon and seed."""
    if kind != "train":
        tables = TABLES if kind == "judge" else VARYING
        for seed, epsilon, name in product(range(FIRST, FIRST + number), EPSILONS, tables):
            yield name, lambda name=name: table(name), epsilon, seed
        return
    for place, name in product(range(number), [name for names in FAMILIES.values() for name in names]):
        coins = np.random.default_rng([place, *name.encode(), 1])
        for epsilon in coins.choice(WIDER, size=3, replace=False).tolist():
            yield f"{name} {place}", lambda name=name, place=place: derived(name, place), epsilon, place


def main(kind: str, number: int, part: int = 0, parts: int = 1) -> None:
    """Do the runs that are missing, and keep them; with several processes, one part of them each."""
    privpfc.POOL = (privpfc.POOL[0], MOST_CANDIDATES)
    name = "train" if kind == "train" else "judge"
    own = RESULTS / f"choice-{name}{f'-{part}' if parts > 1 else ''}.parquet"
    known = [pd.read_parquet(file) for file in RESULTS.glob(f"choice-{name}*.parquet")]
    done = {key for frame in known for key in frame[KEY].itertuples(index=False, name=None)}
    rows = pd.read_parquet(own).to_dict("records") if own.exists() else []
    last = time.monotonic()
    for place, (name, make, epsilon, seed) in enumerate(wanted(kind, number)):
        if place % parts != part or (name, epsilon, seed) in done:
            continue
        rows += runs(name, make(), seed, epsilon)
        if time.monotonic() - last > 60:
            pd.DataFrame(rows).to_parquet(own)
            print(len(rows), name, epsilon, flush=True)
            last = time.monotonic()
    pd.DataFrame(rows).to_parquet(own)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], *map(int, sys.argv[2:]))
