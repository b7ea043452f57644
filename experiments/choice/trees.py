"""python -m experiments.choice.trees train NUMBER | lower NUMBER | learn | judge SEEDS | show: decisions inside a tree.

`train` runs the open learner with constant decisions on databases made from public tables: every way to split (L2),
and stopping at every depth (L1); `lower` every way to split from some depth on. `learn` searches short formulas over
the facts, with families left out. `judge` runs the tree with decisions that were learned on other families, Veil's tree
and the published learners on the tables as they are; `show` prints the means. Results are choice-trees-train.parquet
and choice-trees.parquet in experiments/results. Noise is seeded.
"""

import sys
import time
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from veil.choice import Rule, Traces, propose
from veil.choice.trees import DIVIDE, jostle, splitting, stopping
from veil.compare.data import Split, split
from veil.compare.measures import measures
from veil.errors import BadInput
from veil.models import DecisionTreeClassifier, RandomForestClassifier
from veil.plans.trees.jostle import always, jostle_tree, never
from veil.plans.trees.learner import STOP, WAYS, Decision, Learner
from veil.plans.trees.sizes import growing
from veil.plans.trees.trees import FORESTS, TREES

from .. import RESULTS
from .databases import FAMILIES, FAMILY, TABLES, derived, table

EPSILONS = (0.05, 0.1, 0.3, 1.0)
AROUND: dict[str, Any] = {"gathered": True, "handicap": 0.35, "leaf": 3}  # settings of Veil's own tree
FIXED = "always majority"  # the best way to split, if it is to be the same everywhere
PUBLISHED = tuple(preset for preset in TREES if preset != "sulq")  # which was added after these were judged
DEEPER = 2  # levels that may be stopped before, beyond the depth of Veil's own tree
TRAIN, JUDGED = RESULTS / "choice-trees-train.parquet", RESULTS / "choice-trees.parquet"
KEY, MEASURES = ["table", "number", "epsilon"], ["auc", "accuracy"]
FACTS = ("rows", "left", "unit", "levels", "height", "candidates", "columns", "widest", "classes", "largest")


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


def of_lower_splits(parts: Split, epsilon: float, seed: int) -> Iterator[dict[str, Any]]:
    """L2 within a tree: a row for each way to split from some depth on, below levels that are all split in another way;
    depth and way are drawn by coins. The facts are the means of the nodes at that depth."""
    model, coins = Open(epsilon=epsilon, schema=parts.schema, random_state=seed), np.random.default_rng(seed)
    top, start = str(coins.choice(["gini", "majority"])), int(coins.integers(1, 5))
    for way in WAYS:
        learner = Learner(never, lambda facts, way=way: way if facts["depth"] >= start else top, **AROUND)
        found = measured(model.decided_by(learner), parts)
        here = [decision.facts for decision in model.noted if decision.facts["depth"] == start]
        if not here:
            return
        yield {"point": "L2 below", "option": way, **pd.DataFrame(here).mean().to_dict(), **found}


def lower(number: int) -> None:
    """Do the runs about splits within trees, and keep them beside the others."""
    rows = pd.read_parquet(TRAIN).to_dict("records")
    done = {row["number"] for row in rows}
    for place, name in product(range(100, 100 + number), [name for names in FAMILIES.values() for name in names]):
        epsilon = float(np.random.default_rng([place, *name.encode(), 3]).choice(EPSILONS[1:]))
        same = {"table": name, "number": place, "epsilon": epsilon, "family": FAMILY[name]}
        if place in done:
            continue
        try:
            rows += [{**same, **row} for row in of_lower_splits(split(derived(name, place), place), epsilon, place)]
        except BadInput:
            continue
        if name == "classes":  # the last one
            print(len(rows), place, flush=True)
            pd.DataFrame(rows).to_parquet(TRAIN)


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


def traces_of_splits(frame: pd.DataFrame) -> Traces:
    """L2: what every way to split did, by the facts of the root or of the nodes from which on it was used."""
    lines = frame[frame.point.str.startswith("L2")]
    wide = lines.pivot(index=KEY, columns="option", values=MEASURES)
    about = lines.drop_duplicates(KEY).set_index(KEY).loc[wide.index]
    quality = {measure: wide[measure][[*WAYS]].to_numpy(float) for measure in MEASURES}
    return _traces(about.reset_index(), WAYS, quality)


def traces_of_stops(frame: pd.DataFrame) -> Traces:
    """L1: what the tree that stops here did, and the one that divides once more, by the mean facts of these nodes."""
    lines = frame[frame.point == "L1"].assign(depth=lambda f: f.depth.round())
    after = lines.assign(depth=lines.depth - 1)[[*KEY, "depth", *MEASURES]]
    both = lines.merge(after, on=[*KEY, "depth"], suffixes=("", " after"))
    quality = {measure: both[[measure, f"{measure} after"]].to_numpy(float) for measure in MEASURES}
    return _traces(both, (STOP, DIVIDE), quality)


