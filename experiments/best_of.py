"""python -m experiments.best_of: is the best of several private tries worth twice the price of one?

On public tables: the best of two methods for epsilon, each of them alone for the same epsilon, and the automatic
choice. Results go to experiments/results/best-of.parquet; what it holds is not repeated. Noise is seeded.
"""

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from veil import BestOf
from veil.compare.data import Data, load, split
from veil.compare.measures import measures
from veil.models import METHODS

from . import RESULTS

FILE = RESULTS / "best-of.parquet"
TABLES = ("cmc", "nursery", "more/phoneme", "more/page_blocks")
EPSILONS = (1.0,)
TRIED = ("naive-bayes", "tree")
KEY = ["table", "method", "epsilon", "seed"]


def run(data: Data, method: str, epsilon: float, seed: int) -> dict[str, Any]:
    """How good one model is on the rows that were held out."""
    parts = split(data, seed)
    models = [METHODS[name]() for name in TRIED]
    model: Any = BestOf(models) if method == "best-of" else METHODS[method]()
    model.set_params(epsilon=epsilon, schema=parts.schema, random_state=seed).fit(parts.train, parts.labels)
    order = [[*map(str, model.classes_)].index(name) for name in parts.schema.classes]
    return {**measures(parts.truth, model.predict_proba(parts.test)[:, order]), "chosen": model.outcome_.method}


def main(seeds: int = 5) -> None:
    """Run what is missing, and print the means."""
    warnings.simplefilter("ignore")
    known = pd.read_parquet(FILE) if FILE.exists() else pd.DataFrame(columns=KEY)
    done, rows = {*known[KEY].itertuples(index=False, name=None)}, known.to_dict("records")
    folder = Path(os.environ.get("VEIL_DATA") or "../shared/data")
    for table in TABLES:
        data = load(str(folder / f"{table}.csv.gz"), published=True)
        keys = [(table, m, e, s) for s in range(seeds) for e in EPSILONS for m in ("best-of", *TRIED, "auto")]
        for key in (key for key in keys if key not in done):
            rows.append({**dict(zip(KEY, key, strict=True)), **run(data, *key[1:])})
        pd.DataFrame(rows).to_parquet(FILE)
    print(summary(pd.DataFrame(rows)).to_string())


def summary(results: Any) -> Any:
    """The mean accuracy and AUC of each method, by table and epsilon."""
    return results.pivot_table(["accuracy", "auc"], ["epsilon", "table"], "method", aggfunc="mean").round(3)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
