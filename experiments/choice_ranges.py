"""python -m experiments.choice_ranges [SPACE TRIALS]: does a choice among histograms for range queries pay?

Choosers are trained on what every method did (experiments/results/ranges.parquet, which `python -m experiments.ranges`
makes) with metafeatures as noisy as in use, leave out the family of the table at hand, and are then run on its rows
through the kernel: they pay for their facts, choose, and answer with what is left. Results go to
experiments/results/choice-ranges.parquet; what it holds is not repeated. Noise is seeded.
"""

import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from veil.choice import ChoiceMaker, Metafeature, Nearby, Option, Traces, look
from veil.choice.ranges import ADAPTIVE_TREE, DAWA, MWEM, ROWS, SIGNAL, SPARSITY, UNIFORMITY, option
from veil.compare.ranges import errors
from veil.kernel import Budget
from veil.plans.ranges.boxes import sums_in
from veil.synopsis.histogram.publishing import HISTOGRAMS

from . import RESULTS
from .ranges import FILE as MEASURED
from .ranges import SIDES, SIGNALS, opened, shapes, workloads

FILE = RESULTS / "choice-ranges.parquet"
SPACES = ("1D-small", "1D", "2D-small", "2D")
WORKLOAD = "random"
OURS, ORACLE = "adaptive-tree", "the best published method in hindsight"
PUBLISHED = tuple(name for name in HISTOGRAMS if name != OURS)
KEY = ["table", "axes", "signal", "trial", "chooser"]
FEW, ALL = (ROWS, SIGNAL), (ROWS, SIGNAL, SPARSITY, UNIFORMITY)
TRAINED = 2  # times that metafeatures are looked at for each table and signal


@dataclass(frozen=True)
class Chooser:
    """The names of its options, the facts that it pays for, whether it learns from traces, and most trials: one that
    often takes mwem is slow."""

    options: tuple[str, ...]
    facts: tuple[Metafeature, ...]
    learned: bool = True
    most: int = 2


CHOOSERS = {
    "dawa or mwem, formulas alone": Chooser(("dawa", "mwem"), ALL, learned=False, most=1),
    "dawa or mwem, formulas corrected": Chooser(("dawa", "mwem"), ALL),
    "published, number of rows": Chooser(PUBLISHED, FEW),
    "published, all facts": Chooser(PUBLISHED, ALL),
    "with adaptive-tree, number of rows": Chooser((OURS, *PUBLISHED), FEW, most=6),
    "with adaptive-tree, all facts": Chooser((OURS, *PUBLISHED), ALL, most=6),
}


def option_of(name: str) -> Option:
    """A method as an option, with the paper's formula if it has one; that it takes so many cells is known."""
    known = {one.name: one for one in (DAWA, MWEM, ADAPTIVE_TREE)}
    return replace(known.get(name) or option(name, HISTOGRAMS[name]), check=lambda schema, budget: None)


def family_of(table: str) -> str:
    """Tables of one source, such as 1D_BIDS-FJ and 1D_BIDS-FM, are left out together."""
    return table.partition("_")[2].partition("-")[0] if table[1:3] == "D_" else table


def drawn(name: str, axes: str, signal: int, trial: int) -> Any:
    """The table of a trial, as `experiments.ranges` has drawn it."""
    seed, shape = zlib.crc32(f"{name} {axes} {signal} {trial}".encode()), known_shapes(axes)[name]
    return np.random.default_rng(seed).multinomial(SIGNALS[signal][0], shape.ravel()).reshape(shape.shape)


@cache
def known_shapes(axes: str) -> dict[str, Any]:
    return shapes(axes)


def traces(axes: str) -> Traces:
    """What every method did on every table and signal, beside facts as noisy as a chooser would have them."""
    kept = pd.read_parquet(MEASURED)
    kept = kept[(kept["axes"] == axes) & (kept["workload"] == WORKLOAD)]
    means = np.log(kept.groupby(["table", "signal", "method"])["rmse"].mean()).unstack("method")
    cases = [(table, signal, trial) for table, signal in means.index for trial in range(TRAINED)]
    facts = np.array([_facts(table, axes, signal, trial) for table, signal, trial in cases])
    quality = np.array([-means.loc[case[:2], [*HISTOGRAMS]].to_numpy(np.float64) for case in cases])
    return Traces(
        tuple(f"{table} {signal} {trial}" for table, signal, trial in cases),
        tuple(family_of(table) for table, _, _ in cases),
        tuple(one.name for one in ALL),
        tuple(HISTOGRAMS),
        facts,
        {"quality": quality},
    )


