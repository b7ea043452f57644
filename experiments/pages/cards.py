"""What was measured for single cards of docs/algorithms.md, put between their marks."""

import re

import pandas as pd

from .. import DOCS, accuracy_first, best_of
from ..papers import output
from ..papers.grids import EPSILONS, TABLES
from .reproduced import errors, mean, results, table
from .rivals import ahead, leads

PAGE = DOCS / "algorithms.md"
PLACE = re.compile(r"(<!-- measured: ([\w -]+) -->\n).*?(<!-- end -->)", re.S)
LEVEL = 0.5  # the epsilon from which on DiffGen is near


def filled(page: str) -> str:
    """The text of the page with what was measured."""
    made = {
        "diffgen": diffgen,
        "accuracy first": walks,
        "best of several tries": tries,
        "output perturbation": on_weights,
    }
    return PLACE.sub(lambda found: f"{found[1]}{made[found[2]]()}\n{found[3]}", page)


def diffgen() -> str:
    """How PrivPfC's cells stand beside DiffGen's, and how long both took."""
    cells = leads("privpfc", "diffgen")
    by_epsilon = {epsilon: min(_apart(data, epsilon) for data in TABLES["privpfc"]) for epsilon in EPSILONS["privpfc"]}
    least, *_ = EPSILONS["privpfc"]
    late = max(-lead for epsilon, lead in by_epsilon.items() if epsilon >= LEVEL)
    shares = [_seconds(data, "diffgen") / _seconds(data, "privpfc") for data in TABLES["privpfc"]]
    return (
        f"[On five tables](reproduction.md#privpfc) PrivPfC's cells predict fewer rows wrong than DiffGen's in "
        f"{ahead('privpfc', 'diffgen')} of\n{len(cells)} cells: by up to {_short(-by_epsilon[least])} at epsilon "
        f"{least:g}, by at most {_short(late)} from epsilon {LEVEL:g} on. The fits took DiffGen "
        f"{_share(min(shares))} to {_share(max(shares))}\nof PrivPfC's time, table by table, on a busy machine."
    )


def _apart(data: str, epsilon: float) -> float:
    """The mean difference on the folds that both have."""
    mine, theirs = errors(data, "privpfc", epsilon), errors(data, "diffgen", epsilon)
    folds = mine.keys() & theirs.keys()
    return mean({fold: mine[fold] - theirs[fold] for fold in folds})


def _seconds(data: str, method: str) -> float:
    """The mean time of the fits on the folds that DiffGen has."""
    rows = [
        row["seconds"]
        for epsilon in EPSILONS["privpfc"]
        for fold, row in results()[data, method, epsilon].items()
        if fold in results()[data, "diffgen", epsilon]
    ]
    return sum(rows) / len(rows)


def walks() -> str:
    """What walks up to a goal lost, beside doubling, and how the goal was met."""
    kept = pd.read_parquet(accuracy_first.FILE)
    found = accuracy_first.summary(kept)
    runs = " to ".join(f"{many:,}" for many in sorted({*found.runs}))
    lines = [
        [
            f"{one.table}, {one.goal}",
            one.at_most,
            _short(one.slack),
            _share(one.walk_reached),
            _short(one.walk_value),
            f"{one.walk_lost:.3f}",
            _share(one.doubling_reached),
            f"{one.doubling_lost:.3f}",
        ]
        for one in found.itertuples()
    ]
    head = ["table and goal", "at most", "slack", "goal said to be reached", "AUC or accuracy of the model"]
    head += ["ex-post epsilon", "doubling: reached", "epsilon"]
    missed = 100 * (1 - found.kept)
    used, met = accuracy_first.stopped(kept)
    return (
        f"{runs} walks of each line. A stopped model missed its goal by more than the slack in {_range(missed)} % of "
        f"the walks of each line.\n{table(head, lines)}\nThe slack is a cautious bound. The worst stopped model "
        f"used {_and(used)} % of it; that so few missed it says little.\nThe goal itself was met by {_and(met)} % of "
        'the stopped models: "reached" is what a noisy test said.'
    )


def tries() -> str:
    """The best of two methods beside each of them and the automatic choice."""
    kept = pd.read_parquet(best_of.FILE)
    found = best_of.summary(kept).droplevel("epsilon")
    ways = {
        "best-of": "best of the two",
        "naive-bayes": "naive Bayes alone",
        "tree": "tree alone",
        "auto": "automatic choice",
    }
    lines = [[_plain(name), *(_pair(one, way) for way in ways)] for name, one in found.iterrows()]
    ahead_of = (found["accuracy"]["best-of"] > found["accuracy"][["naive-bayes", "tree"]].max(axis=1)).sum()
    behind = (found["accuracy"]["best-of"] < found["accuracy"]["auto"]).sum()
    return (
        f"Accuracy and AUC, means of {kept.seed.nunique()} splits. By accuracy it is ahead of the better of its two "
        f"methods alone on {ahead_of} of {len(found)} tables,\nand behind the automatic choice on {behind}.\n"
        f"{table(['table', *ways.values()], lines)}"
    )


def on_weights() -> str:
    """Noise in what is minimised beside noise on the weights."""
    kept = pd.read_parquet(output.FILE)
    found = output.summary(kept)
    lines = [
        [_plain(name), f"{epsilon:g}", *(_pair(one, way, ("auc", "accuracy")) for way in ("objective", "output"))]
        for (name, epsilon), one in found.iterrows()
    ]
    ahead_of = (found["auc"]["objective"] > found["auc"]["output"]).sum()
    head = ["table", "epsilon", "noise in what is minimised", "noise on the weights"]
    return (
        f"AUC and accuracy, means of {kept.seed.nunique()} seeds; noise in what is minimised has the higher AUC in "
        f"{ahead_of} of {len(found)} rows.\n{table(head, lines)}"
    )


def _pair(one: pd.Series, way: str, measures: tuple[str, str] = ("accuracy", "auc")) -> str:
    return "/".join(_short(one[measure, way]) for measure in measures)


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def _plain(name: str) -> str:
    return name.rpartition("/")[2]


def _and(values: list[int]) -> str:
    return f"{', '.join(map(str, values[:-1]))} and {values[-1]}"


def _range(values: pd.Series) -> str:
    return f"{values.min():g}" if values.min() == values.max() else f"{values.min():g} to {values.max():g}"


def write() -> None:
    """The page with its blocks anew."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
