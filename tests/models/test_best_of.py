"""BestOf: the exact law of what comes out, what it costs, and that the number of tries is told nobody."""

import traceback
from collections.abc import Iterator
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from veil import (
    WHOLE,
    BadInput,
    BestOf,
    Budget,
    BudgetRefused,
    ClassSharesClassifier,
    DecisionTreeClassifier,
    Ledger,
    NaiveBayesClassifier,
    Numeric,
    Schema,
    SeededNoise,
    datasets,
    load_model,
    open_source,
)
from veil.audit.tables import LONE
from veil.audit.tables import SCHEMA as SMALL
from veil.kernel.verbs import best
from veil.kernel.verbs.best import tries
from veil.models.best_of import RATES, attempt, mean_tries, rate_of
from veil.plans.outcome import OWN_LEDGERS
from veil.progress import told

FAIR, SCHEMA = datasets.load("fair")
SOME = FAIR.iloc[::4]
MODELS = [NaiveBayesClassifier(), ClassSharesClassifier()]


def fitted(models=MODELS, epsilon=8, seed=1, **more):
    ledger = Ledger(epsilon, "fair")
    model = BestOf(models, epsilon=epsilon, schema=SCHEMA, ledger=ledger, random_state=seed, **more)
    return model.fit(SOME), ledger


def test_it_costs_its_epsilon_by_one_charge_however_often_it_tried():
    for seed in range(3):
        model, ledger = fitted(seed=seed)
        assert ledger.spent == 8 == model.outcome_.epsilon and [r.verb for r in model.receipts_] == ["best_of"]
        assert len(list(ledger.receipts())) == 1


def test_the_better_method_comes_out():
    """Mostly: now and then the other is tried alone."""
    chosen = [fitted(seed=seed, tries=20, measure="auc")[0].chosen_ for seed in range(6)]
    assert chosen.count("naive-bayes") >= 4


def test_an_attempt_has_half_the_budget_and_no_more():
    source = open_source(LONE, SMALL, Ledger(2, "audit"), noise=1)
    spent = []

    def greedy(inner):
        inner.count(WHOLE, Budget(1))
        with pytest.raises(BudgetRefused):
            inner.count(WHOLE, Budget("1/1000"))
        spent.append(True)
        return "made", 1

    release = source.best_of([greedy], Budget(2))
    assert release.value == "made" and spent and release.receipt.epsilon == 2


def test_nothing_that_is_told_counts_the_tries():
    """No receipt, no progress, no time of its own: two runs with many and few tries look alike from outside."""
    seen = []
    for rate in (Fraction(10), Fraction(1, 1000)):
        heard, tried, ledger = [], [], Ledger(2, "audit")
        source = open_source(LONE, SMALL, ledger, noise=8)

        def count(inner, tried=tried):
            answer = inner.count(WHOLE, Budget(1))
            tried.append(answer.receipt.time)
            return answer.receipt, 1

        with told(lambda work, *_, heard=heard: heard.append(work)):
            release = source.best_of([count], Budget(2), rate=rate)
        assert {release.value.time, release.receipt.time} == {*tried}  # the time at which the rows were opened
        assert release.value.number == 2 and len(list(ledger.receipts())) == 1
        seen.append((heard, len(source.record.receipts), len(source.record.releases), len(tried)))
    assert seen[0][:3] == seen[1][:3] and seen[0][3] < seen[1][3]


def law_of_tries(rate, most=2000):
    weights = np.array([exp(-rate * k) / k for k in range(1, most)])
    return weights / weights.sum()


def test_the_number_of_tries_has_the_logarithmic_law():
    noise, law = SeededNoise(3), law_of_tries(0.25)
    drawn = np.bincount([tries(Fraction(1, 4), noise) for _ in range(4_000)], minlength=8)[1:8] / 4_000
    assert np.abs(drawn - law[:7]).max() < 0.025
    assert mean_tries(0.25) == pytest.approx(float(law @ np.arange(1, 2000)))


def worst_loss(generating, epsilon=1.0):
    """The largest loss of the best of K tries, f(t) = E t^K, over laws of one try that lose at most epsilon: a rare
    outcome gets likelier by e^epsilon, better ones rarer by as much, and what is worse takes the rest."""
    worst, rare = 0.0, 1e-6
    for better in np.linspace(0.01, 1 / (1 + exp(-epsilon)) - 0.01, 50):
        laws = [(rare, better), (rare * exp(epsilon), better * exp(-epsilon))]
        rest = [1 - sum(law) for law in laws]
        assert abs(np.log(rest[1] / rest[0])) <= epsilon
        chances = [generating(1 - b) - generating(1 - b - o) for o, b in laws]
        worst = max(worst, float(abs(np.log(chances[1] / chances[0]))))
    return worst


@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_the_best_of_a_random_number_of_tries_loses_at_most_twice_what_one_loses(rate):
    logarithmic = worst_loss(lambda t: np.log1p(-exp(-rate) * t) / np.log1p(-exp(-rate)))
    assert 1.5 < logarithmic <= 2


@pytest.mark.parametrize(("times", "least"), [(4, 2.5), (10, 5)])
def test_the_twin_with_a_fixed_number_of_tries_loses_more(times, least):
    """NOT PRIVATE: the best of so many tries, charged as twice one."""
    assert worst_loss(lambda t: t**times) > least


