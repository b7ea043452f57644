"""The parts of docs/more-tables.md on pools, declared bins, wide bounds and interactions, from what
`python -m experiments.bins_more` and `python -m experiments.choice.judge` measured."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from .. import RESULTS
from ..bins_more import APART, BOTH, CODED, CODES, FILE, GAPS

JUDGED = RESULTS / "choice-judge.parquet"
AIMS = {("logistic", 0.1): 0.87, ("logistic", 1.0): 0.95, ("naive-bayes", 0.1): 0.91, ("naive-bayes", 1.0): 0.96}
ONE_RANGE = 0.005  # that found bins were to cost naive Bayes at most
TARGETS = {0.05: 0.830, 0.1: 0.836, 0.2: 0.840, 0.5: 0.845, 1.0: 0.847}  # aimed at for PrivPfC before it was measured
FAMILIES = ("logistic", "blend", "privpfc", "naive-bayes")


def parts() -> Iterable[str]:
    """All of it."""
    results = pd.read_parquet(FILE)
    return [*pools(results), *declared(results), *wide(results), *interactions(results)]


def row(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def header(*names: str) -> str:
    return f"{row(*names)}\n{'| --- ' * len(names)}|"


def signed(numbers: pd.Series) -> str:
    """A mean difference and its standard error."""
    return f"{numbers.mean():+.3f} ({numbers.sem():.3f})"


def pools(results: pd.DataFrame) -> Iterable[str]:
    """A column of many codes, beside the table without it."""
    found = results[results.part == "codes"].pivot_table("auc", ["table", "method", "epsilon", "seed"], "case")
    yield f"## A column of {CODES:,} codes\n"
    yield f"Beside the columns of a table, one of {CODES:,} codes whose frequencies go as 1/rank, with neither groups"
    yield "nor pools: *useless* if drawn alike for both classes, *useful* if the frequency of each code differs between"
    yield f"them by a random factor (e to the power of {APART:g} times a normal number, for each class). AUC without"
    yield f"it, and what it adds: the mean over {_seeds(found)} splits and its standard error, from"
    yield "`experiments/results/bins-more.parquet`, which `python -m experiments.bins_more` made, as the next"
    yield "two parts.\n"
    yield header("table", "method", "epsilon", "without it", "useless", "useful")
    for table in CODED:
        for method in BOTH:
            for epsilon in (0.1, 1.0):
                some = found.loc[table, method, epsilon]
                added = (signed(some[case] - some["without"]) for case in ("useless", "useful"))
                yield row(table, method, f"{epsilon:g}", f"{some['without'].mean():.3f}", *added)
    apart = found.sub(found["without"], axis=0).groupby(["table", "method", "epsilon"]).mean()
    worst = apart[["useless", "useful"]].min().min()
    lost = [f"{name} with {method} at {epsilon:g}" for (name, method, epsilon), least in
            apart[["useless", "useful"]].min(axis=1).items() if least < -0.01]  # fmt: skip
    yield f"\nThe largest mean loss is {-worst:.3f}; more than .01 is lost on: {', '.join(lost) or 'none'}.\n"


def _seeds(found: pd.DataFrame) -> int:
    return int(found.index.get_level_values("seed").nunique())


def declared(results: pd.DataFrame) -> Iterable[str]:
    """PrivPfC on Adult with bins of three kinds."""
    some = results[results.part == "declared bins"]
    means, errors = (some.pivot_table("accuracy", "case", "epsilon", aggfunc=how) for how in ("mean", "sem"))
    yield "## PrivPfC on Adult without taxonomies\n"
    yield "Share of rows classified rightly, by where bins come from: found in the rows, public even ones, or the edges"
    yield 'that `veil.datasets.public_schema("adult")` declares by hand from the meaning of the columns; no column has'
    yield f"groups, and the pool of candidates is the default. Means over {some.seed.nunique()} splits, with standard"
    yield "errors; the last row is what was aimed at.\n"
    yield header("bins", *(f"epsilon {epsilon:g}" for epsilon in means.columns))
    for case in ("found", "public", "declared"):
        pairs = zip(means.loc[case], errors.loc[case], strict=True)
        yield row(case, *(f"{mean:.4f} ({error:.4f})" for mean, error in pairs))
    yield row("aim", *(f"{TARGETS[epsilon]:.3f}" for epsilon in means.columns))
    reached = {case: [f"{e:g}" for e in means.columns if means.loc[case, e] >= TARGETS[e]] for case in means.index}
    said = "; ".join(f"{case} bins at {', '.join(some) or 'no epsilon'}" for case, some in reached.items())
    yield f"\nThe aim is reached with {said}.\n"


def wide(results: pd.DataFrame) -> Iterable[str]:
    """Bounds a hundred times too long, and one range for all columns."""
    some = results[results.part == "satellite"]
    means, errors = (some.pivot_table("auc", ["method", "epsilon"], "case", aggfunc=how) for how in ("mean", "sem"))
    yield "## Wide bounds\n"
    yield "Satellite, with bounds as declared and a hundred times as long on both sides, found bins: AUC, the mean over"
    yield f"{some.seed.nunique()} splits and its standard error.\n"
    yield header("method", "epsilon", "declared", "hundred times", "its worst split", "aim")
    for (method, epsilon), mean in means.iterrows():
        both = (
            f"{mean[case]:.3f} ({errors.loc[(method, epsilon), case]:.3f})" for case in ("declared", "hundred times")
        )
        least = some[(some.method == method) & (some.epsilon == epsilon) & (some.case == "hundred times")].auc.min()
        yield row(method, f"{epsilon:g}", *both, f"{least:.3f}", AIMS[method, epsilon])
    yield "\nSatellite has 4,500 rows to learn from and six classes. At epsilon 0.1 their noisy number is sometimes so"
    yield "low that nothing is searched; then the public bins of such bounds tell nearly nothing, as in the worst.\n"
    yield "Naive Bayes where all columns of numbers have one range, from the least lower bound of the table to the"
    yield "largest upper one: AUC with public bins, and what found ones add.\n"
    ranged = results[results.part == "one range"].pivot_table("auc", ["table", "epsilon", "seed"], "case")
    epsilons = sorted(ranged.index.get_level_values("epsilon").unique())
    yield header("table", *(f"epsilon {e:g}, {what}" for e in epsilons for what in ("public", "found adds")))
    for table in ranged.index.get_level_values("table").unique():
        yield row(table, *_public_and_found(ranged.loc[table], epsilons))
    yield row("mean", *_public_and_found(ranged.groupby(["epsilon", "seed"]).mean(), epsilons))
    apart = (ranged.public - ranged.found).groupby("epsilon").mean()
    costs = ", ".join(f"{cost:.4f} at {epsilon:g}{' (more)' * (cost > ONE_RANGE)}" for epsilon, cost in apart.items())
    yield f"\nFound bins were to cost at most {ONE_RANGE:g} on average here, and cost {costs}.\n"


def _public_and_found(some: pd.DataFrame, epsilons: Sequence[float]) -> Iterable[str]:
    for epsilon in epsilons:
        one = some.loc[epsilon]
        yield f"{one.public.mean():.3f}"
        yield f"{(one.found - one.public).mean():+.4f} ({(one.found - one.public).sem():.4f})"


def interactions(results: pd.DataFrame) -> Iterable[str]:
    """What models of interactions bring over additive ones, by family, and how far boosting is."""
    judged = pd.read_parquet(JUDGED)
    judged = judged[(judged.epsilon == 1) & judged.method.isin(FAMILIES)]
    tables = judged.groupby(["family", "database", "method"]).auc.mean().unstack()[[*FAMILIES]]
    means, best = tables.groupby("family").mean(), tables.groupby("family").blend
    yield "## What interactions bring\n"
    yield "Logistic regression and naive Bayes add up columns; PrivPfC counts a grid of a few; the blend is a logistic"
    yield "regression with such a grid as one more column. AUC at epsilon 1"
    yield "(`experiments/results/choice-judge.parquet`, at most 5,000 candidates for a grid): means over the"
    yield "tables of each family of their means over 5 to 20 splits.\n"
    yield header("family", "tables", *FAMILIES, "blend less logistic")
    for family, mean in means.iterrows():
        cells = (f"{mean[name]:.3f}" for name in FAMILIES)
        yield row(family, int(best.count()[family]), *cells, f"{mean.blend - mean.logistic:+.3f}")
    yield "\nTables on which interactions matter most, and gradient boosting of the numbers themselves, NOT private, on"
    yield "the same splits: the gap is boosting's AUC less that of the model.\n"
    yield header("table", "boosting", "gap of logistic", "gap of the blend", "blend less logistic")
    boosted = results[results.part == "boosting"].pivot_table("auc", ["table", "seed"], "method").boosting
    for table in GAPS:
        yield _gap(table, boosted.loc[table], judged[judged.database == table])
    yield from _reading(tables.droplevel("family"), means)


def _gap(table: str, boosted: pd.Series, judged: pd.DataFrame) -> str:
    runs = judged.pivot_table("auc", "seed", "method").loc[boosted.index]
    gaps = [f"{(boosted - runs[name]).mean():.3f}" for name in ("logistic", "blend")]
    return row(table.removeprefix("more/"), f"{boosted.mean():.3f}", *gaps, signed(runs.blend - runs.logistic))


def _reading(tables: pd.DataFrame, means: pd.DataFrame) -> Iterable[str]:
    gain, families = (tables.blend - tables.logistic).sort_values(), means.blend - means.logistic
    least, most = (", ".join(f"{name.removeprefix('more/')} ({gain[name]:+.3f})" for name in some)
                   for some in (gain.index[:3], gain.index[:-4:-1]))  # fmt: skip
    yield f"\nThe blend has the higher mean in {(families >= 0.0005).sum()} of {len(families)} families, the lower in"
    yield f"{(families <= -0.0005).sum()}. It gains most on {most}, and costs most on"
    yield f"{least}: its grid takes epsilon from the weights, which pays only where a grid tells much more than its"
    yield "columns do one by one. Most of the gap to boosting stays: a grid of a few coarse cells is little of"
    yield "what trees find.\n"
