"""python -m experiments.bins: what found bins are worth, with bounds as they are declared and with careless ones.

Every method that bins is fitted on public tables of the folder VEIL_DATA twice, with public bins and with found ones,
at the same epsilon: with the declared bounds, with a range ten times as long, and with one a hundred times as long on
both sides. "privpfc-5000" is PrivPfC with a pool of 5,000 candidates, which takes a tenth of the time. Results go to
experiments/results/bins.parquet; what it holds is not repeated. Noise is seeded.
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

from veil.compare.data import Data, load, split
from veil.compare.measures import measures
from veil.models import METHODS
from veil.schema import Numeric, Schema

from . import RESULTS

FILE = RESULTS / "bins.parquet"
LARGE = ("adult", "acs_national2019", "bank_additional", "br2000", "more/casp")
SMALL = (
    *("satellite", "more/compactiv", "more/grid_stability", "more/marketing", "more/page_blocks", "more/penbased"),
    *("more/phoneme", "more/segment", "more/skillcraft", "more/twonorm"),
)
SETTINGS: dict[str, dict[str, Any]] = {"privpfc-5000": {"pool": 5000}}  # of methods that are not as by default
BINNING = ("naive-bayes", "tree", "forest", "projected", "logistic", "svm", "privpfc")
EPSILONS = (0.05, 0.1, 0.3, 1.0)
BOUNDS = {"declared": (1, 0), "ten times": (10, 0), "hundred times": (100, 99)}  # range above and below, in lengths
KEY = ["table", "method", "bounds", "bins", "epsilon", "seed"]


def loosened(schema: Schema, bounds: str, public: bool) -> Schema:
    """The schema with longer ranges, and with public bins if these are wanted."""
    above, below = BOUNDS[bounds]

    def longer(column: Any) -> Any:
        if not isinstance(column, Numeric) or column.kind != "numeric" or column.edges:
            return column
        low, high = column.bounds
        width = high - low
        declared = {**column.model_dump(), "bounds": (low - below * width, low + above * width)}
        return Numeric(**{**declared, "bins": "public" if public else None})

    return schema.model_copy(update={"column": tuple(map(longer, schema.column))})


def run(data: Data, method: str, bounds: str, bins: str, epsilon: float, seed: int) -> dict[str, float]:
    """How good one model is on the rows that were held out."""
    parts = split(data, seed)
    schema = loosened(parts.schema, bounds, bins == "public")
    settings = SETTINGS.get(method, {})
    kind = METHODS[method.removesuffix("-5000")]
    model = kind(epsilon=epsilon, schema=schema, random_state=seed, **settings).fit(parts.train, parts.labels)
    order = [[*map(str, model.classes_)].index(name) for name in schema.classes]
    return measures(parts.truth, model.predict_proba(parts.test)[:, order])


def missing(known: pd.DataFrame, tables: list[str], methods: list[str], seeds: int) -> Iterator[tuple[Any, ...]]:
    """The runs that are not among the known ones."""
    done = {*known[KEY].itertuples(index=False, name=None)} if len(known) else set()
    for run_of in product(range(seeds), tables, methods, BOUNDS, ("public", "found"), EPSILONS):
        seed, table, method, bounds, bins, epsilon = run_of
        if (key := (table, method, bounds, bins, epsilon, seed)) not in done:
            yield key


def main(methods: list[str], tables: list[str], seeds: int) -> None:
    """Do the runs that are missing, and print the means over the tables."""
    known = pd.read_parquet(FILE) if FILE.exists() else pd.DataFrame(columns=KEY)
    folder = Path(os.environ.get("VEIL_DATA") or "../shared/data")
    data = {name: load(str(folder / f"{name}.csv.gz"), published=True) for name in tables}  # with their own schemas
    rows = list[dict[str, Any]]()
    for key in missing(known, tables, methods, seeds):
        rows.append({**dict(zip(KEY, key, strict=True)), **run(data[key[0]], *key[1:])})
        if len(rows) % 50 == 0:
            pd.concat([known, pd.DataFrame(rows)], ignore_index=True).to_parquet(FILE)
    if rows:
        known = pd.concat([known, pd.DataFrame(rows)], ignore_index=True) if len(known) else pd.DataFrame(rows)
        known.to_parquet(FILE)
    print(table(known[known.table.isin(tables) & known.method.isin(methods)]).to_string())


def table(results: pd.DataFrame) -> pd.DataFrame:
    """The mean AUC over tables and seeds, by method, epsilon and bounds: public bins, and found ones."""
    means = results.pivot_table("auc", ["method", "epsilon"], ["bounds", "bins"], aggfunc=np.mean)
    return means[[(bounds, bins) for bounds in BOUNDS for bins in ("public", "found")]].round(3)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = sys.argv[1:]
    tables = {"large": LARGE, "small": SMALL}.get(asked[1], (*LARGE, *SMALL)) if len(asked) > 1 else (*LARGE, *SMALL)
    main(asked[0].split(",") if asked else [*BINNING], [*tables], int(asked[2]) if len(asked) > 2 else 5)
