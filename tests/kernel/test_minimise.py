"""Minimise: the textbook's weights without noise, private by quadrature, and certain of where its solver stopped."""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from veil import BadInput, Budget, Categorical, Ledger, Numeric, Schema, axis, open_source
from veil.kernel import MOST_CLASSES, SMALLEST_EPSILON, WEIGHT_UNIT, Hinge, Logistic, SeededNoise, Softmax
from veil.kernel.gradients import TOLERANCE, Objective, OneHot
from veil.kernel.verbs import minimise
from veil.kernel.verbs.minimise import (
    LARGEST,
    SLIVER,
    amounts,
    distance,
    group_noise,
    lattice,
    movement,
    solve,
)
from veil.solver import columns as solver
from veil.solver.columns import add_products

HUGE = 10**9
SCHEMA = Schema(
    name="toy",
    label="y",
    column=[
        Categorical(name="a", values=("u", "v")),
        Numeric(name="x", bounds=(0, 8), bins=8),
        Categorical(name="y", values=("no", "yes", "maybe")),
    ],
)
AXES = [axis(column) for column in SCHEMA.features]
KINDS = {"Logistic": Logistic(), "Hinge": Hinge(), "Softmax": Softmax()}


def made_rows(size=300, seed=0):
    random = np.random.default_rng(seed)
    x, a = random.uniform(0, 8, size), random.choice(["u", "v"], size)
    signal = x - 4 + np.where(a == "u", 1, -1) + random.logistic(size=size)
    return pd.DataFrame({"a": a, "x": x, "y": np.select([signal < -1, signal > 1], ["no", "yes"], "maybe")})


def ask(loss, rows, budget=HUGE, weight=4, seed=0, **more):
    """The weights, and the ledger that paid; with the huge budget every squared weight counts `weight`."""
    ledger = Ledger(10**401, SCHEMA.name)
    source = open_source(rows, SCHEMA, ledger, noise=seed)
    more = more if loss.joint else {"label": 1, **more}
    if budget == HUGE:
        more["penalty"] = Fraction(budget) / 2 * (1 - SLIVER) * weight
    return source.minimise(loss, AXES, Budget(budget), **more).value, ledger


def one_hot(rows):
    codes = SCHEMA.encode(rows)
    labels = codes.pop("y")
    return np.hstack([np.eye(one.size)[codes[one.columns[0]]] for one in AXES]), labels


# --- without noise ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [4, 40])
def test_without_noise_the_weights_are_those_of_scikit_learn(weight):
    rows = made_rows()
    features, labels = one_hot(rows)
    learner = LogisticRegression(C=1 / weight, fit_intercept=False, tol=1e-12, max_iter=10_000)
    two = learner.fit(features, labels == 1).coef_.T
    assert ask(Logistic(), rows, weight=weight)[0] / WEIGHT_UNIT == pytest.approx(two, abs=1e-6)
    three = learner.fit(features, labels).coef_.T
    assert ask(Softmax(), rows, weight=weight)[0] / WEIGHT_UNIT == pytest.approx(three, abs=1e-6)


LOSS_OF_MARGIN = {
    "Logistic": lambda m: np.logaddexp(0, -m),
    "Hinge": lambda m: np.where(m < 0.5, 1 - m, np.maximum(1.5 - m, 0) ** 2 / 2),
}


@pytest.mark.parametrize("kind", LOSS_OF_MARGIN)
@pytest.mark.parametrize("offset", [0, 1.5])
@pytest.mark.parametrize("lead", [0, 0.7])
def test_without_noise_the_weights_minimise_the_loss_and_the_penalty(kind, offset, lead):
    rows = made_rows()
    features, labels = one_hot(rows)
    sign = np.where(labels == 1, 1, -1)

    def objective(w):
        return LOSS_OF_MARGIN[kind](sign * (features @ w + offset) - lead).sum() + 2 * (w**2).sum()

    found = ask(KINDS[kind], rows, offsets=[offset], margin=lead)[0][:, 0] / WEIGHT_UNIT
    best = minimize(objective, np.zeros(features.shape[1]), options={"gtol": 1e-7})
    assert objective(found) <= best.fun + 1e-9
    assert found == pytest.approx(best.x, abs=1e-4)


