"""Naive Bayes: the textbook answer without noise, exactly as dear as asked, sane whatever the noise says."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import CategoricalNB

from veil import BadInput, Budget, BudgetRefused, Categorical, Ledger, Numeric, Schema, axis, datasets, open_source
from veil.plans.finish import probabilities
from veil.plans.naive_bayes import naive_bayes

HUGE = Budget(10**7)


def learn(rows, schema, epsilon, seed=0, **options):
    """A scorer, and the ledger that paid for it."""
    ledger = Ledger(10**401, schema.name)
    return naive_bayes(open_source(rows, schema, ledger, noise=seed), Budget(epsilon), **options), ledger


def finite(scorer):
    """Whether every weight is a number of reasonable size."""
    tables = [*scorer.weights.values(), scorer.constant]
    return all(np.isfinite(table).all() and np.abs(table).max() < 100 for table in map(np.asarray, tables))


class Scripted:
    """A source that writes down what it is asked and answers with fixed counts."""

    def __init__(self, schema, counts=7):
        self.schema, self.counts, self.asked = schema, counts, []

    def count_each(self, partitions, budget, *, shares=None, by_class=True):
        self.asked.append((tuple(partitions), budget, tuple(shares), by_class))
        shapes = [(partition.size, len(self.schema.classes)) for partition in partitions]
        return tuple(SimpleNamespace(value=np.full(shape, self.counts), noise_scale=2.0) for shape in shapes)


@pytest.mark.parametrize("name", ["fair", "iris"])
@pytest.mark.parametrize("smoothing", [1.0, 0.01])
def test_with_a_huge_epsilon_it_is_the_textbook_classifier(name, smoothing):
    rows, schema = datasets.load(name)
    scorer, _ = learn(rows, schema, HUGE, smoothing=smoothing)
    codes = schema.encode(rows)
    label, features = codes.pop(schema.label), np.column_stack(list(codes.values()))
    sizes = [column.size for column in schema.features]
    textbook = CategoricalNB(alpha=smoothing, min_categories=sizes).fit(features, label)
    scores = scorer.scores(codes)
    assert (scores.argmax(axis=1) == textbook.predict(features)).all()
    assert scores / 2**20 == pytest.approx(textbook.predict_joint_log_proba(features), abs=1e-3)
    assert probabilities(scores) == pytest.approx(textbook.predict_proba(features), abs=1e-3)


def test_it_spends_exactly_its_budget_on_one_receipt(rows, schema):
    ledger = Ledger(1, schema.name)
    naive_bayes(open_source(rows, schema, ledger, noise=1), Budget("1/3"))
    assert ledger.spent == Budget("1/3").epsilon
    assert len(ledger.receipts()) == 1


def test_it_refuses_when_the_ledger_is_short(rows, schema):
    ledger = Ledger("0.5", schema.name)
    with pytest.raises(BudgetRefused):
        naive_bayes(open_source(rows, schema, ledger, noise=1), Budget("0.6"))
    assert ledger.spent == 0


def test_its_one_question_follows_from_the_schema_whatever_the_answers(schema):
    asked = []
    for counts in (-50, 0, 10**6):
        source = Scripted(schema, counts)
        assert finite(naive_bayes(source, Budget(1)))
        asked += source.asked
    assert asked[0] == asked[1] == asked[2]
    partitions, budget, shares, by_class = asked[0]
    assert partitions == tuple(axis(column) for column in schema.features)
    assert budget == Budget(1) and by_class
    assert np.argsort(shares).tolist() == np.argsort([column.size for column in schema.features]).tolist()


def test_it_uses_the_columns_it_is_given(schema):
    source = Scripted(schema)
    assert naive_bayes(source, Budget(1), columns=["income", "town"]).columns == ("town", "income")
    assert [partition.columns for partition in source.asked[0][0]] == [("town",), ("income",)]


@pytest.mark.parametrize("options", [{"columns": ["nope"]}, {"columns": ["party"]}, {"columns": []}, {"smoothing": 0}])
def test_it_complains_before_it_asks(schema, options):
    source = Scripted(schema)
    with pytest.raises(BadInput):
        naive_bayes(source, Budget(1), **options)
    assert not source.asked


def test_it_needs_a_label():
    with pytest.raises(BadInput, match="label"):
        naive_bayes(Scripted(Schema(name="x", column=[Categorical(name="a", values=["u"])])), Budget(1))


@pytest.mark.parametrize("epsilon", [1e-6, 1, 10**7, 10**400])
@pytest.mark.parametrize("part", [slice(0, 0), slice(0, 1), slice(None)])
def test_weights_are_finite_for_empty_and_tiny_tables_and_any_noise(rows, schema, epsilon, part):
    scorer, _ = learn(rows[part], schema, epsilon)
    assert finite(scorer)
    shares = probabilities(scorer.scores(schema.encode(rows, label=False)))
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(rows)))


def test_an_empty_table_without_noise_says_that_nothing_is_known(rows, schema):
    scorer, _ = learn(rows[:0], schema, HUGE)
    shares = probabilities(scorer.scores(schema.encode(rows, label=False)))
    assert shares == pytest.approx(np.full((len(rows), 3), 1 / 3), abs=1e-3)


def test_a_table_of_one_class_predicts_it(rows, schema):
    scorer, _ = learn(rows.assign(party="right"), schema, HUGE)
    assert (scorer.scores(schema.encode(rows, label=False)).argmax(axis=1) == 1).all()


def test_a_label_with_one_value_gives_one_score(rows, schema):
    one = Schema(name="ten", label="party", column=[*schema.features, Categorical(name="party", values=["left"])])
    scorer, _ = learn(rows, one, 1)
    assert scorer.classes == 1 and finite(scorer)


def test_it_tells_more_than_the_majority_class_at_epsilon_one():
    rows, schema = datasets.load("fair")
    train, test = train_test_split(rows, test_size=0.3, random_state=0, stratify=rows[schema.label])
    truth, codes = test[schema.label] == "yes", schema.encode(test, label=False)
    scores = [roc_auc_score(truth, probabilities(learn(train, schema, 1, seed)[0].scores(codes))[:, 1])
              for seed in range(5)]  # fmt: skip
    assert min(scores) > 0.65


def test_more_budget_comes_closer_to_the_truth():
    random = np.random.default_rng(0)
    label = random.integers(0, 2, 4000)
    rows = pd.DataFrame({"x": random.normal(label, 1), "y": np.where(label, "yes", "no")})
    schema = Schema(name="bell", label="y", column=[Numeric(name="x", bounds=(-4, 5)),
                                                    Categorical(name="y", values=["no", "yes"])])  # fmt: skip
    codes = schema.encode(rows, label=False)
    best = probabilities(learn(rows, schema, HUGE)[0].scores(codes))
    errors = [np.mean([np.abs(probabilities(learn(rows, schema, epsilon, seed)[0].scores(codes)) - best).mean()
                       for seed in range(5)]) for epsilon in (0.001, 0.01, 0.1, 1)]  # fmt: skip
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01


def test_many_columns_of_noise_do_not_make_it_certain():
    random = np.random.default_rng(0)
    values = random.integers(0, 2, (500, 31)).astype(str)
    rows = pd.DataFrame(values, columns=[f"c{number}" for number in range(31)])
    columns = [Categorical(name=name, values=["0", "1"]) for name in rows]
    schema = Schema(name="coins", label="c30", column=columns)
    codes = schema.encode(rows, label=False)
    sure = [probabilities(learn(rows, schema, 0.1, seed)[0].scores(codes)).max(axis=1).mean() for seed in range(10)]
    assert np.mean(sure) < 0.8  # 0.88 without the reliability of the counts