def test_ties_go_to_the_first_whose_law_is_that_of_the_argument():
    """Two outcomes of one score: the chance of each is P(o) times the mean of f' between P(less) and P(at most)."""
    law, noise, rate = np.array([0.3, 0.5, 0.2]), SeededNoise(4), Fraction(1, 5)
    scores, counts = (1, 1, 0), np.zeros(3)
    source = open_source(LONE, SMALL, Ledger(10**6, "audit"), noise=noise)
    for _ in range(1_500):
        drawn = source.best_of([lambda _: (place := int(noise.pick([3, 5, 2])), scores[place])], Budget(1), rate=rate)
        counts[drawn.value] += 1
    tries_law = law_of_tries(0.2)
    none = float((tries_law * 0.2 ** np.arange(1, len(tries_law) + 1)).sum())
    expected = np.array([law[0] / 0.8 * (1 - none), law[1] / 0.8 * (1 - none), none])
    assert np.abs(counts / 1_500 - expected).max() < 0.045


def test_a_saved_model_is_one_of_the_method_that_came_out(tmp_path):
    model, _ = fitted()
    model.save(tmp_path / "model.veil")
    again = load_model(tmp_path / "model.veil")
    assert again.method == model.chosen_ and again.outcome_.epsilon == 8
    assert np.array_equal(again.predict_proba(SOME), model.predict_proba(SOME))
    assert again.verdict_.level == "unknown" == model.verdict_.level
    assert "best_of" in model.report() and "best_of" in again.report()


def shown_of(error):
    """What debuggers and notebooks show beside an error: the variables of the verb's own frames."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == best.__file__]
    return [value for frame in frames for value in frame.f_locals.values()]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, ValueError])
def test_an_error_shows_nothing_of_tries_before_it_nor_how_many_there_were(kind):
    """The try that failed is what came out; a better or worse one before it is lost, whoever looks at the error."""
    source, made = open_source(LONE, SMALL, Ledger(2, "audit"), noise=8), []

    def fail_at_last(inner):
        if len(made) == 3:
            raise kind
        made.append(f"model {len(made)}")
        return made[-1], len(made)

    with pytest.raises(kind) as error:
        source.best_of([fail_at_last], Budget(2), rate=Fraction(1, 1000))
    seen = shown_of(error.value)
    assert len(made) == 3 and seen and "model" not in repr(seen)
    assert not any(isinstance(one, (int, Iterator)) for one in seen) and error.value.__context__ is None


def test_with_a_huge_budget_it_is_the_best_model_of_a_part_of_the_rows():
    model, _ = fitted(epsilon=10**6, tries=20)
    assert model.chosen_ == "naive-bayes"
    assert np.mean(model.predict(FAIR) == FAIR["affair"].astype(str)) > 0.68


def test_a_plan_shows_one_charge():
    planned = BestOf(MODELS, epsilon=3, schema=SCHEMA).rehearse()
    assert [(release.receipt.verb, release.receipt.epsilon) for release in planned] == [("best_of", 3)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"models": []}, "give the models"),
        ({"models": "ab"}, "give the models"),
        ({"models": [1]}, "give the models"),
        ({"models": [BestOf(MODELS)]}, "give the models"),
        ({"measure": "f1"}, "measure"),
        ({"tries": 0}, "tries"),
        ({"models": [NaiveBayesClassifier(smoothing=-1)]}, "smoothing"),
        ({"models": [DecisionTreeClassifier(depth=-1)]}, "depth"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_any_charge(more, said):
    ledger = Ledger(1, "fair")
    with pytest.raises(BadInput, match=said):
        BestOf(**{"models": MODELS, **more}, schema=SCHEMA, ledger=ledger, random_state=1).fit(SOME)
    assert ledger.spent == 0


@pytest.mark.parametrize("given", [{"rate": 0}, {"rate": 11}, {"rate": "x"}, {"attempts": []}])
def test_the_verb_refuses_before_any_charge(given):
    ledger = Ledger(1, "audit")
    source = open_source(LONE, SMALL, ledger, noise=1)
    with pytest.raises(BadInput):
        source.best_of(given.get("attempts", [lambda _: (0, 0)]), Budget(1), rate=given.get("rate", 1))
    assert ledger.spent == 0


def test_an_attempt_divides_nothing_it_does_not_have():
    source = open_source(SOME, SCHEMA, ledger := Ledger(1, "fair"), noise=1)
    outcome, score = attempt(source, Budget(1), NaiveBayesClassifier(), "accuracy")
    assert ledger.spent == 1 and outcome.epsilon == 1 and isinstance(score, int)


def test_the_rate_follows_from_the_tries_that_are_wanted():
    assert [round(mean_tries(float(rate_of(tries)))) for tries in (1, 3, 5, 22)] == [1, 3, 5, 22]
    assert log(mean_tries(float(RATES[-1]))) > log(100)


def test_nothing_that_is_kept_grows_with_the_number_of_tries():
    """Each try finds bins, and first tries that out on a table without rows, which has a ledger too."""
    wide = Schema(name="wide", label=SMALL.label, column=[Numeric(name="x", bounds=(0, 10**6)), SMALL.get(SMALL.label)])
    labels = wide.classes
    rows = {"x": [1.0, 5.0, 900.0] * 40, wide.label: [labels[0], labels[1], labels[1]] * 40}
    before = {*OWN_LEDGERS}
    for seed in range(4):
        BestOf(MODELS, epsilon=4, schema=wide, ledger=Ledger(4, "wide"), random_state=seed, tries=9).fit(rows)
    assert OWN_LEDGERS == before