def test_without_noise_a_softmax_asks_the_true_class_to_lead_by_the_margin():
    rows = made_rows()
    features, labels = one_hot(rows)
    truth = np.eye(3)[labels]

    def objective(w):
        scores = features @ w.reshape(-1, 3) - 1.3 * truth
        return np.logaddexp.reduce(scores, axis=1).sum() - (scores * truth).sum() + 2 * (w**2).sum()

    found = ask(Softmax(), rows, margin=1.3)[0] / WEIGHT_UNIT
    best = minimize(objective, np.zeros(found.size), options={"gtol": 1e-6})
    assert objective(found.ravel()) <= best.fun + 1e-8
    assert found.ravel() == pytest.approx(best.x, abs=1e-4)
    assert np.abs(found).sum() > 1.2 * np.abs(ask(Softmax(), rows)[0] / WEIGHT_UNIT).sum()


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_rows_does_not_matter(kind):
    rows = made_rows(2000)
    first, again = ask(KINDS[kind], rows, 1)[0], ask(KINDS[kind], rows.sample(frac=1, random_state=1), 1)[0]
    assert np.abs(first - again).max() < WEIGHT_UNIT * 1e-4  # far within the noise that hides where the solver stopped


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", ["1e-6", 1, 10**6, 10**400])
def test_empty_tables_tables_of_one_row_and_of_one_class_are_answered(kind, epsilon):
    one_class = made_rows(50).assign(y="yes")
    for rows in (one_class[:0], one_class[:1], one_class, one_class.assign(a=None, x=np.nan)):
        value, ledger = ask(KINDS[kind], rows, epsilon)
        assert value.shape == (12, 3 if kind == "Softmax" else 1) and value.dtype == np.int64
        assert ledger.spent == Budget(epsilon).epsilon


def test_rows_of_the_class_have_the_larger_weights():
    weights = ask(Logistic(), made_rows(), 10**6)[0][:, 0]
    assert weights[0] > weights[1] and (np.diff(weights[3:11]) > 0).sum() >= 5
    weights = ask(Softmax(), made_rows(), 10**6)[0]
    assert weights[10, 1] > weights[10, 0] and weights[3, 0] > weights[3, 1]


# --- what is refused, before the charge ------------------------------------------------------------------------

REFUSED = {
    "loss not listed": {"loss": "logistic"},
    "two axes in one": {"axes": [AXES[0] & AXES[1]]},
    "a column twice": {"axes": [AXES[0], AXES[0]]},
    "no axes": {"axes": []},
    "wrong shares": {"shares": [1]},
    "no class": {"label": None},
    "class outside": {"label": 3},
    "a class of a joint loss": {"loss": Softmax(), "label": 1},
    "offsets of another number": {"offsets": [0, 1]},
    "offset without bound": {"offsets": [float("inf")]},
    "offset not a number": {"offsets": [float("nan")]},
    "large offset": {"offsets": [101]},
    "margin below zero": {"margin": -0.1},
    "large margin": {"margin": 101},
    "margin not a number": {"margin": float("nan")},
    "small penalty": {"penalty": 0.5},
    "penalty not a number": {"penalty": float("nan")},
    "endless penalty": {"penalty": 10**20},
    "a penalty too few": {"penalty": [4]},
    "groups of too many columns": {"groups": [3]},
    "groups of too few columns": {"groups": [1]},
    "an empty group": {"groups": [0, 2]},
    "half a group": {"groups": [0.5, 1.5]},
    "a share too many for the groups": {"groups": [2], "shares": [1, 1]},
    "a penalty that eats the budget": {"loss": Hinge(), "penalty": 1},
    "tiny epsilon": {"budget": Budget("1e-9")},
}


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_a_minimisation_that_cannot_be_asked_is_refused_before_the_charge(change):
    ledger = Ledger(10, "toy")
    source = open_source(made_rows(), SCHEMA, ledger, noise=0)
    settings = {"loss": Logistic(), "axes": AXES, "budget": Budget("0.1"), "label": 1, **change}
    with pytest.raises(BadInput) as problem:
        source.minimise(**settings)
    assert ledger.spent == 0 and len(str(problem.value)) > 10


def test_too_many_classes_or_weights_are_refused():
    names = tuple(map(str, range(MOST_CLASSES + 1)))
    schema = Schema(
        name="wide",
        label="y",
        column=[Categorical(name="y", values=names), *(Numeric(name=n, bounds=(0, 1), bins=6000) for n in "xz")],
    )
    source = open_source({"y": ["1"], "x": [0], "z": [0]}, schema, Ledger(1, "wide"), noise=0)
    with pytest.raises(BadInput, match="classes"):
        source.minimise(Softmax(), [axis(schema.get("x"), 1)], Budget(1))
    with pytest.raises(BadInput, match="by itself"):
        source.minimise(Logistic(), [axis(schema.get(n), 7) for n in "xz"], Budget(1), label=0, groups=[2])
    with pytest.raises(BadInput, match="memory"):
        source.minimise(Logistic(), [axis(schema.get("x"))], Budget(1), label=0)


