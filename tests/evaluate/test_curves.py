"""Private curves and areas: equal to scikit-learn's without noise, exact in what they cost, calm with odd input."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, roc_auc_score, roc_curve

from veil import (
    BadInput,
    BudgetRefused,
    Categorical,
    DecisionTreeClassifier,
    Ledger,
    Linear,
    LittleLearned,
    NaiveBayesClassifier,
    Numeric,
    RandomForestClassifier,
    Schema,
    private_accuracy,
    private_auc,
    private_calibration_curve,
    private_confusion_matrix,
    private_roc_curve,
)
from veil.evaluate import fit_and_evaluate
from veil.questions import PathScores

CHANCE = np.random.default_rng(0)
TRUTH = CHANCE.random(800) < 0.4
SCORE = np.round(1 / (1 + np.exp(-CHANCE.normal(TRUTH * 1.5 - 0.7))), 2)
BOTH = {"classes": (False, True)}
HUGE = 10**9
EVERY = [private_roc_curve, private_auc, private_accuracy, private_confusion_matrix, private_calibration_curve]


def truth_of(n, share=0.4, seed=1):
    chance = np.random.default_rng(seed)
    truth = chance.random(n) < share
    return 1 / (1 + np.exp(-chance.normal(truth * 1.5))), truth


def test_a_curve_with_a_huge_epsilon_has_the_points_and_the_area_of_the_exact_one():
    curve = private_roc_curve(SCORE, y=TRUTH, epsilon=HUGE, **BOTH, parts=1024, random_state=1)
    fpr, tpr, thresholds = curve
    exact = set(map(tuple, np.round(np.transpose(roc_curve(TRUTH, SCORE, drop_intermediate=False)[:2]), 9)))
    assert exact == set(map(tuple, np.round(np.transpose([fpr, tpr]), 9)))
    assert curve.auc == pytest.approx(roc_auc_score(TRUTH, SCORE)) == pytest.approx(auc(fpr, tpr))
    assert thresholds[0] == np.inf and (np.diff(thresholds) < 0).all()
    for cut, false, true in list(zip(thresholds, fpr, tpr, strict=True))[1:-1]:
        assert np.mean(SCORE[TRUTH] >= cut) == pytest.approx(true)
        assert np.mean(SCORE[~TRUTH] >= cut) == pytest.approx(false)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=30))
@settings(max_examples=20)
def test_areas_with_a_huge_epsilon_are_exact_on_any_small_table(rows):
    scores, truth = np.array([row[0] / 9 for row in rows]), np.array([row[1] for row in rows])
    if 0 < truth.sum() < len(truth):
        exact = roc_auc_score(truth, scores)
        assert private_auc(scores, y=truth, epsilon=HUGE, **BOTH).auc == pytest.approx(exact, abs=1 / 256)
        curve = private_roc_curve(scores, y=truth, epsilon=HUGE, thresholds="even", parts=1024, **BOTH)
        assert curve.auc == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("function", [private_roc_curve, private_auc])
@given(epsilon=st.fractions(Fraction(1, 100), 10))
@settings(max_examples=10)
def test_the_ledger_is_charged_exactly(function, epsilon):
    ledger = Ledger(10, "rows")
    found = function(SCORE, y=TRUTH, epsilon=epsilon, ledger=ledger, **BOTH)
    assert ledger.spent == epsilon == found.epsilon
    assert found.private_


def test_a_curve_rises_from_corner_to_corner_within_its_band_whatever_the_noise():
    for seed in range(20):
        curve = private_roc_curve(SCORE, y=TRUTH, epsilon=0.2, random_state=seed, **BOTH)
        for rates, (low, high) in ((curve.fpr, curve.fpr_band), (curve.tpr, curve.tpr_band)):
            assert (rates[0], rates[-1]) == (0, 1) and (np.diff(rates) >= 0).all()
            assert (low >= 0).all() and (high <= 1).all() and (low <= high).all()
        assert curve.auc == pytest.approx(auc(curve.fpr, curve.tpr))
        assert curve.auc_interval.low <= curve.auc <= curve.auc_interval.high
        assert not curve.private_ and "NOT private" in repr(curve)


@pytest.mark.parametrize(("rows", "epsilon"), [(600, 1), (600, 0.3), (5000, 0.3)])
def test_intervals_hold_the_exact_area_about_as_often_as_they_say(rows, epsilon):
    """150 runs; `make coverage` makes a thousand of each of many more."""
    scores, truth = truth_of(rows)
    exact, held = roc_auc_score(truth, scores), []
    for seed in range(150):
        asked = {"y": truth, "epsilon": epsilon, "random_state": seed, **BOTH}
        intervals = [f(scores, **asked).auc_interval for f in (private_roc_curve, private_auc)]
        held.append([low <= exact <= high for low, high in intervals])
    assert (np.mean(held, axis=0) > 0.9).all()  # 0.95 less nearly three standard errors


def test_the_area_alone_has_less_noise_than_that_of_a_curve():
    scores, truth = truth_of(3000)
    exact = roc_auc_score(truth, scores)
    asked = [{"y": truth, "epsilon": 0.5, "random_state": seed, **BOTH} for seed in range(40)]
    alone, curve = ([abs(f(scores, **a).auc - exact) for a in asked] for f in (private_auc, private_roc_curve))
    assert np.mean(alone) < np.mean(curve)


def test_scores_beyond_their_bounds_and_without_a_number_have_a_declared_place():
    scores = np.array([-5.0, 0.2, 0.8, 99.0, np.nan, np.inf, -np.inf] * 100, object)
    truth = np.array([False, False, True, True, False, True, False] * 100)
    tidy = np.array([0.0, 0.2, 0.8, 1.0, 0.0, 1.0, 0.0] * 100)
    odd, even = (private_roc_curve(s, y=truth, epsilon=1, random_state=3, **BOTH) for s in (scores, tidy))
    assert (odd.tpr == even.tpr).all() and (odd.thresholds == even.thresholds).all()
    put = private_roc_curve(scores, y=truth, epsilon=HUGE, default=1.0, random_state=3, **BOTH)
    tied = private_roc_curve(scores, y=truth, epsilon=HUGE, random_state=3, **BOTH)
    assert put.auc < 0.9 and tied.auc == pytest.approx(1)


def test_scores_of_any_bounds_keep_their_order():
    logits = np.log(SCORE / (1 - SCORE)).clip(-9, 9)
    curve = private_roc_curve(logits, y=TRUTH, epsilon=HUGE, bounds=(-10, 10), parts=1024, random_state=1, **BOTH)
    assert curve.auc == pytest.approx(roc_auc_score(TRUTH, SCORE), abs=1e-9)
    assert curve.thresholds[1] < 10 and curve.thresholds[-2] > -10


def test_constant_scores_are_ties():
    curve = private_roc_curve(np.full(800, 0.5), y=TRUTH, epsilon=HUGE, random_state=1, **BOTH)
    assert curve.auc == pytest.approx(0.5) and curve.auc_interval.low <= 0.5 <= curve.auc_interval.high
    assert private_auc(np.full(800, 0.5), y=TRUTH, epsilon=HUGE, **BOTH).auc == pytest.approx(0.5)


@pytest.mark.parametrize("labels", [[True] * 50, [False] * 50, ["neither"] * 50, [None] * 50])
def test_one_label_or_none_leaves_everything_open(labels):
    """Noise alone can look like a class, about once in twenty times."""
    settings = [{"y": labels, "epsilon": 1, "random_state": seed, **BOTH} for seed in range(20)]
    curves = [private_roc_curve([0.5] * 25 + [0.7] * 25, **setting) for setting in settings]
    assert sum(curve.only_noise and "noise" in repr(curve) for curve in curves) >= 17
    assert sum(private_auc([0.5] * 50, **setting).auc_interval.high > 0.9 for setting in settings) >= 17


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("epsilon", [0.01, 1])
def test_few_rows_are_noise_and_no_error(rows, epsilon):
    curve = private_roc_curve(SCORE[:rows], y=TRUTH[:rows], epsilon=epsilon, random_state=3, **BOTH)
    assert 0 <= curve.auc <= 1 and (curve.only_noise or epsilon == 1)
    assert 0 <= private_auc(SCORE[:rows], y=TRUTH[:rows], epsilon=epsilon, **BOTH).auc <= 1


def test_odd_values_never_raise_warn_or_print(all_odd_values, capfd, recwarn):
    labels = np.resize(np.array([True, False, None], object), len(all_odd_values))
    ledger = Ledger(2, "evaluation")  # without one there is a warning, whatever the values are
    private_roc_curve(all_odd_values, y=labels, epsilon=1, ledger=ledger, **BOTH)
    private_auc(all_odd_values, y=all_odd_values, epsilon=1, ledger=ledger, classes=("a", "1"))
    told = [one for one in recwarn.list if one.category is not LittleLearned]  # which follows from what was released
    assert capfd.readouterr() == ("", "") and not told


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"bounds": (1, 0)},
        {"bounds": (0, np.inf)},
        {"bounds": 3},
        {"positive": "maybe"},
        {"classes": None},
        {"classes": ("a",), "positive": "b"},
        {"parts": 7},
        {"y": None},
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_is_charged(wrong):
    ledger = Ledger(5, "rows")
    with pytest.raises(BadInput):
        private_roc_curve(SCORE, **{"y": TRUTH, "epsilon": 1, "ledger": ledger, **BOTH, **wrong})
    assert ledger.spent == 0


def test_a_complaint_about_shapes_tells_no_number_of_rows():
    texts = set()
    for rows in (3, 700):
        with pytest.raises(BadInput) as problem:
            private_roc_curve(SCORE[:rows], y=TRUTH, epsilon=1, **BOTH)
        texts.add(str(problem.value))
    assert len(texts) == 1


@pytest.fixture(scope="module")
def flowers():
    """Two numbers and a label of three classes, and the schema."""
    chance = np.random.default_rng(5)
    kind = chance.integers(0, 3, 900)
    rows = pd.DataFrame({"a": chance.normal(kind), "b": chance.normal(-kind), "kind": np.array(["x", "y", "z"])[kind]})
    columns = [Numeric(name=n, bounds=(-4, 6)) for n in "ab"]
    return rows, Schema(
        name="flowers", label="kind", column=[*columns, Categorical(name="kind", values=("x", "y", "z"))]
    )


def hand_till(truth, odds, names):
    areas = []
    for i, first in enumerate(names):
        for second in names:
            if first != second:
                rows = np.isin(truth, [first, second])
                areas.append(roc_auc_score(truth[rows] == first, odds[rows, i]))
    return np.mean(areas)


def test_several_classes_have_a_curve_each_and_hand_and_tills_m(flowers):
    rows, schema = flowers
    model = LogisticRegression().fit(rows[["a", "b"]], rows["kind"])
    odds = model.predict_proba(rows[["a", "b"]])
    found = private_roc_curve(odds, y=rows["kind"], epsilon=HUGE, schema=schema, parts=1024, random_state=1)
    assert list(found.curves) == ["x", "y", "z"]
    for place, (name, curve) in enumerate(found.curves.items()):
        assert curve.auc == pytest.approx(roc_auc_score(rows["kind"] == name, odds[:, place]), abs=1e-3)
    assert found.m == pytest.approx(hand_till(rows["kind"].to_numpy(), odds, "xyz"), abs=1e-3)
    alone = private_auc(odds, y=rows["kind"], epsilon=3, schema=schema, random_state=1)
    assert alone.epsilon == 3 and alone.auc_interval.low <= found.m <= alone.auc_interval.high


def test_a_model_an_estimator_and_its_scores_are_evaluated_alike(flowers):
    rows, schema = flowers
    two = Schema(**{**dict(schema), "column": (*schema.column[:2], Categorical(name="kind", values=("x", "z")))})
    some = rows[rows["kind"] != "y"].reset_index(drop=True)
    fitted = LogisticRegression().fit(some[["a", "b"]].to_numpy(), some["kind"])
    X = some[["a", "b"]].to_numpy()
    asked = {"epsilon": 1, "schema": two, "random_state": 7}
    curves = [
        private_roc_curve(fitted, X, some["kind"], **asked),
        private_roc_curve(lambda row: fitted.predict_proba(row)[:, 1], X, some["kind"], **asked),
        private_roc_curve(
            np.concatenate([fitted.predict_proba(row[None])[:, 1] for row in X]), y=some["kind"], **asked
        ),
    ]
    assert all((curve.tpr == curves[0].tpr).all() for curve in curves)
    first = private_roc_curve(fitted, X, some["kind"], positive="x", **{**asked, "epsilon": HUGE})
    assert first.auc == pytest.approx(roc_auc_score(some["kind"] == "x", fitted.predict_proba(X)[:, 0]), abs=0.01)

    ours = NaiveBayesClassifier(epsilon=5, schema=two).fit(some)
    curve = private_roc_curve(ours, some, epsilon=HUGE, parts=1024, random_state=1)
    assert curve.auc == pytest.approx(roc_auc_score(some["kind"] == "z", ours.predict_proba(some)[:, 1]), abs=1e-3)
    ours = NaiveBayesClassifier(epsilon=5, schema=schema).fit(rows)
    found = private_roc_curve(ours, rows, epsilon=HUGE, parts=1024, random_state=1)
    assert found.m == pytest.approx(hand_till(rows["kind"].to_numpy(), ours.predict_proba(rows), "xyz"), abs=1e-3)


def test_training_and_evaluation_together_cost_the_dearer_part(fair):
    rows, schema = fair
    ledger = Ledger(2, schema.name)
    model = NaiveBayesClassifier(epsilon=1, schema=schema, ledger=ledger)
    curve = fit_and_evaluate(model, rows, share=0.3, epsilon="1/2", ledger=ledger)
    assert ledger.spent == 1 and curve.epsilon == Fraction(1, 2) and curve.private_ and model.private_
    assert 0.6 < curve.auc < 0.8 and curve.auc_interval.high - curve.auc_interval.low < 0.2
    assert len(model.predict(rows)) == len(rows)
    turned = NaiveBayesClassifier(epsilon=HUGE, schema=schema, random_state=1)
    ones = [
        fit_and_evaluate(turned, rows, share="1/2", epsilon=HUGE, ledger=Ledger(HUGE, schema.name), positive=name)
        for name in schema.classes
    ]
    assert ones[0].auc == pytest.approx(ones[1].auc, abs=1e-3)


@pytest.mark.parametrize("kind", [NaiveBayesClassifier, DecisionTreeClassifier])
def test_training_and_evaluation_together_work_for_several_classes(flowers, kind):
    """Nearly all rows are kept apart, so that the curve of the others is about that of all."""
    rows, schema = flowers
    many = pd.concat([rows] * 30, ignore_index=True)
    model = kind(epsilon=HUGE, schema=schema, random_state=1)
    found = fit_and_evaluate(model, many, share="0.9", epsilon=HUGE, ledger=Ledger(HUGE, schema.name))
    odds = model.predict_proba(rows)
    assert found.m == pytest.approx(hand_till(rows["kind"].to_numpy(), odds, "xyz"), abs=0.01)
    assert found.epsilon == HUGE and list(found.curves) == ["x", "y", "z"]
    for place, (name, curve) in enumerate(found.curves.items()):
        assert curve.auc == pytest.approx(roc_auc_score(rows["kind"] == name, odds[:, place]), abs=0.01)


TINY = [Fraction(1, 10**power) for power in range(5, 13)]


@pytest.mark.parametrize("people", [1, 7])
@pytest.mark.parametrize("classes", [(False, True), (False, True, "maybe")])
@pytest.mark.parametrize("function", EVERY, ids=lambda function: function.__name__)
def test_an_epsilon_too_tiny_is_refused_before_anything_is_charged(function, classes, people):
    """It is answered or refused, never charged and refused."""
    given = {"person": "who", "rows_per_person": people} if people > 1 else {}
    schema = Schema(name="t", label="y", column=[Categorical(name="y", values=[*map(str, classes)])], **given)
    rows = pd.DataFrame({"who": np.arange(800), "y": TRUTH.astype(str)})
    predicted = SCORE > 0.5 if function in (private_accuracy, private_confusion_matrix) else SCORE
    if len(classes) > 2 and function is private_calibration_curve:
        return
    if len(classes) > 2 and predicted is SCORE:
        predicted = np.column_stack([1 - SCORE, SCORE, SCORE])
    outcomes = [_asked(function, predicted, rows, schema, epsilon) for epsilon in TINY]
    assert outcomes[0] == "answered" and outcomes[-1] == "refused"


def _asked(function, predicted, rows, schema, epsilon):
    ledger = Ledger(1, "t")
    try:
        found = function(predicted, rows, epsilon=epsilon, schema=schema, ledger=ledger)
    except BadInput:
        assert ledger.spent == 0
        return "refused"
    assert ledger.spent == epsilon == found.epsilon
    return "answered"


@pytest.mark.parametrize("function", EVERY, ids=lambda function: function.__name__)
def test_what_a_ledger_cannot_pay_as_a_whole_is_not_begun(function):
    ledger = Ledger(1, "rows")
    with pytest.raises(BudgetRefused):
        function(SCORE > 0.5, y=TRUTH, epsilon=1.1, ledger=ledger, **BOTH)
    assert ledger.spent == 0


@pytest.mark.parametrize("wrong", [{"epsilon": 1e-9}, {"epsilon": 3}, {"share": 1}, {"positive": "maybe"}])
def test_training_and_evaluation_together_are_refused_before_anything_is_charged(fair, wrong):
    rows, schema = fair
    ledger = Ledger(2, schema.name)
    model = NaiveBayesClassifier(epsilon=1, schema=schema, ledger=ledger)
    with pytest.raises((BadInput, BudgetRefused)):
        fit_and_evaluate(model, rows, ledger=ledger, **{"share": 0.3, "epsilon": 1, **wrong})
    assert ledger.spent == 0 and not hasattr(model, "scorer_")


def test_persons_are_protected_with_all_their_rows():
    schema = Schema(
        name="p", label="y", person="who", rows_per_person=2, column=[Categorical(name="y", values=("a", "b"))]
    )
    rows = pd.DataFrame({"who": np.repeat(np.arange(50), 4), "y": ["a", "b"] * 100})
    curve = private_roc_curve(np.linspace(0, 1, 200), rows, epsilon=HUGE, schema=schema)
    assert curve.counts.counts.sum() == pytest.approx(100)
    assert all("at most 2 rows" in receipt.protects for receipt in curve.receipts_)


@pytest.mark.parametrize("kind", [np.asarray, pd.Series])
@pytest.mark.parametrize("function", [private_roc_curve, private_auc, private_accuracy, private_confusion_matrix])
def test_labels_first_as_in_scikit_learn_are_refused_with_the_order(function, kind):
    labels, scores = kind([False, True] * 20), kind(np.linspace(0, 1, 40))
    with pytest.raises(BadInput, match="scores first, as in private_roc_curve"):
        function(labels, scores, epsilon=1, classes=(False, True))


def test_scores_in_the_place_of_predictions_are_refused_whatever_the_classes():
    with pytest.raises(BadInput, match="compare scores with a threshold"):
        private_accuracy(np.linspace(0, 1, 40), y=["no", "yes"] * 20, epsilon=1, classes=("no", "yes"))
    found = private_accuracy(np.array([0.0, 1.0] * 20), y=["0", "1"] * 20, epsilon=10**9, classes=("0", "1"))
    assert found.accuracy == pytest.approx(1)


def test_scores_of_one_class_among_several_are_refused_by_name():
    kinds = np.array(list("abc") * 20)
    for scores in (np.linspace(0, 1, 60), pd.Series(np.linspace(0, 1, 60))):
        with pytest.raises(BadInput, match="there are 3 classes: give a score of each class for every row"):
            private_auc(scores, y=kinds, epsilon=1, classes=tuple("abc"))


def test_whether_scores_are_one_column_goes_by_the_classes_not_by_a_row():
    for first in (0.2, [0.2], (0.2, 0.3), np.array([1.0, 2.0]), "x", None):
        found = private_auc([first, 0.5, 0.7], y=[False, True, True], epsilon=1, **BOTH, random_state=0)
        assert 0 <= found.auc <= 1
    many = [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]
    for rows in (0, 2, 3, 4):
        found = private_auc(many[:rows], y=["a", "b", "c", "a"][:rows], epsilon=1, classes="abc", random_state=0)
        same = private_auc(
            np.reshape(many[:rows], (rows, 3)), y=["a", "b", "c", "a"][:rows], epsilon=1, classes="abc", random_state=0
        )
        assert found.auc == same.auc


def test_no_row_s_probability_is_too_small_to_be_computed():
    schema = Schema(
        name="toy",
        label="y",
        column=[Categorical(name="a", values=("u", "v")), Categorical(name="y", values=("p", "q", "r"))],
    )
    rows = pd.DataFrame({"a": ["u", "v"] * 6, "y": ["p", "q", "r"] * 4})
    model = NaiveBayesClassifier(epsilon=1, schema=schema, random_state=0).fit(rows)
    steep = Linear({"a": [[0, 0, 0], [0, 0, -1000]]}, [0.0, 0.0, 0.0])
    model.hold(replace(model.outcome_, made=steep))
    with np.errstate(all="raise"):
        for value in ("u", "v"):
            private_roc_curve(model, rows.assign(a=value), epsilon=1, random_state=0)


@pytest.mark.parametrize("preset", ["jagannathan", "fletcher-islam"])
def test_a_forest_with_trees_too_large_to_be_listed_is_fitted_and_measured(preset):
    columns = [Categorical(name=f"c{i}", values=tuple(map(str, range(9)))) for i in range(12)]
    schema = Schema(name="wide", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
    chance = np.random.default_rng(0)
    rows = pd.DataFrame(chance.integers(0, 9, (4000, 12)).astype(str), columns=[c.name for c in columns])
    rows["y"] = np.where(rows["c0"] > "4", "yes", "no")
    model = RandomForestClassifier(epsilon=5000, schema=schema, preset=preset, depth=8, trees=2, random_state=0)
    curve = fit_and_evaluate(model, rows, share=0.3, epsilon=5000, ledger=Ledger(5000, "wide"))
    assert 0 <= curve.auc <= 1 and {*map(type, model.scorer_.parts)} == {PathScores}


@pytest.mark.parametrize("positive", [False, True])
def test_probabilities_of_both_classes_are_as_good_as_those_of_the_positive_one(positive):
    truth = np.random.default_rng(0).random(400) < 0.4
    one = 1 / (1 + np.exp(-np.random.default_rng(1).normal(truth)))
    asked = {"y": truth, "classes": (False, True), "epsilon": 10**9, "positive": positive, "random_state": 0}
    both = private_roc_curve(np.column_stack([1 - one, one]), **asked)
    assert both.auc == private_roc_curve(one if positive else 1 - one, **asked).auc > 0.6
