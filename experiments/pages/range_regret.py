"""The regret of the adaptive tree and of the published methods, for docs/ranges.md: in hindsight, and without luck."""

from collections.abc import Callable, Iterator
from functools import cache
from math import exp
from typing import Any

import numpy as np
import pandas as pd

from .. import RESULTS
from .reproduction import table

KEPT = RESULTS / "ranges.parquet"
OURS = "adaptive-tree"
WORKLOADS = {
    ("1D", "random"): "one column, 4,096 cells, random ranges",
    ("1D", "prefixes"): "one column, 4,096 cells, all prefixes",
    ("2D", "random"): "two columns, 128 x 128 cells, random rectangles",
    ("2D", "rectangles"): "two columns, 128 x 128 cells, rectangles of six doubling sizes",
    ("1D-small", "random"): "one column, 1,024 cells, random ranges",
    ("2D-small", "random"): "two columns, 64 x 64 cells, random rectangles",
}
MANY, FEW = 20, {OURS: 4, "mwem": 1}  # trials of what is ever the best; as few as once
REGRET = """
## Regret

The error over the least error of any of these methods on the same histogram and signal; the mean is geometric. *In
hindsight* the least error is that of the same trials, so that part of the regret is luck: of the best of ten methods on
each histogram, and in this method's own mean. *With few trials* shows how much: the same when this method has only its
first {own} trials, `mwem` one and the others two, three with 4,096 cells, as on this page before. *Fair* is without
that luck: the method that is best in one half of the trials, judged with this one in the other half, both ways.

"""


@cache
def errors() -> pd.Series:
    """The mean error over the trials, by axes, workload, method, signal and table."""
    results = pd.read_parquet(KEPT)
    return results.groupby(["axes", "workload", "method", "signal", "table"])["rmse"].mean()


def kept(kind: tuple[str, str]) -> pd.DataFrame:
    """The errors of one workload: (signal, table) by method."""
    return errors().loc[kind].unstack("method")


def geometric(values: Any) -> float:
    return exp(float(np.log(np.maximum(values, 1e-12)).mean()))


def section() -> Iterator[str]:
    """The regret of every workload, then by signal."""
    yield REGRET.format(own=FEW[OURS])
    lines = []
    for kind, words in WORKLOADS.items():
        regret = hindsight(kept(kind))
        order = regret.apply(geometric).sort_values()
        mine, just = regret[OURS], fair(kind)
        others = ", ".join(f"`{name}` {value:.2f}" for name, value in order.items() if name != OURS)
        lucky = hindsight(halves(kind, few)[True])[OURS]
        numbers = _from_100(mine), geometric(just), _from_100(just), geometric(lucky), mine.quantile(0.95), mine.max()
        lines.append([words, f"**{geometric(mine):.2f}**", *(f"{value:.2f}" for value in numbers), others])
    header = ["in hindsight", "from signal 100", "fair", "from signal 100", "with few trials", "95 % below", "most"]
    yield table(["workload", *header, "others in hindsight"], lines)
    yield from _by_signal()


def _by_signal() -> Iterator[str]:
    """What is left of regret, by signal, and where it is."""
    yield f"\nThe fair regret of `{OURS}` by signal:\n\n"
    found = {words: fair(kind).groupby("signal").apply(geometric) for kind, words in WORKLOADS.items()}
    signals = [*next(iter(found.values())).index]
    yield table(
        ["workload", *(f"{signal:,}" for signal in signals)],
        [[words, *(f"{by[signal]:.2f}" for signal in signals)] for words, by in found.items()],
    )
    worst = fair(("1D", "random")).groupby("table").apply(geometric).sort_values(ascending=False)[:4]
    said = ", ".join(f"{str(name).partition('_')[2]} {value:.2f}" for name, value in worst.items())
    yield f"\nMost of it is on smooth histograms with few rows (one column, all signals: {said}), where an even spread "
    yield "of a noisy total, or a grid of a few blocks, is all that can be known, and the tree learns that from counts "
    yield "that it has to pay for. Below rows x epsilon of 30 the number of rows itself is not known well enough to "
    yield "stop sooner: [what was tried](algorithms.md#ranges).\n"


def hindsight(found: pd.DataFrame) -> pd.DataFrame:
    return found.div(found.min(axis=1), axis=0)


def halves(kind: tuple[str, str], half: Callable[[pd.DataFrame], Any]) -> dict[Any, pd.DataFrame]:
    """The mean errors, (signal, table) by method, of the trials apart by what `half` makes of them."""
    results = pd.read_parquet(KEPT).query("axes == @kind[0] and workload == @kind[1]")
    key = ["signal", "table", "method"]
    return {name: some.groupby(key)["rmse"].mean().unstack("method") for name, some in results.groupby(half(results))}


def few(results: pd.DataFrame) -> Any:
    """Whether a trial is among the first of its method."""
    others = np.where(results["axes"] == "1D", 3, 2)
    return results["trial"] < results["method"].map(FEW).fillna(pd.Series(others, results.index))


def fair(kind: tuple[str, str]) -> pd.Series:
    """Our error over that of the method which is best in the other half of the trials; the mean of both ways."""
    first, second = halves(kind, lambda results: results["trial"] % 2).values()
    return np.exp((_judged(first, second) + _judged(second, first)) / 2)


def _judged(seen: pd.DataFrame, fresh: pd.DataFrame) -> pd.Series:
    fresh = fresh.reindex_like(seen)
    best = seen.where(fresh.notna()).idxmin(axis=1)
    least = [fresh.at[place, method] for place, method in best.items()]
    return np.log(fresh[OURS] / least)


def _from_100(regret: pd.Series) -> float:
    return geometric(regret[regret.index.get_level_values("signal") >= 100])
