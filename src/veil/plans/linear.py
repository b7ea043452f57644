"""Linear models by objective perturbation (Chaudhuri, Monteleoni, Sarwate, JMLR 2011), a weight for every value."""

import re
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from numbers import Real
from typing import Any

import numpy as np

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
from ..questions import WHOLE, Axis, Grid, Linear, axis
from ..schema import Categorical, Numeric, Schema
from .finish import Numbers, class_prior

PENALTY = 4  # over a column's part of epsilon, the weight of its squares
MARGIN_PENALTY = 8  # the same for support vectors
JOINT = 2  # times that for classes that are told apart together, whose noise is twice as large
ROWS = 40  # that a group should have on average, times epsilon and over the number of columns
FEWEST = (4, 8)  # groups that any column may have, for two classes and for more
POWER = 1 / 3
A_ROW = re.compile(r"(\d{1,9}) a row\]$")  # how a question about words ends
PARTS = (3, 97)  # of the budget: class totals, weights
PLENTY = 16  # rows times epsilon for each weight, at which the penalty is as given: less of it for more, down to half
MARGIN = (1, 2)  # by which the true class has to lead where rows are few, for two classes and for more
CERTAIN = 50  # rows times epsilon for each weight, from which on less of a margin is asked
ENOUGH = {Logistic: 1.5, Softmax: 3, Hinge: 4}  # a row's reach is at most epsilon over this, so that it costs little


def logistic_regression(source: Source, budget: Budget, *, penalty: float = PENALTY) -> Linear:
    """Weights that make the rows' classes most probable.

    Budget: 3 % for the class totals, the rest for the weights. Within it, groups of columns whose noise is drawn
    together have shares in proportion to the cube root of its variance. Two classes have one set of weights, more of
    them a set each, found together. Where rows are few, the true class has to lead by a margin: a row that nothing is
    known about then pulls with most of the slope that the noise must hide anyway, instead of half of it.

    Returns a scorer: the log odds of each class, wider apart where there is a margin.
    """
    axes, prior, to_fit, scarcity = _begin(source, budget, penalty, 1)
    weight, margin = _weight(penalty, scarcity, 1), min(MARGIN[len(prior) > 2], CERTAIN * scarcity)
    if len(prior) == 2 or len(prior) > MOST_CLASSES:
        return _one_by_one(source, Logistic(), axes, to_fit, prior, weight, margin)
    start, settings = np.log(prior), _together(axes, JOINT * weight, Softmax)
    fitted = source.minimise(Softmax(), axes, to_fit, offsets=start.tolist(), margin=margin, **settings)
    return Linear(_tables(axes, fitted.value), start)


def support_vectors(source: Source, budget: Budget, *, penalty: float = MARGIN_PENALTY) -> Linear:
    """Weights that put rows on the right side, by a margin.

    Budget: 3 % for the class totals, the rest for the weights; with more than two classes an equal part of it for each
    class against the others. Within it, groups of columns have shares as for logistic regression.

    Returns a scorer: the margin of each class.
    """
    axes, prior, to_fit, scarcity = _begin(source, budget, penalty, 3)
    return _one_by_one(source, Hinge(), axes, to_fit, prior, _weight(penalty, scarcity, 3))


def _begin(source: Source, budget: Budget, penalty: float, least: float) -> tuple[list[Grid], Numbers, Budget, float]:
    """The groups of every column, the shares of the classes, what is left of the budget, and the number of weights over
    rows times epsilon."""
    _check(source.schema, penalty, least)
    to_size, to_fit = budget.split(*PARTS)
    totals = source.count(WHOLE, to_size)
    prior = class_prior(totals.value[0].astype(np.float64), np.sqrt(2) * max(totals.noise_scale, 1e-9))
    signal = float(totals.value.sum() * min(source.per_row(budget), 10**9))
    axes = _axes(source.schema, signal)
    weights = (sum(one.size - 1 for one in axes) + 1) * (len(prior) - 1)
    return axes, np.maximum(prior, 1e-9), to_fit, weights / max(signal, 1.0)


def _weight(penalty: float, scarcity: float, least: float) -> float:
    """The penalty for so many weights: the fewer rows there are for each, the more they are held back."""
    return float(max(penalty * np.clip(sqrt(PLENTY * scarcity), 0.5, 2), least))


def _check(schema: Schema, penalty: float, least: float) -> None:
    """Complain before anything is charged."""
    if len(schema.classes) < 2:
        raise BadInput("a linear model cannot be learned from one class: the label needs two values or more")
    if not schema.features:
        raise BadInput("a linear model needs at least one column besides the label")
    if not isinstance(penalty, Real) or not least <= penalty <= 1e9:
        raise BadInput(f"the penalty must be a number between {least} and 1e9")
    if min(len(schema.classes), MOST_CLASSES) * sum(column.size for column in schema.features) ** 2 > MOST_CURVATURE:
        raise BadInput("the columns have too many values for a linear model: use fewer bins or columns")


