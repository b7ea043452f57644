"""What the guide says of found bins is what was measured."""

import numpy as np
import pandas as pd

from experiments import RESULTS, bins
from experiments.pages import more

PAGE = (RESULTS.parents[1] / "docs" / "guide" / "schema.md").read_text(encoding="utf-8")


def means():
    return pd.read_parquet(bins.FILE).pivot_table("auc", ["method", "epsilon"], ["bounds", "bins"], aggfunc="mean")


def short(number):
    return f"{number:.3f}".removeprefix("0")


def test_the_table_of_the_guide_is_what_was_measured():
    for (method, epsilon), row in means().iterrows():
        cells = [f"{short(row[bounds, 'public'])} / {short(row[bounds, 'found'])}" for bounds in bins.BOUNDS]
        assert f"| {method} | {epsilon:g} | {' | '.join(cells)} |" in PAGE


def test_every_figure_has_five_splits_at_least_of_the_same_tables():
    counted = pd.read_parquet(bins.FILE).groupby(["method", "epsilon", "bounds", "bins"])
    assert (counted["seed"].nunique() >= 5).all() and (counted["table"].nunique() == len(bins.LARGE)).all()


def test_careless_bounds_and_tight_ones_cost_what_the_guide_says():
    found = means()
    tight = found["declared", "public"] - found["declared", "found"]
    assert tight.groupby("method").mean().max() <= 0.003
    for bounds in ("ten times", "hundred times"):
        cost = found["declared", "found"] - found[bounds, "found"]
        few = np.isin(cost.index.get_level_values("epsilon"), (0.05, 0.1))
        assert cost[~few].max() <= 0.006
        more = {(method, epsilon) for (method, epsilon), value in cost[few].items() if value > 0.02}
        assert more <= {("tree", 0.05), ("privpfc-5000", 0.05)} and cost.max() < 0.03
        assert not more or "of trees and PrivPfC at 0.05 and a hundred times" in PAGE.replace("\n", " ")


def test_what_found_bins_cost_on_more_tables_is_what_the_guide_says():
    results = pd.read_parquet(more.FILE)
    some = results[results.table.isin(more._numbers(results)) & results.method.isin(bins.BINNING)]
    auc = some.groupby(["method", "epsilon", "bins"]).macro.mean().unstack()
    said = PAGE.replace("\n", " ")
    for name, words in (("naive-bayes", "naive Bayes goes from AUC"), ("forest", "forests from")):
        pairs = [f"{short(auc.public[name, epsilon])} to {short(auc.found[name, epsilon])}" for epsilon in (0.1, 1.0)]
        assert f"{words} {' and from '.join(pairs)}" in said
    others = auc.drop(["naive-bayes", "forest"])
    assert (others.found > others.public - 0.0005).all()
