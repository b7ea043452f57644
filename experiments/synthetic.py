"""python -m experiments.synthetic: synthetic tables of all columns, judged by what can be learned and read from them.

A gradient boosting of scikit-learn is trained on synthetic rows and tested on real ones that were held out; all one-
and two-way tables of the training rows are compared with those of the synthetic rows (total variation, numbers in
sixteen equal bins). Beside them Veil's automatic classifier on the same rows, boosting without privacy, and dpmm (`make
peers`) with a delta of 1e-6. Results go to experiments/results/synthetic.parquet; what it holds is not repeated. Noise
is seeded. Shares and such were chosen on other splits of adult and acs_national2019; three rules came from faults seen
on the first seed of bank_additional and br2000.

    python -m experiments.synthetic [METHODS [TABLES [SEEDS]]]
    python -m experiments.synthetic floor    how far plain noisy one-way tables are from the true ones
    python -m experiments.synthetic time     how long 45,222 rows of 15 columns take
"""

import json
import os
import subprocess
import sys
import time
import warnings
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from veil import publish
from veil.compare.data import Data, Split, load, split
from veil.compare.measures import area
from veil.models import METHODS
from veil.schema import Categorical, Schema

from . import RESULTS
from .peers import ONE_THREAD

FILE = RESULTS / "synthetic.parquet"
FLOOR, TIME = RESULTS / "synthetic-floor.parquet", RESULTS / "synthetic-time.parquet"
FLOORS, DRAWS = (0.05, 0.1, 0.5, 1.0), 20  # epsilons, and draws of noise for each split
TUNED, JUDGED = ("adult", "acs_national2019"), ("bank_additional", "br2000", "more/grid_stability", "more/page_blocks")
OURS, PEERS, DIRECT, OPEN = ("marginals", "privbayes"), ("dpmm-mst", "dpmm-privbayes"), "auto", "boosting"
EPSILONS = (0.1, 1.0)
FIRST = 100  # seed: on splits of smaller ones settings were chosen
LIMIT = 900  # seconds for a peer
BINS = 16
KEY = ["table", "method", "epsilon", "seed"]


def run(data: Data, name: str, epsilon: float, seed: int) -> dict[str, Any]:
    """How good synthetic rows of one method are, or a classifier on the same rows."""
    parts = split(data, seed)
    real = parts.train.assign(**{str(parts.schema.label): parts.labels})
    start = time.perf_counter()
    if name == DIRECT:
        model = METHODS[name](epsilon=epsilon, schema=parts.schema, random_state=seed).fit(parts.train, parts.labels)
        order = [[*map(str, model.classes_)].index(label) for label in parts.schema.classes]
        shares = model.predict_proba(parts.test)[:, order]
        return {"auc": macro(parts, shares), "seconds": time.perf_counter() - start}
    made = real if name == OPEN else drawn(parts, real, name, epsilon, seed)
    if made is None:
        return {"seconds": float(LIMIT)}
    seconds = time.perf_counter() - start
    one, two = distances(real, made, parts.schema)
    return {"auc": macro(parts, boosted(parts, made)), "one_way": one, "two_way": two, "seconds": seconds}


def drawn(parts: Split, real: pd.DataFrame, name: str, epsilon: float, seed: int) -> pd.DataFrame | None:
    """Synthetic rows, about as many as there are; None if a peer gave none within the time limit."""
    if name in PEERS:
        return of_peer(parts, real, name.removeprefix("dpmm-"), epsilon, seed)
    made = publish(real, parts.schema, epsilon=epsilon, method=name, random_state=seed)
    frame: pd.DataFrame = made.to_frame(random_state=seed)
    return frame


