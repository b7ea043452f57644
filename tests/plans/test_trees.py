"""Trees and forests: the greedy tree without noise, every path exactly as dear as asked, refused before any charge."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil import (
    BadInput,
    Budget,
    BudgetRefused,
    Categorical,
    CellScores,
    Gini,
    Ledger,
    Numeric,
    Schema,
    Sum,
    Tree,
    datasets,
    open_source,
)
from veil.plans.finish import probabilities
from veil.plans.outcome import total
from veil.plans.trees.branches import Cuts, Node
from veil.plans.trees.coins import draw
from veil.plans.trees.growing import Rules, grow
from veil.plans.trees.pruning import add_up, added_errors, class_shares, prune_by_errors, prune_by_noise
from veil.plans.trees.trees import FORESTS, TREES, decision_tree, random_forest

HUGE = Budget(10**6)
PLANS = [(decision_tree, preset) for preset in TREES] + [(random_forest, preset) for preset in FORESTS]
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


def frame(size, seed=0):
    draws = np.random.default_rng(seed)
    a, b, x = draws.choice(list("uvw"), size), draws.choice(list("pq"), size), draws.uniform(0, 8, size)
    y = np.where((a == "u") ^ (x > 3), "yes", "no")
    y[draws.random(size) < 0.1] = "no"
    return pd.DataFrame({"a": a, "b": b, "x": x, "y": y})


def source_of(rows, schema=SCHEMA, limit=10**9, seed=0):
    return open_source(rows, schema, Ledger(limit, schema.name), noise=seed)


def greedy(codes, labels, cuts, node, depth):
    """The tree of an exhaustive search: in every node the cut of the least impurity, one after the other."""
    if depth == 0 or not cuts.allowed([node]).any():
        return
    best = []
    for place in np.flatnonzero(cuts.allowed([node])[0]):
        cells = cuts.grids[place].cells(codes)
        counts = np.array([[((cells == g) & (labels == c)).sum() for c in (0, 1)] for g in range(cuts.widths[place])])
        best.append((Gini()(counts), place))
    top = [place for score, place in best if score == max(best)[0]]
    node.choices = {cuts.grids[place].columns[0] for place in top}, len(top)
    cuts.divide(node, cuts.grids[top[0]])
    cells = node.cut.cells(codes)
    for group, branch in enumerate(node.branches):
        inside = {name: column[cells == group] for name, column in codes.items()}
        greedy(inside, labels[cells == group], cuts, branch, depth - 1)


def same(grown, wanted):
    """Whether two trees have the same cuts, as far as the best one is unique."""
    if not wanted.branches or wanted.choices[1] > 1:
        return True
    if grown.cut is None or grown.cut != wanted.cut:
        return False
    return all(same(*pair) for pair in zip(grown.branches, wanted.branches, strict=True))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("counted", [False, True], ids=["choices", "counts of all columns"])
def test_with_a_huge_epsilon_it_is_the_tree_of_an_exhaustive_greedy_search(seed, counted):
    rows, cuts = frame(300, seed), Cuts(SCHEMA)
    codes = SCHEMA.encode(rows)
    grown = grow(source_of(rows), HUGE, cuts, Rules("gini", 3, counted=counted), 3, cuts.root())
    wanted = cuts.root()
    greedy(codes, codes["y"], cuts, wanted, 3)
    assert wanted.choices[1] == 1 and same(grown, wanted)
    cells = grown.partition().cells(codes)
    for number, leaf in enumerate(grown.leaves()):
        assert leaf.counts.tolist() == [((cells == number) & (codes["y"] == label)).sum() for label in (0, 1)]


@pytest.mark.parametrize(("plan", "preset"), PLANS)
@pytest.mark.parametrize("epsilon", ["1/3", 5])
def test_every_preset_spends_exactly_its_budget_on_every_path(plan, preset, epsilon):
    ledger = Ledger(epsilon, "toy")
    source = open_source(frame(400), SCHEMA, ledger, noise=1)
    scorer = plan(source, Budget(epsilon), preset=preset)
    assert ledger.left == 0 and total(source.record.receipts) == Fraction(epsilon)
    table = scorer.scores(SCHEMA.encode(frame(50, 1), label=False))
    assert table.shape == (50, 2) and np.isfinite(probabilities(table)).all()
    assert type(scorer) is (CellScores if plan is decision_tree else Sum)


@pytest.mark.parametrize("preset", TREES)
def test_the_leaves_of_every_path_are_counted_once_for_what_is_left_on_it(preset):
    """The charges of the accounts that a row's path goes through add up to epsilon, wherever it ends."""
    source = source_of(frame(3000))
    decision_tree(source, Budget(2), preset=preset)
    receipts = source.record.receipts
    ends = {receipt.account for receipt in receipts if receipt.verb == "count"}
    for end in (end for end in ends if not any(other != end and other.startswith(end) for other in ends)):
        above = [r.epsilon for r in receipts if end.rstrip("/") == r.account.rstrip("/") or _holds(r.account, end)]
        assert sum(above) == 2


