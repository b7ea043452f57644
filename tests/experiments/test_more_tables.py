"""The comparison on more tables: what is run, and which methods its page calls ahead."""

import pandas as pd
import pytest

from experiments import more_tables
from experiments.bins import loosened
from experiments.pages import more
from veil import Categorical, Numeric, Schema
from veil.compare.data import Data


def results(*rows):
    """Two seeds of each row, a hundredth apart for ours."""
    columns = ["table", "method", "bins", "epsilon", "macro", "accuracy"]
    both = [pd.DataFrame(rows, columns=columns).assign(seed=seed) for seed in (0, 1)]
    both[1].loc[both[1].bins == "found", "macro"] += 0.01
    return pd.concat(both)


def test_boosting_is_run_on_two_classes_only_and_ours_with_both_kinds_of_bins():
    runs = [*more_tables.wanted(["dp-ebm", "tree"], ["casp", "vehicle"], 1)]
    assert {run[0] for run in runs if run[1] == "dp-ebm"} == {"casp"}
    assert {run[:3] for run in runs if run[1] == "tree"} == {
        (table, "tree", bins) for table in ("casp", "vehicle") for bins in ("found", "public")
    }
    assert len(runs) == 2 + 8 and {run[4] for run in runs} == {more_tables.FIRST}


def test_a_method_is_ahead_only_if_it_leads_at_every_epsilon():
    found = results(
        *(("t", name, "its own", e, 0.8, 0.8) for name in more_tables.BOOSTING for e in (0.1, 1.0)),
        *(("t", "tree", "found", e, auc, 0.7) for e, auc in ((0.1, 0.85), (1.0, 0.81))),
        *(("t", "svm", "found", e, auc, 0.9) for e, auc in ((0.1, 0.95), (1.0, 0.78))),
    )
    assert more.leads(found, "macro") == ["tree (+0.015, 0.005)"]
    assert more.leads(found, "accuracy") == ["svm (+0.100, 0.000)"]


@pytest.mark.parametrize(("values", "classes"), [("ab", 2), ("abc", 3)])
def test_a_run_measures_every_class_alike(values, classes):
    columns = [Numeric(name="x", bounds=(0, 10)), Categorical(name="y", values=tuple(values))]
    frame = pd.DataFrame(
        {"x": [float(i % classes) for i in range(300)], "y": [values[i % classes] for i in range(300)]}
    )
    data = Data("made", Schema(name="made", label="y", column=columns), frame)
    found = more_tables.run(data, "naive-bayes", "public", 1000, 0)
    assert found["macro"] == found["accuracy"] == 1


def test_public_bins_are_those_before_a_search():
    schema = Schema(
        name="s", label="y", column=[Numeric(name="x", bounds=(0, 1)), Categorical(name="y", values=["a", "b"])]
    )
    assert loosened(schema, "declared", public=True).get("x").bins == "public"
    assert loosened(schema, "declared", public=False).get("x").searched
