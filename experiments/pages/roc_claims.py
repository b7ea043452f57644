"""What the paper claims about private ROC curves, and whether it holds here, for docs/reproduction-roc.md."""

from collections.abc import Iterable
from typing import Any

import pyarrow.parquet

from .. import RESULTS
from ..papers.curves import EPSILONS, TEXTS
from ..papers.thresholds import EPSILONS as TRIED
from ..papers.thresholds import HALVINGS, METHODS, RUNS
from .findings import Finding, judged, listed

KEPT = RESULTS / "priroc-thresholds.parquet"
NAMES = {"sms_spam": "SMS", "sentiment140_20k": "sentiment"}
LITTLE = 1.5  # the largest area over the least, up to which the number of thresholds is said to matter little
Areas = dict[tuple[str, str, float], dict[str, Any]]


def claims(areas: Areas) -> str:
    """The section about the paper's claims, from table 1 and from the runs with other numbers of thresholds."""
    return "\n".join(["## The paper's claims", "", listed(findings(areas)), "", *_table(_by_parts())])


def findings(areas: Areas) -> list[Finding]:
    """Whether the claims hold here."""
    parts = _by_parts()
    return [
        _cells("Recursive medians are better than fixed spacing", areas, "recursive-medians", "fixed-space"),
        _cells("Fixed spacing is better than Laplace noise", areas, "fixed-space", "laplace"),
        _cells("Recursive medians are better than Laplace noise", areas, "recursive-medians", "laplace"),
        _few(parts),
        _little(parts),
    ]


def _cells(claim: str, areas: Areas, better: str, worse: str) -> Finding:
    """In how many cells of table 1 one method is better than another."""
    apart = [areas[data, better, e]["area"] - areas[data, worse, e]["area"] for data in TEXTS for e in EPSILONS]
    won, even = sum(one < 0 for one in apart), apart.count(0)
    shown = f"{won if won else 'none'} of {len(apart)} cells of table 1"
    same = f"; in {even} both areas are the same to three digits" if even else ""
    numbers = f"So in {shown}{same}."
    return Finding(claim, judged(won, len(apart), len(apart) - won - even), numbers)


def _by_parts() -> dict[tuple[str, str, float], dict[int, float]]:
    """The median areas by data set, method and epsilon, for each number of parts."""
    found: dict[tuple[str, str, float], dict[int, float]] = {}
    for row in pyarrow.parquet.read_table(KEPT).to_pylist():
        found.setdefault((row["data"], row["method"], row["epsilon"]), {})[row["parts"]] = row["area"]
    return found


def _few(parts: dict[tuple[str, str, float], dict[int, float]]) -> Finding:
    """Both methods at their best numbers of parts, beside Laplace noise at its best."""
    cells = [(data, epsilon) for data in TEXTS for epsilon in TRIED]
    best = {key: min(values.values()) for key, values in parts.items()}
    won = [
        sum(best[data, method, epsilon] < best[data, "laplace", epsilon] for data, epsilon in cells)
        for method in ("fixed-space", "recursive-medians")
    ]
    return Finding(
        "Both are better than Laplace noise at few thresholds, where that is best",
        judged(sum(won), 2 * len(cells)),
        f"Fixed spacing in {won[0]} and recursive medians in {won[1]} of {len(cells)} cells, each at its best number.",
    )


def _little(parts: dict[tuple[str, str, float], dict[int, float]]) -> Finding:
    ratios = {key: max(values.values()) / min(values.values()) for key, values in parts.items() if key[1] != "laplace"}
    held = sum(ratio <= LITTLE for ratio in ratios.values())
    return Finding(
        "The number of thresholds matters little",
        judged(held, len(ratios)),
        f"From 4 to 512 parts the largest area is up to {max(ratios.values()):.0f} times the least, at most "
        f"{LITTLE:g} times in {held} of {len(ratios)} cells.",
    )


def _table(parts: dict[tuple[str, str, float], dict[int, float]]) -> Iterable[str]:
    numbers = [2**depth for depth in HALVINGS]
    yield f"Made by `python -m experiments.papers.thresholds` (figure 8): medians of {RUNS} runs, the least bold."
    yield ""
    yield f"| data | method | epsilon | {' | '.join(f'{number} parts' for number in numbers)} |"
    yield "|" + " --- |" * (3 + len(numbers))
    for data in TEXTS:
        for method in METHODS:
            for epsilon in TRIED:
                values = parts[data, method, epsilon]
                least = min(values.values())
                cells = [f"**{values[n]:.3f}**" if values[n] == least else f"{values[n]:.3f}" for n in numbers]
                yield f"| {NAMES[data]} | {method} | {epsilon:g} | {' | '.join(cells)} |"
