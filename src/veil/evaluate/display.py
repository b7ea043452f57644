"""PrivateRocDisplay: ROC curves as drawings, in the style of scikit-learn's RocCurveDisplay."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from ..display import printable, readable
from .roc import RocCurve, RocCurves, private_roc_curve

GREY = "#7a7d80"
MOST_DRAWN = 6  # curves in one image
NOISE = "mostly noise: epsilon is too small for so few rows"


class PrivateRocDisplay:
    """A ROC curve with the band in which the exact one may lie; a curve that is noise is drawn as such and says so.

    `plot` can be called again on the same axes, for several models side by side. `line_`, `band_`, `ax_` and `figure_`
    are what was drawn last.
    """

    def __init__(self, curve: RocCurve, *, name: str | None = None) -> None:
        self.curve, self.name = curve, name
        self.fpr, self.tpr, self.roc_auc, self.pos_label = curve.fpr, curve.tpr, curve.auc, curve.positive

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, name: str | None = None, ax: Any = None,
                       **settings: Any) -> "PrivateRocDisplay":  # fmt: skip
        """Draw the curve of a classifier on private rows; `settings` are those of `private_roc_curve`, epsilon too."""
        curve = private_roc_curve(estimator, X, y, **settings)
        return cls(_single(curve), name=name or type(estimator).__name__).plot(ax=ax)

    @classmethod
    def from_predictions(cls, y_true: Any, y_score: Any, *, name: str | None = None, ax: Any = None,
                         **settings: Any) -> "PrivateRocDisplay":  # fmt: skip
        """Draw the curve of scores of private rows; `settings` are those of `private_roc_curve`, epsilon too."""
        return cls(_single(private_roc_curve(y_score, y=y_true, **settings)), name=name or "classifier").plot(ax=ax)

    def plot(self, ax: Any = None, *, name: str | None = None, plot_chance_level: bool = False,
             **line: Any) -> "PrivateRocDisplay":  # fmt: skip
        """Draw on these axes, or on new ones; `line` holds settings of the line for matplotlib."""
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        self._say_noise(ax)
        style = {"color": GREY, "linestyle": ":"} if self.curve.only_noise else {}
        (self.line_,) = ax.plot(self.fpr, self.tpr, label=self.label(name), **{**style, **line})
        self.band_ = ax.fill(*band_outline(self.curve), color=self.line_.get_color(), alpha=0.15, linewidth=0)[0]
        if plot_chance_level:
            (self.chance_level_,) = ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="chance (AUC 0.5)")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        ax.set_xlabel(f"false positive rate (positive: {readable(self.pos_label, 30)})")
        ax.set_ylabel("true positive rate")
        ax.legend(loc="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def together(cls, curves: Sequence[RocCurve], ax: Any = None, *, plot_chance_level: bool = False,
                 **settings: Any) -> "list[PrivateRocDisplay]":  # fmt: skip
        """The first few curves on one pair of axes, each named by its positive class if there are several."""
        several = len(curves) > 1
        found: list[PrivateRocDisplay] = []
        for curve in curves[:MOST_DRAWN]:
            level = plot_chance_level and len(found) + 1 == min(len(curves), MOST_DRAWN)
            one = cls(curve, name=readable(curve.positive, 16) if several else None)
            found.append(one.plot(found[0].ax_ if found else ax, plot_chance_level=level, **settings))
        if several:
            some = f"; the first {MOST_DRAWN} of {len(curves)} classes" if len(curves) > MOST_DRAWN else ""
            found[0].ax_.set_xlabel(f"false positive rate, each class against all others{some}")
        return found

    @classmethod
    def image(cls, curves: Sequence[RocCurve]) -> str:
        """The curves on one pair of axes as an HTML image, each named by its positive class if there are several."""
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        text = BytesIO()
        with rc_context({"text.parse_math": False}):  # names of classes are plain text, whatever is in them
            figure = Figure(figsize=(5.2, 5), layout="constrained")
            ax = figure.subplots()
            cls.together(curves, ax, plot_chance_level=True)
            figure.savefig(text, format="svg", metadata={"Date": None})
        words = escape(printable("; ".join(curve.summary() for curve in curves)))
        return f'<img alt="{words}" src="data:image/svg+xml;base64,{b64encode(text.getvalue()).decode()}">'

    def _say_noise(self, ax: Any) -> None:
        """Write across the axes that their only curve is noise; with several curves, the legend says which ones are."""
        for text in [text for text in ax.texts if text.get_text() == NOISE]:
            text.remove()
        if self.curve.only_noise and not ax.lines:
            ax.text(0.5, 0.5, NOISE, ha="center", va="center", wrap=True)

    def label(self, name: str | None = None) -> str:
        """The legend of the curve: its name, and the interval of its AUC."""
        area, low, high = self.curve.auc_interval.texts(self.roc_auc)
        words = "only noise, AUC" if self.curve.only_noise else f"AUC {area},"
        return f"{name or self.name or 'private curve'} ({words} {low} to {high})"


def band_outline(curve: RocCurve) -> tuple[Any, Any]:
    """The polygon of the band as x and y: along its upper edge (low fpr, high tpr), and back along the lower."""
    (fpr_low, fpr_high), (tpr_low, tpr_high) = curve.fpr_band, curve.tpr_band
    rise = np.maximum.accumulate
    return (
        np.concatenate([rise(fpr_low), rise(fpr_high)[::-1]]),
        np.concatenate([rise(tpr_high), rise(tpr_low)[::-1]]),
    )


def _single(curve: Any) -> RocCurve:
    """The curve itself, or the first of several, since a display shows one."""
    return next(iter(curve.curves.values())) if isinstance(curve, RocCurves) else curve
