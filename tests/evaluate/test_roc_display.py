"""Drawings of private curves: a band, several on one axis, and noise that is called noise."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot

from veil import PrivateRocDisplay, private_roc_curve
from veil.report import report

CHANCE = np.random.default_rng(0)
TRUTH = CHANCE.random(500) < 0.4
SCORE = 1 / (1 + np.exp(-CHANCE.normal(TRUTH * 2.0)))
BOTH = {"classes": (False, True)}


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_several_curves_share_one_axis_each_with_its_band_and_its_area():
    first = PrivateRocDisplay.from_predictions(TRUTH, SCORE, epsilon=1, name="one", random_state=1, **BOTH)
    second = PrivateRocDisplay.from_predictions(
        TRUTH, SCORE**2, epsilon=1, name="two", random_state=2, ax=first.ax_, **BOTH
    )
    assert first.ax_ is second.ax_ and len(first.ax_.patches) == 2
    texts = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert len(texts) == 2 and "AUC" in texts[0] and texts[1].startswith("two")


def test_noise_is_drawn_as_noise_and_says_so():
    shown = PrivateRocDisplay.from_predictions(TRUTH[:20], SCORE[:20], epsilon=0.01, random_state=1, **BOTH)
    assert shown.curve.only_noise
    assert any("noise" in text.get_text() for text in shown.ax_.texts)
    assert "only noise" in shown.label() and shown.line_.get_linestyle() == ":"


@pytest.mark.parametrize("noise_first", [True, False])
def test_on_a_shared_axis_the_legend_alone_says_which_curve_is_noise(noise_first):
    rows = [(TRUTH[:20], SCORE[:20], 0.01, "bad"), (TRUTH, SCORE, 5, "good")]
    ax = pyplot.subplots()[1]
    for truth, score, epsilon, name in rows if noise_first else rows[::-1]:
        PrivateRocDisplay.from_predictions(truth, score, epsilon=epsilon, name=name, random_state=1, ax=ax, **BOTH)
    assert not [text.get_text() for text in ax.texts]
    said = sorted(text.get_text() for text in ax.get_legend().get_texts())
    assert said[0].startswith("bad (only noise") and "noise" not in said[1]


def test_an_estimator_is_drawn_with_its_name():
    class Rule:
        classes_ = np.array([False, True])

        def predict(self, X):
            return X[:, 0] > 0.5

        def predict_proba(self, X):
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    shown = PrivateRocDisplay.from_estimator(Rule(), SCORE[:, None], TRUTH, epsilon=1, **BOTH).plot(
        plot_chance_level=True
    )
    assert shown.label().startswith("Rule") and shown.chance_level_ is not None


def test_a_curve_draws_itself():
    curve = private_roc_curve(SCORE, y=TRUTH, epsilon=1, random_state=1, **BOTH)
    shown = curve.plot(name="mine", plot_chance_level=True, color="black")
    assert isinstance(shown, PrivateRocDisplay)
    assert shown.ax_.get_legend().get_texts()[0].get_text().startswith("mine (AUC ")
    again = curve.plot(shown.ax_)
    assert again.ax_ is shown.ax_ and shown.line_.get_color() == "black" and shown.chance_level_ is not None


def test_the_curves_of_several_classes_draw_themselves_on_one_axis_by_class():
    kinds = np.array(list("abc"))[np.arange(len(TRUTH)) % 3]
    scores = np.column_stack([SCORE, 1 - SCORE, SCORE])
    curves = private_roc_curve(scores, y=kinds, epsilon=3, random_state=1, classes=tuple("abc"))
    shown = curves.plot(plot_chance_level=True)
    assert [one.name for one in shown] == ["a", "b", "c"] and len({id(one.ax_) for one in shown}) == 1
    assert "each class against all others" in shown[0].ax_.get_xlabel()
    assert [text.get_text().split(" ")[0] for text in shown[0].ax_.get_legend().get_texts()] == [
        "a",
        "b",
        "c",
        "chance",
    ]


def test_a_report_shows_the_curve_its_cost_and_the_promise():
    curve = private_roc_curve(SCORE, y=TRUTH, epsilon=1, **BOTH)
    page = report(curve)
    assert (
        "<svg" in page
        and curve.auc_interval.texts(curve.auc)[0] in page
        and "The promise" in page
        and "misordered" not in page
    )
    noise = report(private_roc_curve(SCORE[:9], y=TRUTH[:9], epsilon=0.01, random_state=1, **BOTH))
    assert "This curve is noise" in noise and "NOT private" in noise
