"""Linear models: the textbook's without noise, exactly as dear as asked, sane whatever the noise says."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from veil import BadInput, Budget, BudgetRefused, Categorical, Ledger, Numeric, Schema, datasets, open_source
from veil.kernel import WEIGHT_UNIT, Hinge, Logistic, SeededNoise, Softmax
from veil.kernel.settings import own_penalties
from veil.kernel.shaped import equal_sums
from veil.kernel.verbs.minimise import amounts, check_groups
from veil.plans.finish import probabilities
from veil.plans.linear import (
    LARGEST_COLUMN,
    MARGIN,
    best_groups,
    logistic_regression,
    support_vectors,
    variance,
)

PLANS = {"logistic": logistic_regression, "svm": support_vectors}


def learn(plan, rows, schema, epsilon, seed=0, **options):
    """A scorer, and the ledger that paid for it."""
    ledger = Ledger(10**401, schema.name)
    return plan(open_source(rows, schema, ledger, noise=seed), Budget(epsilon), **options), ledger


class Scripted:
    """A source that writes down what it is asked and answers with fixed counts and weights."""

    def __init__(self, schema, counts=7):
        self.schema, self.counts, self.asked = schema, counts, []

    def per_row(self, budget):
        return budget.per_row(self.schema.rows_per_person)

    def count(self, partition, budget):
        self.asked.append((partition, budget.epsilon))
        return SimpleNamespace(value=np.full((1, len(self.schema.classes)), self.counts), noise_scale=2.0)

    def minimise(self, loss, axes, budget, **settings):
        self.asked.append((loss, tuple(axes), budget.epsilon, settings.get("label")))
        self.margin = settings.get("margin")
        shape = sum(one.size for one in axes), len(self.schema.classes) if loss.joint else 1
        return SimpleNamespace(value=np.full(shape, WEIGHT_UNIT))


@pytest.mark.parametrize("name", ["fair", "iris"])
def test_with_a_huge_epsilon_it_is_the_textbook_s_logistic_regression(name):
    rows, schema = datasets.load(name)
    scorer, _ = learn(logistic_regression, rows, schema, 10**9)
    codes = schema.encode(rows)
    label = codes.pop(schema.label)
    features = np.hstack([np.eye(column.size)[codes[column.name]] for column in schema.features])
    textbook = LogisticRegression(C=64, max_iter=10_000).fit(features, label)
    found = probabilities(scorer.scores(codes))
    assert (found.argmax(axis=1) == textbook.predict(features)).mean() > 0.99
    assert np.abs(found - textbook.predict_proba(features)).mean() < 0.01


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_it_spends_exactly_its_budget(plan, rows, schema):
    scorer, ledger = learn(plan, rows, schema, "1/3")
    assert ledger.spent == Budget("1/3").epsilon and scorer.classes == 3
    assert [receipt.verb for receipt in ledger.receipts()][:2] == ["count", "minimise"]


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_it_refuses_when_the_ledger_is_short(plan, rows, schema):
    ledger = Ledger("0.5", schema.name)
    with pytest.raises(BudgetRefused):
        plan(open_source(rows, schema, ledger, noise=1), Budget("0.6"))
    assert ledger.spent <= Budget("0.5").epsilon


def test_its_questions_follow_from_the_schema_and_from_the_class_totals(schema):
    source = Scripted(schema)
    logistic_regression(source, Budget(1))
    (_, size), (loss, axes, rest, label) = source.asked
    assert size == Budget("0.03").epsilon and size + rest == 1
    assert isinstance(loss, Softmax) and label is None
    assert {one.columns[0] for one in axes} == {column.name for column in schema.features}
    source = Scripted(schema)
    support_vectors(source, Budget(1))
    assert [(type(ask[0]), ask[3], ask[2]) for ask in source.asked[1:]] == [
        (Hinge, label, Budget("0.97").epsilon / 3) for label in range(3)
    ]


def test_two_classes_have_one_set_of_weights():
    two = Schema(
        name="two", label="y", column=[Numeric(name="x", bounds=(0, 1)), Categorical(name="y", values=["a", "b"])]
    )
    source = Scripted(two)
    scorer = logistic_regression(source, Budget(1))
    assert len(source.asked) == 2 and isinstance(source.asked[1][0], Logistic) and source.asked[1][3] == 1
    assert np.asarray(scorer.weights["x"])[:, 0].tolist() == [0] * 17 and set(
        np.asarray(scorer.weights["x"])[:, 1]
    ) == {1}


def test_columns_have_more_groups_the_more_rows_and_budget_there_are():
    two = Schema(
        name="two", label="y", column=[Numeric(name="x", bounds=(0, 1)), Categorical(name="y", values=["a", "b"])]
    )
    sizes = []
    for counts, epsilon in [(-100, 1), (50, 1), (200, 1), (5000, "0.01"), (5000, 1), (50, 10**400)]:
        source = Scripted(two, counts)
        logistic_regression(source, Budget(epsilon))
        sizes.append(source.asked[1][1][0].size)
    assert sizes == [4, 4, 8, 4, 16, 16]


@pytest.mark.parametrize("classes", [2, 3])
def test_a_margin_is_asked_where_rows_are_few_and_vanishes_with_rows_and_budget(classes):
    label = Categorical(name="y", values=["a", "b", "c"][:classes])
    schema, margins = Schema(name="few", label="y", column=[Numeric(name="x", bounds=(0, 1)), label]), []
    for counts, epsilon in [(-100, 1), (50, "0.1"), (5000, 1), (5000, 100), (5000, 10**9), (5000, 10**400)]:
        source = Scripted(schema, counts)
        logistic_regression(source, Budget(epsilon))
        margins.append(source.margin)
    assert margins[0] == margins[1] == MARGIN[classes - 2] and margins == sorted(margins, reverse=True)
    assert margins[2] < 0.5 and margins[4] < 1e-8


def test_a_margin_tells_more_where_rows_are_few(monkeypatch):
    rows, schema = datasets.load("fair")
    train, test = train_test_split(rows, test_size=0.3, random_state=0, stratify=rows[schema.label])
    truth, codes, areas = test[schema.label] == "yes", schema.encode(test, label=False), {}
    for margin in (0, 1):
        monkeypatch.setattr("veil.plans.linear.MARGIN", (margin, margin))
        scores = [learn(logistic_regression, train, schema, "0.05", seed)[0].scores(codes) for seed in range(12)]
        areas[margin] = np.array([roc_auc_score(truth, table[:, 1] - table[:, 0]) for table in scores])
    assert (areas[1] > areas[0]).sum() >= 9 and areas[1].mean() > areas[0].mean()  # the same noise, seed by seed


def test_undeclared_values_are_taken_for_the_middle_bin_or_the_last_value():
    columns = [Numeric(name="x", bounds=(0, 1)), Categorical(name="c", values=["u", "v", "w"])]
    kept = [Numeric(name="k", bounds=(0, 1), missing=0.2), Categorical(name="q", values=["?", "r"], missing="?")]
    label = Categorical(name="y", values=["a", "b"])
    source = Scripted(Schema(name="two", label="y", column=[*columns, *kept, label]), 10**6)
    logistic_regression(source, Budget(1))
    groups = {one.columns[0]: one.axes[0].groups for one in source.asked[1][1]}
    assert groups["x"] == (*range(16), 7) and groups["c"] == (0, 1, 2, 2)
    assert groups["k"] == tuple(range(16)) and groups["q"] == (0, 1)


@pytest.mark.parametrize("sizes", [[2], [2, 2, 2, 17], [3, 5, 5, 17, 17, 42], [2, 100, 101, 101, 300]])
def test_groups_of_columns_are_the_best_of_all_groups_of_neighbours(sizes):
    def every(rest):
        yield from ([[rest]] if len(rest) == 1 or rest[-1] <= LARGEST_COLUMN else [])
        for cut in range(1, len(rest)):
            if cut == 1 or rest[cut - 1] <= LARGEST_COLUMN:
                yield from ([rest[:cut], *others] for others in every(rest[cut:]))

    def noise(groups):
        return sum(variance(group) ** (1 / 3) for group in groups)

    found = best_groups(sizes)
    assert sum(found, []) == sizes and found in list(every(sizes))
    assert noise(found) == pytest.approx(min(map(noise, every(sizes))))


@pytest.mark.parametrize("sizes", [[3] * 8, [2] * 22, [17, 17, 9]])
def test_the_expected_noise_of_columns_together_is_about_what_is_drawn(sizes):
    noise = SeededNoise(0)
    draws = np.array([equal_sums(sorted(sizes), Fraction(1, 2**20), noise) for _ in range(400)]) / 2**20
    assert (draws**2).sum(axis=1).mean() == pytest.approx(variance(sorted(sizes)), rel=0.25)
    assert variance(sizes) < sum(variance([size]) for size in sizes) * len(sizes) ** 2  # less than one by one


def test_sixty_small_columns_get_a_penalty_that_the_argument_allows(rows):
    """Their noise is small, so the asked penalty over it would be too little."""
    columns = [Categorical(name=f"c{i}", values=("a", "b"), missing="b") for i in range(60)]
    schema = Schema(name="many", label="y", column=[*columns, Categorical(name="y", values=("no", "yes", "maybe"))])
    for classes in (2, 3):
        label = Categorical(name="y", values=("no", "yes", "maybe")[:classes])
        many = schema.model_copy(update={"column": (*columns, label)})
        table = {**{column.name: ["a", "b"] * 10 for column in columns}, "y": ["yes", "no"] * 10}
        for plan in PLANS.values():
            scorer, ledger = learn(plan, table, many, 1)
            assert ledger.spent == 1 and scorer.classes == classes


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_columns_of_one_value_are_no_limit_to_how_many_there_are(plan):
    columns = [Categorical(name=f"c{i}", values=("a",), missing="a") for i in range(70)]
    schema = Schema(name="many", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
    scorer, _ = learn(plan, {**{column.name: ["a"] * 4 for column in columns}, "y": ["yes", "no"] * 2}, schema, 1)
    assert scorer.classes == 2


BAD = {"penalty": 0, "a small penalty": 0.5, "a large penalty": 1e10, "no number": "4", "not a number": float("nan")}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("penalty", BAD.values(), ids=BAD)
def test_it_complains_before_it_asks(plan, schema, penalty):
    source = Scripted(schema)
    with pytest.raises(BadInput, match="penalty"):
        plan(source, Budget(1), penalty=penalty)
    assert not source.asked


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_it_needs_classes_columns_and_not_too_many_values(plan):
    y, x = Categorical(name="y", values=["a", "b"]), Numeric(name="x", bounds=(0, 1), bins=6000)
    one = Categorical(name="y", values=["a"])
    for columns, words in [([one, x], "one class"), ([y], "column"), ([y, x], "too many values")]:
        source = Scripted(Schema(name="x", label="y", column=columns))
        with pytest.raises(BadInput, match=words):
            plan(source, Budget(1))
        assert not source.asked
    with pytest.raises(BadInput, match="one class"):
        plan(Scripted(Schema(name="x", column=[x])), Budget(1))


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("epsilon", [1e-5, 1, 10**7, 10**400])
@pytest.mark.parametrize("part", [slice(0, 0), slice(0, 1), slice(None)])
def test_weights_are_finite_for_empty_and_tiny_tables_and_any_noise(plan, rows, schema, epsilon, part):
    scorer, _ = learn(plan, rows[part], schema, epsilon)
    tables = [*scorer.weights.values(), scorer.constant]
    assert all(np.isfinite(table).all() and np.abs(table).max() < 100 for table in map(np.asarray, tables))
    shares = probabilities(scorer.scores(schema.encode(rows, label=False)))
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(rows)))


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_table_of_one_class_predicts_it(plan, rows, schema):
    scorer, _ = learn(plan, rows.assign(party="right"), schema, 10**7)
    assert (scorer.scores(schema.encode(rows, label=False)).argmax(axis=1) == 1).all()


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_it_tells_more_than_the_majority_class_at_epsilon_one(plan):
    rows, schema = datasets.load("fair")
    train, test = train_test_split(rows, test_size=0.3, random_state=0, stratify=rows[schema.label])
    truth, codes = test[schema.label] == "yes", schema.encode(test, label=False)
    scores = [learn(plan, train, schema, 1, seed)[0].scores(codes) for seed in range(5)]
    assert min(roc_auc_score(truth, table[:, 1] - table[:, 0]) for table in scores) > 0.65


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 10])
@pytest.mark.parametrize("classes", [2, 3, 12])
@pytest.mark.parametrize(("columns", "size"), [(1, 2), (30, 2), (9, 4), (3, 40)])
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_penalty_never_leaves_too_little_for_the_noise(plan, columns, size, classes, epsilon):
    """Nothing may fail once the class totals are paid for; with many rows the penalty is least."""
    names = [str(code) for code in range(size)]
    label = Categorical(name="y", values=[str(code) for code in range(classes)], missing="0")
    words = [Categorical(name=f"c{i}", values=names, missing="0") for i in range(columns)]
    schema = Schema(name="many", label="y", column=[*words, label])
    source = Scripted(schema, counts=10**7)
    settings = []
    source.minimise = lambda loss, axes, budget, **given: (
        settings.append((loss, axes, budget, given)) or Scripted.minimise(source, loss, axes, budget)
    )
    plan(source, Budget(epsilon))
    for loss, axes, budget, given in settings:
        parts = [part.epsilon for part in budget.split(*given["shares"])]
        shapes = check_groups(given["groups"], [one.size for one in axes], len(parts))
        ratios = own_penalties(given["penalty"], len(axes))
        assert amounts(loss, parts, ratios, shapes, classes).last > 0
