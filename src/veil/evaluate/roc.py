"""ROC curves and their area on private rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..display import number
from ..kernel import Budget, Source
from ..plans.rehearsal import Rehearsal
from ..plans.roc import ScoreCounts, code_scorer, roc_counts
from ..plans.run import rehearse
from ..questions import WHOLE, Odds, Scorer
from .intervals import (
    DRAWS,
    SEED,
    Interval,
    Numbers,
    area,
    area_interval,
    drawn_noise,
    falling_shares,
    mean_area_interval,
    pairs,
    rate_bands,
    share_interval,
)
from .result import LEVEL, Evaluation, Kept, ask, class_place, spoken, told
from .scores import CELLS, STEEPEST, evaluation_schema, in_order, score_cuts, score_schema, score_table

SIZES = 25  # percent of the budget of an AUC alone for the number of rows of each class
WIDER = 0.96  # nominal level of an AUC alone, since class sizes are estimates; measured coverage: 95 %
WIDE = 0.5  # width of the AUC's interval from which a curve counts as noise


def plotted(curves: "Sequence[RocCurve]", ax: Any, **settings: Any) -> list[Any]:
    """The displays of these curves, drawn on one pair of axes."""
    from .display import PrivateRocDisplay  # as below

    return PrivateRocDisplay.together(curves, ax, **settings)


def drawn(curves: "Sequence[RocCurve]") -> str:
    """The curves as an HTML image, for notebooks."""
    from .display import PrivateRocDisplay  # matplotlib takes a second to load, and only notebooks need it here

    return PrivateRocDisplay.image(curves)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RocCurve(Evaluation):
    """A ROC curve: the rates of positives and of negatives at or above each threshold, from the highest down.

    `fpr_band` and `tpr_band` are low and high rates for each threshold, `auc_interval` holds the exact AUC of these
    rows, each with 95 % confidence over the noise. Unpacks like scikit-learn's: `fpr, tpr, thresholds = curve`.
    """

    fpr: Numbers
    tpr: Numbers
    thresholds: Numbers
    auc: float
    auc_interval: Interval
    fpr_band: tuple[Numbers, Numbers]
    tpr_band: tuple[Numbers, Numbers]
    positive: str
    counts: ScoreCounts

    chance = 0.5

    def __iter__(self) -> Iterator[Numbers]:
        return iter((self.fpr, self.tpr, self.thresholds))

    @property
    def only_noise(self) -> bool:
        """Whether the curve tells nothing: its AUC may be nearly anything, as when a class may have no rows."""
        return self.auc_interval.high - self.auc_interval.low >= WIDE

    @property
    def intervals(self) -> dict[str, Interval]:
        return {self.positive: self.auc_interval}

    def summary(self) -> str:
        noise = "; the curve is noise" if self.only_noise else ""
        return f"ROC curve of '{self.positive}': AUC {spoken(self.auc, self.auc_interval)}{noise}"

    def plot(self, ax: Any = None, **settings: Any) -> Any:
        """Draw the curve with its band on these axes, or on new ones; returns the PrivateRocDisplay, whose `plot` says
        which settings there are."""
        return plotted([self], ax, **settings)[0]

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        points = zip(self.thresholds, self.fpr, self.tpr, strict=True)
        rows = [(number(cut), f"{negative:.3f}", f"{positive:.3f}") for cut, negative, positive in points]
        return ["score at least", "false positives", "true positives"], rows

    def _repr_html_(self) -> str:
        return drawn([self]) + super()._repr_html_()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RocCurves(Evaluation):
    """A ROC curve for each class against all others, by class, and Hand and Till's M with its interval."""

    curves: dict[str, RocCurve]
    m: float
    m_interval: Interval

    chance = 0.5

    @property
    def auc(self) -> float:
        """Hand and Till's M: the AUC of one class against another, averaged over all pairs of classes."""
        return self.m

    @property
    def auc_interval(self) -> Interval:
        return self.m_interval

    @property
    def intervals(self) -> dict[str, Interval]:
        return {name: curve.auc_interval for name, curve in self.curves.items()}

    @property
    def known(self) -> dict[str, RocCurve]:
        """The curves that are not noise, by class."""
        return {name: curve for name, curve in self.curves.items() if not curve.only_noise}

    @property
    def leads(self) -> bool:
        """Whether M is known well enough to come first: one class with few rows can hide it, but not the others."""
        return self.m_interval.high - self.m_interval.low < WIDE or not self.known

    def summary(self) -> str:
        """M in one line or, if it is noise, the AUC of the classes whose curves are clear."""
        m = f"M {spoken(self.m, self.m_interval)}"
        if self.leads:
            return f"ROC curves of {len(self.curves)} classes: {m}"
        areas = ", ".join(f"'{name}' {spoken(curve.auc, curve.auc_interval)}" for name, curve in self.known.items())
        rare = ", ".join(f"'{name}'" for name in self.curves if name not in self.known)
        because = f"there are too few rows of {rare} or of the others" if rare else "pairs of classes have too few rows"
        return f"ROC curves of {len(self.curves)} classes: AUC of {areas}; {m} is not known, since {because}"

    def plot(self, ax: Any = None, **settings: Any) -> list[Any]:
        """Draw the curves of the first six classes on these axes, or on new ones; returns their displays."""
        return plotted([*self.curves.values()], ax, **settings)

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        rows = [(name, *c.auc_interval.texts(c.auc)) for name, c in self.curves.items()]
        return ["class against the others", "AUC", "from", "to"], rows

    def _repr_html_(self) -> str:
        return drawn(list(self.curves.values())) + super()._repr_html_()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Auc(Evaluation):
    """The area under a ROC curve, and its 95 % confidence interval for the exact AUC of these rows."""

    auc: float
    auc_interval: Interval

    chance = 0.5

    @property
    def intervals(self) -> dict[str, Interval]:
        return {"AUC": self.auc_interval}

    def __float__(self) -> float:
        return self.auc

    def summary(self) -> str:
        return f"AUC {spoken(self.auc, self.auc_interval)}"

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        return ["AUC", "from", "to"], [tuple(self.auc_interval.texts(self.auc))]


