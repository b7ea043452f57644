"""Naive Bayes: without noise the textbook answer, calibrated; exactly as dear as asked, sane whatever noise says."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import CategoricalNB

from veil import BadInput, Budget, BudgetRefused, Categorical, Ledger, Numeric, Schema, axis, datasets, open_source
from veil.plans.calibration import fitted
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
        return tuple(map(self._answer, partitions))

    def count(self, partition, budget):
        self.asked.append((partition, budget))
        return self._answer(partition)

    def per_row(self, budget):
        return budget.epsilon

    def _answer(self, partition):
        shape = (partition.size, len(self.schema.classes))
        return SimpleNamespace(value=np.full(shape, self.counts), noise_scale=2.0)


@pytest.mark.parametrize("name", ["fair", "iris"])
@pytest.mark.parametrize("smoothing", [1.0, 0.01])
def test_with_a_huge_epsilon_it_is_the_textbook_classifier_calibrated(name, smoothing):
    rows, schema = datasets.load(name)
    scorer, _ = learn(rows, schema, HUGE, smoothing=smoothing)
    codes = schema.encode(rows)
    label, features = codes.pop(schema.label), np.column_stack(list(codes.values()))
    sizes = [column.size for column in schema.features]
    textbook = CategoricalNB(alpha=smoothing, min_categories=sizes).fit(features, label)
    scores, prior = scorer.scores(codes), textbook.class_log_prior_
    shift = scorer.constant - prior
    evidence, ours = textbook.predict_joint_log_proba(features) - prior, scores / 2**20 - prior - shift
    factor = (ours * evidence).sum() / (evidence**2).sum()  # one for all columns and classes
    assert ours == pytest.approx(factor * evidence, abs=1e-3) and 0.2 < factor < 1.3
    assert (np.abs(shift) > 1e-3).sum() <= 1 and np.abs(shift).max() <= 2
    said, before = probabilities(scores), textbook.predict_proba(features)
    assert log_loss(label, said) < log_loss(label, before) + 0.01


def test_it_spends_exactly_its_budget_on_two_receipts(rows, schema):
    ledger = Ledger(1, schema.name)
    naive_bayes(open_source(rows, schema, ledger, noise=1), Budget("1/3"))
    assert ledger.spent == Budget("1/3").epsilon
    assert [receipt.epsilon for receipt in ledger.receipts()] == [Budget("49/150").epsilon, Budget("1/150").epsilon]


def test_it_refuses_when_the_ledger_is_short(rows, schema):
    ledger = Ledger("0.5", schema.name)
    with pytest.raises(BudgetRefused):
        naive_bayes(open_source(rows, schema, ledger, noise=1), Budget("0.6"))
    assert ledger.spent == 0


def test_its_first_question_follows_from_the_schema_and_its_second_from_the_answer(schema):
    asked = []
    for counts in (-50, 0, 10**6):
        source = Scripted(schema, counts)
        assert finite(naive_bayes(source, Budget(1)))
        asked.append(source.asked)
    (first, (sums, rest)), *others = asked
    assert all(one == first for one, _ in others)
    assert rest == Budget("0.02") and sums.size == 6 and sums.columns == tuple(c.name for c in schema.features)
    partitions, budget, shares, by_class = first
    assert partitions == tuple(axis(column) for column in schema.features)
    assert budget == Budget("0.98") and by_class
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


def copies(times, rows=6000):
    """Rows in which several columns say exactly the same, so that naive Bayes counts one witness many times."""
    random = np.random.default_rng(0)
    label = random.random(rows) < 0.15
    value = np.where(random.random(rows) < np.where(label, 0.7, 0.3), "b", "a")
    columns = {f"c{number}": value for number in range(times)}
    table = pd.DataFrame({**columns, "y": np.where(label, "yes", "no")})
    named = [Categorical(name=name, values=["a", "b"]) for name in columns]
    return table, Schema(name="copies", label="y", column=[*named, Categorical(name="y", values=["no", "yes"])])


@pytest.mark.parametrize("epsilon", [1, 10, 10**7])
def test_columns_that_say_the_same_do_not_make_it_worse_than_the_majority(epsilon):
    rows, schema = copies(12)
    codes, truth = schema.encode(rows, label=False), rows["y"] == "yes"
    for seed in range(3):
        said = probabilities(learn(rows, schema, epsilon, seed)[0].scores(codes))[:, 1]
        assert ((said > 0.5) == truth).mean() >= 1 - truth.mean()  # 0.70 against 0.85 without calibration
        assert log_loss(truth, said) < 0.45  # 1.3 without


def test_calibration_leaves_the_order_of_rows_of_two_classes_alone():
    rows, schema = datasets.load("fair")
    codes = schema.encode(rows, label=False)
    source = open_source(rows, schema, Ledger(10, schema.name), noise=3)
    scorer = naive_bayes(source, Budget(1))
    asked = source.record.releases[-1].question.scorer
    before = asked.scores(codes)[:, 0]
    after = np.subtract(*scorer.scores(codes).T)[np.argsort(before)]
    assert (np.diff(-after) >= -200).all()  # weights are rounded to units of 2^-20


def test_a_single_class_a_single_column_and_a_tiny_budget_are_not_calibrated(rows, schema):
    one = Schema(name="ten", label="party", column=[*schema.features, Categorical(name="party", values=["left"])])
    _, ledger = learn(rows, one, 1)
    assert [receipt.epsilon for receipt in ledger.receipts()] == [1]
    _, ledger = learn(rows, schema, 1, columns=["town"])
    assert [receipt.epsilon for receipt in ledger.receipts()] == [1]
    _, ledger = learn(rows, schema, "1/1000000000", columns=["town", "age"])
    assert len(ledger.receipts()) == 1 and ledger.spent == Budget("1/1000000000").epsilon


def test_counts_that_drown_in_noise_change_nothing():
    evidence, random = np.array([-6.0, -3, -1, 1, 3, 6]), np.random.default_rng(0)
    found = [fitted(random.laplace(0, 1e4, (6, 2)).round().astype(int), 1e4, 1, evidence, -1.0) for _ in range(200)]
    factors, shifts = np.array(found).T
    assert np.median(factors) == pytest.approx(1, abs=0.2) and np.abs(shifts).max() < 0.6
    assert fitted(np.zeros((6, 2), int), 1e-9, 1, evidence, -1.0) == (1, 0)


@pytest.mark.parametrize(("factor", "shift"), [(1, 0), (0.25, 0), (0.5, 0.5), (0.1, -0.5)])
def test_counts_without_noise_tell_the_factor_and_the_shift(factor, shift):
    evidence = np.array([-6.0, -3, -1, 1, 3, 6])
    share = 1 / (1 + np.exp(-(factor * evidence - 1 + shift)))
    counts = np.round(100_000 * np.column_stack([1 - share, share])).astype(int)
    assert fitted(counts, 1e-9, 1, evidence, -1.0) == pytest.approx((factor, shift), abs=0.1)
