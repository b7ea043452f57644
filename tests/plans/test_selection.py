"""Plans that select: which way is taken, how the budget is divided, and that only public numbers decide."""

import numpy as np
import pytest

from veil import BadInput, Budget, Categorical, Ledger, Numeric, Schema, Text, open_source
from veil.plans.selecting.clusters import k_means
from veil.plans.selecting.features import highest
from veil.plans.selecting.selection import select_above, select_best
from veil.plans.sparse_logistic import sparse_logistic
from veil.plans.sparse_naive_bayes import sparse_naive_bayes

LABEL = Categorical(name="kind", values=("ham", "spam"))
MAIL = Schema(name="mail", label="kind", column=[Text(name="text", buckets=300, words_per_row=5), LABEL])
ROWS = {"text": ["free prize now", "see you at the meeting"] * 50, "kind": ["spam", "ham"] * 50}
WIDE = MAIL.model_copy(update={"column": (Text(name="text", buckets=1 << 17, words_per_row=5), LABEL)})


def asked(plan, schema=MAIL, rows=ROWS, **settings):
    """The verbs that a plan asks, after checking that it costs its budget exactly."""
    ledger = Ledger(1, schema.name)
    source = open_source(rows, schema, ledger, 0)
    plan(source, Budget(1), **settings)
    assert ledger.spent == 1
    return [receipt.verb for receipt in source.record.receipts]


@pytest.mark.parametrize(
    ("settings", "verbs"),
    [
        ({"k": 3, "score": "count"}, ["choose_best"]),
        ({"k": 5, "score": "gini"}, ["choose_best"]),
        ({"k": 6, "score": "count"}, ["count"]),
        ({"k": 6, "score": "difference"}, ["count"]),
        ({"k": 6, "score": "gini"}, ["count", "count"]),
        ({"k": 3, "words_per_row": 2}, ["count", "count"]),
        ({"k": 3, "method": "perturb"}, ["count", "count"]),
        ({"k": 9, "method": "peel"}, ["choose_best"]),
        ({"k": 3, "method": "cluster"}, ["count", "count"]),
    ],
)
def test_the_best_are_chosen_in_the_way_with_less_noise(settings, verbs):
    assert asked(select_best, **settings) == verbs


@pytest.mark.parametrize(
    ("settings", "verbs"),
    [
        ({"at_most": 2}, ["choose_above"]),
        ({"at_most": 3}, ["count", "count"]),
        ({"at_most": 3, "score": "count"}, ["count"]),
        ({"at_most": 3, "method": "sieve"}, ["sift"]),
        ({"at_most": 9, "method": "peel"}, ["choose_above"]),
        ({"at_most": 3, "method": "cluster"}, ["count", "count"]),
    ],
)
def test_a_threshold_is_held_in_the_way_with_less_noise(settings, verbs):
    assert asked(select_above, threshold=-20 if "score" not in settings else 20, **settings) == verbs


def test_counts_of_very_many_words_are_drawn_only_above_the_threshold():
    settings = {"threshold": 400, "at_most": 50, "score": "count"}
    assert asked(select_above, WIDE, **settings) == ["count_sparse"]


def test_columns_of_a_table_are_chosen_one_after_the_other():
    columns = [Numeric(name=name, bounds=(0, 1), bins=3) for name in "abc"]
    schema = Schema(name="mail", label="kind", column=[*columns, LABEL])
    rows = {**{name: np.linspace(0, 1, 100) for name in "abc"}, "kind": ROWS["kind"]}
    assert asked(select_best, schema, rows, k=2) == ["choose_best"]
    assert asked(select_best, schema, rows, k=2, method="perturb") == ["count"]
    assert asked(select_above, schema, rows, threshold=-10, at_most=1) == ["choose_above"]


def test_naive_bayes_of_words_asks_for_totals_and_words():
    for words in (None, [3, 7]):
        assert asked(sparse_naive_bayes, words=words) == ["count", "count"]


def test_like_points_share_a_cluster():
    points = np.vstack([np.zeros((50, 2)), np.full((5, 2), 90.0), np.full((5, 2), [0.0, 80.0])])
    centres, nearest = k_means(points, 3)
    groups = [set(nearest[part]) for part in (slice(50), slice(50, 55), slice(55, 60))]
    assert all(len(group) == 1 for group in groups) and len(set.union(*groups)) == 3
    assert sorted(centres.sum(axis=1)) == [0, 80, 180]


def test_the_highest_scores_come_first_and_none_below_the_threshold():
    assert highest([1, 5, 3], 2).places == (1, 2)
    assert highest([1, 5, 3], 3, 3).scores == (5.0, 3.0)
    assert highest([1, 5, 3], 3, 9).places == ()


MANY = Categorical(name="kind", values=tuple(map(str, range(20))))


@pytest.mark.parametrize(
    ("plan", "settings", "buckets", "label"),
    [
        (sparse_logistic, {}, 2**13 + 1, LABEL),
        (sparse_logistic, {"penalty": 0.5}, 9, LABEL),
        (sparse_logistic, {"penalty": "x"}, 9, LABEL),
        (sparse_logistic, {"words_per_row": 0}, 9, LABEL),
        (sparse_naive_bayes, {}, 2**20, MANY),
        (sparse_naive_bayes, {"words_per_row": 10**6}, 9, LABEL),
        (select_best, {"k": 50, "method": "perturb"}, 2**20, MANY),
        (select_best, {"k": 50, "method": "cluster"}, 2**20, MANY),
        (select_best, {"k": 3, "method": "cluster", "groups": 0}, 9, LABEL),
        (select_best, {"k": 3, "method": "cluster", "groups": "x"}, 9, LABEL),
    ],
)
def test_what_the_schema_and_the_settings_forbid_is_refused_before_anything_is_charged(plan, settings, buckets, label):
    ledger = Ledger(1, "mail")
    schema = Schema(name="mail", label="kind", column=[Text(name="text", buckets=buckets, words_per_row=5), label])
    with pytest.raises(BadInput):
        plan(open_source({"text": ["free"], "kind": ["spam"]}, schema, ledger, 0), Budget(1), **settings)
    assert ledger.spent == 0


def test_an_epsilon_too_small_for_so_many_weights_is_refused_before_anything_is_charged():
    ledger = Ledger(1, "mail")
    schema = Schema(name="mail", label="kind", column=[Text(name="text", buckets=2**13, words_per_row=4000), LABEL])
    with pytest.raises(BadInput):
        sparse_logistic(open_source({"text": ["free"], "kind": ["spam"]}, schema, ledger, 0), Budget("1e-6"))
    assert ledger.spent == 0
