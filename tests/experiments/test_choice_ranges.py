"""The choice among histograms, as measured: what is said of it follows from the results that are kept."""

import numpy as np
import pandas as pd
import pytest

from experiments.choice_ranges import (
    CHOOSERS,
    FILE,
    HISTOGRAMS,
    ORACLE,
    OURS,
    PUBLISHED,
    SPACES,
    family_of,
    option_of,
    summary,
)
from experiments.pages.choice_ranges import ALL, CORRECTED, EXAMPLE, FEW, WITH, known
from veil.choice.ranges import NO_CHOICE

KEPT = pd.read_parquet(FILE)
spaces = pytest.mark.parametrize("axes", SPACES)


@spaces
def test_the_tree_alone_errs_less_than_every_choice_without_it_and_than_hindsight(axes):
    means = summary(known(axes))["geometric"]
    assert NO_CHOICE.chosen == OURS
    assert means[OURS] < means[[FEW, ALL, CORRECTED, EXAMPLE, ORACLE]].min()


@spaces
def test_a_choice_with_the_tree_takes_it_nearly_always_and_is_not_measurably_better(axes):
    for chooser in WITH:
        runs = KEPT[(KEPT["axes"] == axes) & (KEPT["chooser"] == chooser)]
        logs = np.log(known(axes)[chooser] / known(axes)[OURS])
        assert (runs["chosen"] == OURS).mean() > 0.9
        assert logs.mean() > -2 * logs.std() / np.sqrt(len(logs))


@spaces
def test_a_choice_among_published_methods_pays(axes):
    means = summary(known(axes))["geometric"]
    assert means[[FEW, ALL]].min() < means[[*PUBLISHED]].min()


@spaces
def test_every_chooser_was_run_on_every_table_and_signal(axes):
    cases = KEPT[KEPT["axes"] == axes].drop_duplicates(["chooser", "table", "signal"])
    counts = cases.groupby("chooser").size()
    assert {*counts.index} == {*CHOOSERS} and {*counts} == {15 * 6 if axes.startswith("2D") else 18 * 6}


def test_facts_cost_what_they_say():
    prices = KEPT.groupby("chooser")["price"].agg(["min", "max"]).round(9)
    for name, chooser in CHOOSERS.items():
        share = sum(one.percent for one in chooser.facts) / 100
        assert prices.loc[name].tolist() == [share, share]


def test_tables_of_one_source_are_one_family():
    assert family_of("1D_BIDS-FJ") == family_of("1D_BIDS-ALL") == "BIDS" and family_of("nyc_uber") == "nyc_uber"
    assert family_of("2D_SF-CABS-E") == "SF" and family_of("1D_HEPTH") == "HEPTH"


def test_every_method_is_an_option():
    assert [option_of(name).name for name in HISTOGRAMS] == [*HISTOGRAMS]
    assert option_of("dawa").predict is not None and option_of("ahp").predict is None
