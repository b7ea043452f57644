"""What papers claim about range queries, and whether it holds here, for docs/ranges.md and docs/claims.md."""

from collections.abc import Iterator
from functools import cache

import pandas as pd

from .. import RESULTS
from .findings import HOLDS, NOT, Finding, judged
from .range_more import on_points
from .range_regret import OURS, geometric, kept
from .reproduction import table

CLAIMS = RESULTS / "range-claims.parquet"
NEAR, SAME = 1.1, 1.15  # times the best; the largest error over the smallest
MUCH, STUCK = 0.5, 0.1  # of the error: left at most by what helps much, and by what vanishes
BLIND = {"hierarchy", "identity", "quadtree"}  # whose questions do not depend on the rows
SMALL = 1_000  # signals up to this are small


def section() -> Iterator[str]:
    """The section of the page."""
    yield "\n## Claims\n"
    for found in findings():
        yield f"\n**{found.claim}**: {found.verdict}. {found.numbers}\n"
        if found == _size():
            yield _size_table()


def findings() -> list[Finding]:
    """All claims of Qardaji, Yang, Li and of DPBench."""
    return [*grids(), *benchmark()]


def grids() -> list[Finding]:
    """What Qardaji, Yang and Li claim about grids."""
    return [_adaptive(), _hierarchies(), _size(), _coarser()]


def benchmark() -> list[Finding]:
    """What DPBench finds."""
    return [_winners(), _consistency(), _exchanged()]


def _adaptive() -> Finding:
    flat = kept(("2D", "random"))
    found = _below(
        "Adaptive grids answer better than uniform ones (Qardaji, Yang, Li 2013)",
        {
            f"signal {s:,}": geometric(flat.loc[s, "adaptive-grid"] / flat.loc[s, "uniform-grid"])
            for s in signals_of(flat)
        },
        "error of the adaptive grid over that of the uniform one",
    )
    return found._replace(numbers=f"{found.numbers} {on_points()}")


def _hierarchies() -> Finding:
    """Whether a hierarchy leaves at most half of the error in one dimension, and more than half in two."""
    ratios = {
        (words, s): geometric(found.loc[s, "hierarchy"] / found.loc[s, "identity"])
        for words, found in (("one", kept(("1D", "random"))), ("two", kept(("2D", "random"))))
        for s in (1_000, 100_000)
    }
    held = sum((ratio <= MUCH) == (words == "one") for (words, _), ratio in ratios.items())
    each = "; ".join(f"{words}, {s:,}: {ratio:.2f}" for (words, s), ratio in ratios.items())
    return Finding(
        "Hierarchies help little in two dimensions, and much in one (Qardaji, Yang, Li 2013b)",
        judged(held, len(ratios)),
        f"The error of the hierarchy over that of the cells alone, much being {MUCH:g} or less: {each}.",
    )


def signals_of(found: pd.DataFrame) -> list[int]:
    return [int(signal) for signal in sorted(found.index.unique("signal"))]


def _below(claim: str, ratios: dict[str, float], words: str) -> Finding:
    """A claim, whether the ratios are below one, and the ratios."""
    below = sum(ratio < 1 for ratio in ratios.values())
    each = "; ".join(f"{name}: {ratio:.2f}" for name, ratio in ratios.items())
    many = f"So in {below} of {len(ratios)} cases. The {words}: {each}."
    return Finding(claim, judged(below, len(ratios)), many)


def _winners() -> Finding:
    """Which published method wins at which signal."""
    parts, names, early = [], set[str](), set[str]()
    for words, axes in (("One column", "1D"), ("Two columns", "2D")):
        published = kept((axes, "random")).drop(columns=OURS)
        wins = {s: published.loc[s].idxmin(axis=1).value_counts() for s in signals_of(published)}
        names |= {str(name) for counts in wins.values() for name in counts.index}
        early |= {str(name) for signal, counts in wins.items() if signal <= SMALL for name in counts.index}
        each = "; ".join(f"{s:,}: {', '.join(f'{n} {c}' for n, c in counts.items())}" for s, counts in wins.items())
        parts.append(f"{words}, histograms won by signal: {each}.")
    claim = "No published algorithm is best everywhere; data-dependent ones win at small signals (DPBench)"
    return Finding(claim, judged((len(names) > 1) + (not early & BLIND), 2, 0), " ".join(parts))


