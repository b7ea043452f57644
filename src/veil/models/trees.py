"""Private decision trees and forests as classifiers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..display import readable
from ..kernel.budget import Budget
from ..kernel.source import Source
from ..plans.finish import probabilities
from ..plans.trees import decision_tree, random_forest
from ..questions import WHOLE, Scorer, Tree
from .base import PrivateClassifier


class DecisionTreeClassifier(PrivateClassifier):
    """Classify by a tree: divide the rows again and again, by cuts chosen privately, and count classes in the leaves.

    `preset` is "veil", or a paper's way: "friedman-schuster", "mohammed". `depth` is the number of cuts on a path, at
    most (None: as the rows call for, or as in the paper).

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = DecisionTreeClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "tree"

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        preset: str = "veil",
        depth: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.preset = preset
        self.depth = depth

    def _plan(self, source: Source, budget: Budget) -> Scorer:
        return decision_tree(source, budget, preset=self.preset, depth=self.depth)

    def export_text(self) -> str:
        """The tree in words, a line for each branch: what leads there and, of a leaf, its class and how sure it is."""
        check_is_fitted(self)
        scorer: Any = self.scorer_
        classes = [str(self.classes_[place]) for place in np.argsort(self._order)]
        leaves = ((classes[shares.argmax()], shares.max()) for shares in probabilities(scorer.table))
        return "\n".join(_lines(scorer.partition, leaves))


def _lines(part: Any, leaves: Iterator[tuple[str, float]], indent: str = "") -> Iterator[str]:
    """A line for each branch of a part of a tree, and those below it; leaves come in the order of the cells."""
    cut = part.cut if isinstance(part, Tree) else part
    if not cut.axes:
        yield "{}all rows: {} ({:.2f})".format(indent, *next(leaves))
        return
    for number, name in enumerate(cut.axes[0].names):
        below = part.branches[number] if isinstance(part, Tree) else WHOLE
        start = f"{indent}{readable(cut.columns[0])} is {readable(name)}"
        if below == WHOLE:
            yield "{}: {} ({:.2f})".format(start, *next(leaves))
        else:
            yield start
            yield from _lines(below, leaves, indent + "    ")


class RandomForestClassifier(PrivateClassifier):
    """Classify by several trees, whose evidence is added up.

    `preset` is "veil", or a paper's way: "jagannathan", "patil-singh", "fletcher-islam". `trees` is how many there are
    and `depth` the number of cuts on a path, at most (None: as the rows call for, or as in the paper). With `apart`
    each tree has rows of its own, drawn at random.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = RandomForestClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "forest"

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        preset: str = "veil",
        depth: int | None = None,
        trees: int | None = None,
        apart: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.preset = preset
        self.depth = depth
        self.trees = trees
        self.apart = apart

    def _plan(self, source: Source, budget: Budget) -> Scorer:
        settings = {name: getattr(self, name) for name in ("preset", "depth", "trees", "apart")}
        return random_forest(source, budget, **settings)
