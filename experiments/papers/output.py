"""python -m experiments.papers.output: noise on the weights against noise in what is minimised.

Chaudhuri, Monteleoni and Sarwate 2011 have two ways to a private linear model, and find that objective perturbation,
which Veil uses, is the better one. Here is the other, output perturbation, for sums and added rows and on the integers:
the exact minimiser of loss + penalty |w|^2 / 2 moves by at most sqrt(p) / penalty when a row is added that has a value
in each of p columns; so discrete Laplace noise for sqrt(d) times that, and one unit of rounding for each of the d
weights, suffices.

On public tables. Output perturbation is given the best of four penalties, chosen on the test rows. Results go to
experiments/results/output.parquet; what it holds is not repeated. Noise is seeded.
"""

import os
import sys
import warnings
from fractions import Fraction
from math import ceil, sqrt
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from veil import LogisticRegressionClassifier
from veil.compare.data import Data, load, split
from veil.compare.measures import measures
from veil.kernel import WEIGHT_UNIT, Budget, Source
from veil.kernel.gradients import TOLERANCE
from veil.kernel.release import Release, frozen
from veil.kernel.verbs.minimise import Problem, objective, solve

from .. import RESULTS

FILE = RESULTS / "output.parquet"
TABLES = ("adult", "bank_additional", "nursery", "more/phoneme")
EPSILONS = (0.1, 1.0)
PENALTIES = (0.03, 0.1, 0.3, 1.0)  # times d sqrt(p) / epsilon
KEY = ["table", "epsilon", "penalty", "seed"]


def moved(problem: Problem, classes: int) -> int:
    """How many units (L1 norm) one row can move the rounded weights, at most."""
    size, columns = len(problem.given.penalties) * classes, len(problem.of)
    radius = (sqrt(columns) * problem.loss.spread + 2 * TOLERANCE) / float(problem.given.penalties.min())
    return ceil(sqrt(size) * radius * WEIGHT_UNIT * (1 + 1e-9)) + size


def perturbed_output(source: Any, loss: Any, axes: Any, budget: Budget, **settings: Any) -> Release[Any]:
    """The answer of `minimise`, for the same settings, by output perturbation."""
    problem = source.check_minimise(loss, axes, budget, **settings)
    classes = len(source.schema.classes) if problem.loss.joint else 1
    receipt = source._charge("minimise", "output perturbation", budget)
    point = solve(objective(source._table, problem), np.zeros((classes, len(problem.given.penalties)))).T
    rounded = np.rint(point * WEIGHT_UNIT).astype(np.int64)
    noise = source._noise.discrete_laplace(Fraction(source.per_row(budget), moved(problem, classes)), rounded.size)
    return source._wrap(frozen(rounded + noise.reshape(rounded.shape)), None, receipt)


def with_penalty(factor: float) -> Any:
    """Output perturbation with this much of a penalty, whatever the model asks for."""

    def minimise(source: Any, loss: Any, axes: Any, budget: Budget, **settings: Any) -> Release[Any]:
        asked = {name: setting for name, setting in settings.items() if name not in ("groups", "shares", "penalty")}
        weights, columns = sum(one.size for one in axes), len(axes)
        penalty = max(factor * weights * sqrt(columns), 2 * columns)
        return perturbed_output(source, loss, axes, budget, penalty=[penalty] * columns, **asked)

    return minimise


def run(data: Data, epsilon: float, penalty: float, seed: int) -> dict[str, Any]:
    """How good one model is on the rows that were held out; objective perturbation for a penalty of 0."""
    parts = split(data, seed)
    model = LogisticRegressionClassifier(epsilon=epsilon, schema=parts.schema, random_state=seed)
    with patch.object(Source, "minimise", with_penalty(penalty) if penalty else Source.minimise):
        model.fit(parts.train, parts.labels)
    order = [[*map(str, model.classes_)].index(name) for name in parts.schema.classes]
    return measures(parts.truth, model.predict_proba(parts.test)[:, order])


def main(seeds: int = 3) -> None:
    """Run what is missing, and print the means."""
    warnings.simplefilter("ignore")
    known = pd.read_parquet(FILE) if FILE.exists() else pd.DataFrame(columns=KEY)
    done, rows = {*known[KEY].itertuples(index=False, name=None)}, known.to_dict("records")
    folder = Path(os.environ.get("VEIL_DATA") or "../shared/data")
    for table in TABLES:
        data = load(str(folder / f"{table}.csv.gz"), published=True)
        keys = [(table, e, p, s) for s in range(seeds) for e in EPSILONS for p in (0.0, *PENALTIES)]
        for key in (key for key in keys if key not in done):
            rows.append({**dict(zip(KEY, key, strict=True)), **run(data, *key[1:])})
        pd.DataFrame(rows).to_parquet(FILE)
    print(summary(pd.DataFrame(rows)).to_string())


def summary(results: Any) -> Any:
    """The mean AUC and accuracy of both ways by table and epsilon, each the best over penalties in hindsight."""
    means = results.groupby(["table", "epsilon", "penalty"])[["auc", "accuracy"]].mean().reset_index()
    means["way"] = np.where(means["penalty"] > 0, "output", "objective")
    return means.pivot_table(["auc", "accuracy"], ["table", "epsilon"], "way", aggfunc="max").round(3)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
