"""Decision trees and forests: the presets of six papers and Veil's own, all on one way to grow trees.

Blum, Dwork, McSherry and Nissim, PODS 2005; Friedman and Schuster, KDD 2010; Mohammed, Barouti, Alhadidi and Chen,
2015; Jagannathan, Pillaipakkamnatt and Wright, 2009; Patil and Singh, 2014; Fletcher and Islam, 2015.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from ...errors import BadInput
from ...kernel import SMALLEST_EPSILON, Budget, Release, Source, whole
from ...questions import WHOLE, CellScores, Sum
from ..finish import Numbers, class_prior
from ..sizing import TO_SIZE, Known
from .branches import MOST_DEPTH, Cuts, Node
from .coins import MOST_LISTED, count_paths, deepest_drawn, draw, top_of, unlisted
from .growing import CUT_SCORES, LEAST_SCALE, Rules, give_counts, grow, room, settle
from .sizes import MOST_TREES, first_columns, growing, half_the_columns, one_a_column, rows_needed
from .together import Forest, added, alone, finished, shared, together

TREES = {
    "veil": Rules("gini", gathered=True, leaf=3, handicap=0.35),
    "friedman-schuster": Rules("gini", 5, tested=True, prune="errors"),
    "mohammed": Rules("entropy", 4),
    "sulq": Rules("entropy", 5, tested=True, counted=True),
}
FORESTS = {
    "veil": Rules("gini", trees=None, gathered=True, rooted=True, leaf=3, handicap=0.35),  # as the tree
    "jagannathan": Rules(None, trees=10),
    "patil-singh": Rules("entropy", 5, trees=10, tested=True, prune="errors"),
    "fletcher-islam": Rules(None, MOST_DEPTH, trees=None, support=True, prune="noise"),
}
SEED = 2009  # shapes drawn by coins are public, and the same for everyone
MOST_CODES = 1 << 23  # limit of the sum over columns of codes^2: candidates times codes
MOST_STUMPS = 900
APART = 6  # up to six columns evidence is added in full; with more, some is redundant
PLENTY = 10_000  # rows times epsilon from which a forest grows a tree over all columns


def decision_tree(
    source: Source,
    budget: Budget,
    *,
    preset: str = "veil",
    depth: int | None = None,
    criterion: str | None = None,
    shares: Sequence[int] | None = None,
    totals: Known = None,
) -> CellScores:
    """Divide the rows again and again, by cuts chosen privately, and publish class counts in the leaves.

    Budget: by "veil", 3 % for the number of rows (nothing if class `totals` are known), from which the depth d follows;
    of the rest one part of d + 3 for the
    choices of a level. By "friedman-schuster", one part of 2 (d + 1) for the choices of a level and one for the sizes
    of its nodes; by "sulq" the same, but the part for choices is divided between all columns, whose counts tell the
    best; by "mohammed", one of d + 1 for the choices. A leaf takes what is left on its path. `shares` are other parts:
    for the sizes of a level (0: they are not asked), for its choices, and for a leaf. `criterion` is another score to
    choose by: "entropy", "gini" or "majority".

    Returns a scorer: the logarithms of the class shares in the row's leaf.
    """
    how = {"preset": preset, "depth": depth, "criterion": criterion, "shares": shares}
    return alone(*grow_tree(source, budget, totals=totals, **how))


def grow_tree(
    source: Source,
    budget: Budget,
    *,
    preset: Any = "veil",
    depth: Any = None,
    criterion: Any = None,
    shares: Any = None,
    totals: Known = None,
) -> tuple[Node, Numbers]:
    """The tree of `decision_tree` with the counts of its nodes, and the class shares over all rows."""
    presets = {preset: adjusted(TREES[preset], criterion, shares)} if preset in TREES else TREES
    rules, cuts = check(source, presets, preset, depth)
    check_budget(source, budget, rules, depth, 1)
    rows, rest = _rows(source, budget, rules, depth, totals)
    root = grow(source, rest, cuts, rules, _depth(source, cuts, rules, depth, rows, rest), cuts.root())
    return root, finished([root], rules.prune)


def random_forest(
    source: Source,
    budget: Budget,
    *,
    preset: str = "veil",
    depth: int | None = None,
    trees: int | None = None,
    apart: bool = False,
    criterion: str | None = None,
    shares: Sequence[int] | None = None,
    totals: Known = None,
) -> Sum:
    """Several trees, whose log-likelihood ratios are added up.

    Budget: 3 % for the number of rows, if depth or trees follow from it and class `totals` are not known. The rest is
    divided equally between the trees; with `apart` each has rows of its own, drawn at random, and all of the rest. A
    tree whose cuts are drawn by public coins ("jagannathan", "fletcher-islam") pays for the counts in its leaves alone;
    others as `decision_tree`. By "veil" every column has a tree of its own with a single cut; `trees` (one if rows
    times epsilon are 10,000 or more, else none) are grown over all columns and share half of the budget. `criterion`
    and `shares` are as those of `decision_tree`, for trees whose cuts are chosen.

    Returns a scorer, a sum over the trees: log(class shares in the row's leaf / those of all rows), weighted less the
    more often a path uses each column.
    """
    how = {"preset": preset, "depth": depth, "trees": trees, "apart": apart, "criterion": criterion, "shares": shares}
    made = grow_forest(source, budget, totals=totals, **how)
    return made if isinstance(made, Sum) else added(*made)


def grow_forest(
    source: Source,
    budget: Budget,
    *,
    preset: Any,
    depth: Any,
    trees: Any,
    apart: Any,
    criterion: Any = None,
    shares: Any = None,
    totals: Known = None,
) -> Forest | Sum:
    """The trees of `random_forest`, their weights and the class shares over all rows; a scorer, if the trees are too
    large to be built of Node objects."""
    presets = {preset: adjusted(FORESTS[preset], criterion, shares)} if preset in [*FORESTS] else FORESTS
    rules, cuts = check(source, presets, preset, depth, trees, apart)
    check_budget(source, budget, rules, depth, 1 if apart else trees or rules.trees or 1)
    if rules.rooted:
        return _by_column(source, budget, cuts, rules, depth, trees, totals)
    if rules.score is None:
        return _by_coins(source, budget, cuts, rules, depth, trees, apart, totals)
    roots = [cuts.root() for _ in range(trees or rules.trees or 1)]
    rooms, parts = shared(source, budget, len(roots), apart)
    for root, place, part in zip(roots, rooms, parts, strict=True):
        grow(place, part, cuts, rules, _depth(source, cuts, rules, depth, 1.0, part), root)
    return together(source, roots, rules.prune)


def _by_coins(
    source: Source,
    budget: Budget,
    cuts: Cuts,
    rules: Rules,
    depth: int | None,
    trees: int | None,
    apart: bool,
    totals: Known,
) -> Forest | Sum:
    """Random trees, each with counts in all its leaves or, if these are too many, in those above a threshold."""
    counted, rest = (totals, budget) if totals else _classes(source, budget, cuts, rules, depth, trees)
    rows = max(float(counted.value.sum()), 1.0) if counted else 1.0
    count = trees or rules.trees or one_a_column(source, cuts, rows, rest)
    rooms, parts = shared(source, rest, count, apart)
    rows = rows / count if apart else rows
    depth = depth or rules.depth or half_the_columns(source, cuts, rows, rest)
    roots = _draw(source, cuts, rules, depth, rows, parts[0], count)
    if roots is None and counted is not None:
        return _unlisted(source, rooms, parts, counted, rules, depth, rows)
    assert roots is not None  # without a count of all rows no tree can be that large
    for root, place, part in zip(roots, rooms, parts, strict=True):
        settle(place, root, root.leaves(), part)
    return together(source, roots, rules.prune)


def _classes(
    source: Source, budget: Budget, cuts: Cuts, rules: Rules, depth: int | None, trees: int | None
) -> tuple[Release[Any] | None, Budget]:
    """The noisy rows of each class, if a rule needs them or trees may be too large for Node objects, else None; and the
    budget that is left."""
    count = trees or rules.trees or MOST_TREES
    if depth is not None and not rules.support and count * cuts.most_leaves(depth) <= MOST_LISTED:
        return None, budget
    to_size, rest = budget.split(TO_SIZE, 100 - TO_SIZE)
    return source.count(WHOLE, to_size), rest


def _unlisted(
    source: Source,
    rooms: tuple[Source, ...],
    parts: tuple[Budget, ...],
    counted: Release[Any],
    rules: Rules,
    depth: int,
    rows: float,
) -> Sum:
    """A scorer from random trees with any number of leaves: an unreleased leaf has its counted ancestor's shares."""
    prior = class_prior(counted.value[0].astype(np.float64), sqrt(2) * max(counted.noise_scale, LEAST_SCALE))
    needed = rows_needed(source, parts[0]) if rules.support else 0.0
    firsts = _firsts(source, rules, len(parts), np.random.default_rng(SEED))
    drawn = [
        unlisted(source.schema, depth, rows, needed, first, 1000 * SEED + number) for number, first in enumerate(firsts)
    ]
    half = rows_needed(source, Budget(parts[0].epsilon / 2))
    tops = [top_of(tree, rows, half, MOST_LISTED // len(parts)) for tree in drawn]
    often = sum(top.depth for top in tops) / len(source.schema.features)
    weight, start = 1 / max(often, 1.0), np.log(prior) / len(parts)
    asked = zip(rooms, drawn, tops, parts, strict=True)
    return Sum(tuple(count_paths(place, tree, top, part, prior, weight, start) for place, tree, top, part in asked))


def _by_column(
    source: Source, budget: Budget, cuts: Cuts, rules: Rules, depth: int | None, trees: int | None, totals: Known
) -> Forest:
    """A tree with one cut for each column and, with half of the budget and weight, trees grown over all columns."""
    rows, budget = _rows(source, budget, rules, depth, totals)
    signal = rows * float(source.per_row(budget))
    count = int(signal >= PLENTY) if trees is None else trees
    to_grow, to_count = budget.each(2) if count else (None, budget)
    grown = [cuts.root() for _ in range(count)]
    for root, part in zip(grown, to_grow.each(count) if to_grow else (), strict=True):
        grow(source, part, cuts, rules, _depth(source, cuts, rules, depth, rows, part), root)
    stumps = [cuts.root() for _ in cuts.roots]
    for stump, cut in zip(stumps, cuts.roots, strict=True):
        cuts.divide(stump, cut)
    for stump, release in zip(stumps, source.count_each([s.partition() for s in stumps], to_count), strict=True):
        give_counts(stump.leaves(), release, stump.leaves())
    weights = [*[1 / (2 * count) for _ in grown], *[1 / 2 if count else 1.0] * len(stumps)]
    roots, calm = [*grown, *stumps], sqrt(APART / max(len(weights), APART))
    weights = [calm * weight * _trust(root, rows) for root, weight in zip(roots, weights, strict=True)]
    return roots, weights, finished(roots, rules.prune)


def _trust(root: Node, rows: float) -> float:
    """The weight of a tree: the square root of average leaf count over noise, at most one."""
    leaves = root.leaves()
    return sqrt(min(rows / (len(leaves) * len(leaves[0].counts) * leaves[0].deviation), 1.0))


def _draw(
    source: Source, cuts: Cuts, rules: Rules, depth: int, rows: float, budget: Budget, count: int
) -> list[Node] | None:
    """The random trees, before anything is asked; None if together they have too many leaves for Node objects."""
    coins, needed = np.random.default_rng(SEED), rows_needed(source, budget) if rules.support else 0.0
    roots, most = list[Node](), MOST_LISTED
    for first in _firsts(source, rules, count, coins):
        root = draw(cuts, depth, rows, needed, first, coins, most)
        if root is None:
            return None
        roots.append(root)
        most -= len(root.leaves())
    return roots


def _rows(source: Source, budget: Budget, rules: Rules, depth: int | None, totals: Known) -> tuple[float, Budget]:
    """The noisy number of rows (1 if no rule needs it), and the budget that is left."""
    if totals is not None:
        return max(float(totals.value.sum()), 1.0), budget
    if (rules.depth or depth) and rules.trees and not rules.support:
        return 1.0, budget
    to_size, rest = budget.split(TO_SIZE, 100 - TO_SIZE)
    return max(float(source.count(WHOLE, to_size, by_class=False).value[0, 0]), 1.0), rest


def _firsts(source: Source, rules: Rules, count: int, coins: np.random.Generator) -> Sequence[str | None]:
    """The column of each root: with `support` every column once before any comes again, else None (drawn later)."""
    return first_columns(source, count, coins) if rules.support else [None] * count


def _depth(source: Source, cuts: Cuts, rules: Rules, depth: int | None, rows: float, budget: Budget) -> int:
    """The depth of a tree: as given, as the preset says, or growing with the logarithm of rows times epsilon."""
    fits = MOST_DEPTH if rules.tested or rules.gathered else cuts.deepest(room(source, cuts))
    if depth is not None or rules.depth is not None:
        return min(depth or rules.depth or 1, fits)
    return growing(source, cuts, rows, budget)


def check_budget(source: Source, budget: Budget, rules: Rules, depth: int | None, trees: int) -> None:
    """Raise BadInput, before any charge, for more trees or levels than the budget can pay for; says what would fit."""
    levels = (depth or rules.depth or 1) if rules.score else 0
    of_level, of_leaf = rules.split * _dearest(source, rules) + rules.test, rules.leaf + rules.test
    affordable = int(source.per_row(budget) / SMALLEST_EPSILON)  # units of the smallest epsilon that the budget has
    if trees * (levels * of_level + of_leaf) <= affordable or affordable < of_level + of_leaf:
        return  # a budget too small for a single cut is refused by the first question
    fits = [f"{affordable // (levels * of_level + of_leaf)} trees"] if trees > 1 else []
    fits += [f"a depth of {max((affordable // trees - of_leaf) // of_level, 0)}"] if levels else []
    raise BadInput(f"the budget pays for {' or '.join(fits)} at most: use a larger one, or less of them")


def _dearest(source: Source, rules: Rules) -> int:
    """The parts into which a choice is divided."""
    return len(source.schema.features) if rules.counted else 1


def adjusted(rules: Rules, criterion: Any, shares: Any) -> Rules:
    """The rules with another score, or other shares of a path. Raises BadInput for what cannot be."""
    if criterion is None and shares is None:
        return rules
    if rules.score is None:
        raise BadInput("the cuts of this preset are drawn by coins: it has no criterion, and no shares of a path")
    if criterion not in (None, *CUT_SCORES):
        raise BadInput(f"there is no criterion {criterion!r}: choose one of {', '.join(CUT_SCORES)}")
    rules = replace(rules, score=criterion or rules.score)
    if shares is None:
        return rules
    if not isinstance(shares, Sequence) or isinstance(shares, str) or len(shares) != 3:
        raise BadInput("shares must be three whole numbers: for sizes (or 0), for choices, and for a leaf")
    stop, split, leaf = (whole(share, "a share", least, 100) for share, least in zip(shares, (0, 1, 1), strict=True))
    return replace(rules, tested=stop > 0, stop=stop, split=split, leaf=leaf)


def check(
    source: Source, presets: dict[str, Rules], preset: Any, depth: Any, trees: Any = None, apart: Any = False
) -> tuple[Rules, Cuts]:
    """The rules of a preset, and the candidate cuts. Raises BadInput before anything is charged."""
    if source.schema.label is None or not source.schema.features:
        raise BadInput("a tree needs a label, and a column besides it to divide by")
    if preset not in [*presets]:
        raise BadInput(f"there is no preset {preset!r}: choose one of {', '.join(presets)}")
    if trees is not None and trees not in range(1, MOST_TREES + 1):
        raise BadInput(f"trees must be a whole number from 1 to {MOST_TREES}")
    if depth is not None and depth not in range(1, MOST_DEPTH + 1):
        raise BadInput(f"depth must be a whole number from 1 to {MOST_DEPTH}")
    rules = presets[preset]
    if rules.rooted and len(source.schema.features) > MOST_STUMPS:
        raise BadInput(f"a forest can have trees for {MOST_STUMPS} columns at most: leave some out of the schema")
    if apart and rules.rooted:
        raise BadInput(f"the trees of preset {preset!r} share all rows: choose another preset, or apart=False")
    if sum(column.size**2 for column in source.schema.features) > MOST_CODES:
        raise BadInput("the columns have too many values for a tree: use fewer bins or values, or leave some out")
    cuts = Cuts(source.schema, rules.gathered)
    most = room(source, cuts)
    if most < 2:
        raise BadInput("a column has too many values to choose by: declare groups of them, or leave it out")
    if depth is not None and rules.score is None and depth > deepest_drawn(source.schema):
        raise BadInput(
            f"a random tree over columns this wide can be {deepest_drawn(source.schema)} levels deep at most"
        )
    if depth is not None and rules.score and not (rules.tested or rules.gathered) and cuts.most_leaves(depth) > most:
        raise BadInput(
            f"a tree of depth {depth} may have {cuts.most_leaves(depth):,} leaves, more than {most:,}: "
            f"use a depth of at most {cuts.deepest(most)}"
        )
    return rules, cuts
