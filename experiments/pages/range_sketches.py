"""The exact methods beside sketches of them: what was measured before Veil had them, in plain NumPy with floating-point
noise, on other draws of the same histograms and other random ranges; a part of docs/ranges.md."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd

from .. import RESULTS
from .reproduction import table

FEW, MANY = (100, 1_000, 10_000, 100_000), (10, 100, 1_000, 10_000, 100_000, 1_000_000)
SKETCHES: dict[str, dict[str, tuple[float, ...]]] = {  # geometric means over the histograms, by signal
    "1D": {
        "adaptive-tree": (0.265, 0.0372, 0.00614, 9.48e-4, 1.23e-4, 1.35e-5),
        "hierarchy": (1.73, 0.176, 0.0166, 1.69e-3, 1.67e-4, 1.76e-5),
        "dawa": (1.17, 0.106, 0.0122, 1.93e-3, 2.67e-4, 2.49e-5),
        "mwem": (0.393, 0.104, 0.0210, 5.61e-3, 1.56e-3, 5.59e-4),
        "uniform-grid": (0.242, 0.106, 0.0252, 8.24e-3, 2.58e-3, 5.88e-5),
        "ahp": (0.817, 0.208, 0.0740, 0.0171, 1.56e-3, 9.05e-5),
        "identity": (5.70, 0.554, 0.0594, 5.95e-3, 5.31e-4, 5.56e-5),
        "uniform": (0.236, 0.189, 0.169, 0.165, 0.165, 0.165),
    },
    "2D": {
        "adaptive-tree": (0.340, 0.0604, 0.0117, 2.01e-3, 2.58e-4, 2.72e-5),
        "adaptive-grid": (1.01, 0.115, 0.0147, 2.63e-3, 3.42e-4, 1.21e-4),
        "uniform-grid": (0.292, 0.160, 0.0474, 0.0142, 8.26e-4, 9.37e-5),
        "hierarchy": (5.41, 0.548, 0.0552, 5.48e-3, 5.33e-4, 5.38e-5),
        "quadtree": (6.64, 0.657, 0.0664, 6.61e-3, 6.77e-4, 6.65e-5),
        "dawa": (1.57, 0.165, 0.0270, 5.26e-3, 7.58e-4, 6.59e-5),
        "mwem": (0.429, 0.174, 0.0254, 7.83e-3, 2.14e-3, 1.02e-3),
        "ahp": (0.557, 0.248, 0.118, 0.0252, 2.82e-3, 1.13e-4),
        "identity": (8.11, 0.823, 0.0822, 8.21e-3, 9.04e-4, 7.60e-5),
        "uniform": (0.284, 0.270, 0.270, 0.270, 0.270, 0.270),
    },
    "1D-small": {
        "adaptive-tree": (0.0356, 0.00579, 7.94e-4, 1.01e-4),
        "hierarchy": (0.140, 0.0135, 1.32e-3, 1.47e-4),
    },
    "2D-small": {
        "adaptive-tree": (0.0559, 0.0102, 1.43e-3, 1.92e-4),
        "adaptive-grid": (0.117, 0.0141, 1.93e-3, 3.28e-4),
    },
}
CELLS = {"1D": "4,096", "2D": "128 x 128", "1D-small": "1,024", "2D-small": "64 x 64"}
NEAR = 0.1
TRIALS = {"1D": 6, "2D": 4, "1D-small": 4, "2D-small": 3}  # of a sketch
OF_SLOW = {"1D": 2, "2D": 1}
SLOW = ("mwem", "ahp")
INTRO = """
## Beside sketches in floating point

Before Veil had these methods, sketches of them were measured: plain NumPy, floating-point Laplace noise on exact
tables, the same histograms, but other draws of their rows and other random ranges, three to six trials (MWEM and AHP
two, or one with two columns). The error of the exact integer version over that of the sketch, ± the standard error of
that ratio, if a sketch's trials differ as much as our own:
"""
OUTRO = """
Of {cells} ratios {near} lie within 10 %, or within two standard errors. The others:
{apart}.

`ahp` is near since it gathers cells by the rule of its paper (a cell joins a group unless that makes the group's
squared error, noise included, grow by as much as the cell would have elsewhere) with DPBench's shares of 85 and 15 %; a
simpler rule with equal shares had errors of 0.4 to 1.8 times the sketch's. `adaptive-tree` pays for the number of rows
first, which its sketch did not, and knows slopes and evenness, which its sketch did not either. `mwem` and
`uniform-grid` were set apart by luck: with 20 trials in place of one to three they are as near as their sketches' few
trials let one tell (`mwem` up to rows x epsilon of 1,000; beyond, it has one here too). With 128 x 128 cells and rows x
epsilon of 1,000,000, `uniform-grid` counts single cells, so it is `identity` with 98 % of epsilon; its sketch had 1.23
times the error of the sketch of `identity` there.

