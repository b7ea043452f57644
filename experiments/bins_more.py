"""python -m experiments.bins_more: what else is claimed of found bins and pools, each measured on splits of its own.

- `codes`: a column of 5,000 codes is added, whose frequencies go as 1/rank: `useless` if drawn alike for both classes,
  `useful` if the frequency of each differs between them by a random factor (its logarithm has deviation 1/2 in each).
- `declared bins`: PrivPfC on Adult without groups, with the bins of the folder's schema (`found`), with public even
  ones, and with the edges that Veil's public schema of Adult declares.
- `satellite`: bounds as they are declared, and a hundred times as long on both sides.
- `one range`: every column of numbers has the least lower and the largest upper bound of its table.
- `boosting`: gradient boosting on the numbers themselves, NOT private, on the first splits of the judged choice.

Tables are those of the folder VEIL_DATA. Results go to experiments/results/bins-more.parquet; what it holds is not
repeated. Noise is seeded.
"""

import os
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from veil import datasets
from veil.compare.data import Data, Split, load, split
from veil.compare.measures import measures
from veil.models import METHODS
from veil.schema import Categorical, Numeric, Schema

from . import RESULTS
from .bins import loosened

FILE = RESULTS / "bins-more.parquet"
FIRST, SEEDS = 300, 10  # settings were chosen on splits of smaller seeds
CODES, APART = 5000, 0.5
CODED = ("adult", "bank_additional", "acs_national2019")
RANGED = ("adult", "bank_additional", "satellite", "br2000", "acs_national2019")
BOTH = ("naive-bayes", "logistic")
GAPS = tuple(f"more/{name}" for name in ("phoneme", "grid_stability", "casp", "vehicle", "penbased"))
FIRST_JUDGED = 1000  # seed of the choice's runs, which have the same splits
KEY = ["part", "table", "method", "case", "epsilon", "seed"]


def wanted() -> Iterator[tuple[Any, ...]]:
    """The runs: part, table, method, case, epsilon and seed."""
    for seed in range(FIRST, FIRST + SEEDS):
        cases = ("without", "useless", "useful")
        yield from product(["codes"], CODED, BOTH, cases, (0.1, 1.0), [seed])
        bounds = ("declared", "hundred times")
        yield from product(["satellite"], ["satellite"], BOTH, bounds, (0.1, 1.0), [seed])
        yield from product(["one range"], RANGED, ["naive-bayes"], ("public", "found"), (0.3, 1.0), [seed])
        bins = ("found", "public", "declared")
        yield from product(["declared bins"], ["adult"], ["privpfc"], bins, (0.05, 0.1, 0.2, 0.5, 1.0), [seed])
    judged = range(FIRST_JUDGED, FIRST_JUDGED + 5)
    yield from product(["boosting"], GAPS, ["boosting"], ["not private"], (np.inf,), judged)


def prepared(part: str, table: str, case: str, seed: int) -> Data:
    """The table as the run has it."""
    data = read(table)
    if part == "boosting":
        return data
    if part == "codes":
        return data if case == "without" else with_codes(data, case == "useful", seed)
    if part == "declared bins":
        schema = edges_by_hand() if case == "declared" else loosened(data.schema, "declared", case == "public")
    elif part == "satellite":
        schema = loosened(data.schema, case, public=False)
    else:
        schema = loosened(one_range(data.schema), "declared", case == "public")
    return Data(table, schema, data.frame)


@lru_cache
def read(table: str) -> Data:
    """The table with the schema of its folder."""
    folder = Path(os.environ.get("VEIL_DATA") or "../shared/data")
    return load(str(folder / f"{table}.csv.gz"), published=True)


def with_codes(data: Data, useful: bool, seed: int) -> Data:
    """The table with a column of codes besides."""
    draw, names = np.random.default_rng([seed, useful]), np.array([f"code {place}" for place in range(CODES)])
    labels = data.frame[data.schema.label].to_numpy()
    column, codes = Categorical(name="code", values=tuple(names.tolist())), np.zeros(len(labels), np.int64)
    for name in data.schema.classes:
        weights = np.exp(APART * useful * draw.normal(size=CODES)) / np.arange(1, CODES + 1)
        codes[labels == name] = draw.choice(CODES, int((labels == name).sum()), p=weights / weights.sum())
    schema = data.schema.model_copy(update={"column": (column, *data.schema.column)})
    return Data(data.name, schema, data.frame.assign(code=names[codes]))


def edges_by_hand() -> Schema:
    """Veil's public schema of Adult, whose bins are declared, without its taxonomies."""
    schema = datasets.public_schema("adult")
    plain = [one.model_copy(update={"groups": None}) if one.kind == "categorical" else one for one in schema.column]
    return schema.model_copy(update={"column": tuple(plain)})


def one_range(schema: Schema) -> Schema:
    """The schema with the same bounds for all columns of numbers."""
    ours = [one for one in schema.column if isinstance(one, Numeric) and one.kind == "numeric" and not one.edges]
    ends = min(one.bounds[0] for one in ours), max(one.bounds[1] for one in ours)
    wide = {one.name: Numeric(**{**one.model_dump(), "bounds": ends}) for one in ours}
    return schema.model_copy(update={"column": tuple(wide.get(one.name, one) for one in schema.column)})


def run(part: str, table: str, method: str, case: str, epsilon: float, seed: int) -> dict[str, float]:
    """How good one model is on the rows that were held out, and the processor's seconds."""
    parts = split(prepared(part, table, case, seed), seed)
    if part == "boosting":
        return measures(parts.truth, boosted(parts, seed))
    start = process_time()
    model = METHODS[method](epsilon=epsilon, schema=parts.schema, random_state=seed).fit(parts.train, parts.labels)
    took = process_time() - start
    order = [[*map(str, model.classes_)].index(name) for name in parts.schema.classes]
    return {**measures(parts.truth, model.predict_proba(parts.test)[:, order]), "seconds": took}


def boosted(parts: Split, seed: int) -> Any:
    """What gradient boosting predicts from columns of numbers."""
    names = [column.name for column in parts.schema.features if isinstance(column, Numeric)]
    model = HistGradientBoostingClassifier(random_state=seed).fit(parts.train[names], parts.labels)
    order = [[*map(str, model.classes_)].index(name) for name in parts.schema.classes]
    return model.predict_proba(parts.test[names])[:, order]


def main() -> None:
    """Do the runs that are missing, and print the means over seeds."""
    known = pd.read_parquet(FILE) if FILE.exists() else pd.DataFrame(columns=KEY)
    done = {*known[KEY].itertuples(index=False, name=None)}
    for key in wanted():
        if key not in done:
            row = pd.DataFrame([{**dict(zip(KEY, key, strict=True)), **run(*key)}])
            known = pd.concat([known, row], ignore_index=True) if len(known) else row
            known.to_parquet(FILE)
    print(known.pivot_table(["auc", "accuracy", "seconds"], KEY[:-1]).round(4).to_string())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