def _one_by_one(
    source: Source,
    loss: Loss,
    axes: Sequence[Grid],
    budget: Budget,
    prior: Numbers,
    penalty: float,
    margin: float = 0.0,
) -> Linear:
    """Each class against the others; of two classes, the second."""
    labels = [1] if len(prior) == 2 else list(range(len(prior)))
    weights, start = np.zeros((sum(one.size for one in axes), len(prior))), np.zeros(len(prior))
    for label, part in zip(labels, budget.each(len(labels)), strict=True):
        start[label] = np.log(prior[label] / (1 - prior[label]))
        settings = {"offsets": [float(start[label])], "margin": margin, **_together(axes, penalty, type(loss))}
        weights[:, [label]] = source.minimise(loss, axes, part, label=label, **settings).value
    return Linear(_tables(axes, weights), start)


def _together(axes: Sequence[Grid], penalty: float, loss: type[Loss]) -> dict[str, Any]:
    """Groups of columns whose noise is drawn together, their shares of the budget, and each column's penalty, in
    proportion to its noise; more of it where the argument for the noise needs more."""
    groups = best_groups([one.size for one in axes])
    shares = [round(variance(group) ** POWER, 3) for group in groups]
    gains = [[gain(size, group) for size in group] for group in groups]
    reach = sum(share * sum(group) for share, group in zip(shares, gains, strict=True)) / sum(shares)
    penalties = [max(penalty, ENOUGH[loss] * reach) / one for group in gains for one in group]
    return {"groups": [len(group) for group in groups], "shares": shares, "penalty": penalties}


def best_groups(sizes: Sequence[int]) -> list[list[int]]:
    """Sizes that only grow, cut into the groups of neighbours with the least noise in all; equal ones stay together,
    which is always better."""
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
    """Of the noise of all weights of these columns together, about, for a rate of one."""
    return sum(2 * size / gain(size, group) ** 2 for size in group)


def gain(size: int, group: Sequence[int]) -> float:
    """About what part of the group's budget would give a column of this size the same noise by itself."""
    if len(group) == 1:
        return 1.0
    dimension = sum(group) - len(group) + 1
    return (size + 1.8) / sqrt((dimension + 1) * (dimension + 2))  # 1.8: by simulation


def weight_scales(schema: Schema, totals: Release[Any], fit: Release[Any]) -> tuple[list[int], list[float]]:
    """The weights of each column for one class, and the scale of the noise in the slope of each, about, in rows.

    All of it is public or released: the class totals, and what they and the weights cost. Words count as columns, as
    many as a row can have.
    """
    receipt = fit.receipt
    each = float(max(min(receipt.epsilon, Fraction(10**9)), Fraction(1, 10**99))) / schema.rows_per_person
    if words := A_ROW.search(receipt.question):
        reach = max(min(int(words[1]), len(fit.value)), 1)
        return [len(piece) for piece in np.array_split(fit.value, reach)], [reach / each] * reach
    spread = Softmax.spread if receipt.question.startswith(Softmax.__name__) else 1
    sizes = [one.size for one in _axes(schema, float(totals.value.sum() * min(_of_all(totals), 10**9)))]
    groups = best_groups(sizes)
    shares = [variance(group) ** POWER for group in groups]
    scales = [
        spread * sum(shares) / (each * share * gain(size, group))
        for group, share in zip(groups, shares, strict=True)
        for size in group
    ]
    return sizes, scales


def _of_all(totals: Release[Any]) -> Fraction:
    """The whole budget, of which the class totals had their part."""
    return totals.receipt.epsilon * sum(PARTS) / PARTS[0]


def _tables(axes: Sequence[Grid], values: Any) -> dict[str, Numbers]:
    """The weights of every code, by column."""
    parts = np.split(values / WEIGHT_UNIT, np.cumsum([one.size for one in axes])[:-1])
    return {one.columns[0]: part[np.asarray(one.axes[0].groups)] for one, part in zip(axes, parts, strict=True)}


def _axes(schema: Schema, signal: float) -> list[Grid]:
    """Every column at its finest level that has no more groups than rows and budget bear, small columns first."""
    most = max(FEWEST[len(schema.classes) > 2], signal / len(schema.features) / ROWS)
    return sorted((_declared(column, _level(column, most + 1)) for column in schema.features), key=lambda one: one.size)


def _level(column: Categorical | Numeric, most: float) -> Grid:
    levels = [axis(column, level) for level in range(len(column.levels))]
    below = levels[1:] or levels
    return next((one for one in reversed(below) if one.size <= most), below[0])


def _declared(column: Categorical | Numeric, one: Grid) -> Grid:
    """Without a group for undeclared values alone: its noise would add to that of all others. They are taken for the
    middle bin, or for the last value."""
    (found,) = one.axes
    groups, own = found.groups, found.groups[-1]
    if column.missing is not None or groups.count(own) > 1:
        return one
    place = (len(groups) - 2) // 2 if isinstance(column, Numeric) else -2
    return Grid((Axis(found.column, (*groups[:-1], groups[place]), found.names[:-1]),))