def test_a_loss_that_was_tampered_with_counts_as_its_class_says():
    loss = Logistic()
    object.__setattr__(loss, "spread", 0.01)
    object.__setattr__(loss, "slopes", lambda scores, truth: scores)
    honest, tampered = (ask(one, made_rows(), 1)[0] for one in (Logistic(), loss))
    assert (honest == tampered).all()


def test_a_person_s_rows_divide_the_budget(monkeypatch):
    seen = []
    real = minimise.amounts
    monkeypatch.setattr(
        "veil.kernel.verbs.minimise.amounts", lambda loss, parts, *more: seen.append(parts) or real(loss, parts, *more)
    )
    schema = SCHEMA.model_copy(update={"person": "who", "rows_per_person": 3})
    rows = {**made_rows(30).to_dict("list"), "who": list(range(30))}
    source = open_source(rows, schema, Ledger(9, "toy"), noise=0)
    source.minimise(Softmax(), AXES, Budget(3), shares=[1, 3])
    assert seen == [[Fraction(1, 4), Fraction(3, 4)]]


def test_a_part_of_a_split_is_minimised_for_its_own_rows():
    rows = made_rows(400)
    source = open_source(rows, SCHEMA, Ledger(10**401, "toy"), noise=0)
    part = source.split(axis(SCHEMA.get("a")))[0]
    settings = {"label": 1, "penalty": Fraction(HUGE) * (1 - SLIVER)}
    found = part.minimise(Logistic(), AXES[1:], Budget(HUGE), **settings).value
    alone = open_source(rows[rows["a"] == "u"], SCHEMA, Ledger(10**401, "toy"), noise=0)
    assert found == pytest.approx(
        alone.minimise(Logistic(), AXES[1:], Budget(HUGE), **settings).value, abs=WEIGHT_UNIT * 1e-5
    )


# --- the argument, by numbers ----------------------------------------------------------------------------------


def log_densities(loss, curve, signs, at, offset, rate, penalty, lead=0.0):
    """The logarithm of the exact minimiser's density, one weight that all rows have: of the noise and its Jacobian."""
    margins = np.outer(signs, at + offset) - lead
    slopes = np.array(
        [sign * -abs(loss.slopes(m[None], np.ones((1, 1)))[0]) for sign, m in zip(signs, margins, strict=True)]
    )
    gradient = slopes.sum(axis=0) + penalty * at
    return log(rate / 2) - rate * np.abs(gradient) + np.log(curve(margins).sum(axis=0) + penalty)


def logistic_curve(margins):
    return 1 / (2 + np.exp(margins) + np.exp(-margins))


def hinge_curve(margins):
    return (np.abs(1 - margins) < 0.5) * 1.0


def worst_loss(loss, curve, rate, penalty, lead=0.0):
    """The largest log ratio over tables, rows, offsets and weights; with the density's integral as a check."""
    at, worst = np.linspace(-60, 60, 24_001), 0.0
    for offset in (0, 2, -7):
        for signs in ([], [1], [1, 1, -1], [-1] * 9, [1] * 30):
            few = log_densities(loss, curve, np.array(signs, float), at, offset, rate, penalty, lead)
            for sign in (1, -1):
                more = log_densities(loss, curve, np.array([*signs, sign], float), at, offset, rate, penalty, lead)
                worst = max(worst, np.abs(more - few).max())
    return worst