def _traces(about: pd.DataFrame, options: Any, quality: Any) -> Traces:
    about = about.assign(height=about.depth + about.levels)
    names = tuple(f"{table} {number}" for table, number in zip(about.table, about.number, strict=True))
    return Traces(names, tuple(about.family), FACTS, tuple(options), about[[*FACTS]].to_numpy(float), quality)


def learn() -> None:
    """Print what the traces propose for both decisions."""
    frame = pd.read_parquet(TRAIN)
    for name, traces in (("L2, how to split", traces_of_splits(frame)), ("L1, stop here", traces_of_stops(frame))):
        means = {
            o: [round(float(t[:, i].mean()), 3) for t in traces.quality.values()] for i, o in enumerate(traces.options)
        }
        print(name, len(traces), "lines; mean", MEASURES, means, propose(traces), sep="\n")


@cache
def learned_without(family: str) -> tuple[Rule, Rule]:
    """L1 and L2 as the traces of all other families propose them."""
    frame = pd.read_parquet(TRAIN)
    stops, splits = (traces.without(family) for traces in (traces_of_stops(frame), traces_of_splits(frame)))
    return propose(stops).rule, propose(splits).rule


def models(family: str, **same: Any) -> Iterator[tuple[str, Any]]:
    """The learners to judge on tables of a family: the first has decisions from other families."""
    stop, split = learned_without(family)
    own = jostle(stop=stopping(stop), split=splitting(split))
    yield "jostle", Open(**same).decided_by(own)
    yield FIXED, Open(**same).decided_by(jostle(split=splitting(Rule("majority"))))
    yield from ((preset, DecisionTreeClassifier(preset=preset, **same)) for preset in PUBLISHED)
    yield from ((preset, RandomForestClassifier(preset=preset, **same)) for preset in FORESTS if preset != "veil")


def judge(seeds: int) -> None:
    """Do the runs that are missing, and keep them."""
    rows = pd.read_parquet(JUDGED).to_dict("records") if JUDGED.exists() else []
    done, last = {(row["table"], row["epsilon"], row["seed"], row["method"]) for row in rows}, time.monotonic()
    for seed, name in product(range(1000, 1000 + seeds), TABLES):
        parts = split(table(name), seed)
        for epsilon in EPSILONS:
            same = {"epsilon": epsilon, "schema": parts.schema, "random_state": seed}
            for method, model in models(FAMILY[name], **same):
                if (name, epsilon, seed, method) in done:
                    continue
                key = {"table": name, "family": FAMILY[name], "epsilon": epsilon, "seed": seed, "method": method}
                rows.append({**key, **measured(model, parts)})
        if time.monotonic() - last > 30:
            pd.DataFrame(rows).to_parquet(JUDGED)
            print(len(rows), name, seed, flush=True)
            last = time.monotonic()
    pd.DataFrame(rows).to_parquet(JUDGED)


def means() -> pd.DataFrame:
    """Mean measures of every table, epsilon and method over the seeds."""
    return pd.read_parquet(JUDGED).groupby(["table", "epsilon", "method"])[MEASURES].mean()


def gains(measure: str) -> pd.DataFrame:
    """What the learned tree gains over each other method, for each table and epsilon."""
    wide = means()[measure].unstack()
    return wide[["jostle"]].to_numpy() - wide.drop(columns="jostle")


def page() -> str:
    """The results as tables for the guide: mean AUC and accuracy, then gains over Veil's own tree."""
    table = means().groupby(["method", "epsilon"]).mean()
    order = ["jostle", FIXED, *PUBLISHED, *(preset for preset in FORESTS if preset != "veil")]
    rows = [[name, *(_both(table.loc[(name, epsilon)]) for epsilon in EPSILONS)] for name in order]
    return _markdown(["AUC / accuracy at epsilon", *map(str, EPSILONS)], rows) + "\n" + _gains_page(order[1:])


def _gains_page(others: list[str]) -> str:
    rows = []
    for name in others:
        cells = [gains(measure)[name].groupby("table").mean() for measure in MEASURES]
        ahead = [f"{(cell > 0).sum()} of {len(cell)}" for cell in cells]
        said = [f"{cell.mean():+.3f} ± {cell.sem():.3f}" for cell in cells]
        rows.append([name, said[0], ahead[0], said[1], ahead[1]])
    return _markdown(["`jostle` less", "AUC", "tables ahead", "accuracy", "tables ahead"], rows)


def _both(row: Any) -> str:
    return f"{row.auc:.3f} / {row.accuracy:.3f}".replace("0.", ".")


def _markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def show() -> None:
    """Print the tables of the guide, the gains over Veil's tree at each epsilon, and the means of each family."""
    print(page())
    for measure in MEASURES:
        print(measure, gains(measure)["veil"].groupby("epsilon").agg(["mean", "sem"]).round(4).to_string(), sep="\n")
    families = pd.read_parquet(JUDGED).groupby(["family", "method"])[MEASURES].mean().unstack()
    print(families.round(3).T.to_string())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tasks: dict[str, Any] = {"train": train, "lower": lower, "learn": learn, "judge": judge, "show": show}
    tasks[sys.argv[1]](*map(int, sys.argv[2:]))
