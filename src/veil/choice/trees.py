"""The decisions inside a tree (Imola, Yang 2018, figure 4.3) as two ChoiceMakers: L1, stop here? L2, how to split?

Their formulas were proposed by synthesis from traces of public databases: `python -m experiments.choice.trees learn`
makes and prints them, and docs/guide/choice-trees.md tells what they are worth.
"""

from ..plans.trees.learner import STOP, WAYS, Learner
from ..plans.trees.learner import Rule as Number
from ..plans.trees.sizes import growing
from .maker import ChoiceMaker
from .options import Option
from .synthesis import Formula, Rule

DIVIDE = "divide"
TO_SPLIT = Rule("gini", "majority", Formula((("height", 1), ("largest", 1)), 2.6))
TO_STOP = Rule(DIVIDE)


def stopping(rule: Rule = TO_STOP) -> ChoiceMaker:
    """L1, by a rule whose options are "divide" and "stop"."""
    return ChoiceMaker([Option(name, predict=rule.predict(name)) for name in (DIVIDE, STOP)])


def splitting(rule: Rule = TO_SPLIT) -> ChoiceMaker:
    """L2, by a rule whose options are the ways to split."""
    return ChoiceMaker([Option(name, predict=rule.predict(name)) for name in WAYS])


def jostle(
    depth: int | None = None,
    trees: int | Number = 1,
    *,
    stop: ChoiceMaker | None = None,
    split: ChoiceMaker | None = None,
) -> Learner:
    """The learner of preset "jostle": Veil's own tree with both decisions made at every node.

    What lies outside the decisions is as in Veil's tree: class totals for 3 %, groups of categories, leaves of three
    units. `stop` and `split` replace the decisions; `depth` is the largest number of cuts on a path (None: growing with
    the rows).
    """
    first, second = stop or stopping(), split or splitting()
    return Learner(
        lambda facts: first.pick(facts) == STOP,
        second.pick,
        depth or growing,
        trees,
        gathered=True,
        handicap=0.35,
        leaf=3,
    )
