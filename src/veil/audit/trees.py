"""Audits of a tree with decisions inside: the whole model, and a decision that looks at rows for nothing."""

from collections.abc import Iterator
from typing import Any

from ..kernel import Budget, Source
from ..models import DecisionTreeClassifier
from ..plans.trees.jostle import always, jostle_tree
from ..plans.trees.learner import Learner
from ..questions import WHOLE, Scorer
from .harness import Case
from .models import VIEWS, fitting
from .pairs import pair
from .tables import EMPTY, LONE


def trees() -> Iterator[Case]:
    """Presets "jostle" and "sulq" and twins that do not divide their budget; a stop by exact sizes and by paid ones."""
    runs: dict[str, Any] = {"quick": 1_000, "deep": 10_000, "views": VIEWS}
    tables = (EMPTY, LONE)
    yield from pair("undivided jostle tree", 2, tables, fitting(_Undivided), fitting(_Jostle), **runs)
    yield from pair("undivided SuLQ tree", 2, tables, fitting(_UndividedColumns), fitting(_SuLQ), **runs)
    yield from pair("stop by exact counts", 2, tables, fitting(_Peeking), fitting(_Paying), **runs)


class _Jostle(DecisionTreeClassifier):
    """The tree of preset "jostle"."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return DecisionTreeClassifier(preset="jostle")._plan(source, budget, totals)


class _Undivided(_Jostle):
    """NOT PRIVATE: a tree with decisions inside of which every level takes what all of them may."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 3), totals)


class _SuLQ(DecisionTreeClassifier):
    """The tree of preset "sulq", two levels deep."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return DecisionTreeClassifier(preset="sulq", depth=2)._plan(source, budget, totals)


class _UndividedColumns(_SuLQ):
    """NOT PRIVATE: counts of every column at every level, each of which takes what all of them may."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(budget.epsilon * 6), totals)


class _Paying(DecisionTreeClassifier):
    """A tree that stops where the noisy size of a node, paid for at every level, is below one row."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        learner = Learner(lambda facts: facts["rows"] < 1, always("gini"), 1, counted=False, sizes=1)
        return jostle_tree(source, budget, learner, totals=totals)


class _Peeking(DecisionTreeClassifier):
    """NOT PRIVATE: a tree that stops where there is no row, as it sees by an exact count that nobody pays for.

    Metafeatures as in Imola and Yang (2018): with no row the tree is never divided, with one it always is.
    """

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        rows = int(source._table.tabulate(WHOLE).sum())
        learner = Learner(lambda facts: rows < 1, always("gini"), 1, counted=False)
        return jostle_tree(source, budget, learner, totals=totals)
