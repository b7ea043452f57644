"""What else docs/ranges.md says, all of it computed: widths over all signals, each half of the histograms, PrivTree's
place, points alone, and what a ratio to a sketch is worth beside that of another method."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from .. import RESULTS
from ..ranges import POINTS
from .range_regret import OURS, WORKLOADS, fair, geometric, hindsight, kept
from .range_sketches import CELLS, SKETCHES, _ratios, measured
from .reproduction import table

PRIVTREE = RESULTS / "range-privtree.parquet"
RIGHT = (0.93, 0.97)
WIDTHS = """
**By width, over all signals.** Of {many} widths of the four domains {inside} are held 93 to 97 times in 100. {outside}
Of intervals that hold a whole number other than 0 alone, {inside_some} of {many} are{outside_some}.
"""
HALVES = """
The same by half of the histograms, every second one by name: the regret of `{ours}` in hindsight, and the fair one.

"""
NOT_OURS = """
**PrivTree (Zhang, Xiao, Xie 2016)** is not in Veil: its tests of whether a node is split are noisy in a way that needs
a proof of its own. As a sketch (floating point, exact tables, the same draws of the rows, 20 trials) its error over
that of `{ours}` is

"""
PLACE = """
It is the best of all in {wins} of {cells} cells of workload, histogram and signal. With it among the methods that
hindsight may choose from, the regret of `{ours}` in the six workloads is {regrets}.
"""
APART = """
**`{ours}` with 1,024 cells at rows x epsilon of 10,000.** Its error is {tree:.2f} times that of its sketch, but that of
`hierarchy`, which has the same noise wherever the rows lie, is {other:.2f} times that of its own sketch there. Rows and
ranges were drawn anew for both. Over `hierarchy`, `{ours}` has {now:.3f} of the error, where the sketches had
{then:.3f}: {worse:.2f} times as much, which is {errors:.1f} standard errors from 1.
"""


def widths(found: pd.DataFrame) -> str:
    """How many widths are covered as they should be over all signals, and which are not."""
    found = found[found["halvings"] > 0]
    every, some = (one.groupby(["axes", "halvings"])["held"].mean() for one in (found, found[found["some"]]))
    beyond, rest = (held[~held.between(*RIGHT)] for held in (every, some))
    return WIDTHS.format(
        many=len(every),
        inside=len(every) - len(beyond),
        outside=f"The others: {_named(beyond)}. An empty range is held for certain." if len(beyond) else "",
        inside_some=len(some) - len(rest),
        outside_some=f"; what remains: {_named(rest)}" if len(rest) else "",
    )


def _named(held: pd.Series) -> str:
    return "; ".join(
        f"{CELLS[axes]} cells, width 1/{1 << int(width)}: {100 * value:.2f}" for (axes, width), value in held.items()
    )


def by_half() -> Iterator[str]:
    """The regret on every second histogram and on the rest."""
    yield HALVES.format(ours=OURS)
    lines = []
    for kind, words in WORKLOADS.items():
        regret, just = hindsight(kept(kind))[OURS], fair(kind)
        names = sorted(regret.index.unique("table"))
        halves = names[::2], names[1::2]
        lines.append([words, *(f"{geometric(_of(one, half)):.2f}" for half in halves for one in (regret, just))])
    yield table(["workload", "first half", "fair", "second half", "fair"], lines)


def _of(values: Any, names: Sequence[str]) -> Any:
    return values[values.index.get_level_values("table").isin(names)]


def privtree() -> Iterator[str]:
    """The place of PrivTree's sketch among the methods."""
    sketch = pd.read_parquet(PRIVTREE).groupby(["axes", "workload", "signal", "table"])["rmse"].mean()
    lines, regrets, wins, cells = [], list[str](), 0, 0
    for kind, words in WORKLOADS.items():
        found = kept(kind).assign(privtree=sketch.loc[kind])
        ratios = (found["privtree"] / found[OURS]).groupby("signal").apply(geometric)
        lines.append([words, *(f"{ratio:.2f}" for ratio in ratios)])
        regrets.append(f"{geometric(hindsight(found)[OURS]):.3f}")
        wins, cells = wins + int((found.idxmin(axis=1) == "privtree").sum()), cells + len(found)
    yield NOT_OURS.format(ours=OURS)
    yield table(
        ["workload", *(f"{signal:,}" for signal in sorted(kept(("1D", "random")).index.unique("signal")))], lines
    )
    yield PLACE.format(ours=OURS, wins=wins, cells=cells, regrets=", ".join(regrets))


def on_points() -> str:
    """A sentence on adaptive and uniform grids, on the sets of points alone."""
    found = _of(kept(("2D", "random")), POINTS)
    ratios = (found["adaptive-grid"] / found["uniform-grid"]).groupby("signal").apply(geometric)
    listed = "; ".join(f"signal {signal:,}: {ratio:.2f}" for signal, ratio in ratios.items())
    below = int((ratios < 1).sum())
    return f"On the {len(POINTS)} sets of points alone so in {below} of {len(ratios)} cases: {listed}."


def small_line() -> str:
    """What sets the tree apart from its sketch with 1,024 cells, beside the hierarchy there."""
    axes, signal = "1D-small", 10_000
    (tree, error), (other, doubt) = (
        _ratios(measured().loc[(axes, method)], SKETCHES[axes][method])[signal] for method in (OURS, "hierarchy")
    )
    place = 2  # of that signal among those of the sketches with few cells
    then = SKETCHES[axes][OURS][place] / SKETCHES[axes]["hierarchy"][place]
    worse = tree / other
    return APART.format(
        ours=OURS, tree=tree, other=other, now=then * worse, then=then, worse=worse,
        errors=abs(worse - 1) / (worse * ((error / tree) ** 2 + (doubt / other) ** 2) ** 0.5),
    )  # fmt: skip
