"""PrivPfC beside the methods that its paper compares with, for docs/reproduction.md and docs/claims.md."""

from collections.abc import Iterable, Sequence
from itertools import product

from ..papers.grids import EPSILONS, RIVAL_FOLDS, TABLES
from .findings import HOLDS, NOT, Finding, judged, listed
from .reproduced import NAMES, OURS, RIVALS, Values, errors, mean, table

ALIKE = {  # PrivPfC's own reading, tree and machine, each with the rivals that read their answer in the same way
    "privpfc-tree": ("With a decision tree PrivPfC is the best", ("diffgen-tree", "projected-tree", "privbayes-tree")),
    "privpfc-svm": (
        "With a support vector machine PrivPfC is the best",
        ("diffgen-svm", "projected-svm", "privbayes-svm", "private-erm"),
    ),
}
MAJORITY = {"adult": 0.248, "bank_additional": 0.113}  # the error of always the larger class, as the paper has it
SHORT = {"projected-tree": "PPH, decision tree"}


def rival_claims() -> Iterable[str]:
    """In how many cells PrivPfC is ahead of each rival, by the means of the folds that both have."""
    yield "\n![Shares of rows that PrivPfC and its rivals predict wrong](figures/reproduction-rivals.svg)\n"
    yield f"\nBeside its rivals, by the means over {RIVAL_FOLDS} folds: in how many of the cells that were run does "
    yield "PrivPfC predict fewer rows wrong, and in how many more:\n"
    found = [name for name in RIVALS if any(leads(ours, name) for ours in OURS)]
    rows = [[NAMES[name], *(_by_means(ours, name) for ours in OURS)] for name in found]
    yield table(["rival", *(f"{NAMES[ours]}: fewer, more" for ours in OURS)], rows)
    worse = [f"{NAMES[name]} against {NAMES[ours]}" for name in found for ours in OURS if _loses(ours, name)]
    yield "\nPairs in which PrivPfC predicts more rows wrong in most cells, so that the claim does not hold: "
    yield f"{'; '.join(worse) or 'none'}.\n"
    yield f"\nLike with like:\n\n{listed(findings())}\n"


def findings() -> list[Finding]:
    """What the paper claims of its rivals, like with like, and of the larger class."""
    return [*(_best(ours, claim, rivals) for ours, (claim, rivals) in ALIKE.items()), _genes(), _larger(), _majority()]


def _best(ours: str, claim: str, rivals: Sequence[str]) -> Finding:
    """Whether PrivPfC predicts fewer rows wrong than every one of these in a cell."""
    least = [max(each) for each in zip(*(leads(ours, rival) for rival in rivals), strict=True)]
    held = sum(lead < 0 for lead in least)
    each = "; ".join(f"{SHORT.get(rival, NAMES[rival])} {ahead(ours, rival)}" for rival in rivals)
    return Finding(
        claim,
        judged(held, len(least), sum(lead > 0 for lead in least)),
        f"Fewer rows wrong than all such rivals in {held} of {len(least)} cells; than each of them: {each}.",
    )


def _genes() -> Finding:
    held, of = sum(ahead(ours, "privgene") for ours in OURS), sum(len(leads(ours, "privgene")) for ours in OURS)
    numbers = f"In {held} of {of} cells, with cells, tree and machine."
    return Finding("PrivPfC predicts fewer rows wrong than PrivGene", judged(held, of), numbers)


def _larger() -> Finding:
    held, of = sum(ahead(ours, "majority") for ours in OURS), sum(len(leads(ours, "majority")) for ours in OURS)
    numbers = f"In {held} of {of} cells, with cells, tree and machine."
    return Finding("PrivPfC predicts fewer rows wrong than the larger class", judged(held, of), numbers)


def _majority() -> Finding:
    found = {data: mean(errors(data, "majority", 1)) for data in MAJORITY}
    same = all(f"{found[data]:.3f}" == f"{said:.3f}" for data, said in MAJORITY.items())
    numbers = " and ".join(f"{value:.3f} on {data}" for data, value in found.items())
    said = f"Always the larger class is wrong for {MAJORITY['adult']} of Adult and about "
    return Finding(f"{said}{MAJORITY['bank_additional']} of Bank", HOLDS if same else NOT, f"Here {numbers}.")


def leads(ours: str, other: str) -> list[float]:
    """The mean difference of every cell that both have: below zero where PrivPfC predicts fewer rows wrong."""
    cells = product(TABLES["privpfc"], EPSILONS["privpfc"])
    pairs = ((errors(data, ours, epsilon), errors(data, other, epsilon)) for data, epsilon in cells)
    return [_difference(*pair) for pair in pairs if pair[0].keys() & pair[1].keys()]


def _difference(mine: Values, theirs: Values) -> float:
    folds = sorted(mine.keys() & theirs.keys())
    return sum(mine[fold] - theirs[fold] for fold in folds) / len(folds)


def ahead(ours: str, other: str) -> int:
    """The number of cells in which PrivPfC predicts fewer rows wrong."""
    return sum(lead < 0 for lead in leads(ours, other))


def _by_means(ours: str, other: str) -> str:
    return f"{ahead(ours, other)}, {sum(lead > 0 for lead in leads(ours, other))}"


def _loses(ours: str, other: str) -> bool:
    return sum(lead > 0 for lead in leads(ours, other)) > ahead(ours, other)
