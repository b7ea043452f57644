"""Linear models by objective perturbation (Chaudhuri, Monteleoni, Sarwate, JMLR 2011), a weight for every value."""

import re
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from numbers import Real
from typing import Any

import numpy as np

from ..display import of_texts
from ..errors import BadInput
from ..kernel import (
    LARGEST_COLUMN,
    MOST_CLASSES,
    MOST_CURVATURE,
    WEIGHT_UNIT,
    Budget,
    Hinge,
    Logistic,
    Loss,
    Release,
    Softmax,
    Source,
)
from ..questions import Axis, Grid, Linear, axis
from ..schema import Categorical, Numeric, Schema
from .finish import Numbers, class_prior
from .sizing import TO_SIZE, Known, sized

PENALTY = 4  # weight of the squared weights, divided by a column's share of epsilon
MARGIN_PENALTY = 8  # the same for support vectors
JOINT = 2  # factor on the penalty for softmax, whose noise is twice as large
ROWS = 40  # a group should have on average, times epsilon and divided by the number of columns
FEWEST = (4, 8)  # groups that any column may have, for two classes and for more
POWER = 1 / 3
A_ROW = re.compile(r"(\d{1,9}) a row\]$")  # how a question about words ends
PLENTY = 16  # rows times epsilon for each weight at which the penalty is as given; with more, down to half of it
MARGIN = (1, 2)  # by which the true class has to lead where rows are few, for two classes and for more
CERTAIN = 50  # rows times epsilon for each weight, from which on less of a margin is asked
ENOUGH = {Logistic: 1.5, Softmax: 3, Hinge: 4}  # `reach` (see Loss) is at most epsilon over this


def logistic_regression(source: Source, budget: Budget, *, penalty: float = PENALTY, totals: Known = None) -> Linear:
    """Logistic regression: weights for every value of every column, which make the rows' classes most probable.

    Budget: 3 % for the class totals, unless they are known, the rest for the weights. Within it, groups of columns
    whose noise is drawn together have shares in proportion to the cube root of its variance. Two classes have one set
    of weights, more of them a set each, found together. Where rows are few, the true class has to lead by a margin: a
    row that nothing is known about then pulls with most of the slope that the noise must hide anyway, instead of half
    of it.

    Returns a scorer: the log odds of each class, wider apart where there is a margin.
    """
    axes, prior, to_fit, scarcity = _begin(source, budget, penalty, 1, totals)
    weight, margin = _weight(penalty, scarcity, 1), min(MARGIN[len(prior) > 2], CERTAIN * scarcity)
    if len(prior) == 2 or len(prior) > MOST_CLASSES:
        return _one_by_one(source, Logistic(), axes, to_fit, prior, weight, margin)
    start, settings = np.log(prior), _together(axes, JOINT * weight, Softmax)
    fitted = source.minimise(Softmax(), axes, to_fit, offsets=start.tolist(), margin=margin, **settings)
    return Linear(_tables(axes, fitted.value), start)


def support_vectors(source: Source, budget: Budget, *, penalty: float = MARGIN_PENALTY, totals: Known = None) -> Linear:
    """A linear support vector machine: weights for every value of every column that separate the classes by a margin.

    Budget: 3 % for the class totals, unless they are known, the rest for the weights; with more than two classes an
    equal part of it for each class against the others. Within it, groups of columns have shares as for logistic
    regression.

    Returns a scorer: the signed margin of each class.
    """
    axes, prior, to_fit, scarcity = _begin(source, budget, penalty, 3, totals)
    return _one_by_one(source, Hinge(), axes, to_fit, prior, _weight(penalty, scarcity, 3))


