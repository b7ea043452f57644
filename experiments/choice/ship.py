"""python -m experiments.choice.ship: the traces that Veil chooses classifiers by, from what `collect train` found.

They go to src/veil/choice/classifiers.csv, with some of what `collect judge` found. Facts are as noisy as they are in
use: the class totals have the noise of 3 % of epsilon. Of each table as many databases are kept, so that the file
stays small.
"""

from typing import Any

import numpy as np
import pandas as pd

from veil.choice.classifiers import FILE, NAMES, TO_SIZE, facts_of_counts
from veil.choice.traces import Traces

from .. import RESULTS
from .collect import KEY

OPTIONS = ("logistic", "blend", "privpfc", "naive-bayes", "svm", "forest", "tree", "projected", "shares")
MEASURES = ("auc", "accuracy")
EACH = 30  # databases made from every table
SPLITS = 2  # of every table as it is


def collected(kind: str) -> pd.DataFrame:
    """All runs of a kind, those that were refused left out."""
    frame = pd.concat([pd.read_parquet(file) for file in sorted(RESULTS.glob(f"choice-{kind}*.parquet"))])
    return frame[frame.auc.notna()] if "auc" in frame else frame


def facts_with_noise(row: Any, coins: np.random.Generator) -> dict[str, float]:
    """The facts of a run as a chooser would have had them."""
    scale = 100 / (TO_SIZE * row.epsilon)
    totals = np.asarray(row.totals, float) + np.round(coins.laplace(size=len(row.totals)) * scale)
    return facts_of_counts(
        totals, scale, row.epsilon, codes=row.codes, columns=row.columns, numbers=row.numbers, classes=row.classes
    )


def traces_of(frame: pd.DataFrame) -> Traces:
    """A line for every database, epsilon and seed, with an empty cell where a method was refused."""
    quality = {m: frame.pivot_table(index=KEY, columns="method", values=m).reindex(columns=OPTIONS) for m in MEASURES}
    firsts = frame.drop_duplicates(KEY).set_index(KEY, drop=False).loc[quality["auc"].index]
    coins = np.random.default_rng(0)
    facts = [facts_with_noise(row, coins) for row in firsts.itertuples(index=False)]
    return Traces(
        tuple(map(_named, firsts.database, firsts.family, firsts.epsilon)),
        tuple(firsts.family),
        NAMES,
        OPTIONS,
        np.array([[line[name] for name in NAMES] for line in facts]),
        {measure: table.to_numpy(float) for measure, table in quality.items()},
    )


def _named(database: str, family: str, epsilon: float) -> str:
    """The name of a database for people: its table, its number and epsilon."""
    made = "simulated-" if family == "simulated" else ""
    return f"{made}{database.removeprefix('more/')} {epsilon:g}"


def few(frame: pd.DataFrame, each: int = EACH) -> pd.DataFrame:
    """The runs of the first databases of every table."""
    table, number = frame.database.str.rsplit(" ", n=1).str[0], frame.database.str.rsplit(" ", n=1).str[1].astype(int)
    epsilons = frame.groupby("database").epsilon.transform(lambda one: pd.factorize(one)[0])
    place = number * 3 + epsilons
    return frame[place.groupby(table).transform(lambda one: one < each)]


def shipped() -> Traces:
    """Databases made from tables, as many of each, and the tables as they are.

    Those with another column for a label are left out: owners choose labels that can be predicted better.
    """
    made, whole = collected("train"), collected("judge")
    return traces_of(pd.concat([few(made[~made.relabelled]), whole[whole.seed < whole.seed.min() + SPLITS]]))


if __name__ == "__main__":
    found = shipped()
    found.write(FILE)
    print(len(found), "databases,", FILE.stat().st_size, "bytes")