def of_peer(parts: Split, real: pd.DataFrame, method: str, epsilon: float, seed: int) -> pd.DataFrame | None:
    """Synthetic rows of dpmm, in an environment of its own."""
    home = Path(os.environ.get("VEIL_PEERS") or Path(__file__).parent / "peers")
    with TemporaryDirectory(prefix="veil-") as name:
        folder = Path(name)
        domain = {
            column.name: {"categories": [*column.values]}
            if isinstance(column, Categorical)
            else dict(zip(("lower", "upper"), column.bounds, strict=True))
            for column in parts.schema.column
        }
        asked = {"method": method, "epsilon": epsilon, "delta": 1e-6, "rows": len(real), "seed": seed, "domain": domain}
        (folder / "request.json").write_text(json.dumps(asked), encoding="utf-8")
        real.to_csv(folder / "train.csv", index=False)
        command = [home / ".venv" / "dpmm" / "bin" / "python", home / "run_dpmm.py", folder]
        try:
            subprocess.run(command, check=True, timeout=LIMIT, env={**os.environ, **ONE_THREAD}, capture_output=True)
        except subprocess.TimeoutExpired:
            return None
        return pd.read_csv(folder / "synthetic.csv", dtype=texts(parts.schema), keep_default_na=False)


def texts(schema: Schema) -> dict[str, type]:
    """The columns to be read as text."""
    return {column.name: str for column in schema.column if isinstance(column, Categorical)}


def as_text(values: Any) -> Any:
    """Categories as text; numbers are whole, also where missing ones have made them floats."""
    return (values.astype("Int64") if values.dtype.kind == "f" else values).astype(str)


def encoded(rows: Any, schema: Schema) -> np.ndarray:
    """Rows as numbers, rows x features: categories by their place, -1 for others."""
    found = []
    for column in schema.features:
        known = isinstance(column, Categorical)
        values = as_text(rows[column.name]) if known else pd.to_numeric(rows[column.name], errors="coerce")
        found.append(pd.Index(column.values).get_indexer(values) if known else values.to_numpy(np.float64))
    return np.column_stack(found).astype(np.float64)


def boosted(parts: Split, made: pd.DataFrame) -> np.ndarray:
    """The class shares of the test rows by boosting that was trained on these rows."""
    schema = parts.schema
    small = [isinstance(column, Categorical) and len(column.values) < 250 for column in schema.features]
    model = HistGradientBoostingClassifier(categorical_features=small, random_state=0)
    labels = pd.Index(schema.classes).get_indexer(as_text(made[schema.label]))
    model.fit(encoded(made, schema), labels)
    shares = np.zeros((len(parts.truth), len(schema.classes)))
    shares[:, model.classes_] = model.predict_proba(encoded(parts.test, schema))
    return shares


def macro(parts: Split, shares: np.ndarray) -> float:
    """The AUC of the second of two classes; of more, the mean over classes, each against the rest."""
    codes = [1] if shares.shape[1] == 2 else np.unique(parts.truth)
    return float(np.mean([area(parts.truth == code, shares[:, code]) for code in codes]))


def distances(real: pd.DataFrame, made: pd.DataFrame, schema: Schema) -> tuple[float, float]:
    """The mean total variation of all one-way and of all two-way tables."""
    sides = [places(rows, schema) for rows in (real, made)]
    one = [apart(*(np.bincount(side[i], minlength=BINS) for side in sides)) for i in range(len(schema.column))]
    two = []
    for i, j in combinations(range(len(schema.column)), 2):
        two.append(apart(*(np.bincount(side[i] * 1000 + side[j]) for side in sides)))
    return float(np.mean(one)), float(np.mean(two))


