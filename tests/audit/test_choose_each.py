"""A choice in every cell of a partition: the same law as `split` and `choose` in each part, for one charge."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from exact_laws import Scripted, selection_laws
from hypothesis import given, settings
from hypothesis import strategies as st

from veil import (
    WHOLE,
    Axis,
    BadInput,
    Budget,
    BudgetRefused,
    Categorical,
    Correct,
    Entropy,
    ExpectedCorrect,
    Gini,
    Grid,
    Ledger,
    Majority,
    Numeric,
    Schema,
    Tree,
    grid,
    open_source,
)
from veil.kernel import SeededNoise
from veil.kernel.flip import permute_and_flip_each

SCHEMA = Schema(
    name="toy",
    label="y",
    column=[
        Categorical(name="a", values=("u", "v")),
        Categorical(name="b", values=("p", "q", "r")),
        Numeric(name="x", bounds=(0, 4), bins=4),
        Categorical(name="y", values=("no", "yes", "maybe")),
    ],
)
HALVES = Grid((Axis("x", (0, 0, 1, 1, 0), ("low", "high")),))
CANDIDATES = [grid(SCHEMA, "x"), grid(SCHEMA, "b"), HALVES, Grid((Axis("b", (0, 1, 0, 1), ("p or r", "other")),))]
TREE = Tree(grid(SCHEMA, "a"), (HALVES, WHOLE, grid(SCHEMA, "b")))
SCORES = [Majority(), Gini(), Entropy(most=4), ExpectedCorrect(0.7)]
ONE = Budget(1)


def source_of(rows, noise=0, limit=10**9):
    return open_source(rows, SCHEMA, Ledger(limit, "toy"), noise)


def frame(size, seed):
    draw = np.random.default_rng(seed)
    values = {"a": ["u", "v", None], "b": ["p", "q", "r"], "y": ["no", "yes", "maybe"]}
    columns = {name: draw.choice(np.array(texts, object), size) for name, texts in values.items()}
    return pd.DataFrame({**columns, "x": draw.uniform(0, 4, size)})


@pytest.mark.parametrize("partition", [WHOLE, grid(SCHEMA, "a"), TREE], ids=["whole", "grid", "tree"])
@pytest.mark.parametrize("score", SCORES, ids=repr)
@given(size=st.integers(0, 60), seed=st.integers(0, 99))
@settings(max_examples=10)
def test_every_cell_chooses_as_a_part_of_a_split_would(partition, score, size, seed):
    """What is asked of the noise, gaps to the best score and the rate, decides the law."""
    rows, noise = frame(size, seed), Scripted()
    source_of(rows, noise).choose_each(partition, CANDIDATES, score, ONE)
    [(gaps, rate)] = noise.asked
    parts, other = [], Scripted()
    for part in source_of(rows, other).split(partition):
        part.choose(CANDIDATES, score, ONE)
        parts += other.asked.pop()[0]
        assert other.asked == []
    assert list(gaps) == parts
    assert rate == Fraction(1, score.high - score.low)


def test_a_huge_epsilon_chooses_the_best_in_every_cell():
    rows = pd.DataFrame({"a": ["u"] * 4 + ["v"] * 4, "b": list("ppqq") + list("pqpq"), "x": [0, 3] * 2 + [0, 0, 3, 3]})
    rows["y"] = ["no", "no", "yes", "yes"] * 2
    release = source_of(rows).choose_each(grid(SCHEMA, "a"), CANDIDATES[:2], Gini(), Budget(10**6))
    assert release.value[:2].tolist() == [1, 0]
    assert release.value.shape == (3,) and release.value[2] in (0, 1)


def test_the_law_of_many_rows_at_once_is_that_of_permute_and_flip():
    scores = np.tile([[0, 2, 3], [1, 1, 0]], (20_000, 1))
    allowed = np.tile([[True, True, True], [True, True, False]], (20_000, 1))
    winners = permute_and_flip_each(scores, allowed, Fraction(1, 2), SeededNoise(0))
    laws = selection_laws([[3, 1, 0], [0, 0, 10**6]], 0.5)
    for place, law in enumerate(laws):
        found = np.bincount(winners[place::2], minlength=3) / 20_000
        assert found == pytest.approx(law, abs=0.015)


def test_the_choices_of_different_cells_are_independent():
    winners = permute_and_flip_each(np.zeros((40_000, 2), int), np.ones((40_000, 2), bool), Fraction(1), SeededNoise(1))
    both = np.bincount(winners[::2] * 2 + winners[1::2], minlength=4)
    assert both == pytest.approx(np.full(4, 5_000), abs=350)


def test_what_is_not_allowed_is_never_chosen_however_good():
    allowed = np.ones((TREE.size, 4), bool)
    allowed[:, 1], allowed[2] = False, [False, False, False, True]
    source = source_of(frame(200, 0))
    for epsilon in ("1/1000", 1000):
        winners = source.choose_each(TREE, CANDIDATES, Gini(), Budget(epsilon), allowed=allowed).value
        assert (winners != 1).all() and winners[2] == 3


def test_it_is_charged_once_and_refused_when_the_ledger_is_short():
    source = source_of(frame(50, 0), limit=1)
    release = source.choose_each(TREE, CANDIDATES, Gini(), Budget("3/4"))
    assert release.receipt.epsilon == Fraction(3, 4) and release.receipt.verb == "choose_each"
    with pytest.raises(BudgetRefused):
        source.choose_each(TREE, CANDIDATES, Gini(), Budget("1/2"))
    assert source._account.ledger.left == Fraction(1, 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": []},
        {"candidates": [WHOLE]},
        {"candidates": [grid(SCHEMA, "a", "b")]},
        {"candidates": [TREE]},
        {"score": Correct()},
        {"score": len},
        {"allowed": np.zeros((TREE.size, 4), bool)},
        {"allowed": np.ones((TREE.size, 3), bool)},
        {"allowed": np.ones((TREE.size, 4), int)},
        {"allowed": [[True] * 4] * TREE.size},
        {"partition": "a"},
    ],
    ids=str,
)
def test_a_wrong_question_is_refused_before_the_charge(wrong):
    source = source_of(frame(5, 0), limit=1)
    asked = {"partition": TREE, "candidates": CANDIDATES, "score": Gini(), "budget": ONE, **wrong}
    with pytest.raises(BadInput):
        source.choose_each(**asked)
    assert source._account.ledger.left == 1


def test_too_many_cells_are_refused_before_the_charge():
    values = tuple(map(str, range(3000)))
    columns = [Categorical(name=name, values=values) for name in "ab"]
    schema = Schema(name="toy", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
    source = open_source({"a": ["1"], "b": ["2"], "y": ["no"]}, schema, Ledger(1, "toy"))
    with pytest.raises(BadInput, match="too many cells"):
        source.choose_each(grid(schema, "a"), [grid(schema, "b")], Gini(), ONE)
    assert source._account.ledger.left == 1


def test_the_winners_have_one_form_whatever_the_rows():
    seen = set()
    for rows in (frame(0, 0), frame(1, 0), frame(80, 1)):
        value = source_of(rows, None).choose_each(TREE, CANDIDATES, Majority(), ONE).value
        seen.add((value.dtype.str, value.shape, value.strides, value.flags.writeable, value.base is None))
    assert seen == {("<i8", (TREE.size,), (8,), False, True)}