def private_roc_curve(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    epsilon: Any,
    schema: Any = None,
    ledger: Any = None,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    bounds: tuple[float, float] = (0, 1),
    default: float | None = None,
    random_state: Any = None,
    **settings: Any,
) -> Any:
    """The ROC curve of a model on private rows X with labels y: a RocCurve, or RocCurves for more than two classes.

    `model` is a classifier, a function of rows, or the scores themselves (then X is not needed). Without y, X holds
    the label column that the schema names. `schema` is that of the rows (a model of Veil has its own), or `classes`
    says which labels there may be. `positive` is the class that high scores stand for, the last without it. Scores
    lie within public `bounds`; what is no number counts as `default`. `settings` are those of `plans.roc.roc_counts`.
    """
    scored = score_table(model, X, y, schema, classes, bounds, default, positive)
    place = class_place(positive, scored.schema.classes)
    plan = partial(_count_each, cells=len(scored.cuts) + 1, **settings)
    counts, kept = ask(plan, "roc", model, scored.rows, scored.schema, epsilon, ledger, random_state)
    return told(curves_of(counts, scored.cuts, place, kept))


def rehearse_roc_curve(model: Any, *, epsilon: Any, schema: Any = None, positive: Any = None) -> Rehearsal:
    """The answers that `private_roc_curve` would ask for, with their noise; nothing is opened or charged."""
    public, cuts = evaluation_schema(model, schema, None), score_cuts((0, 1))
    class_place(positive, public.classes)
    in_order(model, public)
    return rehearse(partial(_count_each, cells=len(cuts) + 1), score_schema(public, cuts), Budget(epsilon))


def _count_each(source: Source, budget: Budget, cells: int, **settings: Any) -> list[ScoreCounts]:
    """The noisy counts for the curve of every score column, each with an equal share of the budget."""
    columns = [column.name for column in source.schema.features]
    shares = budget.each(len(columns))
    return [
        roc_counts(source, share, *code_scorer(column, cells), **settings)
        for column, share in zip(columns, shares, strict=True)
    ]


def curves_of(counts: Sequence[ScoreCounts], cuts: Any, place: int, kept: Kept) -> "RocCurve | RocCurves":
    """A RocCurve of the class with index `place` or, for more than two classes, RocCurves."""
    names = kept["outcome_"].schema.classes
    if len(names) > 2:
        return many_curves(counts, cuts, kept)
    return one_curve(counts[0], cuts, place, (1 - place,), names, kept)


def one_curve(
    counts: ScoreCounts, cuts: Any, positive: int, others: tuple[int, ...], names: Sequence[str], kept: Kept
) -> RocCurve:
    """A RocCurve with its bands, from noisy counts; `cuts` are the scores at the cuts of the public grid."""
    found = pairs(counts, positive, others)
    tpr_band, fpr_band = rate_bands(found, LEVEL)
    at = np.asarray(cuts)[np.asarray(counts.cuts, np.int64) - 1] if len(counts.cuts) else np.zeros(0)
    return RocCurve(
        fpr=falling_shares(found.possible[1]),
        tpr=falling_shares(found.possible[0]),
        thresholds=np.concatenate([[np.inf], at[::-1], [-np.inf]]),
        auc=area(found),
        auc_interval=area_interval(found, counts.tied, LEVEL),
        fpr_band=fpr_band,
        tpr_band=tpr_band,
        positive=names[positive],
        counts=counts,
        **kept,
    )