def _begin(
    source: Source, budget: Budget, penalty: float, least: float, totals: Known
) -> tuple[list[Grid], Numbers, Budget, float]:
    """What both models need before they fit: the axis of every column, the class shares, the budget that is left, and
    the number of weights divided by rows times epsilon (their scarcity)."""
    _check(source.schema, penalty, least)
    whole = budget if totals is None else Budget(_of_all(totals))  # what a search was paid from, too
    totals, to_fit = sized(source, budget, totals)
    prior = class_prior(totals.value[0].astype(np.float64), np.sqrt(2) * max(totals.noise_scale, 1e-9))
    signal = float(totals.value.sum() * min(source.per_row(whole), 10**9))
    axes = _axes(source.schema, signal)
    weights = (sum(one.size - 1 for one in axes) + 1) * (len(prior) - 1)
    return axes, np.maximum(prior, 1e-9), to_fit, weights / max(signal, 1.0)


def _weight(penalty: float, scarcity: float, least: float) -> float:
    """The weight of the penalty, half to twice as given: the more, the fewer rows times epsilon for each weight."""
    return float(max(penalty * np.clip(sqrt(PLENTY * scarcity), 0.5, 2), least))


def _check(schema: Schema, penalty: float, least: float) -> None:
    """Raise BadInput for settings and schemas that cannot be fitted, before anything is charged."""
    if len(schema.classes) < 2:
        raise BadInput("a linear model cannot be learned from one class: the label needs two values or more")
    if not schema.features:
        raise BadInput(f"a linear model needs at least one column besides the label{of_texts(schema)}")
    if not isinstance(penalty, Real) or not least <= penalty <= 1e9:
        raise BadInput(f"the penalty must be a number between {least} and 1e9")
    if too_many(schema):
        raise BadInput("the columns have too many values for a linear model: use fewer bins or columns")


def too_many(schema: Schema) -> bool:
    """Whether the columns have too many values to fit."""
    values = sum(column.size for column in schema.features)
    return min(len(schema.classes), MOST_CLASSES) * values**2 > MOST_CURVATURE


def _one_by_one(
    source: Source,
    loss: Loss,
    axes: Sequence[Grid],
    budget: Budget,
    prior: Numbers,
    penalty: float,
    margin: float = 0.0,
) -> Linear:
    """One-vs-rest: fit each class against the others; of two classes, only the second."""
    labels = [1] if len(prior) == 2 else list(range(len(prior)))
    weights, start = np.zeros((sum(one.size for one in axes), len(prior))), np.zeros(len(prior))
    for label, part in zip(labels, budget.each(len(labels)), strict=True):
        start[label] = np.log(prior[label] / (1 - prior[label]))
        settings = {"offsets": [float(start[label])], "margin": margin, **_together(axes, penalty, type(loss))}
        weights[:, [label]] = source.minimise(loss, axes, part, label=label, **settings).value
    return Linear(_tables(axes, weights), start)


def _together(axes: Sequence[Grid], penalty: float, loss: type[Loss]) -> dict[str, Any]:
    """Settings for `minimise`: groups of columns whose noise is drawn together, their shares of the budget, and each
    column's penalty, in proportion to its noise, but no less than the privacy proof needs for this loss."""
    groups = best_groups([one.size for one in axes])
    shares = [round(variance(group) ** POWER, 3) for group in groups]
    gains = [[gain(size, group) for size in group] for group in groups]
    reach = sum(share * sum(group) for share, group in zip(shares, gains, strict=True)) / sum(shares)
    penalties = [max(penalty, ENOUGH[loss] * reach) / one for group in gains for one in group]
    return {"groups": [len(group) for group in groups], "shares": shares, "penalty": penalties}


def best_groups(sizes: Sequence[int]) -> list[list[int]]:
    """Cut ascending column sizes into runs of neighbours whose noise is drawn together, with the least total noise
    (dynamic programming). Columns of equal size stay together, which is always better."""
    cuts = [place for place in range(1, len(sizes)) if sizes[place] > min(sizes[place - 1], LARGEST_COLUMN)]
    best: dict[int, tuple[float, list[list[int]]]] = {0: (0.0, [])}
    for end in [*cuts, len(sizes)]:
        tries = [(noise, [*groups, list(sizes[start:end])]) for start, (noise, groups) in best.items()]
        allowed = [
            (noise, groups) for noise, groups in tries if len(groups[-1]) == 1 or groups[-1][-1] <= LARGEST_COLUMN
        ]
        best[end] = min((noise + variance(groups[-1]) ** POWER, groups) for noise, groups in allowed)
    return best[len(sizes)][1]


