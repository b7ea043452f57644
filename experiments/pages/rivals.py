"""PrivPfC beside the methods that its paper compares with, for docs/reproduction.md."""

from collections.abc import Iterable

from ..papers.grids import EPSILONS, RIVAL_FOLDS, TABLES
from .reproduced import NAMES, OURS, RIVALS, errors, table


def rival_claims() -> Iterable[str]:
    """In how many cells PrivPfC is ahead of each rival, by the means of the folds that both have."""
    yield "\n![Shares of rows that PrivPfC and its rivals predict wrong](figures/reproduction-rivals.svg)\n"
    yield f"\nBeside its rivals, by the means over {RIVAL_FOLDS} folds: in how many of the cells that were run does "
    yield "PrivPfC predict fewer rows wrong, and in how many more:\n"
    found = [name for name in RIVALS if any(_leads(ours, name) for ours in OURS)]
    rows = [[NAMES[name], *(_by_means(ours, name) for ours in OURS)] for name in found]
    yield table(["rival", *(f"{NAMES[ours]}: fewer, more" for ours in OURS)], rows)
    worse = [f"{NAMES[name]} against {NAMES[ours]}" for name in found for ours in OURS if _loses(ours, name)]
    yield "\nPairs in which PrivPfC predicts more rows wrong in most cells, so that the claim does not hold: "
    yield f"{'; '.join(worse) or 'none'}.\n"


def _leads(ours: str, other: str) -> list[float]:
    """The mean difference of every cell that both have: below zero where PrivPfC predicts fewer rows wrong."""
    found = list[float]()
    for data in TABLES["privpfc"]:
        for epsilon in EPSILONS["privpfc"]:
            mine, theirs = errors(data, ours, epsilon), errors(data, other, epsilon)
            folds = sorted(mine.keys() & theirs.keys())
            found += [sum(mine[fold] - theirs[fold] for fold in folds) / len(folds)] if folds else []
    return found


def _by_means(ours: str, other: str) -> str:
    leads = _leads(ours, other)
    return f"{sum(lead < 0 for lead in leads)}, {sum(lead > 0 for lead in leads)}"


def _loses(ours: str, other: str) -> bool:
    leads = _leads(ours, other)
    return sum(lead > 0 for lead in leads) > sum(lead < 0 for lead in leads)
