"""A tree with open decisions: it can be each of the five published learners, costs exactly its budget on every path
whatever is decided, and decides by released facts alone."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil import BadInput, Budget, BudgetRefused, Categorical, Ledger, Numeric, Schema, datasets, open_source
from veil.plans.finish import probabilities
from veil.plans.outcome import total
from veil.plans.replay import Replay
from veil.plans.trees.branches import Cuts
from veil.plans.trees.growing import Rules, grow
from veil.plans.trees.jostle import (
    PUBLISHED,
    always,
    grow_jostle,
    jostle_forest,
    jostle_tree,
    never,
    small,
    unsupported,
)
from veil.plans.trees.learner import WAYS, Learner
from veil.plans.trees.trees import TREES, decision_tree, random_forest

SCHEMA = Schema(
    name="toy",
    label="y",
    column=[
        Categorical(name="a", values=("u", "v", "w"), missing="w"),
        Categorical(name="b", values=("p", "q")),
        Numeric(name="x", bounds=(0, 8), bins=8),
        Categorical(name="y", values=("no", "yes")),
    ],
)
STOPS = {"never": never, "small": small, "unsupported": unsupported, "at once": lambda facts: True}


def frame(size, seed=0):
    draws = np.random.default_rng(seed)
    a, b, x = draws.choice(list("uvw"), size), draws.choice(list("pq"), size), draws.uniform(0, 8, size)
    y = np.where((a == "u") ^ (x > 3), "yes", "no")
    y[draws.random(size) < 0.1] = "no"
    return pd.DataFrame({"a": a, "b": b, "x": x, "y": y})


def source_of(rows, schema=SCHEMA, limit=10**9, seed=0):
    return open_source(rows, schema, Ledger(limit, schema.name), noise=seed)


def asked(source):
    """What was released: question, answer and price, in the order of asking."""
    receipts, releases = source.record.receipts, source.record.releases
    told = [(r.question.describe() if r.question else "", np.asarray(r.value).tolist()) for r in releases]
    return told, [(r.verb, r.account, r.epsilon) for r in receipts]


@pytest.mark.parametrize("epsilon", ["1/2", 3, 200])
@pytest.mark.parametrize("preset", PUBLISHED)
@pytest.mark.parametrize("table", ["toy", "iris"])
def test_with_fixed_decisions_it_gives_the_same_releases_as_each_published_learner(table, preset, epsilon):
    rows, schema = (frame(600), SCHEMA) if table == "toy" else datasets.load(table)
    ours, theirs = source_of(rows, schema), source_of(rows, schema)
    if preset in TREES:
        made = jostle_tree(ours, Budget(epsilon), PUBLISHED[preset])
        wanted = decision_tree(theirs, Budget(epsilon), preset=preset)
    else:
        made = jostle_forest(ours, Budget(epsilon), PUBLISHED[preset])
        wanted = random_forest(theirs, Budget(epsilon), preset=preset)
    assert asked(ours) == asked(theirs)
    codes = schema.encode(rows, label=False)
    assert (made.scores(codes) == wanted.scores(codes)).all()


def mixed(facts):
    """A different way for each depth and number of candidates: nodes of one level part ways."""
    return WAYS[int(facts["depth"] + facts["candidates"]) % len(WAYS)]


def parting(facts):
    return facts["depth"] > 0 and int(facts["candidates"]) % 4 == 0


def cheapest_and_dearest(source):
    receipts = source.record.receipts
    return total(receipts, pick=min), total(receipts)


@pytest.mark.parametrize("epsilon", ["1/3", 8])
@pytest.mark.parametrize("settings", [{}, {"sizes": 1}, {"sizes": 2, "leaf": 3, "gathered": True}, {"counted": False}])
@pytest.mark.parametrize(("stop", "split"), [*product([*STOPS, "parting"], [*WAYS, "mixed"])])
def test_every_path_costs_the_whole_budget_whatever_is_decided(stop, split, settings, epsilon):
    if not settings.get("counted", True) and stop in ("small", "unsupported"):
        settings = {**settings, "sizes": 1}  # these decisions read noisy rows
    decisions = STOPS.get(stop, parting), mixed if split == "mixed" else always(split)
    ledger = Ledger(epsilon, "toy")
    source = open_source(frame(500), SCHEMA, ledger, noise=1)
    scorer = jostle_tree(source, Budget(epsilon), Learner(*decisions, depth=4, **settings))
    assert cheapest_and_dearest(source) == (Fraction(epsilon), Fraction(epsilon)) and ledger.left == 0
    assert np.isfinite(probabilities(scorer.scores(SCHEMA.encode(frame(50, 1), label=False)))).all()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_decisions_at_all_cost_exactly_the_budget_and_count_every_leaf_once(data):
    """Decisions drawn anew at every node: rows of every path pay the same, and every leaf has its counts."""
    sizes, depth, trees = (data.draw(st.integers(*ends)) for ends in ((0, 1), (1, 4), (1, 3)))
    learner = Learner(
        lambda facts: data.draw(st.booleans()),
        lambda facts: data.draw(st.sampled_from(WAYS)),
        depth=depth,
        trees=trees,
        sizes=sizes,
        gathered=data.draw(st.booleans()),
    )
    source = source_of(frame(60), seed=data.draw(st.integers(0, 99)))
    roots = grow_jostle(source, Budget(1), learner)
    assert cheapest_and_dearest(source) == (1, 1)
    assert all(leaf.counts is not None for root in roots for leaf in root.leaves())
    counted = [r for r in source.record.receipts if r.verb == "count"]
    assert len({r.account for r in counted}) <= len(counted)


@pytest.mark.parametrize("apart", [False, True])
def test_a_forest_costs_its_budget_with_and_without_rows_of_their_own(apart):
    source = source_of(frame(400))
    jostle_forest(source, Budget(2), Learner(parting, mixed, 3, trees=3), apart=apart)
    assert cheapest_and_dearest(source) == (2, 2)


def cut_names(node):
    return (node.cut and node.cut.describe(), [cut_names(branch) for branch in node.branches])


@pytest.mark.parametrize("seed", range(3))
def test_with_a_huge_epsilon_it_is_the_textbook_tree(seed):
    """The same tree as that of an exhaustive greedy search, to which `grow` is compared in test_trees."""
    rows, huge = frame(300, seed), Budget(10**6)
    (grown,) = grow_jostle(source_of(rows), huge, Learner(never, always("gini"), 3, counted=False))
    wanted = grow(source_of(rows), huge, Cuts(SCHEMA), Rules("gini", 3), 3, Cuts(SCHEMA).root())
    assert cut_names(grown) == cut_names(wanted)
    codes = SCHEMA.encode(rows)
    cells = grown.partition().cells(codes)
    for number, leaf in enumerate(grown.leaves()):
        assert leaf.counts.tolist() == [((cells == number) & (codes["y"] == label)).sum() for label in (0, 1)]


def test_nodes_that_part_ways_have_the_right_rows_with_a_huge_epsilon():
    rows = frame(800)
    learner, noted = Learner(parting, mixed, 4, sizes=1), []
    (root,) = grow_jostle(source_of(rows), Budget(10**6), learner, noted=noted)
    codes = SCHEMA.encode(rows)
    cells = root.partition().cells(codes)
    assert len(root.leaves()) > 10 and len({decision.decided for decision in noted}) > 3
    for number, leaf in enumerate(root.leaves()):
        assert leaf.counts.tolist() == [((cells == number) & (codes["y"] == label)).sum() for label in (0, 1)]


def test_decisions_have_the_facts_that_are_public_by_then():
    noted, rows = [], frame(900)
    jostle_tree(source_of(rows), Budget(10**6), Learner(parting, mixed, 3), noted=noted)
    first, depths = noted[0], Counter(decision.facts["depth"] for decision in noted)
    assert first.facts["rows"] == 900 and first.facts["depth"] == 0 and first.facts["levels"] == 3
    assert first.facts["candidates"] == 2 + 7 and first.facts["classes"] == 2 and first.facts["widest"] == 3
    assert first.decided == mixed(first.facts) and depths[0] == 1 and depths[1] > 1
    assert all(decision.decided in ("stop", *WAYS) for decision in noted)
    below = [decision.facts for decision in noted if decision.facts["depth"] == 1]
    assert {facts["rows"] for facts in below} == {900 / len(below)}
    bare = list()
    jostle_tree(source_of(rows), Budget(1), Learner(never, mixed, 2, counted=False), noted=bare)
    assert "rows" not in bare[0].facts


def test_a_random_cut_leaves_its_unit_to_the_leaves():
    chosen, drawn = [], []
    jostle_tree(source_of(frame(500)), Budget(6), Learner(never, always("gini"), 2, counted=False), noted=chosen)
    jostle_tree(source_of(frame(500)), Budget(6), Learner(never, always("random"), 2, counted=False), noted=drawn)
    assert {d.facts["left"] for d in chosen} == {6, 4} and {d.facts["left"] for d in drawn} == {6}
    assert {d.facts["unit"] for d in [*chosen, *drawn]} == {2}


def test_the_same_releases_lead_to_the_same_decisions_whatever_the_rows():
    """A learner whose decisions depend on noisy sizes, on two tables: as long as answers agree, so do questions."""
    learner = Learner(parting, lambda facts: "gini" if facts["rows"] > 100 else "random", 3, sizes=1)
    found = []
    for rows in (frame(300), frame(301)):
        source = source_of(rows, seed=5)
        jostle_tree(source, Budget(1), learner)
        found.append(asked(source))
    (first, paid), (second, also_paid) = found
    same = next((i for i, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), len(first))
    assert paid[: same + 1] == also_paid[: same + 1]


def test_decisions_follow_from_the_releases_alone():
    """Grown again from its releases, without any rows, the tree is the same and so is every decision."""
    learner = Learner(parting, lambda facts: mixed(facts) if facts["rows"] > 40 else "majority", 3, sizes=1)
    source, noted, again = source_of(frame(400)), [], []
    (root,) = grow_jostle(source, Budget(2), learner, noted=noted)
    replay = Replay(SCHEMA, source.record.releases)
    (same,) = grow_jostle(replay, Budget(2), learner, noted=again)
    assert noted == again and len({decision.decided for decision in noted}) > 2
    assert cut_names(same) == cut_names(root)


def test_values_that_no_row_had_are_answered_as_the_rows_around_them():
    rows = frame(3000)
    rows = rows[rows["a"] != "w"].assign(y=lambda f: np.where(f.index % 10 == 0, "yes", "no"))
    unseen = SCHEMA.encode({"a": ["w"] * 8, "b": ["p"] * 8, "x": np.arange(8) + 0.5}, label=False)
    for split in (mixed, always("gini"), always("random")):
        scorer = jostle_tree(source_of(rows), Budget(200), Learner(never, split, 3))
        assert (probabilities(scorer.scores(unseen)).argmax(axis=1) == 0).all()


WRONG = [
    (lambda: Learner(never, always("gini"), 0), "depth must be a whole number"),
    (lambda: Learner(never, always("gini"), trees=101), "trees must be a whole number"),
    (lambda: Learner(never, always("chance"), 2, counted=False), "no way 'chance' to split"),
]


@pytest.mark.parametrize(("learner", "words"), WRONG)
def test_what_cannot_be_grown_is_refused_before_the_charge(learner, words):
    source = source_of(frame(10), limit=1)
    with pytest.raises(BadInput, match=words):
        jostle_tree(source, Budget(1), learner())
    assert source._account.ledger.left == 1


def test_more_levels_than_the_budget_can_pay_for_are_refused_before_the_charge():
    source = source_of(frame(10), limit=1)
    with pytest.raises(BadInput, match="the budget pays for"):
        jostle_tree(source, Budget(Fraction(8, 2**32)), Learner(never, always("gini"), 50))
    assert source._account.ledger.left == 1


def test_it_refuses_when_the_ledger_is_short():
    source = source_of(frame(100), limit="1/1000")
    with pytest.raises(BudgetRefused):
        jostle_tree(source, Budget(1), Learner(never, mixed))
    assert source._account.ledger.left == Fraction(1, 1000)


@pytest.mark.parametrize("rows", [frame(0), frame(1), frame(50).assign(y="no")], ids=["none", "one", "one class"])
@pytest.mark.parametrize("epsilon", [10**400, 1, Fraction(1, 10**5)])
def test_tables_and_budgets_beyond_reason_have_a_tree(rows, epsilon):
    scorer = jostle_tree(source_of(rows, limit=10**401), Budget(epsilon), Learner(parting, mixed, 3, sizes=1))
    assert np.isfinite(probabilities(scorer.scores(SCHEMA.encode(frame(9), label=False)))).all()


def test_a_tree_never_has_more_leaves_than_there_is_room_for():
    columns = [Categorical(name=f"c{i}", values=tuple(map(str, range(20))), missing="0") for i in range(8)]
    schema = Schema(name="wide", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
    rows = {**{column.name: ["1"] for column in columns}, "y": ["no"]}
    (root,) = grow_jostle(source_of(rows, schema), Budget(1), Learner(never, always("random"), 6))
    assert 8000 <= len(root.leaves()) <= 50_000
