"""Weights of words: the minimiser is the textbook one, certainly; what one row moves is bounded."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from veil import BadInput, Bag, Budget, Categorical, Ledger, Schema, SeededNoise, Text, bag, open_source
from veil.kernel import WEIGHT_UNIT, Hinge, Logistic, Softmax
from veil.kernel.gradients import TOLERANCE, Objective, WordRows
from veil.kernel.verbs.minimise import minimiser, solve, word_amounts
from veil.schema.encoding import quiet
from veil.solver import words

SIZE, MOST = 30, 4


def word_rows(rows=300, seed=0):
    chance = np.random.default_rng(seed)
    held = [np.sort(chance.choice(SIZE, chance.integers(0, MOST + 1), replace=False)) for _ in range(rows)]
    places = np.concatenate([*held, np.zeros(0, int)]).astype(np.int32)
    owners = np.repeat(np.arange(rows), [len(words) for words in held])
    return WordRows(places, owners, np.where(chance.random(rows) < 0.4, 1.0, -1.0)[None], SIZE, MOST)


def matrix(rows):
    dense = np.zeros((rows.truth.shape[1], SIZE))
    dense[rows.rows, rows.places] = 1
    return dense


def solved(rows, loss, penalty, offset=0.0, shift=0.0):
    """The weights where the gradient is short, without rounding or noise on them."""
    objective = Objective(
        lambda: [rows], rows.truth.shape[1], loss, np.broadcast_to(penalty, SIZE).astype(float), np.array([[offset]])
    )
    return solve(objective, np.broadcast_to(shift, (1, SIZE)).astype(float))[0]


def test_without_noise_it_is_the_textbook_logistic_regression():
    rows, penalty = word_rows(), 2.0
    found = solved(rows, Logistic(), penalty)
    textbook = LogisticRegression(C=1 / penalty, fit_intercept=False, tol=1e-10, max_iter=10_000)
    assert np.abs(found - textbook.fit(matrix(rows), rows.truth[0]).coef_[0]).max() < 1e-5


@pytest.mark.parametrize("loss", [Logistic(), Hinge()], ids=repr)
@pytest.mark.parametrize("size", [0, 1, 300])
@pytest.mark.parametrize("noise", [0.0, 1e4])
def test_the_gradient_at_the_solution_is_below_the_tolerance_whatever_the_rows(loss, size, noise):
    rows = word_rows(size, 3)
    shift = np.random.default_rng(1).normal(size=SIZE) * noise
    with quiet():
        weights = solved(rows, loss, 0.5, -0.7, shift)
        scores = matrix(rows) @ weights - 0.7
        exact = matrix(rows).T @ loss.slopes(scores[None], rows.truth)[0] + 0.5 * weights + shift
    assert np.sqrt((exact**2).sum()) < TOLERANCE * 1.1


def test_sums_are_exact_in_units():
    rows = word_rows()
    values = np.random.default_rng(2).normal(size=300)
    whole = np.rint(values * 2.0**48)
    wanted = [sum(int(whole[row]) for row in rows.rows[rows.places == place]) for place in range(SIZE)]
    high, low = rows.sums(values[None])
    assert (high[0] * 2**24 + low[0]).tolist() == wanted


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(8)])
def test_noise_and_penalty_pay_for_every_slope_and_curvature_of_a_row(epsilon):
    """The loss of a row with k words at slope u: rate k u + log(1 + u (1 - u) k / penalty); a sliver is left over."""
    given = word_amounts(Logistic(), epsilon, Fraction(4), SIZE, MOST)
    slopes = np.linspace(0, 1, 1001)
    penalty, rate = float(given.penalties[0]), float(given.rates[0])
    assert len(given.rates) == 1 and len(set(given.penalties)) == 1 and len(given.penalties) == SIZE
    cost = rate * MOST * slopes + np.log1p(slopes * (1 - slopes) * MOST / penalty)
    assert cost.max() <= float(epsilon) * (1 - 1 / 50) + 1e-9


def test_a_huge_budget_gives_the_minimiser_itself():
    rows = word_rows()
    given = word_amounts(Logistic(), Fraction(10**9), Fraction(4), SIZE, MOST)
    objective = Objective(lambda: [rows], rows.truth.shape[1], Logistic(), given.penalties, np.zeros((1, 1)))
    noisy = minimiser(objective, given, SeededNoise(0)) / WEIGHT_UNIT
    assert np.abs(noisy[:, 0] - solved(rows, Logistic(), given.penalties)).max() < 1e-4


SCHEMA = Schema(
    name="mail",
    label="kind",
    column=[Text(name="text", buckets=50, words_per_row=3), Categorical(name="kind", values=("ham", "spam"))],
)


def test_the_verb_charges_then_answers_with_a_weight_for_each_word():
    ledger = Ledger(1, "mail")
    source = open_source({"text": ["free prize", "see you"] * 40, "kind": ["spam", "ham"] * 40}, SCHEMA, ledger, 0)
    answer = source.minimise(Logistic(), bag(SCHEMA), Budget(1), label=1)
    assert answer.value.shape == (50, 1) and ledger.spent == 1 and answer.scale is None


@pytest.mark.parametrize(
    ("loss", "asked", "more"),
    [
        (Softmax(), bag(SCHEMA), {}),
        ("logistic", bag(SCHEMA), {}),
        (Logistic(), Bag("kind", 2, 2), {}),
        (Logistic(), bag(SCHEMA), {"label": 2}),
        (Logistic(), bag(SCHEMA), {"offsets": [1000]}),
        (Logistic(), bag(SCHEMA), {"penalty": 0.5}),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_charged(loss, asked, more):
    ledger = Ledger(1, "mail")
    source = open_source({"text": ["free"], "kind": ["spam"]}, SCHEMA, ledger, 0)
    with pytest.raises(BadInput):
        source.minimise(loss, asked, Budget(1), **{"label": 1, **more})
    assert ledger.spent == 0


@pytest.mark.parametrize("loss", [Logistic(), Hinge()])
@pytest.mark.parametrize("budget", [1, 100, 10**6])
def test_words_that_tell_the_classes_apart_take_no_more_steps_than_others(monkeypatch, loss, budget):
    """The hinge has a corner there: a step that stops before it again and again would tell by never coming back."""
    taken, newton = [], words._newton

    def counted(*given):
        taken.append(given)
        assert len(taken) < 100
        return newton(*given)

    monkeypatch.setattr(words, "_newton", counted)
    text = Text(name="text", words=("a", "b", "c", "d"), words_per_row=2)
    schema = Schema(name="apart", label="y", column=[text, Categorical(name="y", values=("no", "yes"))])
    rows = {"text": ["a b", "c d"] * 8000, "y": ["yes", "no"] * 8000}
    source = open_source(rows, schema, Ledger(10**9, "apart"), 0)
    source.minimise(loss, bag(schema), Budget(budget), label=1, penalty=8)
    assert len(taken) >= words.STEPS