def _consistency() -> Finding:
    """Whether the error goes to zero with the signal."""
    found = kept(("1D", "random"))
    falls = {name: geometric(found.loc[1_000_000, name]) / geometric(found.loc[10_000, name]) for name in found}
    stuck = [f"{name} {ratio:.2f}" for name, ratio in falls.items() if ratio > STUCK]
    return Finding(
        "Some algorithms stay inconsistent: their error does not vanish as the signal grows (DPBench)",
        HOLDS if stuck else NOT,
        "Of a hundredfold signal (10,000 to 1,000,000, one column) these keep more than a tenth of their error: "
        f"{'; '.join(stuck) or 'none'}; for the others it is at most "
        f"{max(value for value in falls.values() if value <= STUCK):.3f}.",
    )


@cache
def _sizes() -> pd.DataFrame:
    """The errors of uniform grids on points, by epsilon and c: all, of noise and of uneven spread."""
    found = pd.read_parquet(CLAIMS)
    return found[found["kind"] == "size"].groupby(["epsilon", "factor", "part"])["rmse"].mean().unstack("part")


def _size() -> Finding:
    """Whether the recommended size of a uniform grid is near the best."""
    sizes = _sizes()
    best = sizes["all"].groupby("epsilon").idxmin().map(lambda key: key[1])
    recommended = {epsilon: sizes["all"][epsilon, 10] / sizes["all"][epsilon].min() for epsilon in best.index}
    said = "; ".join(
        f"epsilon {e:g}: {ratio:.2f} times the best, which is c = {best[e]:g}" for e, ratio in recommended.items()
    )
    return Finding(
        "A uniform grid of m x m blocks, m = sqrt(N epsilon / c) with c = 10, is near the best (the same)",
        judged(sum(ratio < NEAR for ratio in recommended.values()), len(recommended)),
        f"{said[:1].upper()}{said[1:]}. Cells of 128 x 128 bound m, and these points are less smooth than the rule "
        "assumes. Five sets of points, 100,000 rows, rectangles of six sizes.",
    )


def _size_table() -> str:
    lines = [
        [f"{epsilon:g}", f"{factor:g}", *(f"{row[part]:.2e}" for part in ("all", "noise", "uneven"))]
        for (epsilon, factor), row in _sizes().iterrows()
    ]
    return table(["epsilon", "c", "error", "of noise alone", "of uneven spread alone"], lines)


def _coarser() -> Finding:
    """Whether coarser blocks have less noise and a less even spread."""
    sizes = _sizes()
    epsilons = sizes.index.unique("epsilon")
    ends = {part: [(sizes[part][e, 1], sizes[part][e, 100]) for e in epsilons] for part in ("noise", "uneven")}
    falls = [fine > coarse for fine, coarse in ends["noise"]] + [fine < coarse for fine, coarse in ends["uneven"]]
    return Finding(
        "Coarser blocks trade noise for uneven spread within them (the same)",
        judged(sum(falls), len(falls)),
        f"From c = 1 to 100 noise falls and uneven spread grows: so in {sum(falls)} of {len(falls)} comparisons.",
    )


def _exchanged() -> Finding:
    """Whether the same signal gives the same error, however many rows it comes from."""
    found = pd.read_parquet(CLAIMS)
    same = found[found["kind"] == "same"].groupby(["method", "part"])["rmse"].mean().unstack("part")
    apart = same.max(axis=1) / same.min(axis=1)
    ratios = ", ".join(f"{method} {ratio:.2f}" for method, ratio in apart.items())
    return Finding(
        "Rows and epsilon can be exchanged: error depends on their product (DPBench)",
        judged(int((apart < SAME).sum()), len(apart)),
        "At signal 10,000, reached with 10,000, 100,000 or a million rows, the largest error over the smallest: "
        f"{ratios}.",
    )
