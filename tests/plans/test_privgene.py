"""PrivGene: without noise the fittest survive in every round; exactly as dear as asked, refused before a charge."""

from fractions import Fraction

import numpy as np
import pytest

from veil import (
    BadInput,
    Budget,
    BudgetRefused,
    Categorical,
    Ledger,
    Numeric,
    PrivGeneClassifier,
    Schema,
    datasets,
    open_source,
)
from veil.plans.privgene import MOST, SEED, UNIT, bred, first_vectors, privgene, scorer_of, traits_of

HUGE = 10**9
SCHEMA = Schema(
    name="made",
    label="y",
    column=[
        Categorical(name="a", values=("u", "v", "w")),
        Numeric(name="x", bounds=(0, 4), bins=4),
        Categorical(name="y", values=("no", "yes")),
    ],
)


def table(size=500, seed=0):
    draw = np.random.default_rng(seed)
    a, x = draw.choice(list("uvw"), size), draw.uniform(0, 4, size)
    return {"a": a, "x": x, "y": np.where((a == "u") + (x > 2) + draw.normal(0, 0.3, size) > 0.9, "yes", "no")}


def ask(rows, epsilon, schema=SCHEMA, **settings):
    source = open_source(rows, schema, Ledger(epsilon, schema.name), noise=0)
    return privgene(source, Budget(epsilon), **settings), source


def rightly(codes, vectors, shares):
    """The rows that each vector predicts rightly, in plain NumPy: one-hot categories, places of bins, a constant."""
    one_hot = np.eye(4)[codes["a"]][:, :3]  # the last code is for missing values
    place = np.array([-0.75, -0.25, 0.25, 0.75, 0.0])[codes["x"]]
    rows = np.column_stack([one_hot, place, np.ones(len(place))])
    odds = rows @ (vectors[:, :, 0].T / UNIT) + np.log(shares[1] / shares[0])
    return ((odds > 0) == (codes["y"] == 1)[:, None]).sum(axis=0)


def test_without_noise_every_round_keeps_the_vectors_that_predict_most_rows():
    rows = table()
    made, source = ask(rows, HUGE, rounds=6, population=40, survivors=3)
    codes = {name: np.asarray(column) for name, column in SCHEMA.encode(rows).items()}
    coins = np.random.default_rng(SEED)
    vectors = first_vectors(2, traits_of(SCHEMA), 40, coins)
    shares = np.bincount(codes["y"], minlength=2) / len(codes["y"])
    best, chosen = 0, [release for release in source.record.releases if release.receipt.verb == "choose_best"]
    assert len(chosen) == 6
    for number, release in enumerate(chosen):
        scores, kept = rightly(codes, vectors, shares), release.value
        assert scores[kept].tolist() == sorted(scores, reverse=True)[: 1 if number == 5 else 3]
        assert scores.max() >= best  # parents stay, so the best is never lost
        best = scores.max()
        vectors = vectors[kept] if number == 5 else bred(vectors[kept], 40, coins)
    own = made.scores(SCHEMA.encode(rows, label=False))
    assert (own.argmax(axis=1) == codes["y"]).sum() == best > shares.max() * len(codes["y"])


@pytest.mark.parametrize("settings", [{}, {"rounds": 1}, {"rounds": 7, "survivors": 4, "population": 9}])
@pytest.mark.parametrize("epsilon", ["1/3", 2])
def test_it_spends_exactly_its_budget_in_equal_rounds(settings, epsilon):
    _, source = ask(table(60), epsilon, **settings)
    receipts = source.record.receipts
    assert sum(receipt.epsilon for receipt in receipts) == Fraction(epsilon)
    assert len({receipt.epsilon for receipt in receipts if receipt.verb == "choose_best"}) == 1
    assert receipts[0].verb == receipts[-1].verb == "count"


def test_more_rows_have_more_rounds():
    few, many = (len(ask(table(size), 1, population=9)[1].record.receipts) for size in (100, 20_000))
    assert few < many


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"population": 1}, {"survivors": 0}, {"survivors": 101}])
def test_settings_that_cannot_be_are_refused_before_the_charge(wrong):
    ledger = Ledger(1, "made")
    with pytest.raises(BadInput):
        privgene(open_source(table(9), SCHEMA, ledger), Budget(1), **wrong)
    assert ledger.left == 1


def test_too_many_values_are_refused_before_the_charge():
    schema = Schema(
        name="made", label="y", column=[Categorical(name="a", values=tuple(range(50_000))), SCHEMA.get("y")]
    )
    ledger = Ledger(1, "made")
    with pytest.raises(BadInput, match="too many values"):
        privgene(open_source({"a": [1], "y": ["no"]}, schema, ledger), Budget(1))
    assert ledger.left == 1


def test_it_is_refused_when_the_ledger_is_short():
    with pytest.raises(BudgetRefused):
        privgene(open_source(table(9), SCHEMA, Ledger("0.99", "made"), noise=0), Budget(1))


def test_children_have_the_genes_of_two_parents_but_one():
    coins = np.random.default_rng(0)
    parents = np.stack([np.full((9, 2), -5), np.full((9, 2), 5)])
    children = bred(parents, 50, coins)
    assert (children[:2] == parents).all() and len(children) == 50 and np.abs(children).max() <= MOST
    assert all((np.abs(child) != 5).sum() <= 1 for child in children)


def test_a_label_of_one_class_and_no_rows_have_a_model():
    one = Schema(name="made", label="y", column=[*SCHEMA.column[:2], Categorical(name="y", values=("only",))])
    for schema, rows in ((one, {"a": ["u"], "x": [1], "y": ["only"]}), (SCHEMA, {"a": [], "x": [], "y": []})):
        made, source = ask(rows, 1, schema)
        assert sum(receipt.epsilon for receipt in source.record.receipts) == 1
        assert np.isfinite(made.scores(schema.encode(rows, label=False))).all()


def test_a_scorer_adds_the_weights_of_its_vector():
    vector = np.arange(5)[:, None]
    made = scorer_of(vector, traits_of(SCHEMA), np.array([0.5, 0.5]))
    scores = made.scores(SCHEMA.encode({"a": ["v", None], "x": [4, None]}, label=False)) / 2**20
    assert (scores[:, 1] - scores[:, 0]).tolist() == pytest.approx([(1 + 0.75 * 3 + 4) / UNIT, 4 / UNIT], abs=1e-5)


def test_the_verdict_is_by_the_models_own_odds():
    rows, schema = datasets.load("fair")
    model = PrivGeneClassifier(epsilon=5, schema=schema, random_state=0, population=20).fit(rows)
    assert model.verdict_.level in ("good", "fair") and "its own odds" in model.verdict_.words
