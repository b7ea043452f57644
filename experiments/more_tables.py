"""python -m experiments.more_tables: Veil's methods and DP-EBM on sixteen public tables unlike those of the papers.

The tables, in the folder `more` of VEIL_DATA, have skewed and correlated numbers, rules and many classes, and bounds
that an owner would guess. Veil's methods are fitted with found bins and with public ones, `auto` with found ones;
DP-EBM (`make peers`) as its documentation has it and tuned, with a delta of 1e-6. Results go to
experiments/results/more.parquet; what it holds is not repeated. Noise is seeded.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from veil.compare.data import Data, Split, load, split
from veil.compare.measures import area, measures
from veil.compare.methods import Impossible
from veil.models import METHODS

from . import RESULTS
from .bins import BINNING, loosened
from .peers import method

FILE = RESULTS / "more.parquet"
TWO_CLASSES = (
    *("casp", "compactiv", "grid_stability", "monk2", "phoneme", "pima", "tic_tac_toe", "titanic", "twonorm"),
)
MANY_CLASSES = ("marketing", "page_blocks", "penbased", "segment", "skillcraft", "splice", "vehicle")
TABLES = (*TWO_CLASSES, *MANY_CLASSES)
BOOSTING = ("dp-ebm", "dp-ebm-tuned")
AUTO = "auto"
EPSILONS = (0.1, 1.0)
FIRST = 100  # seed: on splits of smaller ones settings were chosen
KEY = ["table", "method", "bins", "epsilon", "seed"]


def run(data: Data, name: str, bins: str, epsilon: float, seed: int) -> dict[str, float]:
    """How good one model is on the rows that were held out; `macro` is the AUC, each class alike against the rest."""
    parts = split(data, seed)
    if name in BOOSTING:
        probabilities = method(name).run(parts, epsilon, seed)[0]
    else:
        probabilities = ours(parts, name, bins, epsilon, seed)
    found = measures(parts.truth, probabilities)
    areas = [area(parts.truth == code, probabilities[:, code]) for code in np.unique(parts.truth)]
    return {**found, "macro": found["auc"] if probabilities.shape[1] == 2 else float(np.mean(areas))}


def ours(parts: Split, name: str, bins: str, epsilon: float, seed: int) -> Any:
    """What a method of Veil predicts, with found bins or public ones."""
    schema = loosened(parts.schema, "declared", bins == "public")
    model = METHODS[name](epsilon=epsilon, schema=schema, random_state=seed).fit(parts.train, parts.labels)
    order = [[*map(str, model.classes_)].index(label) for label in schema.classes]
    return model.predict_proba(parts.test)[:, order]


def wanted(methods: list[str], tables: list[str], seeds: int) -> Iterator[tuple[Any, ...]]:
    """The runs, of DP-EBM those that it can do."""
    for seed, table, name, epsilon in product(range(FIRST, FIRST + seeds), tables, methods, EPSILONS):
        if name not in BOOSTING:
            both = ("found", "public") if name in BINNING else ("found",)  # the others choose among these
            yield from ((table, name, bins, epsilon, seed) for bins in both)
        elif table in TWO_CLASSES:
            yield table, name, "its own", epsilon, seed


def main(methods: list[str], tables: list[str], seeds: int) -> None:
    """Do the runs that are missing, and print the means over seeds."""
    known = pd.read_parquet(FILE) if FILE.exists() else pd.DataFrame(columns=KEY)
    done = {*known[KEY].itertuples(index=False, name=None)}
    folder = Path(os.environ.get("VEIL_DATA") or "../shared/data", "more")
    data = {name: load(str(folder / f"{name}.csv.gz"), published=True) for name in tables}  # with their own schemas
    for key in wanted(methods, tables, seeds):
        if key in done:
            continue
        try:
            found = run(data[key[0]], *key[1:])
        except Impossible as error:
            print(*key, error)
            continue
        row = pd.DataFrame([{**dict(zip(KEY, key, strict=True)), **found}])
        known = pd.concat([known, row], ignore_index=True) if len(known) else row
        known.to_parquet(FILE)
    print(known.pivot_table("macro", ["table", "method"], ["epsilon", "bins"]).round(3).to_string())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = sys.argv[1:]
    tables = [*TABLES] if len(asked) < 2 or asked[1] == "all" else asked[1].split(",")
    main(asked[0].split(",") if asked else [*BOOSTING, *BINNING, AUTO], tables, int(asked[2]) if len(asked) > 2 else 5)