**`dawa`: what sets it apart is its noise.** Its sketch had two forms, and its row is that of the first, as the numbers
below show: Laplace noise for the costs of buckets, with a penalty of 3 scales. The method draws noise on one side, with
3.5 scales, for the same promise: that finds {more} times as many runs of cells, which costs at small signals and pays
at large ones. Either noise in floating point, on the same tables, beside the row of the sketch:
"""
ENDING = """
With the sketch's noise {hits} of {all} ratios are within 10 %, or within two standard errors.
"""


@cache
def measured() -> pd.DataFrame:
    """The geometric mean over the histograms of the mean error, and the standard error of the logarithm of its ratio to
    a sketch."""
    kept = pd.read_parquet(RESULTS / "ranges.parquet")
    return of_ratios(kept[kept["workload"] == "random"])


def of_ratios(kept: pd.DataFrame) -> pd.DataFrame:
    key = ["axes", "method", "signal"]
    means = np.log(kept.groupby([*key, "table"])["rmse"].mean()).groupby(key).mean()
    logs = kept.assign(log=np.log(kept["rmse"])).groupby([*key, "table"])["log"].agg(["var", "count"]).reset_index()
    pairs = zip(logs["axes"], logs["method"], strict=True)
    theirs = [(OF_SLOW if method in SLOW else TRIALS).get(axes, 1) for axes, method in pairs]
    logs["square"] = logs["var"] * (1 / logs["count"] + 1 / np.array(theirs))
    square = logs.groupby(key)["square"]
    return pd.DataFrame({"mean": np.exp(means), "error": np.sqrt(square.sum(min_count=1)) / square.size()})


def section() -> Iterator[str]:
    """The ratios of exact methods and sketches, and what explains those that are apart."""
    yield INTRO
    lines, near, apart = [], list[bool](), list[str]()
    for axes, methods in SKETCHES.items():
        for method, sketch in methods.items():
            ratios = _ratios(measured().loc[(axes, method)], sketch)
            far = [f"{signal:,}" for signal, pair in ratios.items() if not _fits(*pair)]
            near += [_fits(*pair) for pair in ratios.values()]
            apart += [f"`{method}` at {CELLS[axes]} ({', '.join(far)})"] * bool(far)
            lines.append([CELLS[axes], f"`{method}`", *_line(ratios)])
    yield table(["cells", "method", *(f"{signal:,}" for signal in MANY)], lines)
    kept = pd.read_parquet(RESULTS / "range-sketches.parquet")
    runs = kept.groupby(["noise", "table", "signal"])["runs"].mean()
    more = float((runs["one-sided"] / runs["Laplace"]).mean())
    yield OUTRO.format(cells=len(near), near=sum(near), apart="; ".join(apart), more=f"{more:.1f}")
    yield from _of_dawa(kept)


def _of_dawa(kept: pd.DataFrame) -> Iterator[str]:
    """DAWA with either noise beside its sketch."""
    found, lines, fits = of_ratios(kept.assign(method=kept["noise"])), [], list[bool]()
    for axes in ("1D", "2D"):
        for noise in ("one-sided", "Laplace"):
            ratios = _ratios(found.loc[(axes, noise)], SKETCHES[axes]["dawa"])
            lines.append([CELLS[axes], noise, *_line(ratios)])
            fits += [_fits(*pair) for pair in ratios.values()] if noise == "Laplace" else []
    yield "\n" + table(["cells", "noise", *(f"{signal:,}" for signal in MANY)], lines)
    yield ENDING.format(hits=sum(fits), all=len(fits))


def _ratios(found: pd.DataFrame, sketch: tuple[float, ...]) -> dict[int, tuple[float, float]]:
    """By signal, the error over that of the sketch, and the standard error."""
    signals = MANY if len(sketch) == len(MANY) else FEW
    known = ((signal, found.loc[signal], error) for signal, error in zip(signals, sketch, strict=True))
    return {signal: (float(own["mean"]) / error, float(np.nan_to_num(own["error"]))) for signal, own, error in known}


def _fits(ratio: float, error: float) -> bool:
    return abs(ratio - 1) <= max(NEAR, 2 * error)


def _line(ratios: dict[int, tuple[float, float]]) -> list[str]:
    said = {
        signal: f"{ratio:.2f} ± {error:.2f}" if error else f"{ratio:.2f}" for signal, (ratio, error) in ratios.items()
    }
    return [said.get(signal, "") for signal in MANY]
