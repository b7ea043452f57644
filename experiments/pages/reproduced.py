"""What `python -m experiments reproduce` found, kept in experiments/results/reproduction.parquet: measures by fold,
and their figures."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet
from matplotlib import rc_context
from matplotlib.figure import Figure

from veil.compare.data import FOLDS
from veil.compare.summary import interval
from veil.plans.histograms.projected_histogram import SHARE
from veil.plans.histograms.projection import bins_for, columns_for, share_to_count

from .. import RESULTS
from ..papers.grids import COLUMNS, EPSILONS, LEARNERS, PEERS, PLR, RULES, SHARES, TABLES, USED, varied

KEPT = RESULTS / "reproduction.parquet"
SHAPES = {  # rows, columns besides the label, classes
    "iris": (150, 4, 3),
    "satellite": (6435, 36, 6),
    "adult": (45222, 14, 2),
    "bank_additional": (41188, 20, 2),
    "acs_national2019": (22062, 18, 2),
    "acs_ipums_binary": (47461, 22, 2),
    "br2000": (38000, 13, 2),
}
INFINITE = float("inf")
TUNED, PLAIN = f"{PLR}-tuned", "logistic-regression"
NAMES = {
    varied("paper"): "H(M)LR, the paper's rules",
    varied("veil"): "H(M)LR, Veil's rules",
    PLR: "P(M)LR",
    TUNED: "P(M)LR, tuned",
    PLAIN: "O(M)LR, not private",
    "privpfc": "PrivPfC, cells",
    "privpfc-tree": "PrivPfC, decision tree",
    "privpfc-svm": "PrivPfC, SVM",
    "diffgen": "DiffGen, cells",
    "diffgen-tree": "DiffGen, decision tree",
    "diffgen-svm": "DiffGen, SVM",
    "projected-tree": "PPH (projected histogram, the paper's rules), decision tree",
    "projected-svm": "PPH, SVM",
    "privgene": "PrivGene",
    "privbayes-tree": "PrivBayes, decision tree",
    "privbayes-svm": "PrivBayes, SVM",
    "private-erm": "PrivateERM (`svm`)",
    "majority": "always the larger class",
    "tree": "decision tree, not private",
    "svm": "SVM, not private",
    "ceiling": "boosting, not private",
}
OURS = ("privpfc", *(f"privpfc-{name}" for name in LEARNERS))
RIVALS = tuple(NAMES)[tuple(NAMES).index("diffgen") : tuple(NAMES).index("majority")]
HORIZONTAL = ("majority", *LEARNERS, "ceiling")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")  # for all eyes
DASHES = ("--", "-.", ":", "-")
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "veil", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
Values = dict[int, float]  # a measure by fold
Short = tuple[float, float]  # the mean and half the width of its interval


@cache
def results() -> dict[tuple[str, str, float], dict[int, dict[str, Any]]]:
    """The rows of a table, a method and an epsilon, by fold."""
    found: dict[tuple[str, str, float], dict[int, dict[str, Any]]] = {}
    for row in pyarrow.parquet.read_table(KEPT).to_pylist():
        found.setdefault((row["data"], row["method"], row["epsilon"]), {})[row["seed"]] = row
    return found


def quality(data: str, method: str, epsilon: float = 1) -> Values:
    """The AUC, of more than two classes Hand and Till's M, by fold."""
    return _measure(data, method, epsilon, lambda row: row["m"])


def errors(data: str, method: str, epsilon: float) -> Values:
    """The share of rows that are predicted wrong, by each fold that PrivPfC uses."""
    found = _measure(data, method, epsilon, lambda row: 1 - row["accuracy"])
    return {fold: value for fold, value in found.items() if fold < USED["privpfc"]}


def _measure(data: str, method: str, epsilon: float, read: Callable[[dict[str, Any]], float]) -> Values:
    rows = results().get((data, method, epsilon)) or results().get((data, method, INFINITE)) or {}
    return {fold: read(row) for fold, row in rows.items() if row["status"] == "done"}


def less(one: Values, other: Values) -> Short:
    """How much higher one is than the other, fold by fold."""
    mean, margin = interval([one[fold] - other[fold] for fold in sorted(one.keys() & other.keys())])
    assert mean is not None and margin is not None
    return mean, margin


def estimated(data: str, rules: str) -> tuple[int, float]:
    """The number of columns and the share for counts that follow from public numbers, for a training fold."""
    rows, available, classes = SHAPES[data]
    rows = round(rows * (1 - 1 / FOLDS))
    k = columns_for(available, rows)
    return k, SHARE if rules == "veil" else share_to_count(rows, available, k, classes, bins_for(rows, k))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def mean(values: Values) -> float:
    return sum(values.values()) / len(values)


def draw(folder: Path) -> None:
    """All figures, as SVG; the same ones from the same results."""
    paint = {"boxes": _draw_boxes, "epsilon": _draw_epsilon, "columns": _draw_columns, "share": _draw_share}
    paint |= {"privpfc": _draw_privpfc, "rivals": _draw_rivals}
    with rc_context(STYLE):
        for name, figure in ((name, make()) for name, make in paint.items()):
            handles = {line.get_label(): line for axes in figure.axes for line in axes.get_legend_handles_labels()[0]}
            figure.legend(handles=list(handles.values()), loc="outside lower center", ncols=3, frameon=False)
            figure.savefig(folder / f"reproduction-{name}.svg", metadata={"Date": None, "Creator": None})


