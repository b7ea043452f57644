"""Whatever settings and labels are given: what is refused is refused before a charge, and what is paid for is there.

The columns have nothing to find bins for: a search would try the method out beforehand.
"""

import inspect
import warnings
from fractions import Fraction

import numpy as np
import pytest

from veil import BadInput, Categorical, Ledger, NaiveBayesClassifier, PrivatePipeline, PrivateSelectKBest, Schema
from veil.errors import VeilError
from veil.kernel.verbs import minimise
from veil.models import METHODS

solve = minimise.solve
ODD = [0, -1, 3, 0.5, float("nan"), 10**30, Fraction(4, 3), np.float32(1.5), "x", (1, 2, 3), [1], True]
APART = ("epsilon", "schema", "ledger", "random_state")
CHANCE = np.random.default_rng(3)
ROWS = {name: CHANCE.choice(["a", "b", "?"], 40) for name in ("one", "two")}


def of_classes(*classes):
    columns = [Categorical(name=name, values=("a", "b", "c")) for name in ROWS]
    schema = Schema(name="t", label="y", column=[*columns, Categorical(name="y", values=classes)])
    return {**ROWS, "y": CHANCE.choice(classes, 40)}, schema


def tried(method, classes=("n", "p"), epsilon=1, **settings):
    """The ledger after a fit, and what was refused, or raised before anything was charged."""
    (rows, schema), ledger = of_classes(*classes), Ledger(1, "t")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = METHODS[method](epsilon=epsilon, schema=schema, ledger=ledger, random_state=1, **settings).fit(rows)
    except VeilError as refused:
        return ledger, refused
    except (TypeError, ValueError) as raised:
        assert ledger.spent == 0
        return ledger, raised
    assert model.outcome_.epsilon == ledger.spent == Fraction(epsilon)
    return ledger, None


@pytest.mark.parametrize("method", METHODS)
def test_odd_settings_are_refused_before_a_charge_or_give_a_model(method):
    names = [name for name in inspect.signature(METHODS[method]).parameters if name not in APART]
    for name in names:
        for value in ODD:
            ledger, refused = tried(method, **{name: value})
            assert ledger.spent == (0 if refused else 1), (name, value, refused)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [("n",), ("n", "p", "q")])
def test_a_label_that_a_method_cannot_learn_is_refused_before_a_charge(method, classes):
    ledger, refused = tried(method, classes)
    assert ledger.spent == (0 if refused else 1), refused


@pytest.mark.parametrize("method", METHODS)
def test_an_epsilon_that_is_too_small_is_refused_before_a_charge(method):
    for epsilon in ("1e-7", "1e-8", "1e-9", "1e-10"):
        ledger, refused = tried(method, epsilon=epsilon)
        assert ledger.spent == (0 if refused else Fraction(epsilon)), (epsilon, refused)


def test_a_fraction_is_no_number_to_smooth_by():
    """Logarithms of it are none: the model would be lost after it was paid for."""
    for rows, schema in [of_classes("n", "p")]:
        ledger = Ledger(2, "t")
        model = NaiveBayesClassifier(schema=schema, ledger=ledger, smoothing=Fraction(1, 3))
        with pytest.raises(VeilError, match="smoothing must be a number"):
            model.fit(rows)
        with pytest.raises(VeilError, match="smoothing must be a number"):
            model.fit_until(rows, goal="auc=0.7", at_most=1)
        assert ledger.spent == 0


@pytest.mark.parametrize(
    "last",
    [
        METHODS["tree"](preset="no"),
        METHODS["forest"](depth=-1),
        METHODS["logistic"](penalty=0),
        METHODS["blend"](pool=0),
    ],
)
def test_what_the_last_step_refuses_is_refused_before_the_first_is_paid(last):
    rows, schema = of_classes("n", "p")
    ledger = Ledger(1, "t")
    with pytest.raises(BadInput):
        PrivatePipeline([PrivateSelectKBest(k=1), last], epsilon=1, schema=schema, ledger=ledger).fit(rows)
    rows, schema = of_classes("n")
    with pytest.raises(BadInput, match="one class"):
        steps = [PrivateSelectKBest(k=1), METHODS["logistic"]()]
        PrivatePipeline(steps, epsilon=1, schema=schema, ledger=ledger).fit(rows)
    assert ledger.spent == 0


def test_a_last_step_that_needs_two_columns_is_not_refused_for_the_smallest_alone():
    rows, schema = of_classes("n", "p")
    steps = [PrivateSelectKBest(k=2), METHODS["projected"](columns=2)]
    ledger = Ledger(1, "t")
    PrivatePipeline(steps, epsilon=1, schema=schema, ledger=ledger, random_state=1).fit(rows)
    assert ledger.spent == 1


@pytest.mark.parametrize(
    ("method", "settings", "said"),
    [
        ("naive-bayes", {"columns": 5}, "must be a list of names"),
        ("naive-bayes", {"columns": "one"}, "must be a list of names"),
        ("forest", {"preset": [1]}, "there is no preset"),
    ],
)
def test_a_setting_of_another_kind_gets_a_sentence(method, settings, said):
    ledger, refused = tried(method, **settings)
    assert isinstance(refused, BadInput) and said in str(refused) and ledger.spent == 0


@pytest.mark.parametrize("method", ["logistic", "svm", "blend"])
def test_a_linear_fit_is_tried_out_without_solving(method, monkeypatch):
    asked = []
    monkeypatch.setattr(minimise, "solve", lambda *given: asked.append(1) or solve(*given))
    assert tried(method)[1] is None
    assert asked == [1]
