"""python -m experiments.accuracy_first: does a walk up levels of epsilon keep its promise, and what does it save?

On public tables, of which the exact AUC or accuracy can be told. Each run divides the rows at random, 70 : 30, and
walks up to a goal on them, once as `fit_until` does and once by doubling: a fresh set of counts at an eighth, a
quarter, half and all of the most, each paid for, with the same test. Results go to
experiments/results/accuracy-first.parquet; what it holds is not repeated. Noise is seeded.
"""

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from veil.compare.data import load
from veil.kernel import Budget, Ledger, Source, open_source
from veil.plans.naive_bayes import evidence, scorer_of, shares_of, usable
from veil.plans.until import Goal, Walk, levels_of, naive_bayes_until, read_goal
from veil.questions import Linear, axis

from . import RESULTS

FILE = RESULTS / "accuracy-first.parquet"
SETTINGS = (
    ("adult", "auc=0.89", "1"),
    ("adult", "accuracy=0.825", "1"),
    ("fair", "auc=0.72", "4"),
    ("fair", "accuracy=0.715", "4"),
)
RUNS = 1000
DOUBLING = (0, 2, 4, 6)  # of the levels of a walk
KEY = ["table", "goal", "at_most", "seed"]


def run(data: Any, goal: Goal, at_most: Budget, seed: int) -> dict[str, Any]:
    """Both ways on one division of the rows: what was lost, and how good the model is on the rows that judged it."""
    parts = halves(data, seed)
    found: dict[str, Any] = {}
    for name, walk in (("walk", naive_bayes_until), ("doubling", doubling)):
        training, judging = [source(part, data.schema, at_most, 2 * seed + i) for i, part in enumerate(parts)]
        end = walk(training, judging, goal, at_most)
        found |= {f"{name}_lost": float(end.level.epsilon), f"{name}_reached": end.reached}
        found[f"{name}_value"] = exact(end.scorer, data.schema, parts[1], goal)
    slack = goal.slack(float(levels_of(at_most)[0].epsilon))
    return {**found, "slack_rows": slack, "rows": base(parts[1], data.schema, goal)}


def doubling(training: Source, judging: Source, goal: Goal, at_most: Budget) -> Walk:
    """A fresh model at every second level, each paid for, until one passes the test."""
    features, levels = usable(training.schema, None, 1.0), levels_of(at_most)
    sieve, paid = judging.above(goal.score, 0, levels[0]), at_most.epsilon * 0
    for place in DOUBLING:
        paid += levels[place].epsilon
        counts = training.count_each([*map(axis, features)], levels[place], shares=shares_of(features))
        scorer = scorer_of(*evidence(features, counts, 1.0))
        if reached := sieve.ask(goal.question(scorer)):
            break
    return Walk(scorer, counts, Budget(paid), reached)


def halves(data: Any, seed: int) -> list[Any]:
    """The rows divided at random, 70 : 30."""
    kept = np.random.default_rng(seed).random(len(data.frame)) < 0.3
    return [data.frame[~kept], data.frame[kept]]


def source(rows: Any, schema: Any, at_most: Budget, seed: int) -> Source:
    return open_source(rows, schema, Ledger(10 * at_most.epsilon, schema.name), noise=seed)


def exact(scorer: Linear, schema: Any, rows: Any, goal: Goal) -> float:
    """The exact measure of the goal on these rows."""
    scores, truth = scorer.scores(schema.encode(rows, label=False)), labels(rows, schema)
    if goal.measure == "auc":
        return float(roc_auc_score(truth, scores[:, 1] - scores[:, 0]))
    return float(np.mean(scores.argmax(axis=1) == truth))


def labels(rows: Any, schema: Any) -> Any:
    return np.array([schema.classes.index(str(label)) for label in rows[schema.label]])


def base(rows: Any, schema: Any, goal: Goal) -> int:
    """The rows by which the slack is divided: those of the smaller class, or all."""
    counts = np.bincount(labels(rows, schema))
    return int(counts.min() if goal.measure == "auc" else counts.sum())


def main(runs: int = RUNS) -> None:
    """Run what is missing, and print the summary."""
    warnings.simplefilter("ignore")
    done = pd.read_parquet(FILE) if FILE.exists() else pd.DataFrame(columns=KEY)
    known, rows = {*map(tuple, done[KEY].to_numpy().tolist())}, done.to_dict("records")
    for table, aim, most in SETTINGS:
        data = load(table)
        goal = read_goal(aim, data.schema)
        for seed in range(runs):
            if (key := (table, aim, most, seed)) not in known:
                rows.append({**dict(zip(KEY, key, strict=True)), **run(data, goal, Budget(most), seed)})
        pd.DataFrame(rows).to_parquet(FILE)
    print(summary(pd.DataFrame(rows)).to_string(index=False))


def summary(results: Any) -> Any:
    """For each setting: how often the goal was met up to the slack, and what was lost on average."""
    least = results.goal.str.partition("=")[2].astype(float)
    slack = results.slack_rows / results.rows
    results = results.assign(
        slack=slack,
        kept=~results.walk_reached | (results.walk_value >= least - slack),
    )
    grouped = results.groupby(["table", "goal", "at_most"], sort=False)
    columns = ["slack", "kept", "walk_reached", "walk_value", "walk_lost", "doubling_reached", "doubling_value"]
    return grouped[[*columns, "doubling_lost"]].mean().round(4).reset_index().assign(runs=grouped.size().to_numpy())


def stopped(results: Any) -> tuple[list[int], list[int]]:
    """For each setting, in per cent: the most that a model at which a walk stopped used of the slack, and how many such
    models met the goal itself."""
    walks = results[results.walk_reached]
    missed = walks.goal.str.partition("=")[2].astype(float) - walks.walk_value
    used = missed * walks.rows / walks.slack_rows
    grouped = walks.assign(missed=missed, used=used).groupby(["table", "goal", "at_most"], sort=False)
    return (
        [round(100 * float(group.used.max())) for _, group in grouped],
        [round(100 * float((group.missed <= 0).mean())) for _, group in grouped],
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
