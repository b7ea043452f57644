"""The experiments of three papers again: projected histograms (Vinterbo 2012), PrivPfC (Su et al. 2018) and trees.

Every number is one of ten folds, stratified by class, of which PrivPfC uses half; of trees, one of twenty random
splits. The number of the fold is also the seed of the noise. Runs are done one after the other in this process, so
that what is fitted to one published grid shares the grid, as in the paper.
"""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from veil import publish
from veil.compare.data import FOLDS, Data, Split, fold, load
from veil.compare.data import split as random_split
from veil.compare.methods import Method, Probabilities, find, here, in_order
from veil.compare.runs import Progress, Task, carry_out, one_by_one
from veil.errors import BadInput
from veil.models import METHODS, DiffGenClassifier, PrivPfCClassifier, ProjectedHistogramClassifier
from veil.models.cells import RIDGE, axis_features, learn_cells
from veil.plans.histograms.projected_histogram import HELD_OUT
from veil.questions import axis

from . import trees as tree_papers

TABLES = {
    "projected": ("iris", "satellite", "adult"),
    "privpfc": ("adult", "bank_additional", "acs_national2019", "acs_ipums_binary", "br2000"),
    "trees": tree_papers.TABLES,
}
RULES = ("paper", "veil")
EPSILONS: dict[str, tuple[float, ...]] = {
    "projected": (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
    "privpfc": (0.05, 0.1, 0.2, 0.5, 1),
    "trees": tree_papers.EPSILONS,
}
# of the ten folds; a fit of PrivPfC takes up to a quarter of a minute. Trees have random splits
USED = {"projected": FOLDS, "privpfc": 5, "trees": tree_papers.SEEDS}
COLUMNS = (1, 2, 3, 4, 5, 6)
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
PLR = "diffprivlib-logistic-regression"
PEERS = dict.fromkeys((PLR, f"{PLR}-tuned"), (0.1, 1, 10))  # a run of a peer takes as long as twenty of ours
QUICK_FOLDS, QUICK_EPSILONS = 2, (0.1, 1)
# of the first folds: what PrivPfC's paper compares with, where Veil has it. A fit of PrivGene takes up to half a minute
RIVALS = ("diffgen", "privgene", "svm")
RIVAL_FOLDS = 3
PRUNING = 1e-3  # impurity that a split must save; the same with and without privacy
LEARNERS = {
    "tree": DecisionTreeClassifier(ccp_alpha=PRUNING, random_state=0),
    "svm": LinearSVC(random_state=0),
}
PUBLISHED: dict[str, tuple[Any, dict[str, Any]]] = {
    "diffgen": (DiffGenClassifier, {}),
    "projected": (ProjectedHistogramClassifier, {"rules": "paper"}),
}
SYNTHETIC = "privbayes"  # publishes rows of all columns, which a learner takes for real ones
Predict = Callable[[Any], Probabilities]


def reproduce(
    papers: Sequence[str] = tuple(TABLES),
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = lambda name, done, total: None,
) -> pa.Table:
    """A row for every table, method, epsilon and fold, as `compare` has them; `seed` is the fold.

    `quick` takes two of the ten folds and two epsilons. Runs that the Parquet file `out` holds are not repeated.
    """
    if not papers or not set(papers) <= set(TABLES):
        raise BadInput(f"choose one of {', '.join(TABLES)}")
    tables = _tables(dict.fromkeys(name for paper in papers for name in TABLES[paper]))
    plan = {task.key: task for paper in papers for task in _plan(paper, tables, quick)}
    return carry_out(list(plan.values()), one_by_one, out, progress)


def varied(rules: str, **setting: Any) -> str:
    """The name of projected histograms by these rules, with a setting that is not the rules' own."""
    return f"projected-{rules}" + "".join(f" {name}={value}" for name, value in setting.items())


def _tables(names: Iterable[str]) -> dict[str, Data]:
    """The tables by name; complains about all that are absent at once."""
    found, absent = {}, []
    for name in names:
        try:
            found[name] = load(name, published=True)
        except BadInput:
            absent.append(name)
    if absent:
        raise BadInput(
            f"the papers' data are needed and {', '.join(absent)} cannot be found: set VEIL_DATA to a folder that has "
            "each of them as NAME.csv.gz with its schema, NAME.schema.toml"
        )
    return found


def _plan(paper: str, tables: dict[str, Data], quick: bool) -> list[Task]:
    """All runs, fold by fold, so that those that share a fold follow each other."""
    methods = {"projected": _of_projected, "privpfc": _of_privpfc, "trees": _of_trees}[paper]
    publishers = (*PUBLISHED, SYNTHETIC)
    rivals = {rival_name(name) for name in RIVALS} | {f"{kind}-{name}" for kind in publishers for name in LEARNERS}
    return [
        Task(tables[name], method, float(epsilon), number, random_split if paper == "trees" else _fold)
        for name in TABLES[paper]
        for number in range(QUICK_FOLDS if quick else USED[paper])
        for epsilon, method in methods(len(tables[name].schema.features))
        if not quick or epsilon in (*QUICK_EPSILONS, math.inf)
        if number < RIVAL_FOLDS or method.name not in rivals
    ]


def left_out() -> list[str]:
    """The peers whose environments were not built: their runs are left out."""
    found = list[str]()
    for name in PEERS:
        try:
            find(name)
        except BadInput:
            found.append(name)
    return found


def rival_name(name: str) -> str:
    """The name of a private method among the results, in which "svm" is the one without privacy."""
    return "private-erm" if name == "svm" else name


def _of_projected(available: int) -> Iterable[tuple[float, Method]]:
    """Methods for a table with this many columns, each with an epsilon: the settings are varied at epsilon 1."""
    yield math.inf, Method("logistic-regression", partial(here, _logistic), private=False)
    for rules in RULES:
        yield from ((epsilon, _projected(rules)) for epsilon in EPSILONS["projected"])
        yield from ((1, _projected(rules, k=k)) for k in COLUMNS if k <= available)
        yield 1, _projected(rules, k=HELD_OUT)
        yield from ((1, _projected(rules, gamma=share)) for share in SHARES)
    for name, epsilons in PEERS.items():
        yield from ((epsilon, find(name)) for epsilon in epsilons if name not in left_out())


def _of_privpfc(available: int) -> Iterable[tuple[float, Method]]:
    """Methods with an epsilon each; those that share a published grid one after the other."""
    yield from ((math.inf, find(name)) for name in ("majority", "ceiling"))
    for name, learner in LEARNERS.items():
        yield math.inf, Method(name, partial(here, partial(_without_privacy, learner)), private=False)
    for epsilon in EPSILONS["privpfc"]:
        yield epsilon, Method("privpfc", partial(here, _cells))
        for name, learner in LEARNERS.items():
            yield epsilon, Method(f"privpfc-{name}", partial(here, partial(_learned, learner)))
        yield from ((epsilon, _projected(rules)) for rules in RULES)
        for name in RIVALS:
            yield epsilon, Method(rival_name(name), partial(here, partial(_ours, name)))
        for kind, made in PUBLISHED.items():
            for name, learner in LEARNERS.items():
                yield epsilon, Method(f"{kind}-{name}", partial(here, partial(_trained, made, learner)))
        for name, learner in LEARNERS.items():
            yield epsilon, Method(f"{SYNTHETIC}-{name}", partial(here, partial(_of_synthetic, learner)))


def _of_trees(available: int) -> Iterable[tuple[float, Method]]:
    """The learners of trees and, without privacy, the larger class and a tree."""
    yield math.inf, find("majority")
    yield (
        math.inf,
        Method("tree, not private", partial(here, partial(_without_privacy, LEARNERS["tree"])), private=False),
    )
    yield from tree_papers.methods()


def _projected(rules: str, **setting: Any) -> Method:
    given = {{"k": "columns", "gamma": "share"}[name]: value for name, value in setting.items()}
    return Method(varied(rules, **setting), partial(here, partial(_histogram, {"rules": rules, **given})))


def _histogram(settings: dict[str, Any], split: Split, epsilon: float, seed: int) -> Predict:
    model = ProjectedHistogramClassifier(epsilon=epsilon, schema=split.schema, random_state=seed, **settings)
    return _predict(model.fit(split.train, split.labels))


def _ours(name: str, split: Split, epsilon: float, seed: int) -> Predict:
    model = METHODS[name](epsilon=epsilon, schema=split.schema, random_state=seed)
    return _predict(model.fit(split.train, split.labels))


def _trained(made: tuple[Any, dict[str, Any]], learner: Any, split: Split, epsilon: float, seed: int) -> Predict:
    """A learner trained on the cells that a method publishes."""
    kind, settings = made
    model = kind(epsilon=epsilon, schema=split.schema, random_state=seed, learner=clone(learner), **settings)
    return _predict(model.fit(split.train, split.labels))


def _of_synthetic(learner: Any, split: Split, epsilon: float, seed: int) -> Predict:
    """A learner trained on synthetic rows, as if these were the real ones."""
    rows = _synthetic(split, epsilon, seed)
    if rows[split.schema.label].nunique() == 1:  # of which a support vector machine learns nothing
        learner = DummyClassifier()
    made = replace(split, train=rows.drop(columns=split.schema.label), labels=rows[split.schema.label])
    return _without_privacy(learner, made, epsilon, seed)


def _cells(split: Split, epsilon: float, seed: int) -> Predict:
    return _predict(_published(split, epsilon, seed))


def _learned(learner: Any, split: Split, epsilon: float, seed: int) -> Predict:
    """What a learner makes of the published grid: the model that `learner=` would give, without a fit of its own."""
    model = copy(_published(split, epsilon, seed))
    cells = model.releases_[-1]
    totals = np.maximum(cells.value.sum(axis=0), 1)  # of use only where there is a single class to learn
    made = learn_cells(learner, cells, split.schema, totals / totals.sum())
    model.hold(replace(model.outcome_, made=made))
    return _predict(model)


def _logistic(split: Split, epsilon: float, seed: int) -> Predict:
    """Logistic regression on the schema's codes, without privacy: OLR and OMLR."""
    return _without_privacy(LogisticRegression(C=1 / RIDGE, max_iter=1000), split, epsilon, seed)


def _without_privacy(learner: Any, split: Split, epsilon: float, seed: int) -> Predict:
    """A learner on the features that cells have, of every column at its finest."""
    fitted = clone(learner).fit(_features(split, split.train), split.labels)

    def predict(rows: Any) -> Probabilities:
        inside = _features(split, rows)
        sure = hasattr(fitted, "predict_proba")
        answers = fitted.predict_proba(inside) if sure else fitted.predict(inside)[:, None] == fitted.classes_
        return in_order(answers, fitted.classes_, split.schema.classes)

    return predict


def _features(split: Split, rows: Any) -> npt.NDArray[np.float64]:
    codes = split.schema.encode(rows, label=False)
    columns = {column.name: axis_features(axis(column).axes[0], split.schema) for column in split.schema.features}
    return np.hstack([columns[name][values] for name, values in codes.items()])


def _predict(model: Any) -> Predict:
    return lambda rows: in_order(model.predict_proba(rows), model.classes_, model.schema_.classes)


@lru_cache(maxsize=1)
def _fold(data: Data, number: int) -> Split:
    """The last fold is kept, and with it the grid that was published of it."""
    return fold(data, number)


@lru_cache(maxsize=1)
def _published(split: Split, epsilon: float, seed: int) -> Any:
    model = PrivPfCClassifier(epsilon=epsilon, schema=split.schema, random_state=seed)
    return model.fit(split.train, split.labels)


@lru_cache(maxsize=1)
def _synthetic(split: Split, epsilon: float, seed: int) -> Any:
    real = split.train.assign(**{str(split.schema.label): split.labels})
    return publish(real, split.schema, epsilon=epsilon, method=SYNTHETIC, random_state=seed).to_frame(random_state=seed)