def many_curves(counts: Sequence[ScoreCounts], cuts: Any, kept: Kept) -> RocCurves:
    """One-vs-rest curves for each class, and Hand and Till's M (2001)."""
    names = kept["outcome_"].schema.classes
    curves = {}
    for place, name in enumerate(names):
        others = tuple(other for other in range(len(names)) if other != place)
        curves[name] = one_curve(counts[place], cuts, place, others, names, kept)
    m, interval = hand_till(counts)
    return RocCurves(curves=curves, m=m, m_interval=interval, **kept)


def hand_till(counts: Sequence[ScoreCounts]) -> tuple[float, Interval]:
    """Hand and Till's M, the mean AUC over ordered pairs of classes by the score of the first; and its interval."""
    noise = [drawn_noise(table, seed) for seed, table in enumerate(counts)]  # the pairs of a table share its noise
    places = range(len(counts))
    found = [pairs(counts[i], i, (j,), noise[i]) for i in places for j in places if i != j]
    return float(np.mean([area(pair) for pair in found])), mean_area_interval(found, LEVEL)


def private_auc(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    epsilon: Any,
    schema: Any = None,
    ledger: Any = None,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    bounds: tuple[float, float] = (0, 1),
    default: float | None = None,
    random_state: Any = None,
) -> Auc:
    """The AUC alone, with less noise than that of a curve; Hand and Till's M for more than two classes.

    The arguments are those of `private_roc_curve`.
    """
    scored = score_table(model, X, y, schema, classes, bounds, default, positive)
    place, cells = class_place(positive, scored.schema.classes), len(scored.cuts) + 1
    if len(scored.schema.classes) > 2:
        plan = partial(_count_each, cells=cells)
        counts, kept = ask(plan, "auc", model, scored.rows, scored.schema, epsilon, ledger, random_state)
        return told(_auc(hand_till(counts), kept))
    found, kept = ask(
        lambda source, budget: misordered_area(source, budget, place, *code_scorer("score", cells)),
        "auc", model, scored.rows, scored.schema, epsilon, ledger, random_state,
    )  # fmt: skip
    return told(_auc(found, kept))


def _auc(found: tuple[float, Interval], kept: Kept) -> Auc:
    return Auc(auc=found[0], auc_interval=found[1], **kept)


def misordered_area(
    source: Source, budget: Budget, positive: int, scorer: Scorer, grid: Sequence[float]
) -> tuple[float, Interval]:
    """The AUC and its interval, from the noisy number of misordered rows and of rows in each class.

    Budget: a quarter for the class sizes, the rest for the misordered rows, of which a good model has few. These are
    asked first, so that if epsilon is too small for either, nothing is charged.
    """
    to_size, to_order = budget.split(SIZES, 100 - SIZES)
    wrong = source.misordered(scorer, positive, to_order, grid=grid)
    sizes = source.count(WHOLE, to_size)
    return area_of(wrong.value, wrong.noise_scale, np.delete(sizes.value[0], positive).sum(), sizes.value[0, positive],
                   sizes.noise_scale)  # fmt: skip


def area_of(wrong: float, wrong_scale: float, first: float, second: float, scale: float) -> tuple[float, Interval]:
    """1 - wrong / rows of the smaller class, and its interval given the noise of all three numbers."""
    chance = np.random.default_rng(SEED)
    sizes = np.maximum([first, second], 1)
    smaller = sizes.min()
    drawn = (sizes[:, None] + chance.laplace(0, scale, (2, DRAWS))).min(axis=0) - smaller
    drawn -= drawn.mean()
    share = float(np.clip(wrong / smaller, 0, 1))
    noise = chance.laplace(0, wrong_scale, DRAWS)
    low, high = share_interval(share, wrong, float(smaller), noise, drawn, WIDER)
    return 1 - share, Interval(1 - high, 1 - low)


def counts_of_part(
    source: Source, budget: Budget, scorer: Scorer, labels: Sequence[int]
) -> tuple[list[ScoreCounts], Numbers]:
    """The noisy counts for the one-vs-rest curve of each of these classes, and the scores at the cuts of the grid.

    The score is the log-odds of the class, computed in integers inside the kernel, since the scorer may have been
    learned from another part of the same table. Budget: an equal share for each class.
    """
    odds = np.linspace(-STEEPEST, STEEPEST, CELLS)[1:-1]
    shares = zip(labels, budget.each(len(labels)), strict=True)
    counts = [roc_counts(source, share, Odds(scorer, label), list(odds)) for label, share in shares]
    places = [tuple(float(place) for place in np.searchsorted(odds, found.cuts) + 1) for found in counts]
    return [replace(f, cuts=p) for f, p in zip(counts, places, strict=True)], 1 / (1 + np.exp(-odds))
