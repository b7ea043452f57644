"""Five published learners of private trees again, as in a comparison of them (Imola and Yang 2018), and Veil's two.

Every number is one of twenty random 70/30 splits, as in `compare`; the number of the split is also the seed of the
noise. Variants say why results differ from what that comparison reports.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from veil.compare.data import Split
from veil.compare.methods import Method, Probabilities, here, in_order
from veil.kernel import Budget, Source
from veil.models import DecisionTreeClassifier, RandomForestClassifier
from veil.plans.run import opened, run
from veil.plans.trees.branches import Cuts, Node
from veil.plans.trees.growing import grow
from veil.plans.trees.pruning import PRUNE, add_up
from veil.plans.trees.trees import TREES, grow_forest, grow_tree

TABLES = ("hiv1625", "nursery", "cmc")
EPSILONS = (0.1, 0.2, 0.5, 1, 2)
SEEDS = 20
TREE_PRESETS = ("friedman-schuster", "mohammed")
PUBLISHED = (*TREE_PRESETS, "jagannathan", "patil-singh", "fletcher-islam")
OURS = {"tree": DecisionTreeClassifier, "forest": RandomForestClassifier}
DEPTHS = {"mohammed": (1, 2, 3), "jagannathan": (1, 2, 4)}
PRINTED, FRUGAL, LAX = "as printed", "friedman-schuster, leaves frugal", "friedman-schuster, test lax"
VARIED: dict[str, dict[str, Any]] = {
    FRUGAL: {"frugal": True},
    LAX: {"frugal": True, "demand": 0.5, "prune": None},
}
Predict = Callable[[Any], Probabilities]


def methods() -> Iterable[tuple[float, Method]]:
    """The learners and their variants, each with an epsilon."""
    for epsilon in EPSILONS:
        for name in PUBLISHED:
            yield epsilon, Method(name, partial(here, partial(_fitted, name, {})))
            yield epsilon, Method(printed(name), partial(here, partial(_printed, name)))
            for depth in DEPTHS.get(name, ()):
                yield epsilon, Method(deep(name, depth), partial(here, partial(_fitted, name, {"depth": depth})))
        for name, changes in VARIED.items():
            yield epsilon, Method(name, partial(here, partial(_varied, changes)))
        yield from ((epsilon, Method(name, partial(here, partial(_ours, name)))) for name in OURS)


def printed(preset: str) -> str:
    """The name of a learner whose trees answer and vote by their counts as its paper says."""
    return f"{preset}, {PRINTED}"


def deep(preset: str, depth: int) -> str:
    """The name of a learner with another depth than its rule says."""
    return f"{preset} depth={depth}"


def _fitted(preset: str, settings: dict[str, Any], split: Split, epsilon: float, seed: int) -> Predict:
    kind = OURS["tree" if preset in TREE_PRESETS else "forest"]
    return _fit(kind(epsilon=epsilon, schema=split.schema, random_state=seed, preset=preset, **settings), split)


def _ours(name: str, split: Split, epsilon: float, seed: int) -> Predict:
    return _fit(OURS[name](epsilon=epsilon, schema=split.schema, random_state=seed), split)


def _fit(model: Any, split: Split) -> Predict:
    model.fit(split.train, split.labels)
    return lambda rows: in_order(model.predict_proba(rows), model.classes_, split.schema.classes)


def _printed(preset: str, split: Split, epsilon: float, seed: int) -> Predict:
    def plan(source: Source, budget: Budget) -> Any:
        if preset in TREE_PRESETS:
            return [grow_tree(source, budget, preset=preset)[0]]
        return grow_forest(source, budget, preset=preset, depth=None, trees=None, apart=False)[0]  # type: ignore[index]

    return _asked(plan, VOTES[preset], split, epsilon, seed)


def _varied(changes: dict[str, Any], split: Split, epsilon: float, seed: int) -> Predict:
    """Friedman and Schuster's tree by changed rules, which answers by its counts."""

    def plan(source: Source, budget: Budget) -> list[Node]:
        rules, cuts = replace(TREES["friedman-schuster"], **changes), Cuts(source.schema)
        root = grow(source, budget, cuts, rules, rules.depth or 1, cuts.root())
        add_up(root)
        PRUNE[rules.prune](root)
        return [root]

    return _asked(plan, _counts, split, epsilon, seed)


def _asked(plan: Any, vote: Any, split: Split, epsilon: float, seed: int) -> Predict:
    """What trees say that a plan has grown, each leaf by what `vote` makes of the counts on its path."""
    rows = {**{name: split.train[name] for name in split.train}, str(split.schema.label): split.labels}
    budget = Budget(epsilon)
    roots = run(opened(rows, split.schema, budget, noise=seed), plan, budget).made

    def predict(rows: Any) -> Probabilities:
        codes = {"": np.zeros(len(rows), np.uint8), **split.schema.encode(rows, label=False)}
        said = [np.array([vote(path) for path in _paths(root)])[root.partition().cells(codes)] for root in roots]
        shares = np.max(said, axis=0) if vote is _surest else np.sum(said, axis=0)
        shares = np.maximum(shares, 0) + 1e-9
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    return predict


def _paths(node: Node, above: tuple[Node, ...] = ()) -> list[tuple[Node, ...]]:
    """The nodes from the root to each leaf."""
    path = (*above, node)
    return [below for branch in node.branches for below in _paths(branch, path)] if node.branches else [path]


def _counts(path: tuple[Node, ...]) -> npt.NDArray[np.float64]:
    """The released counts of the leaf."""
    return np.asarray(path[-1].counts, np.float64)


def _label(path: tuple[Node, ...]) -> npt.NDArray[np.float64]:
    """One vote for the largest class of the leaf."""
    return np.eye(len(path[-1].counts))[np.argmax(path[-1].counts)]


def _surest(path: tuple[Node, ...]) -> npt.NDArray[np.float64]:
    """For the largest class of the surest node on the path, how sure it is: the share of that class."""
    shares = [np.maximum(node.counts, 0) / max(np.maximum(node.counts, 0).sum(), 1e-9) for node in path]
    best = max(shares, key=np.max)
    return np.eye(len(best))[np.argmax(best)] * best.max()


VOTES = {
    "friedman-schuster": _counts,
    "mohammed": _counts,
    "jagannathan": _counts,
    "patil-singh": _label,
    "fletcher-islam": _surest,
}
