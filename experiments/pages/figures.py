"""Measure and draw what the guide to epsilon shows, and the ranges that the tutorial states.

Results are kept in `experiments/results/epsilon-fair.parquet`, and runs that it holds are not repeated: delete it
after a change of the method. The figures follow from them, and from formulas.
"""

from math import ceil, exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
from matplotlib import rc_context
from matplotlib.figure import Figure

from .. import DOCS, RESULTS

KEPT = RESULTS / "epsilon-fair.parquet"
METHODS = ("naive-bayes", "naive-bayes-exact", "ceiling", "majority")
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
SEEDS = 20
PANELS = {"accuracy": "accuracy", "auc": "AUC"}
TUTORIAL_SEED, TUTORIAL_RUNS = 0, 1000
COLOURS = ("#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7")  # for all eyes
STYLE = {
    **{"svg.fonttype": "none", "svg.hashsalt": "veil", "font.size": 10},
    **{"axes.grid": True, "grid.alpha": 0.3, "xtick.minor.size": 0, "ytick.minor.size": 0},
}
LINES = {
    "ceiling": ("gradient boosting, not private", "--"),
    "naive-bayes-exact": ("naive Bayes without noise, not private", "-."),
    "majority": ("always the larger class", ":"),
}


def measure() -> None:
    """Run what the results do not hold yet."""
    from veil.compare import compare

    KEPT.parent.mkdir(exist_ok=True)
    compare(METHODS, ["fair"], EPSILONS, SEEDS, out=KEPT, jobs=1)


def results() -> dict[str, list[dict[str, Any]]]:
    """For each method the means over seeds and their margins, by rising epsilon."""
    from veil.compare import summary

    rows = sorted(summary(pyarrow.parquet.read_table(KEPT)).to_pylist(), key=lambda row: row["epsilon"])
    return {method: [row for row in rows if row["method"] == method] for method in METHODS}


def results_table() -> str:
    """The results as the guide shows them."""
    found = results()
    lines = ["| epsilon | accuracy | AUC |", "| --- | --- | --- |"]
    for row in found["naive-bayes"]:
        cells = [f"{row[name]:.3f} ± {row[f'{name}_margin']:.3f}" for name in ("accuracy", "auc")]
        lines.append(f"| {row['epsilon']:g} | {' | '.join(cells)} |")
    for method in LINES:
        row = found[method][0]
        lines.append(f"| {LINES[method][0]} | {row['accuracy']:.3f} | {row['auc']:.3f} |")
    return "\n".join(lines)


def draw(folder: Path) -> None:
    """All figures, as SVG; the same ones from the same results."""
    with rc_context(STYLE):
        for name, paint in {"odds": _odds, "noise": _noise, "quality": _quality}.items():
            figure = paint()
            figure.savefig(folder / f"epsilon-{name}.svg", metadata={"Date": None, "Creator": None})


def _odds() -> Figure:
    """What an attacker believes afterwards, at most and at least, against what was believed before."""
    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    axes = figure.subplots()
    before = np.array([0, *1 / (1 + np.exp(-np.linspace(-7, 7, 57))), 1])  # dense where the curves bend
    axes.plot(100 * before, 100 * before, color="#666666", linestyle=":", label="nothing learned")
    for epsilon, colour in zip((0.1, 0.5, 1, 2, 5), COLOURS, strict=True):
        most, least = (before * e / (1 - before + before * e) for e in (exp(epsilon), exp(-epsilon)))
        axes.plot(100 * before, 100 * most, color=colour, label=f"epsilon {epsilon:g}")
        axes.plot(100 * before, 100 * least, color=colour)
    ticks = range(0, 101, 10)
    axes.set(xlabel="belief before the release, %", ylabel="belief after it, %", xticks=ticks, yticks=ticks)
    axes.set(xlim=(0, 100), ylim=(0, 100))
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def error(epsilon: float) -> int:
    """How far 95 % of counts lie from the truth, at most: `Release.error` of a count."""
    return max(ceil(-log(0.05 * (1 + exp(-epsilon)) / 2) / epsilon) - 1, 0)


def _noise() -> Figure:
    """The rows that a cell needs, against epsilon, for models of several columns."""
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    epsilons = np.geomspace(0.01, 10, 61)
    for columns, colour in zip((1, 5, 10, 30, 100), COLOURS, strict=True):
        needed = [10 * error(epsilon / columns) for epsilon in epsilons]
        seen = [(epsilon, rows) for epsilon, rows in zip(epsilons, needed, strict=True) if rows]
        axes.plot(*zip(*seen, strict=True), color=colour, label=f"{columns} column{'s' * (columns > 1)}")
    axes.set(xscale="log", yscale="log", xlabel="epsilon of the whole model", ylabel="rows that a cell needs")
    axes.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    axes.set_yticks([10, 100, 1000, 10_000, 100_000], ["10", "100", "1,000", "10,000", "100,000"])
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _quality() -> Figure:
    """Accuracy and AUC against epsilon, with what is possible without privacy and without a model."""
    figure = Figure(figsize=(9, 3.9), layout="constrained")
    found = results()
    for axes, (measure_, words) in zip(figure.subplots(1, 2), PANELS.items(), strict=True):
        private = found["naive-bayes"]
        heights, margins = ([row[f"{measure_}{part}"] for row in private] for part in ("", "_margin"))
        style = {"color": COLOURS[0], "marker": "o", "markersize": 4, "capsize": 3}
        axes.errorbar([row["epsilon"] for row in private], heights, margins, label="private naive Bayes", **style)
        for method, (name, dashes) in LINES.items():
            axes.axhline(found[method][0][measure_], color="#555555", linestyle=dashes, linewidth=1.2, label=name)
        axes.set(xscale="log", xlabel="epsilon", ylabel=words)
        axes.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def tutorial_ranges(runs: int = TUTORIAL_RUNS) -> dict[str, tuple[float, float]]:
    """The mean and the standard deviation of the tutorial's accuracy and AUC, over the noise."""
    from sklearn.metrics import accuracy_score, roc_auc_score

    from veil import NaiveBayesClassifier, datasets

    rows, schema = datasets.load("fair")
    for_training = np.random.default_rng(TUTORIAL_SEED).random(len(rows)) < 0.7
    train, test = rows[for_training], rows[~for_training]
    found: dict[str, list[float]] = {"accuracy": [], "AUC": []}
    for seed in range(runs):
        model = NaiveBayesClassifier(epsilon=1, schema=schema, random_state=seed).fit(train)
        found["accuracy"].append(accuracy_score(test["affair"], model.predict(test)))
        found["AUC"].append(roc_auc_score(test["affair"] == "yes", model.predict_proba(test)[:, 1]))
    return {name: (float(np.mean(values)), float(np.std(values, ddof=1))) for name, values in found.items()}


if __name__ == "__main__":
    measure()
    draw(DOCS / "figures")
    print(results_table())
    for name, (mean, deviation) in tutorial_ranges().items():
        low, high = mean - 1.96 * deviation, mean + 1.96 * deviation
        print(f"{name} about {mean:.2f} (95 of 100 runs: {low:.3f} to {high:.3f})")