def _holds(account, inside):
    return inside.startswith(account.rstrip("/") + "/")


@pytest.mark.parametrize(("plan", "preset"), PLANS)
def test_it_refuses_when_the_ledger_is_short(plan, preset):
    source = source_of(frame(100), limit="1/1000")
    with pytest.raises(BudgetRefused):
        plan(source, Budget(1), preset=preset)
    assert source._account.ledger.left == Fraction(1, 1000)


@pytest.mark.parametrize(("plan", "preset"), PLANS)
@pytest.mark.parametrize("epsilon", [10**400, Fraction(1, 10**5)])
def test_budgets_beyond_reason_have_a_tree(plan, preset, epsilon):
    scorer = plan(source_of(frame(60), limit=10**401), Budget(epsilon), preset=preset)
    assert np.isfinite(probabilities(scorer.scores(SCHEMA.encode(frame(9), label=False)))).all()


@pytest.mark.parametrize(("plan", "preset"), PLANS)
def test_no_row_one_row_and_one_class_have_a_tree(plan, preset):
    for rows in (frame(0), frame(1), frame(50).assign(y="no")):
        scorer = plan(source_of(rows), Budget(1), preset=preset)
        assert np.isfinite(probabilities(scorer.scores(SCHEMA.encode(frame(9), label=False)))).all()


@pytest.mark.parametrize(("plan", "preset"), [p for p in PLANS if p[1] not in ("jagannathan", "fletcher-islam")])
def test_a_generous_budget_learns_what_two_columns_say_together(plan, preset):
    rows, test = frame(4000), frame(1000, 1)
    scorer = plan(source_of(rows), Budget(100), preset=preset)
    right = scorer.scores(SCHEMA.encode(test, label=False)).argmax(axis=1) == (test["y"] == "yes")
    assert right.mean() > 0.8


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"preset": "quinlan"}, "choose one of veil, friedman-schuster"),
        ({"depth": 0}, "from 1"),
        ({"depth": 2.5}, "from 1"),
    ],
)
def test_what_cannot_be_grown_is_refused_before_the_charge(wrong, words):
    source = source_of(frame(10), limit=1)
    with pytest.raises(BadInput, match=words):
        decision_tree(source, Budget(1), **wrong)
    assert source._account.ledger.left == 1


@pytest.mark.parametrize("wrong", [{"trees": 0}, {"trees": 101}, {"apart": True}, {"preset": "mohammed"}])
def test_a_forest_that_makes_no_sense_is_refused_before_the_charge(wrong):
    source = source_of(frame(10), limit=1)
    with pytest.raises(BadInput):
        random_forest(source, Budget(1), **wrong)
    assert source._account.ledger.left == 1


def test_the_depth_that_fits_fits_and_one_more_does_not():
    cuts = Cuts(SCHEMA)
    for most in (1, 3, 10, 50):
        assert cuts.most_leaves(cuts.deepest(most)) <= most < cuts.most_leaves(cuts.deepest(most) + 1)
    assert cuts.most_leaves(50) == cuts.most_leaves(7) == 3 * 3 * 9


