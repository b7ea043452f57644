"""HB: counts of a tree of ranges with the best number of branches (Qardaji, Yang and Li 2013b), made consistent (Hay,
Rastogi, Miklau and Suciu 2010)."""

from math import isqrt

from ...kernel import Budget, Source
from .domain import Domain, Integers, numbered
from .layers import Layers
from .spread import Spread


def hierarchy(source: Source, budget: Budget, domain: Domain) -> Spread:
    """Count the nodes of every level of a tree, but for its root, and reconcile the levels.

    All axes are cut into the number of parts that is best for a line of as many cells as there are in all: in two
    dimensions fewer levels are better, since the border of a range has many nodes.

    Budget: an equal share for each level, in which every row lies in one node.
    """
    layers = Layers(domain)
    layers.count(source, budget, levels(domain.along, domain.shape, branches(domain.size)))
    return layers.spread()


def branches(cells: int) -> int:
    """The number of branches for which a range has the least variance on average, by their equation 3.

    Above the root of the number of cells there are two levels, the fewer branches the better, until there is one level.
    """
    candidates = [*range(2, isqrt(cells) + 2), max(cells, 2)]
    best: int = min(candidates, key=lambda many: _variance(height(cells, many), many))
    return best


def _variance(levels: int, many: int) -> int:
    cube, square = levels * levels * levels, levels * levels
    return 3 * (many - 1) * cube - 2 * (many + 1) * square


def height(cells: int, many: int) -> int:
    """The levels of a tree with this many branches, until cells stand alone; at least one."""
    levels, reached = 1, many
    while reached < cells:
        levels, reached = levels + 1, reached * many
    return levels


def levels(along: list[Integers], shape: tuple[int, ...], many: int) -> list[Integers]:
    """The node of each cell at every level below the root: each axis is cut into `many` parts again and again, as equal
    as can be; an axis whose cells stand alone is left as it is."""
    found = []
    for level in range(1, height(max(shape), many) + 1):
        parts = [min(many**level, size) for size in shape]
        found.append(numbered([place * part // size for place, part, size in zip(along, parts, shape, strict=True)]))
    return found
