"""A learner of trees with two open decisions (Imola, Yang 2018, figure 4.3): L1, stop here? L2, how to split?

    tree(rows, depth):
        if depth = 0 or stop(facts):                # L1
            leaf: noisy class counts
        else split(facts):                          # L2
            "random":                               a cut drawn by public coins
            "entropy", "gini", "majority":          a cut chosen privately by this score
            tree(branch, depth - 1) for each branch

The decisions see what is public by then: depth, epsilon, sizes of the schema, and noisy counts that were paid for
further up the path. What a published learner has beside them (number and depth of trees, pruning) is a setting.
"""

from math import sqrt

import numpy as np

from ...errors import BadInput
from ...kernel import Budget, Source
from ...questions import CellScores, Sum
from ..finish import class_prior
from ..sizing import Known, sized
from .branches import MOST_DEPTH, Cuts, Node
from .coins import MOST_LISTED
from .fronts import Growth
from .growing import LEAST_SCALE, Rules, room
from .learner import Decision, Facts, Learner, Rule, Split
from .sizes import first_columns, half_the_columns, one_a_column
from .together import added, alone, finished, shared, together
from .trees import SEED, check, check_budget

Noted = list[Decision] | None


def jostle_tree(
    source: Source, budget: Budget, learner: Learner, *, totals: Known = None, noted: Noted = None
) -> CellScores:
    """One tree, of a learner whose decisions are given.

    Budget: 3 % for the class totals, if the learner counts them and they are not known; of the rest, every path from
    root to leaf takes the whole, in units as the `Learner` says. What was decided is added to `noted`.

    Returns a scorer: the logarithms of the class shares in the row's leaf.
    """
    (root, *others) = grow_jostle(source, budget, learner, totals=totals, noted=noted)
    if others:
        raise BadInput("this learner grows several trees: use the forest")
    return alone(root, finished([root], learner.prune))


def jostle_forest(
    source: Source, budget: Budget, learner: Learner, *, apart: bool = False, totals: Known = None, noted: Noted = None
) -> Sum:
    """Several trees, whose log-likelihood ratios are added up.

    Budget: as of `jostle_tree`; each tree has an equal share or, with `apart`, rows of its own, drawn at random, and
    the whole.
    """
    roots = grow_jostle(source, budget, learner, apart=apart, totals=totals, noted=noted)
    return added(*together(source, roots, learner.prune))


def grow_jostle(
    source: Source, budget: Budget, learner: Learner, *, apart: bool = False, totals: Known = None, noted: Noted = None
) -> list[Node]:
    """The trees with counts in their leaves, before they are pruned."""
    cuts = _cuts(source, budget, learner, apart)
    counted, rest = sized(source, budget, totals) if learner.counted or totals else (None, budget)
    rows = max(float(counted.value.sum()), 1.0) if counted else None
    count = _number(learner.trees, source, cuts, rows, rest)
    places, parts = shared(source, rest, count, apart)
    rows, coins = rows / count if rows and apart else rows, np.random.default_rng(SEED)
    firsts = first_columns(source, count, coins) if learner.rooted else [None] * count
    levels = _number(learner.depth, source, cuts, rows, parts[0])
    unit = parts[0].epsilon / (levels * (1 + learner.sizes) + learner.leaf + learner.sizes)
    found, most = list[Node](), room(source, cuts)
    for place, part, first in zip(places, parts, firsts, strict=True):
        listed = min(most, MOST_LISTED - sum(len(root.leaves()) for root in found))
        growth = Growth(
            cuts, learner, levels, unit, max(most // count, listed), _about(source, cuts, counted), coins, first
        )
        found.append(growth.grow(place, part.epsilon, rows))
        (noted if noted is not None else []).extend(growth.decisions)
    return found


def _number(rule: int | Rule, source: Source, cuts: Cuts, rows: float | None, budget: Budget) -> int:
    return rule if isinstance(rule, int) else rule(source, cuts, rows or 1.0, budget)


def _about(source: Source, cuts: Cuts, counted: Known) -> dict[str, float]:
    """The facts about all rows that decisions may use: sizes of the schema and, if counted, the largest class."""
    schema = source.schema
    known = {"columns": len(schema.features), "widest": int(cuts.widths.max()), "classes": len(schema.classes)}
    if counted is None:
        return {**known}
    share = class_prior(counted.value[0].astype(np.float64), sqrt(2) * max(counted.noise_scale, LEAST_SCALE)).max()
    return {**known, "largest": float(share)}


def _cuts(source: Source, budget: Budget, learner: Learner, apart: bool) -> Cuts:
    """The candidate cuts. Raises BadInput, before any charge, for what cannot be grown or paid for."""
    depth, trees = (rule if isinstance(rule, int) else None for rule in (learner.depth, learner.trees))
    tested, leaf = bool(learner.sizes), learner.leaf + max(learner.sizes - 1, 0)
    rules = Rules("gini", depth, trees, tested=tested, gathered=learner.gathered, leaf=leaf)
    _, cuts = check(source, {"jostle": rules}, "jostle", None)
    check_budget(source, budget, rules, depth, 1 if apart else trees or 1)
    return cuts


def never(facts: Facts) -> bool:
    """L1: divide until the depth is reached (Mohammed et al., Jagannathan et al.)."""
    return False


def small(facts: Facts) -> bool:
    """L1: stop if an average class count of the widest cut's branches, by the noisy size of the node, does not exceed
    the noise of a unit (Friedman and Schuster, Patil and Singh)."""
    return facts["rows"] < facts["widest"] * facts["classes"] * sqrt(2) / facts["unit"]


def unsupported(facts: Facts) -> bool:
    """L1: stop if an even class count, by the rows that an even division would leave here, does not exceed its noise
    (Fletcher and Islam)."""
    return facts["rows"] <= facts["classes"] * sqrt(2) / facts["left"]


def always(way: str) -> Split:
    """L2: split in one way, whatever the facts."""
    return lambda facts: way


def as_fits(depth: int) -> Rule:
    """A depth, or less if a tree could have more leaves than there is room for."""
    return lambda source, cuts, rows, budget: min(depth, cuts.deepest(room(source, cuts)))


PUBLISHED = {
    "friedman-schuster": Learner(small, always("gini"), 5, counted=False, sizes=1, prune="errors"),
    "mohammed": Learner(never, always("entropy"), as_fits(4), counted=False),
    "jagannathan": Learner(never, always("random"), half_the_columns, trees=10),
    "patil-singh": Learner(small, always("entropy"), 5, trees=10, counted=False, sizes=1, prune="errors"),
    "fletcher-islam": Learner(
        unsupported, always("random"), MOST_DEPTH, trees=one_a_column, prune="noise", rooted=True
    ),
}
"""The five published learners: the same questions and answers as the presets of `trees`, but that random trees of more
leaves than can be listed end early here, and there are counted by paths."""