def test_a_tree_that_may_have_too_many_leaves_is_refused_before_the_charge_with_the_depth_that_fits():
    values = tuple(map(str, range(20)))
    columns = [Categorical(name=f"c{i}", values=values, missing="0") for i in range(8)]
    schema = Schema(name="toy", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
    rows = {**{column.name: ["1"] for column in columns}, "y": ["no"]}
    source = source_of(rows, schema, limit=1)
    with pytest.raises(BadInput, match="may have 160,000 leaves, more than 50,000: use a depth of at most 3"):
        decision_tree(source, Budget(1), preset="mohammed", depth=4)
    assert source._account.ledger.left == 1
    assert decision_tree(source, Budget(1), preset="mohammed").partition.size == 8000


def test_no_tree_has_more_leaves_than_its_bound():
    cuts = Cuts(SCHEMA)
    for seed, depth in ((0, 1), (1, 2), (2, 3), (3, 4)):
        tree = draw(cuts, depth, 1.0, 0.0, None, np.random.default_rng(seed))
        assert len(tree.leaves()) <= cuts.most_leaves(depth)


@given(seed=st.integers(0, 10**6), depth=st.integers(0, 6))
def test_cells_of_a_drawn_tree_are_the_leaves_that_a_row_can_reach(seed, depth):
    cuts, codes = Cuts(SCHEMA, gathered=True), SCHEMA.encode(frame(40, seed), label=False)
    tree = draw(cuts, depth, 1.0, 0.0, None, np.random.default_rng(seed))
    cells, leaves = tree.partition().cells(codes), tree.leaves()
    assert tree.partition().size == len(leaves)
    starts = np.cumsum([0, *(column.size for column in SCHEMA.features)])
    for row, cell in enumerate(cells):
        reach = leaves[cell].reach
        assert all(reach[start + codes[c.name][row]] for start, c in zip(starts, SCHEMA.features, strict=False))


def test_shapes_drawn_by_coins_do_not_depend_on_rows():
    shapes = []
    for rows in (frame(50), frame(50, 1)):
        source = source_of(rows, seed=3)
        random_forest(source, Budget(1), preset="jagannathan", depth=2)
        shapes.append([release.question.describe() for release in source.record.releases])
    assert shapes[0] == shapes[1] and len(shapes[0]) == 10


def test_trees_apart_have_the_whole_budget_each():
    source = source_of(frame(500), limit=1)
    random_forest(source, Budget(1), preset="jagannathan", depth=2, trees=4, apart=True)
    assert [r.epsilon for r in source.record.receipts] == [1] * 4
    assert source._account.ledger.left == 0


def test_unseen_and_missing_values_say_what_their_parent_says():
    root = Cuts(SCHEMA).root()
    Cuts(SCHEMA).divide(root, Cuts(SCHEMA).roots[1])
    for branch, counts in zip(root.branches, ([90, 10], [20, 30], [0, 0]), strict=True):
        branch.counts, branch.deviation = np.array(counts, float), 2.0
    add_up(root)
    *_, unseen = class_shares(root, np.array([0.5, 0.5]))
    assert unseen == pytest.approx([110 / 150, 40 / 150], abs=0.05)


def tree_of(*leaves, deviation=0.0):
    root = Node(np.ones(1, bool), branches=[Node(np.ones(1, bool)) for _ in leaves])
    for branch, counts in zip(root.branches, leaves, strict=True):
        branch.counts, branch.deviation = np.array(counts, float), deviation
    add_up(root)
    return root


def test_pessimistic_errors_are_those_of_c45():
    """Values of the published routine: no error among 6, 9 and 1 rows, and the branch formula."""
    assert [added_errors(n, 0) for n in (6, 9, 1)] == pytest.approx([1.238, 1.285, 0.75], abs=1e-3)
    assert added_errors(14.0, 5.0) == pytest.approx(14 * 0.4854 - 5, abs=0.001)
    assert added_errors(2.0, 1.9) == pytest.approx(0.067)


def test_branches_that_agree_are_cut_off_and_those_that_differ_stay():
    agreeing, differing = tree_of([60, 4], [50, 3]), tree_of([60, 2], [3, 50])
    prune_by_errors(agreeing)
    prune_by_errors(differing)
    assert not agreeing.branches and len(differing.branches) == 2


def test_branches_within_their_noise_are_cut_off():
    small, large = tree_of([4, 3], [2, 5], deviation=10), tree_of([40, 30], [20, 50], deviation=10)
    prune_by_noise(small)
    prune_by_noise(large)
    assert not small.branches and len(large.branches) == 2


def test_a_tree_on_real_rows_is_a_nested_question():
    rows, schema = datasets.load("iris")
    scorer = decision_tree(source_of(rows, schema), Budget(100))
    assert isinstance(scorer.partition, Tree)
    right = scorer.scores(schema.encode(rows, label=False)).argmax(axis=1) == schema.encode(rows)[schema.label]
    assert right.mean() > 0.9


WIDE = [Categorical(name=f"c{i}", values=tuple(map(str, range(20))), missing="0") for i in range(8)]
WIDE_SCHEMA = Schema(name="toy", label="y", column=[*WIDE, Categorical(name="y", values=("no", "yes"))])


def wide_frame(size, seed=0):
    draws = np.random.default_rng(seed)
    columns = {column.name: draws.integers(20, size=size).astype(str) for column in WIDE}
    first = draws.integers(2, size=size)
    return {**columns, "c0": first.astype(str), "y": np.where(first == 1, "yes", "no")}


@pytest.mark.parametrize("preset", ["jagannathan", "fletcher-islam"])
def test_random_trees_of_any_number_of_leaves_cost_exactly_their_budget_and_little_memory(preset):
    source = source_of(wide_frame(2000), WIDE_SCHEMA, limit=2000)
    scorer = random_forest(source, Budget(2000), preset=preset, depth=8)
    assert source._account.ledger.left == 0
    tree = scorer.parts[0].tree
    assert tree.width**tree.depth > 10**7
    sparse = [release for release in source.record.releases if release.receipt.verb == "count_sparse"]
    assert len(sparse) == len(scorer.parts) and max(len(release.value.codes) for release in sparse) < 10_000
    test = wide_frame(500, 1)
    right = scorer.scores(WIDE_SCHEMA.encode(test, label=False)).argmax(axis=1) == (test["y"] == "yes")
    assert right.mean() > 0.8


def test_a_leaf_that_was_not_released_says_what_the_counted_node_above_it_says():
    """At a small epsilon no leaf of 20^8 is released, and all rows are answered by the upper levels."""
    rows = wide_frame(3000)
    source = source_of(rows, WIDE_SCHEMA)
    scorer = random_forest(source, Budget(20), preset="jagannathan", depth=8, trees=1)
    counted = [release for release in source.record.releases if type(release.question).__name__ == "Drawn"]
    assert [release.receipt.verb for release in counted] == ["count", "count_sparse"]
    assert counted[1].question.cells(WIDE_SCHEMA.encode(rows)).max() > counted[0].question.size
    (part,) = scorer.parts
    codes = WIDE_SCHEMA.encode(wide_frame(50, 1), label=False)
    top = counted[0].question.cells(codes)
    released = np.isin(part.tree.cells(codes), counted[1].value.cells()[0])
    expected = part.table[1 + top]
    assert (part.scores(codes)[~released] == expected[~released]).all() and not released.all()


def test_a_random_tree_too_deep_to_be_numbered_is_refused_with_the_depth_that_fits():
    source = source_of(wide_frame(10), WIDE_SCHEMA, limit=1)
    with pytest.raises(BadInput, match="can be 14 levels deep at most"):
        random_forest(source, Budget(1), preset="jagannathan", depth=15)
    assert source._account.ledger.left == 1
    random_forest(source, Budget(1), preset="jagannathan", depth=14)
    assert source._account.ledger.left == 0


def test_random_trees_that_are_not_listed_do_not_depend_on_rows():
    asked = []
    for seed in (0, 1):
        source = source_of(wide_frame(50, seed), WIDE_SCHEMA, seed=3)
        random_forest(source, Budget(1), preset="jagannathan", depth=5)
        asked.append([receipt.question for receipt in source.record.receipts])
    assert asked[0][2::2] == asked[1][2::2] and len(asked[0]) == 21


CONSTANT = Schema(
    name="toy",
    label="y",
    column=[
        Categorical(name="a", values=("u",), missing="u"),
        Numeric(name="x", bounds=(0, 8), bins=1, missing=0),
        Categorical(name="y", values=("no", "yes")),
    ],
)


@pytest.mark.parametrize(("plan", "preset"), PLANS)
def test_columns_that_can_hold_one_value_only_leave_one_leaf_and_cost_the_same(plan, preset):
    rows = {"a": ["u"] * 40, "x": [1.0] * 40, "y": ["no"] * 30 + ["yes"] * 10}
    source = source_of(rows, CONSTANT, limit=50)
    scorer = plan(source, Budget(50), preset=preset)
    assert source._account.ledger.left == 0
    (shares,) = probabilities(scorer.scores(CONSTANT.encode({"a": ["u"], "x": [1.0]}, label=False)))
    assert shares.argmax() == 0 and shares[0] == pytest.approx(0.75, abs=0.15)


@pytest.mark.parametrize(("plan", "preset"), PLANS)
def test_columns_that_happen_to_be_constant_have_a_tree(plan, preset):
    rows = {"a": ["u"] * 60, "b": ["p"] * 60, "x": [1.0] * 60, "y": ["no"] * 45 + ["yes"] * 15}
    scorer = plan(source_of(rows), Budget(50), preset=preset)
    table = probabilities(
        scorer.scores(SCHEMA.encode({"a": ["u", "w"], "b": ["p", "q"], "x": [1.0, 7.0]}, label=False))
    )
    assert np.isfinite(table).all() and table[0].argmax() == 0


@pytest.mark.parametrize(("plan", "preset"), PLANS)
def test_two_rows_have_a_tree(plan, preset):
    scorer = plan(source_of(frame(2)), Budget(1), preset=preset)
    assert np.isfinite(probabilities(scorer.scores(SCHEMA.encode(frame(9), label=False)))).all()


@pytest.mark.parametrize(("plan", "preset"), PLANS)
def test_a_leaf_of_one_class_leaves_every_class_possible(plan, preset):
    rows = frame(2000)
    rows["y"] = np.where(rows["a"] == "u", "yes", "no")
    scorer = plan(source_of(rows), Budget(1000), preset=preset)
    table = probabilities(scorer.scores(SCHEMA.encode(frame(50, 1), label=False)))
    assert (table > 0).all() and np.isfinite(np.log(table)).all()


@pytest.mark.parametrize(("plan", "preset"), PLANS)
def test_values_that_no_row_had_are_answered_as_the_rows_around_them(plan, preset):
    """No row has the third category: a leaf of its own says what its parent says, so most of all the larger class."""
    rows = frame(3000)
    rows = rows[rows["a"] != "w"].assign(y=lambda f: np.where(f.index % 10 == 0, "yes", "no"))
    scorer = plan(source_of(rows), Budget(200), preset=preset)
    unseen = {"a": ["w"] * 8, "b": ["p"] * 8, "x": np.arange(8) + 0.5}
    table = probabilities(scorer.scores(SCHEMA.encode(unseen, label=False)))
    assert (table.argmax(axis=1) == 0).all()


@pytest.mark.parametrize(
    ("plan", "settings"),
    [
        (decision_tree, {"preset": "mohammed", "depth": 7}),
        (decision_tree, {"preset": "friedman-schuster", "depth": 50}),
        (random_forest, {"preset": "patil-singh", "trees": 100}),
        (random_forest, {"preset": "jagannathan", "trees": 100, "depth": 3}),
    ],
)
def test_more_trees_or_levels_than_the_budget_can_pay_for_are_refused_with_what_would_fit(plan, settings):
    source = source_of(frame(50), limit=1)
    tiny = Budget(Fraction(4, 2**32))
    with pytest.raises(BadInput, match="the budget pays for .* at most"):
        plan(source, tiny, **settings)
    assert source._account.ledger.left == 1


def test_patil_and_singh_divide_as_soon_as_the_rows_stand_out_of_their_noise():
    """A size test at a hundred and twentieth of epsilon: below it, the largest class; above it, a tree is divided."""
    rows, widest = frame(3000), 4
    needed = widest * 2 * np.sqrt(2) * 120 / 3000
    small, large = (random_forest(source_of(rows), Budget(needed * f), preset="patil-singh") for f in (0.5, 4))
    assert all(part.partition.size == 1 for part in small.parts)
    assert sum(part.partition.size > 1 for part in large.parts) >= 5


@pytest.mark.parametrize(("plan", "preset"), PLANS)
@pytest.mark.parametrize("wide", [{"values": tuple(map(str, range(70_000)))}, {"bounds": (0, 1), "bins": 60_000}])
def test_columns_of_too_many_values_are_refused_at_once_and_before_any_charge(plan, preset, wide):
    kind = Categorical if "values" in wide else Numeric
    schema = Schema(name="wide", label="y", column=[kind(name="a", **wide), SCHEMA.get("y")])
    ledger = Ledger(1, "wide")
    with pytest.raises(BadInput, match="fewer bins or values"):
        plan(open_source({"a": [1], "y": ["no"]}, schema, ledger), Budget(1), preset=preset)
    assert ledger.spent == 0


def test_sulq_counts_every_column_at_every_level_for_an_equal_part_of_the_levels_share():
    source = source_of(frame(5000))
    decision_tree(source, Budget(12), preset="sulq", depth=2)
    unit = Fraction(12, 2 * 3)  # two units for each of two levels and the leaves
    sizes, *rest = source.record.receipts
    assert sizes.epsilon == unit and {receipt.verb for receipt in source.record.receipts} == {"count"}
    assert [receipt.epsilon for receipt in rest[:3]] == [unit / 3] * 3
    assert total(source.record.receipts) == 12


@pytest.mark.parametrize("preset", TREES)
@pytest.mark.parametrize("criterion", [None, "entropy", "gini", "majority"])
@pytest.mark.parametrize("shares", [None, (0, 1, 4), (2, 3, 5)])
def test_other_scores_and_shares_cost_the_same_on_every_path(preset, criterion, shares):
    source = source_of(frame(2000))
    decision_tree(source, Budget("5/3"), preset=preset, depth=2, criterion=criterion, shares=shares)
    assert total(source.record.receipts) == total(source.record.receipts, pick=min) == Fraction(5, 3)


def test_shares_are_the_parts_of_a_path_for_sizes_choices_and_leaves():
    source = source_of(frame(5000))
    decision_tree(source, Budget(34), preset="friedman-schuster", depth=2, shares=(2, 3, 5), criterion="majority")
    unit = Fraction(34, 2 * (2 + 3) + 5 + 2)
    asked = [(receipt.verb, receipt.epsilon) for receipt in source.record.receipts[:3]]
    assert asked == [("count", 2 * unit), ("choose_each", 3 * unit), ("count", 2 * unit)]
    assert "by Majority" in source.record.receipts[1].question
    source = source_of(frame(5000))
    decision_tree(source, Budget(6), preset="friedman-schuster", depth=2, shares=[0, 1, 4])
    asked = [(receipt.verb, receipt.epsilon) for receipt in source.record.receipts]
    assert asked == [("choose_each", 1), ("choose_each", 1), ("count", 4)]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"criterion": "ratio"}, "choose one of entropy, gini, majority"),
        ({"shares": (1, 1)}, "three whole numbers"),
        ({"shares": "123"}, "three whole numbers"),
        ({"shares": (1, 0, 1)}, "a share must be"),
        ({"shares": (-1, 1, 1)}, "a share must be"),
        ({"shares": (0.5, 1, 1)}, "a share must be"),
    ],
)
def test_scores_and_shares_that_cannot_be_are_refused_before_the_charge(wrong, words):
    source = source_of(frame(10), limit=1)
    for plan in (decision_tree, random_forest):
        with pytest.raises(BadInput, match=words):
            plan(source, Budget(1), **wrong)
    with pytest.raises(BadInput, match="drawn by coins"):
        random_forest(source, Budget(1), preset="jagannathan", shares=(0, 1, 1))
    assert source._account.ledger.left == 1
