"""From trees with counts to a scorer: trees share a budget, are pruned, and their evidence is added up."""

from math import sqrt

import numpy as np

from ...kernel import Budget, Source
from ...questions import CellScores, Sum
from ..finish import LEAST_SHARE, Numbers, class_prior
from .branches import Node
from .pruning import PRUNE, add_up, class_shares

Forest = tuple[list[Node], list[float], Numbers]  # trees, their weights, the class shares of all rows


def shared(source: Source, budget: Budget, count: int, apart: bool) -> tuple[tuple[Source, ...], tuple[Budget, ...]]:
    """The source and budget of each tree: all rows and a share or, with `apart`, disjoint rows and all of it."""
    if apart:
        return source.split_at_random(*[1] * count), (budget,) * count
    return (source,) * count, budget.each(count)


def finished(roots: list[Node], prune: str | None) -> Numbers:
    """Add up the counts of all trees and prune them. Returns the class shares over all rows."""
    for root in roots:
        add_up(root)
    deviation = sqrt(sum(root.deviation**2 for root in roots)) / len(roots)
    prior = class_prior(sum(root.counts for root in roots) / len(roots), deviation)
    for root in roots:
        PRUNE[prune](root)
    return prior


def together(source: Source, roots: list[Node], prune: str | None) -> Forest:
    """All trees with one weight, smaller the more often a path uses each column; zero for a tree of one leaf, whose
    shares differ from those of all rows by noise alone."""
    often = sum(root.depth() for root in roots) / len(source.schema.features)
    prior = finished(roots, prune)
    return roots, [1 / max(often, 1.0) if root.branches else 0.0 for root in roots], prior


def added(roots: list[Node], weights: list[float], prior: Numbers) -> Sum:
    """A scorer: the prior plus, for each tree, its weight times log(class shares of the leaf / prior)."""
    start = np.log(prior)
    ratios = [weight * (logs(root, prior) - start) for root, weight in zip(roots, weights, strict=True)]
    scores = [ratio + start / len(roots) for ratio in ratios]
    return Sum(tuple(CellScores(root.partition(), table) for root, table in zip(roots, scores, strict=True)))


def alone(root: Node, prior: Numbers) -> CellScores:
    """A scorer of one tree: the logarithms of the class shares in the row's leaf."""
    return CellScores(root.partition(), logs(root, prior))


def logs(root: Node, prior: Numbers) -> Numbers:
    """The logarithms of the class shares of each leaf."""
    return np.asarray(np.log(np.maximum(np.array(class_shares(root, prior)), LEAST_SHARE)))