def apart(first: np.ndarray, second: np.ndarray) -> float:
    """The total variation between two tables of counts."""
    size = max(len(first), len(second))
    shares = [np.pad(one, (0, size - len(one))) / max(one.sum(), 1) for one in (first, second)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def places(rows: pd.DataFrame, schema: Schema) -> list[np.ndarray]:
    """The place of every value: of categories among the declared ones, of numbers among equal bins."""
    found = []
    for column in schema.column:
        if isinstance(column, Categorical):
            found.append(pd.Index(column.values).get_indexer(as_text(rows[column.name])) + 1)
        else:
            edges = np.linspace(*column.bounds, BINS + 1)[1:-1]
            found.append(np.digitize(pd.to_numeric(rows[column.name]).to_numpy(np.float64), edges))
    return found


def floor(parts: Split, epsilon: float, chance: np.random.Generator) -> float:
    """The mean total variation of one-way tables if all of epsilon goes to them: Laplace noise on the counts of the
    measure's own bins, in shares that make its sum least, clipped to the number of rows, which is told for nothing."""
    real = parts.train.assign(**{str(parts.schema.label): parts.labels})
    sizes = [len(one.values) + 1 if isinstance(one, Categorical) else BINS for one in parts.schema.column]
    shares = np.array(sizes) ** (2 / 3)
    rates = epsilon * shares / shares.sum()
    apart_by = []
    for codes, size, rate in zip(places(real, parts.schema), sizes, rates, strict=True):
        counts = np.bincount(codes, minlength=size).astype(float)
        apart_by.append(apart(counts, clipped(counts + chance.laplace(0, 1 / rate, len(counts)), len(codes))))
    return float(np.mean(apart_by))


def clipped(counts: np.ndarray, total: float) -> np.ndarray:
    """The nearest counts that are not negative and add up to the total."""
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    return np.maximum(counts - excess[np.flatnonzero(falling > excess)[-1]], 0)


def floors(seeds: int = 3) -> pd.DataFrame:
    """The floor of every table beside which peers were run, by epsilon and split."""
    rows = []
    for table, seed in product((*TUNED, *JUDGED[:2]), range(FIRST, FIRST + seeds)):
        parts = split(loaded(table), seed)
        for epsilon in FLOORS:
            found = [floor(parts, epsilon, np.random.default_rng([seed, draw])) for draw in range(DRAWS)]
            rows.append({"table": table, "epsilon": epsilon, "seed": seed, "one_way": float(np.mean(found))})
    return pd.DataFrame(rows)


def times() -> pd.DataFrame:
    """The seconds that synthetic rows of all of Adult take, drawing included."""
    data, rows = loaded("adult"), []
    for name, epsilon in product(OURS, EPSILONS):
        wall, work = time.perf_counter(), time.process_time()
        made = publish(data.frame, data.schema, epsilon=epsilon, method=name, random_state=FIRST)
        size = made.to_frame(random_state=FIRST).shape[1]
        took = {"seconds": time.perf_counter() - wall, "processor": time.process_time() - work}
        rows.append({"method": name, "epsilon": epsilon, "rows": len(data.frame), "columns": size, **took})
    return pd.DataFrame(rows)


def loaded(table: str) -> Data:
    folder = Path(os.environ.get("VEIL_DATA") or "../shared/data")
    return load(str(folder / f"{table}.csv.gz"), published=True)


def main(methods: list[str], tables: list[str], seeds: int) -> None:
    """Do the runs that are missing, and print the means over seeds."""
    known = pd.read_parquet(FILE) if FILE.exists() else pd.DataFrame(columns=KEY)
    done = {*known[KEY].itertuples(index=False, name=None)}
    data = {name: loaded(name) for name in tables}
    for seed, table, name, epsilon in product(range(FIRST, FIRST + seeds), tables, methods, EPSILONS):
        key = (table, name, epsilon, seed)
        if key in done or name == OPEN and epsilon != EPSILONS[-1]:
            continue
        row = pd.DataFrame([{**dict(zip(KEY, key, strict=True)), **run(data[table], name, epsilon, seed)}])
        known = pd.concat([known, row], ignore_index=True) if len(known) else row
        known.to_parquet(FILE)
    print(known.groupby(["table", "epsilon", "method"])[["auc", "one_way", "two_way", "seconds"]].mean().round(3))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = sys.argv[1:]
    if asked == ["floor"]:
        floors().to_parquet(FLOOR)
    elif asked == ["time"]:
        times().to_parquet(TIME)
    else:
        methods = asked[0].split(",") if asked else [*OURS, DIRECT, OPEN]
        tables = asked[1].split(",") if len(asked) > 1 else [*TUNED, *JUDGED]
        main(methods, tables, int(asked[2]) if len(asked) > 2 else 3)