def variance(group: Sequence[int]) -> float:
    """The approximate variance of the noise, summed over all weights of a group of columns, for a rate of one."""
    return sum(2 * size / gain(size, group) ** 2 for size in group)


def gain(size: int, group: Sequence[int]) -> float:
    """About the share of the group's budget that would give a column of this size the same noise on its own."""
    if len(group) == 1:
        return 1.0
    dimension = sum(group) - len(group) + 1
    return (size + 1.8) / sqrt((dimension + 1) * (dimension + 2))  # 1.8: by simulation


def weight_scales(schema: Schema, totals: Release[Any], fit: Release[Any]) -> tuple[list[int], list[float]]:
    """The number of weights of each column for one class, and about the noise scale in their gradient, in rows.

    All of it is computed from public or released numbers: the class totals, and what they and the weights cost. A word
    model counts as many columns as a row can have words.
    """
    receipt = fit.receipt
    known = Budget(max(min(receipt.epsilon, Fraction(10**9)), Fraction(1, 10**99)))
    each = float(known.per_row(schema.rows_per_person))
    if words := A_ROW.search(receipt.question):
        reach = max(min(int(words[1]), len(fit.value)), 1)
        return [len(piece) for piece in np.array_split(fit.value, reach)], [reach / each] * reach
    spread = Softmax.spread if receipt.question.startswith(Softmax.__name__) else 1
    for_a_row = min(Budget(_of_all(totals)).per_row(schema.rows_per_person), 10**9)  # as `_begin` counts it
    sizes = [one.size for one in _axes(schema, float(totals.value.sum() * for_a_row))]
    groups = best_groups(sizes)
    shares = [variance(group) ** POWER for group in groups]
    scales = [
        spread * sum(shares) / (each * share * gain(size, group))
        for group, share in zip(groups, shares, strict=True)
        for size in group
    ]
    return sizes, scales


def _of_all(totals: Release[Any]) -> Fraction:
    """The whole epsilon of the model, from the share that the class totals had."""
    return totals.receipt.epsilon * 100 / TO_SIZE


def _tables(axes: Sequence[Grid], values: Any) -> dict[str, Numbers]:
    """The fitted weights as {column: codes x classes}."""
    parts = np.split(values / WEIGHT_UNIT, np.cumsum([one.size for one in axes])[:-1])
    return {one.columns[0]: part[np.asarray(one.axes[0].groups)] for one, part in zip(axes, parts, strict=True)}


def _axes(schema: Schema, signal: float) -> list[Grid]:
    """The axis of every column, smallest first: its finest level that rows and budget can support."""
    most = max(FEWEST[len(schema.classes) > 2], signal / len(schema.features) / ROWS)
    return sorted((_declared(column, _level(column, most + 1)) for column in schema.features), key=lambda one: one.size)


def _level(column: Categorical | Numeric, most: float) -> Grid:
    levels = [axis(column, level) for level in range(len(column.levels))]
    below = levels[1:] or levels
    return next((one for one in reversed(below) if one.size <= most), below[0])


def _declared(column: Categorical | Numeric, one: Grid) -> Grid:
    """The axis without a separate group for undeclared values, whose noise would add to that of all others; they join
    the middle bin, or the last category."""
    (found,) = one.axes
    groups, own = found.groups, found.groups[-1]
    if column.missing is not None or groups.count(own) > 1:
        return one
    place = (len(groups) - 2) // 2 if isinstance(column, Numeric) else -2
    return Grid((Axis(found.column, (*groups[:-1], groups[place]), found.names[:-1]),))