def _facts(name: str, axes: str, signal: int, trial: int) -> list[float]:
    source, _ = opened(drawn(name, axes, signal, trial), zlib.crc32(f"facts {name} {axes} {signal} {trial}".encode()))
    return [fact.value for fact in look(ALL, source, Budget(SIGNALS[signal][1])).facts]


def maker(chooser: Chooser, known: Traces) -> ChoiceMaker:
    """The chooser, trained on these traces."""
    options = [option_of(name) for name in chooser.options]
    formulas = {one.name: one.predict for one in options if one.predict is not None and chooser.facts is ALL}
    names = [one.name for one in chooser.facts if one is not ROWS]  # their number is in the signal
    importance = {name: float(name in names) for name in known.fact_names}
    nearby = Nearby(known.of_options(chooser.options), importance, formulas=formulas)
    return ChoiceMaker(options, chooser.facts, nearby=nearby if chooser.learned else None)


def run(name: str, axes: str, signal: int, trial: int, makers: dict[str, ChoiceMaker]) -> Iterator[dict[str, Any]]:
    """What each chooser takes on one draw of the rows, and its error."""
    rows, epsilon = SIGNALS[signal]
    table, ranges = drawn(name, axes, signal, trial), workloads(axes)[WORKLOAD]
    for chooser, choose in makers.items():
        source, _ = opened(table, zlib.crc32(f"{name} {axes} {signal} {trial} {chooser}".encode()))
        spread = choose(source, Budget(epsilon))
        assert choose.trace is not None
        found = errors(sums_in(table, ranges), sums_in(spread.cells.reshape(table.shape), ranges), rows)
        key = dict(zip(KEY, (name, axes, signal, trial, chooser), strict=True))
        facts = {f"fact {fact.name}": fact.value for fact in choose.trace.facts}
        yield {**key, "chosen": choose.trace.chosen, "price": float(choose.trace.price) / epsilon, **found, **facts}


def main(spaces: Sequence[str], trials: int) -> None:
    """Do the runs that are missing, and print the regrets."""
    kept = pd.read_parquet(FILE) if FILE.exists() else pd.DataFrame(columns=KEY)
    done = {*kept[KEY].itertuples(index=False, name=None)}
    for axes in spaces:
        known = traces(axes)
        for family in dict.fromkeys(known.families):
            makers = {name: maker(chooser, known.without(family)) for name, chooser in CHOOSERS.items()}
            tables, found = [name for name in known_shapes(axes) if family_of(name) == family], list[dict[str, Any]]()
            for name, signal, trial in product(tables, SIGNALS, range(trials)):
                asked = {one: makers[one] for one in makers if trial < CHOOSERS[one].most}
                asked = {one: asked[one] for one in asked if (name, axes, signal, trial, one) not in done}
                found += run(name, axes, signal, trial, asked)
            kept = pd.concat([kept, pd.DataFrame(found)], ignore_index=True) if len(kept) else pd.DataFrame(found)
            kept.to_parquet(FILE)
        print(axes, SIDES[axes], summary(regrets(kept, axes)).round(2).to_string(), sep="\n", flush=True)


def regrets(kept: pd.DataFrame, axes: str) -> pd.DataFrame:
    """The regret of every method alone, of every chooser, and of the best published method in hindsight, each a column:
    its mean error over the least mean error of any method, for each table and signal."""
    alone, by = pd.read_parquet(MEASURED), ["table", "signal"]
    alone = alone[(alone["axes"] == axes) & (alone["workload"] == WORKLOAD)]
    methods = alone.groupby([*by, "method"])["rmse"].mean().unstack("method")
    chosen = kept[kept["axes"] == axes].groupby([*by, "chooser"])["rmse"].mean().unstack("chooser")
    oracle = methods[[*PUBLISHED]].min(axis=1).rename(ORACLE)
    return pd.concat([methods, chosen, oracle], axis=1).div(methods.min(axis=1), axis=0)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """The geometric mean of the regret, its mean, and what 95 % stay below."""
    columns = {"geometric": np.exp(np.log(found).mean()), "mean": found.mean(), "p95": found.quantile(0.95)}
    return pd.DataFrame(columns).sort_values("geometric")


if __name__ == "__main__":
    asked = sys.argv[1:]
    main([asked[0]] if asked else SPACES, int(asked[1]) if len(asked) > 1 else 6)
