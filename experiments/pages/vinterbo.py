"""The claims of Vinterbo 2012 about projected histograms, for docs/reproduction.md and docs/claims.md."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import hypot

from ..papers.grids import COLUMNS, EPSILONS, PEERS, RULES, SHARES, TABLES, varied
from .findings import HOLDS, NOT, PART, Finding, judged
from .reproduced import SHAPES, Short, Values, estimated, less, mean, quality

NEAR = 0.02  # of the best, by what the page calls near
GENERAL = 4  # the number of columns that the paper finds good in general
PAPER = RULES[0]
AS_SAID, EVEN, OPPOSED = "as the paper says", "not told apart", "the other way round"
IN_ORDER, OUT_OF_ORDER = "in this order, but not told apart", "not in this order"


def verdict(difference: Short, sign: int) -> str:
    """Whether a difference has the sign that a paper says."""
    mean, margin = difference
    if abs(mean) <= margin:
        return EVEN
    return AS_SAID if mean * sign > 0 else OPPOSED


def direction(data: str) -> int:
    """The sign of the difference to PLR that the paper says: below zero with two classes."""
    return -1 if SHAPES[data][2] == 2 else 1


def leads(data: str, rules: str) -> list[Short]:
    """How far projected histograms are ahead of each PLR, at epsilon 1."""
    ours = quality(data, varied(rules))
    return [less(ours, quality(data, peer)) for peer in PEERS]


def rise(data: str, rules: str) -> Short:
    """How much more there is at the largest epsilon than at the smallest."""
    low, high = EPSILONS["projected"][0], EPSILONS["projected"][-1]
    return less(quality(data, varied(rules), high), quality(data, varied(rules), low))


def order(rises: Sequence[Short]) -> str:
    """Whether rises get smaller from one table to the next, and whether the first and the last can be told apart."""
    means = [rise for rise, _ in rises]
    (most, margin), (least, other) = rises[0], rises[-1]
    if means != sorted(means, reverse=True):
        return OUT_OF_ORDER
    return AS_SAID if most - least > hypot(margin, other) else IN_ORDER


def falls(data: str, rules: str) -> Iterable[tuple[float, float, Short]]:
    """The steps of epsilon at which a measure falls, by more than its interval."""
    for low, high in pairwise(EPSILONS["projected"]):
        step = less(quality(data, varied(rules), high), quality(data, varied(rules), low))
        if step[0] < -step[1]:
            yield low, high, step


def by_columns(data: str, rules: str) -> dict[int, Values]:
    """The measure by fold for each number of columns that was tried."""
    return {k: quality(data, varied(rules, k=k)) for k in COLUMNS if k <= SHAPES[data][1]}


def by_share(data: str, rules: str) -> dict[float, Values]:
    """The measure by fold for each share of the counts that was tried."""
    return {share: quality(data, varied(rules, gamma=share)) for share in SHARES}


def lost(ours: Values, tried: Iterable[Values]) -> float:
    """How far the mean is below the best that was tried."""
    return max(0.0, max(map(mean, tried)) - mean(ours))


def findings() -> list[Finding]:
    """The claims, judged by projected histograms with the rules of the paper."""
    few = [name for name in TABLES["projected"] if direction(name) < 0]
    many = [name for name in TABLES["projected"] if direction(name) > 0]
    return [
        _against("With two classes HLR loses against PLR", few),
        _against("With more than two classes HMLR beats PMLR", many),
        _rising(),
        _steeper(),
        _near_columns(),
        _near_share(),
    ]


def _against(claim: str, tables: list[str]) -> Finding:
    found = {
        f"{data}{', tuned' * place}": (lead, direction(data))
        for data in tables
        for place, lead in enumerate(leads(data, PAPER))
    }
    said = [verdict(lead, sign) for lead, sign in found.values()]
    numbers = "; ".join(f"{name}: {lead:+.3f} ± {margin:.3f}" for name, ((lead, margin), _) in found.items())
    return Finding(
        claim, judged(said.count(AS_SAID), len(said), said.count(OPPOSED)), f"AUC or M less that of PLR: {numbers}."
    )


def _rising() -> Finding:
    tables = TABLES["projected"]
    rises, steps = [rise(data, PAPER) for data in tables], [[*falls(data, PAPER)] for data in tables]
    held = sum(verdict(one, 1) == AS_SAID and not down for one, down in zip(rises, steps, strict=True))
    numbers = ", ".join(f"{data} {one:+.3f} ± {margin:.3f}" for data, (one, margin) in zip(tables, rises, strict=True))
    down = sum(map(len, steps))
    return Finding(
        "AUC rises with epsilon",
        judged(held, len(tables)),
        f"From {EPSILONS['projected'][0]:g} to {EPSILONS['projected'][-1]:g}: {numbers}; it falls at {down} of "
        f"{len(tables) * (len(EPSILONS['projected']) - 1)} steps.",
    )


def _steeper() -> Finding:
    rises = [rise(data, PAPER) for data in TABLES["projected"]]
    each = ", ".join(f"{lead:+.3f} ± {margin:.3f}" for lead, margin in rises)
    return Finding(
        "AUC rises more steeply for small tables",
        {AS_SAID: HOLDS, IN_ORDER: PART, OUT_OF_ORDER: NOT}[order(rises)],
        f"From the smallest table to the largest: {each}; {order(rises)}.",
    )


def _near_columns() -> Finding:
    found = {data: by_columns(data, PAPER) for data in TABLES["projected"]}
    losses = {data: lost(tried[GENERAL], tried.values()) for data, tried in found.items()}
    return _near(f"k = {GENERAL} columns are near the best in general", losses)


def _near_share() -> Finding:
    losses = {data: lost(quality(data, varied(PAPER)), by_share(data, PAPER).values()) for data in TABLES["projected"]}
    return _near("The estimated share for counts, gamma, is near the best", losses)


def _near(claim: str, losses: dict[str, float]) -> Finding:
    held = sum(loss <= NEAR for loss in losses.values())
    numbers = ", ".join(f"{data} {loss:.3f}" for data, loss in losses.items())
    return Finding(claim, judged(held, len(losses)), f"Behind the best that was tried: {numbers}; near is {NEAR:g}.")


def standing_of_estimate(data: str, rules: str) -> tuple[int, float]:
    """The number of columns that the rules estimate, and how far it is behind the best."""
    k, tried = estimated(data, rules)[0], by_columns(data, rules)
    return k, lost(tried[k], tried.values())
