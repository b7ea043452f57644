"""Private decision trees and forests as classifiers."""

from typing import Any

from ..choice.trees import jostle
from ..errors import BadInput
from ..kernel import Budget, Source
from ..plans.catalogue import presets
from ..plans.finding.search import Search
from ..plans.trees.jostle import jostle_tree
from ..plans.trees.learner import Decision
from ..plans.trees.trees import decision_tree, random_forest
from ..questions import Scorer
from .base import PrivateClassifier
from .displays import JOSTLE, export_text, tree_decisions


class DecisionTreeClassifier(PrivateClassifier):
    """Classify by a tree: divide the rows again and again, by cuts chosen privately, and count classes in the leaves.

    `preset` is "veil", or the method of a paper: "friedman-schuster", "mohammed", "sulq", or "jostle", which decides at
    every node whether to stop and how to split. `depth` is the largest number of cuts on a path, `criterion` the score
    that cuts are chosen by ("entropy", "gini" or "majority"), and `shares` are three whole numbers, the parts of a
    path's budget for the sizes of a level (0: they are not asked), for its choices, and for a leaf. None of them: as in
    the paper, or growing with the rows; preset "jostle" decides by itself, and has neither criterion nor shares.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = DecisionTreeClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "tree"
    search = Search()

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        preset: str = "veil",
        depth: int | None = None,
        criterion: str | None = None,
        shares: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.preset = preset
        self.depth = depth
        self.criterion = criterion
        self.shares = shares

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        if self.preset not in presets(self.method):
            raise BadInput(f"there is no preset {self.preset!r}: choose one of {', '.join(presets(self.method))}")
        if self.preset == JOSTLE:
            if (self.criterion, self.shares) != (None, None):
                raise BadInput(f"a tree of preset {JOSTLE!r} decides by itself: leave out criterion and shares")
            return jostle_tree(source, budget, jostle(self.depth), totals=totals)
        settings = {name: getattr(self, name) for name in ("preset", "depth", "criterion", "shares")}
        return decision_tree(source, budget, totals=totals, **settings)

    @property
    def decisions_(self) -> list[Decision]:
        """Of preset "jostle": what was decided about every node, level by level, and from which facts; made again from
        the released answers, so a model from a file has it too. Empty for other presets, which decide nothing."""
        return tree_decisions(self)

    def export_text(self, *, folded: bool = True) -> str:
        """The tree as text, a line for each branch: the values that lead there and its noisy rows; for a leaf also its
        class, the share of that class, and the rows of each class with standard errors. Dots stand for what is below a
        node that may be empty, unless `folded` is False."""
        return export_text(self, folded=folded)


class RandomForestClassifier(PrivateClassifier):
    """Classify by several trees, whose evidence is added up.

    `preset` is "veil", or the method of a paper: "jagannathan", "patil-singh", "fletcher-islam". `trees` is the number
    of trees and `depth` the largest number of cuts on a path (None: growing with the rows, or as in the paper). With
    `apart` each tree has rows of its own, drawn at random. `criterion` and `shares` are as those of
    `DecisionTreeClassifier`, for presets whose cuts are chosen: "veil" and "patil-singh".

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = RandomForestClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "forest"
    search = Search()

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
        criterion: str | None = None,
        shares: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.preset = preset
        self.depth = depth
        self.trees = trees
        self.apart = apart
        self.criterion = criterion
        self.shares = shares

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        settings = {name: getattr(self, name) for name in ("preset", "depth", "trees", "apart", "criterion", "shares")}
        return random_forest(source, budget, totals=totals, **settings)