@pytest.mark.parametrize(("loss", "curve"), [(Logistic(), logistic_curve), (Hinge(), hinge_curve)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("lead", [0, 1, 5])
def test_one_weight_loses_at_most_its_budget_and_nearly_that(loss, curve, epsilon, lead):
    given = amounts(loss, [epsilon], [Fraction(2 if epsilon > Fraction(1, 5) else 4)], [[1]], 2)
    claim = float(epsilon * (1 - SLIVER))
    worst = worst_loss(loss, curve, float(given.rates[0]), given.penalties[0], lead)
    assert 0.9 * claim < worst <= claim * (1 + 1e-9)


def test_a_penalty_below_the_argument_would_lose_more():
    """At a quarter of the least penalty the determinant costs; `amounts` leaves nothing for it."""
    worst = worst_loss(Logistic(), logistic_curve, 1.0, 0.25)
    assert worst > 1.1
    assert Logistic().noise_budget(Fraction(1), Fraction(4), 2) == 0


def exact_slopes_and_curvature(loss, scores, truth):
    """The slopes of one row and its matrix of second derivatives."""
    if loss.joint:
        shares = np.exp(scores) / np.exp(scores).sum()
        return shares - truth, np.diag(shares) - np.outer(shares, shares)
    margin = truth * scores
    curve = {Logistic: logistic_curve, Hinge: hinge_curve}[type(loss)](margin)
    return loss.slopes(scores, truth), np.diag(curve)


def log_density(loss, rows, labels, weights, rates, penalties, exponent=None):
    """Of the exact minimiser, up to a constant; weights are classes x values of all columns."""
    classes, size = weights.shape
    gradient, hessian = penalties * weights, np.kron(np.eye(classes), np.diag(penalties))
    for row, label in zip(rows, labels, strict=True):
        truth = np.eye(classes)[label] if loss.joint else np.array([1.0 if label == 1 else -1.0])
        slopes, curvature = exact_slopes_and_curvature(loss, weights @ row, truth)
        gradient, hessian = gradient + np.outer(slopes, row), hessian + np.kron(curvature, np.outer(row, row))
    return np.linalg.slogdet(hessian)[1] - (
        sum(map(exponent, gradient)) if exponent else (rates * np.abs(gradient)).sum()
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_many_weights_lose_at_most_their_budget(kind, classes):
    """Random tables, rows and outcomes, those outcomes among them that a row moves most."""
    random, loss, sizes = np.random.default_rng(classes), KINDS[kind], [2, 3]
    given = amounts(loss, [Fraction(2, 5), Fraction(3, 5)], [Fraction(3)] * 2, [[2], [3]], classes)
    rates, worst = np.repeat(np.array(given.rates, float), sizes), 0.0
    for _ in range(1500):
        size = random.integers(1, 6)
        rows = np.hstack([np.eye(s)[random.integers(s, size=size)] for s in sizes])
        labels = random.integers(classes, size=size)
        weights = random.normal(
            random.choice([0, 0.4, -0.4]), random.choice([0.1, 1, 20]), (classes if loss.joint else 1, 5)
        )
        few = log_density(loss, rows[1:], labels[1:], weights, rates, given.penalties)
        worst = max(worst, abs(log_density(loss, rows, labels, weights, rates, given.penalties) - few))
    assert 0.7 < worst <= float(1 - SLIVER) * (1 + 1e-9)


def cell(noise, sizes, step):
    """The middle of the cell that holds noise of equal sums: rounded in all values but the last, and in the sum."""
    parts = np.split(np.asarray(noise) / step, np.cumsum(sizes)[:-1])
    total = np.rint(parts[0].sum())
    rounded = [np.rint(part) for part in parts]
    for part in rounded:
        part[-1] = total - part[:-1].sum()
    return rounded


def equal_sums_exponent(rate, sizes, step):
    """Of the density of ideal noise of equal sums: that of the middle of its cell."""
    return lambda b: float(rate) * float(step) * max(np.abs(part).sum() for part in cell(b, sizes, float(step)))


def worst_of_group(loss, given, step, classes=2, trials=3000):
    """The largest log ratio over random tables, rows and outcomes, for one group of two columns and a given lattice."""
    random, worst, sizes = np.random.default_rng(5), 0.0, given.groups[0]
    exponent = equal_sums_exponent(given.rates[0], sizes, step)
    for _ in range(trials):
        size = random.integers(1, 4)
        rows = np.hstack([np.eye(s)[random.integers(s, size=size)] for s in sizes])
        labels = random.integers(classes, size=size)
        sums = random.normal(size=(classes if loss.joint else 1, 5)) * random.choice([0.3, 3, 30])
        sums[:, -1] += sums[:, :2].sum(axis=1) - sums[:, 2:].sum(axis=1)
        weights = sums / given.penalties
        few, more = (
            log_density(loss, rows[start:], labels[start:], weights, 0, given.penalties, exponent) for start in (1, 0)
        )
        worst = max(worst, abs(more - few))
    return worst


GROUPS = [
    ("Logistic", 2.25, 2),
    ("Logistic", 3, 2),
    ("Logistic", 9, 2),
    ("Hinge", 8, 2),
    ("Softmax", 6, 2),
    ("Softmax", 6, 4),
]


@pytest.mark.parametrize(("kind", "ratio", "classes"), GROUPS)
def test_columns_together_lose_at_most_their_budget(kind, ratio, classes):
    given = amounts(KINDS[kind], [Fraction(1)], [Fraction(ratio)] * 2, [[2, 3]], classes)
    worst = worst_of_group(KINDS[kind], given, given.lattices[0], classes)
    assert 0.7 < worst <= float(1 - SLIVER) * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_every_class_s_noise_pays_for_its_cells(monkeypatch, kind):
    monkeypatch.setattr(minimise, "lattice", lambda rate: Fraction(1, 400))
    loss = KINDS[kind]
    given = amounts(loss, [Fraction(1, 2)] * 2, [Fraction(9)] * 4, [[2, 3], [4, 5]], 6)
    copies = 6 if loss.joint else 1
    assert sum(given.rates) * (loss.spread + copies * Fraction(9, 400)) <= 1 - SLIVER


def test_a_coarse_lattice_costs_what_it_says_and_more_if_that_is_forgotten(monkeypatch):
    """Steps of a twentieth of what a row moves: with the slack paid the claim holds, without it does not."""
    step = Fraction(1, 20)
    monkeypatch.setattr(minimise, "lattice", lambda rate: step)
    paid = amounts(Logistic(), [Fraction(1)], [Fraction(6)] * 2, [[2, 3]], 2)
    assert worst_of_group(Logistic(), paid, step) <= float(1 - SLIVER) * (1 + 1e-9)
    monkeypatch.setattr(minimise, "slack", lambda group, step: Fraction(0))
    forgotten = amounts(Logistic(), [Fraction(1)], [Fraction(6)] * 2, [[2, 3]], 2)
    assert worst_of_group(Logistic(), forgotten, step) > float(1 - SLIVER) * 1.02


def test_noise_shaped_to_too_few_columns_would_lose_more():
    """The rate of one column for each of two: what whoever takes the largest column for the sum would do."""
    given = amounts(Logistic(), [Fraction(1, 2)] * 2, [Fraction(3)] * 2, [[2], [3]], 2)
    twice = replace(given, groups=[[2, 3]], rates=[given.rates[0] * 4])
    assert worst_of_group(Logistic(), twice, Fraction(1, 2**30)) > 1.5


# --- the certificate -------------------------------------------------------------------------------------------


def in_blocks(rows, size):
    """What gives these rows anew, so many at a time; one empty block if there are none."""
    starts = range(0, max(rows.truth.shape[1], 1), size)
    return lambda: (
        OneHot([np.array(c[at : at + size]) for c in rows.codes], rows.sizes, np.array(rows.truth[:, at : at + size]))
        for at in starts
    )


def objective_of(kind, rows, sizes, classes, random, spread, penalty=1.0, offset=0.0, block=100):
    loss, height = KINDS[kind], classes if kind == "Softmax" else 1
    codes = [random.integers(size, size=rows) for size in sizes]
    labels = random.integers(classes, size=rows)
    truth = (labels == np.arange(classes)[:, None]) if loss.joint else np.where(labels == 1, 1, -1)[None]
    blocks = in_blocks(OneHot(codes, sizes, truth.astype(np.float64)), block)
    objective = Objective(blocks, rows, loss, np.full(sum(sizes), penalty), np.full((height, 1), offset))
    weights, shift = random.normal(size=(2, height, sum(sizes))) * spread
    return objective, weights, shift


def number(value):
    return Decimal(float(value))


def exact_gradient(objective, weights, shift):
    """With sixty digits."""
    power = Decimal.exp
    with localcontext(prec=60):
        sizes = next(objective.blocks()).sizes
        starts = np.cumsum([0, *sizes[:-1]])
        fixed = zip(weights, shift, strict=True)
        total = [[number(w) * number(p) + number(b) for w, p, b in zip(ws, objective.penalties, bs, strict=True)]
                 for ws, bs in fixed]  # fmt: skip
        for blocks, row in [(one, row) for one in objective.blocks() for row in range(one.truth.shape[1])]:
            places = [start + int(codes[row]) for start, codes in zip(starts, blocks.codes, strict=True)]
            truth = [number(t) for t in blocks.truth[:, row]]
            scores = [
                number(o[0]) - number(objective.margin) * t + sum(number(w[p]) for p in places)
                for o, w, t in zip(objective.offsets, weights, truth, strict=True)
            ]
            if objective.loss.joint:
                odds = [power(score) for score in scores]
                slopes = [o / sum(odds) - t for o, t in zip(odds, truth, strict=True)]
            elif isinstance(objective.loss, Hinge):
                slopes = [-truth[0] * min(max(Decimal("1.5") - truth[0] * scores[0], 0), 1)]
            else:
                slopes = [-truth[0] / (1 + power(truth[0] * scores[0]))]
            for place in places:
                for name, slope in enumerate(slopes):
                    total[name][place] += slope
        return total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [0.3, 3, 30, 1000])
@pytest.mark.parametrize("lead", [0.0, 0.3, 99.9, -99.9])  # one below zero is refused, but not by what is trusted
def test_the_bound_on_the_gradient_s_error_holds(kind, spread, lead):
    random = np.random.default_rng(3)
    objective, weights, shift = objective_of(kind, 40, [2, 5, 3], 4, random, spread, offset=0.1)
    objective = replace(objective, margin=lead)
    with np.errstate(over="ignore"):
        computed = objective.gradient(weights, shift)
    exact = exact_gradient(objective, weights, shift)
    off = sqrt(
        sum(
            float(e - number(c)) ** 2
            for es, cs in zip(exact, computed, strict=True)
            for e, c in zip(es, cs, strict=True)
        )
    )
    assert off < objective.error_bound(weights, shift)


@pytest.mark.parametrize("kind", KINDS)
def test_slopes_bend_no_more_than_they_say(kind):
    random, loss = np.random.default_rng(0), KINDS[kind]
    height = 4 if loss.joint else 1
    scores, change = random.normal(size=(2, height, 20_000)) * [[[3.0]], [[0.01]]]
    truth = np.eye(4)[random.integers(4, size=20_000)].T if loss.joint else random.choice([-1.0, 1.0], (1, 20_000))
    moved = np.abs(loss.slopes(scores + change, truth) - loss.slopes(scores, truth)).max(axis=0)
    ratio = (moved / np.abs(change).max(axis=0)).max()
    assert 0.8 * loss.bend < ratio <= loss.bend * (1 + 1e-9)


@pytest.mark.parametrize("rows", [0, 5, 400, 5000])
def test_products_are_those_of_rows_with_one_in_the_place_of_each_value(rows):
    random, sizes = np.random.default_rng(rows), [3, 1, 4, 300, 2, 5]
    codes, values = [random.integers(size, size=rows) for size in sizes], random.uniform(size=(2, rows))
    hot = np.hstack([np.eye(size)[column] for size, column in zip(sizes, codes, strict=True)])
    found = np.zeros((2, sum(sizes), sum(sizes)))
    for part in (slice(0, rows // 3), slice(rows // 3, None)):
        add_products(found, OneHot([column[part] for column in codes], sizes, values[:, part]), values[:, part])
    assert np.allclose(found, [hot.T @ (weights[:, None] * hot) for weights in values])


@pytest.mark.parametrize("size", [1, 7, 500, 10**6])
def test_sums_of_slopes_are_exact_whatever_the_blocks(size):
    random = np.random.default_rng(0)
    values = np.rint(random.uniform(-1, 1, (2, 500)) * 2.0**48) / 2.0**48
    codes = [random.integers(3, size=500), random.integers(2, size=500)]
    blocks = in_blocks(OneHot(codes, [3, 2], values), size)
    high, low = sum(block.sums(block.truth) for block in blocks())
    found = high * 2.0**-24 + low * 2.0**-48
    for number, (column, size) in enumerate([(0, 3), (1, 2)]):
        for code in range(size):
            exact = [sum(map(Fraction, row[codes[column] == code])) for row in values]
            assert [float(e) for e in exact] == found[:, code + 3 * number].tolist()


@given(st.sampled_from(list(KINDS)), st.integers(0, 300), st.integers(1, 400), st.integers(0, 2**32))
def test_the_gradient_is_the_same_to_the_last_bit_whatever_the_blocks(kind, rows, size, seed):
    """And the solver's own is the same but for rounding."""
    found = []
    for block in (size, 10**6):
        objective, weights, shift = objective_of(
            kind, rows, [2, 40, 5, 60], 3, np.random.default_rng(seed), 2.0, block=block
        )
        found += [objective.gradient(weights, shift), solver.gradient_at(objective, weights, shift)]
    assert np.array_equal(found[0], found[2])
    assert np.allclose(found[0], found[1], rtol=0, atol=1e-9) and np.allclose(found[0], found[3], rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_solver_changes_in_its_blocks_changes_no_row(monkeypatch, kind):
    """Blocks are copies of what the table holds, each time anew."""

    def meddling(objective, shift):
        for rows in objective.blocks():
            for array in (rows.truth, *rows.codes):
                array[...] = 0
        yield from solver.points(objective, shift)

    honest = ask(KINDS[kind], made_rows(), 1)[0]
    monkeypatch.setattr("veil.kernel.verbs.minimise.points", meddling)
    assert np.array_equal(ask(KINDS[kind], made_rows(), 1)[0], honest)


@given(
    st.sampled_from(list(KINDS)),
    st.sampled_from([0, 1, 2, 30, 500]),
    st.sampled_from([2.0**-6, 0.3, 40.0, 2.0**30]),
    st.sampled_from([0.0, 3.0, -100.0]),
    st.sampled_from([0.01, 1.0, 50.0]),
    st.sampled_from([0.0, 1.0, 100.0]),
    st.integers(0, 2**32),
)
@settings(max_examples=80)
def test_the_solver_always_stops_where_the_gradient_is_certainly_short(kind, rows, penalty, offset, spread, lead, seed):
    """The noise is never much larger than the penalties, nor above 2^30: see `amounts`."""
    random, most = np.random.default_rng(seed), spread * min(penalty, 2.0**20)
    objective, _, shift = objective_of(kind, rows, [2, 7, 3], 3, random, most, penalty, offset)
    objective = replace(objective, margin=lead)
    with np.errstate(all="ignore"):
        weights = solve(objective, shift)
        gradient = objective.gradient(weights, shift)
    assert sqrt((gradient**2).sum()) + objective.error_bound(weights, shift) < TOLERANCE
    assert objective.certainly_short(weights, gradient, shift) and np.abs(weights).max() < LARGEST


def counted(monkeypatch, name):
    """A list that grows with each call of this function of the solver, which is called 300 times at most."""
    taken, function = [], getattr(solver, name)

    def noted(*given):
        taken.append(given)
        assert len(taken) < 300
        return function(*given)

    monkeypatch.setattr(solver, name, noted)
    return taken


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", [1, 100, 10**6])
def test_tables_that_a_line_divides_take_no_more_steps_than_others(monkeypatch, kind, budget):
    """The hinge has a corner there: a step that stops before it again and again would tell by never coming back."""
    taken = counted(monkeypatch, "gradient_at")  # each step reads the rows once or more
    rows = pd.DataFrame({"a": ["u", "v"] * 10_000, "x": [1, 7] * 10_000, "y": ["no", "yes"] * 10_000})
    loss = KINDS[kind]
    label = {} if kind == "Softmax" else {"label": 1}
    open_source(rows, SCHEMA, Ledger(10**9, SCHEMA.name), 0).minimise(loss, AXES, Budget(budget), penalty=8, **label)
    assert len(taken) >= solver.STEPS


@pytest.mark.parametrize("budget", [100, 1000, 10**6])
def test_a_row_more_takes_no_many_times_the_steps(monkeypatch, budget):
    """Rows that a line divides sit at the corners of the hinge: conjugate gradients alone can take hundreds."""
    taken = counted(monkeypatch, "_moved")
    codes = [*np.random.default_rng(0).integers(0, 8, (3, 20_000))]
    columns = [Numeric(name=name, bounds=(0, 7), integer=True) for name in "abc"]
    schema = Schema(name="toy", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
    for one in ([], [7]):
        rows = {name: np.append(column, one) for name, column in zip("abc", codes, strict=True)}
        rows["y"] = np.append(np.where(codes[0] > 3, "yes", "no"), ["no"] * len(one))
        source = open_source(rows, schema, Ledger(10**9, "toy"), 0)
        source.minimise(Hinge(), [axis(column) for column in columns], Budget(budget), penalty=8, label=1)
        assert solver.STEPS <= len(taken) < 100
        taken.clear()


@pytest.mark.parametrize("kind", KINDS)
def test_noise_too_loud_for_its_solver_is_refused_before_the_charge(kind):
    """Its roundings alone would be longer than the tolerance: no point could ever be proved right."""
    ledger, label = Ledger(10**9, SCHEMA.name), {} if kind == "Softmax" else {"label": 1}
    source = open_source(made_rows(10), SCHEMA, ledger, 0)
    with pytest.raises(BadInput, match="too small"):
        source.minimise(KINDS[kind], AXES, Budget(10**6), penalty=1, shares=[1, "2.4e-16"], **label)
    assert ledger.spent == 0


def test_a_gradient_that_may_be_longer_is_not_called_short():
    objective, weights, shift = objective_of("Logistic", 30, [2, 3], 2, np.random.default_rng(0), 1.0)
    gradient = np.zeros_like(weights)
    assert objective.certainly_short(weights, gradient, shift)
    gradient[0, 0] = TOLERANCE * 0.995
    assert not objective.certainly_short(weights, gradient, shift)
    assert not objective.certainly_short(weights, gradient * np.nan, shift)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_the_worst_allowed_errors_of_the_solver_do_not_break_the_claim(epsilon):
    """One weight, solver points as far apart as they may be, rounded and released: the law by quadrature.

    The units are coarsened a thousandfold, so that the law can be summed; all bounds are those of the code.
    """
    given = amounts(Logistic(), [epsilon], [Fraction(1)], [[1]], 2)
    rate, penalty = float(given.rates[0]), given.penalties[0]
    radius = (TOLERANCE + float(given.lattices[0]) / 2) / penalty
    unit = WEIGHT_UNIT >> 10
    reach = float(epsilon * SLIVER) / (int(np.ceil(2 * radius * unit)) + 1)  # as `distance` counts
    at = np.linspace(-40, 40, 400_001)
    laws = []
    for signs, error in (([], radius), ([1.0], -radius)):
        density = np.exp(log_densities(Logistic(), logistic_curve, np.array(signs), at, 0, rate, penalty))
        rounded = np.rint((at + error) * unit)
        points = np.linspace(-20, 20, 81) * unit
        weight = [np.trapezoid(density * np.exp(-reach * np.abs(rounded - point)), at) for point in points]
        laws.append(np.log(weight))
    worst = np.abs(laws[0] - laws[1]).max()
    assert 0.9 * float(epsilon) < worst <= float(epsilon)


def test_the_distance_covers_tolerance_lattice_and_rounding():
    penalties = np.array([2.0, 5.0, 5.0])
    radius = (TOLERANCE + 2.0**-11 * sqrt(6)) / 2
    needed = 2 * radius * sqrt(6) * WEIGHT_UNIT + 6
    assert needed < distance(penalties, 2, 2.0**-11 * sqrt(3)) < needed + 1.1


@pytest.mark.parametrize("group", [[3], [2, 3], [4, 4, 1]])
def test_ideal_noise_is_no_further_from_the_middle_of_its_cell_than_said(group):
    """Corners of cells: a lone column's are cubes, those of several bend in each column's last value."""
    cells = np.random.default_rng(0).choice([-0.5, 0.5], (500, sum(group) + 1))
    if len(group) > 1:
        ends = np.cumsum(group)
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            cells[:, end - 1] = cells[:, -1] - cells[:, start : end - 1].sum(axis=1)
    worst = (cells[:, :-1] ** 2).sum(axis=1).max() / 64
    assert 0.8 * movement(group, Fraction(1, 8)) < worst <= movement(group, Fraction(1, 8))


class Told(SeededNoise):
    """Geometric draws that are told, and what was asked."""

    def geometric(self, epsilon, size):
        self.asked = epsilon
        return np.arange(size)


def test_the_lattice_holds_the_middles_of_the_cells_of_ideal_noise():
    noise, step = Told(0), Fraction(1, 8)
    drawn = group_noise([1000], Fraction(3), step, noise)
    assert noise.asked == 3 * step and (np.abs(drawn) == (np.arange(1000) + 0.5) / 8).all()
    assert 400 < (drawn > 0).sum() < 600
    draws = group_noise([100_000], Fraction(2), Fraction(1, 2), SeededNoise(1))
    assert np.mean(np.abs(draws) > 1) == pytest.approx(exp(-2), abs=0.005)


@pytest.mark.parametrize(
    "rate", [Fraction(1, 10**9), Fraction(1, 5000), Fraction(1, 4096), Fraction(1), Fraction(10**9)]
)
def test_the_lattice_is_as_fine_as_the_sampler_is_exact(rate):
    step = lattice(rate)
    assert SMALLEST_EPSILON <= rate * step < 2 * SMALLEST_EPSILON
    assert (step if step > 1 else 1 / step).denominator == 1 and float(step).hex().startswith("0x1.0000000000000p")


def greedy(objective, shift):
    """A solver that changes what it is given until its point is the best there is; later, an honest one."""
    rows = next(iter(objective.blocks()))
    theirs = objective.penalties, objective.offsets, shift, rows.truth, *rows.codes
    before = [array.copy() for array in theirs]
    for array in theirs:
        array[...] = 0
    yield np.zeros_like(shift)
    for array, value in zip(theirs, before, strict=True):
        array[...] = value
    yield from solver.points(objective, shift)


def repeating(objective, shift):
    """A solver whose first points have another shape: several at once, of which each would be certified."""
    for point in solver.points(objective, shift):
        yield np.repeat(point, 3, axis=0)
        yield point[0]
        yield point


@pytest.mark.parametrize("dishonest", [greedy, repeating])
def test_no_solver_can_have_another_point_taken(monkeypatch, dishonest):
    random = np.random.default_rng(5)
    objective, _, shift = objective_of("Logistic", 50, [3, 4], 2, random, 10.0)
    honest = solve(objective, shift)
    monkeypatch.setattr("veil.kernel.verbs.minimise.points", dishonest)
    assert np.array_equal(solve(objective, shift), honest)