def _draw_boxes() -> Figure:
    """The spread over folds at epsilon 1, as in figure 1 of Vinterbo's paper."""
    figure, panels = _panels(TABLES["projected"], 3)
    methods = [*map(varied, RULES), *PEERS, PLAIN]
    for data, axes in panels.items():
        found = {method: [*quality(data, method).values()] for method in methods}
        for place, (method, colour) in enumerate(zip(methods, (*COLOURS[:4], "#555555"), strict=True)):
            if found[method]:
                box = axes.boxplot([found[method]], positions=[place], widths=0.6, patch_artist=True)
                box["boxes"][0].set(facecolor=colour, alpha=0.6)
                axes.plot([], [], color=colour, lw=5, alpha=0.6, label=NAMES[method])
        axes.set_xticks([])
    return figure


def _draw_epsilon() -> Figure:
    figure, panels = _panels(TABLES["projected"], 3)
    for data, axes in panels.items():
        for method, colour in zip([*map(varied, RULES), *PEERS], COLOURS, strict=False):
            found = {epsilon: quality(data, method, epsilon) for epsilon in EPSILONS["projected"]}
            _curve(axes, found, NAMES[method], colour)
        axes.axhline(mean(quality(data, PLAIN)), color="#555555", ls="--", label=NAMES[PLAIN])
        _logarithmic(axes, EPSILONS["projected"])
    return figure


def _draw_columns() -> Figure:
    figure, panels = _panels(TABLES["projected"], 3)
    for data, axes in panels.items():
        for rules, colour in zip(RULES, COLOURS, strict=False):
            tried = {k: quality(data, varied(rules, k=k)) for k in COLUMNS if k <= SHAPES[data][1]}
            _curve(axes, tried, NAMES[varied(rules)], colour)
        axes.axvline(estimated(data, "paper")[0], color="#555555", ls=":", label="estimated k")
        axes.set(xlabel="k, columns", xticks=COLUMNS)
    return figure


def _draw_share() -> Figure:
    figure, panels = _panels(TABLES["projected"], 3)
    for data, axes in panels.items():
        for rules, colour in zip(RULES, COLOURS, strict=False):
            tried = {share: quality(data, varied(rules, gamma=share)) for share in SHARES}
            _curve(axes, tried, NAMES[varied(rules)], colour)
            axes.axvline(estimated(data, rules)[1], color=colour, ls=":", label=f"gamma of {rules} rules")
        axes.set(xlabel="gamma, the share for counts")
    return figure


def _draw_privpfc() -> Figure:
    figure, panels = _panels(TABLES["privpfc"], 3)
    for data, axes in panels.items():
        for method, colour in zip([*OURS, *map(varied, RULES)], COLOURS, strict=True):
            _curve(axes, {e: errors(data, method, e) for e in EPSILONS["privpfc"]}, NAMES[method], colour)
        for method, dashes in zip(HORIZONTAL, DASHES, strict=True):
            axes.axhline(mean(errors(data, method, 1)), color="#555555", ls=dashes, lw=1.2, label=NAMES[method])
        _logarithmic(axes, EPSILONS["privpfc"])
        axes.set(title=data, ylabel="share predicted wrong")
    return figure


def _draw_rivals() -> Figure:
    """The shares predicted wrong of PrivPfC's cells beside those of its rivals."""
    figure, panels = _panels(TABLES["privpfc"], 3)
    for data, axes in panels.items():
        shown = ("privpfc", "diffgen", "privgene", "privbayes-tree", "private-erm")
        for method, colour in zip(shown, COLOURS, strict=True):
            found = {epsilon: errors(data, method, epsilon) for epsilon in EPSILONS["privpfc"]}
            if any(found.values()):
                _curve(axes, found, NAMES[method], colour)
        axes.axhline(mean(errors(data, "majority", 1)), color="#555555", ls="--", lw=1.2, label=NAMES["majority"])
        _logarithmic(axes, EPSILONS["privpfc"])
        axes.set(title=data, ylabel="share predicted wrong")
    return figure


def _panels(names: Sequence[str], across: int) -> tuple[Figure, dict[str, Any]]:
    """A figure with a panel for each table."""
    down = -(-len(names) // across)
    figure = Figure(figsize=(3.3 * across, 2.9 * down + 0.9), layout="constrained")
    grid = list(figure.subplots(down, across, squeeze=False).flat)
    panels = dict(zip(names, grid, strict=False))
    for spare in grid[len(names) :]:
        spare.remove()
    for data, axes in panels.items():
        axes.set(title=data, ylabel="AUC" if SHAPES[data][2] == 2 else "M")
    return figure, panels


def _curve(axes: Any, found: dict[Any, Values], label: str, colour: str) -> None:
    """The means of what was measured, and their intervals."""
    points = [(place, *interval(list(values.values()))) for place, values in found.items() if values]
    places, heights, margins = zip(*points, strict=True)
    style = {"color": colour, "marker": "o", "markersize": 3, "capsize": 2, "linewidth": 1.2}
    axes.errorbar(places, heights, [margin or 0 for margin in margins], label=label, **style)


def _logarithmic(axes: Any, budgets: Sequence[float]) -> None:
    axes.set(xscale="log", xlabel="epsilon")
    axes.set_xticks(budgets, [f"{budget:g}" for budget in budgets])
    axes.minorticks_off()
