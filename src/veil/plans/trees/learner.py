"""Learner: two decisions about every node of a tree, and the settings around them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import BadInput
from ...kernel import Budget, Source
from .branches import MOST_DEPTH, Cuts
from .growing import CUT_SCORES
from .sizes import MOST_TREES, growing

Facts = Mapping[str, float]
Stop = Callable[[Facts], bool]
Split = Callable[[Facts], str]
Rule = Callable[[Source, Cuts, float, Budget], int]  # of the source, its cuts, its noisy rows and the budget
RANDOM, STOP = "random", "stop"
WAYS = (RANDOM, *CUT_SCORES)  # to split


@dataclass(frozen=True)
class Learner:
    """A learner of trees: its two decisions, each a function of the facts about a node, and its settings.

    The facts: `depth` (cuts above the node), `levels` (cuts that may still follow), `height` (both together), `left`
    (epsilon left on the path), `unit` (epsilon of a choice), `candidates` (cuts that divide the node), `columns`,
    `widest` (branches of the widest cut), `classes`, `largest` (noisy share of the largest class among all rows), and
    `rows`: the noisy size of the node or, if only all rows were counted, those divided evenly over the branches on the
    path. The last two are missing if nothing was counted.

    The budget of a path has equal units: a private choice takes one, the sizes of a level `sizes`, a leaf `leaf` of
    them and whatever is left on its path.
    """

    stop: Stop
    split: Split
    depth: int | Rule = growing
    trees: int | Rule = 1
    counted: bool = True  # 3 % of the budget are for the class totals
    sizes: int = 0  # 0: the sizes of nodes are not asked for
    prune: str | None = None
    gathered: bool = False  # categories may be divided in groups, and a chosen cut may leave the node as it is
    handicap: float = 0.0  # score a cut must gain for each extra branch, in noise scales of all classes
    leaf: int = 1
    rooted: bool = False  # roots that are divided at random have every column once before any comes again

    def __post_init__(self) -> None:
        if isinstance(self.depth, int) and self.depth not in range(1, MOST_DEPTH + 1):
            raise BadInput(f"depth must be a whole number from 1 to {MOST_DEPTH}")
        if isinstance(self.trees, int) and self.trees not in range(1, MOST_TREES + 1):
            raise BadInput(f"trees must be a whole number from 1 to {MOST_TREES}")

    def decide(self, facts: Facts) -> str:
        """ "stop" (L1), or a way to split (L2). Raises BadInput for a way that does not exist."""
        way = STOP if self.stop(facts) else self.split(facts)
        if way not in (*WAYS, STOP):
            raise BadInput(f"there is no way {way!r} to split: choose one of {', '.join(WAYS)}")
        return way


class Decision(NamedTuple):
    """What was decided about a node, from which facts: "stop", or a way to split."""

    facts: Facts
    decided: str
