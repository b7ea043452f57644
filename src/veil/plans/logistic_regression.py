"""Logistic regression by objective perturbation (Chaudhuri, Monteleoni, Sarwate, JMLR 2011) on the values of columns."""

import numpy as np

from ..errors import BadInput
from ..kernel.budget import Budget
from ..kernel.losses import Logistic
from ..kernel.minimise import UNIT
from ..kernel.source import Source
from ..questions import WHOLE, Grid, Linear, axis
from ..schema import Schema
from .finish import Numbers, class_prior

PENALTY = 4  # over a column's part of epsilon, the weight of its squares
FEW = 250  # rows times epsilon for each column, below which eight groups are better than all


def logistic_regression(source: Source, budget: Budget, *, penalty: float = PENALTY) -> Linear:
    """A weight for every value of every column.

    Budget: 3 % for the class totals, the rest for the weights; with more than two classes an equal part for each class
    against the others. Within it, columns have shares in proportion to size^(1/3).

    Returns a scorer: the log odds of each class.
    """
    schema = source.schema
    if len(schema.classes) < 2 or not schema.features:
        raise BadInput("logistic regression needs a label of two classes or more, and a column besides")
    to_size, to_fit = budget.split(3, 97)

    totals = source.count(WHOLE, to_size)
    prior = class_prior(totals.value[0].astype(np.float64), np.sqrt(2) * max(totals.scale or 0.0, 1e-9))
    axes = _axes(schema, float(totals.value.sum() * budget.epsilon))
    shares = [round(one.size ** (1 / 3), 2) for one in axes]

    labels = [1] if len(prior) == 2 else list(range(len(prior)))
    weights = {one.columns[0]: np.zeros((len(one.axes[0].groups), len(prior))) for one in axes}
    constant = np.zeros(len(prior))
    for label, part in zip(labels, to_fit.each(len(labels)), strict=True):
        offset = float(np.log(prior[label] / (1 - prior[label])))
        fitted = source.minimise(Logistic(), axes, part, label=label, offset=offset, penalty=penalty, shares=shares)
        constant[label] = offset
        for one, values in zip(axes, np.split(fitted.value / UNIT, np.cumsum([a.size for a in axes])[:-1]), strict=True):
            weights[one.columns[0]][:, label] = values[np.asarray(one.axes[0].groups)]
    return Linear(weights, constant)


def _axes(schema: Schema, signal: float) -> list[Grid]:
    """Every column at its finest level; with few rows for the budget, at the finest of at most eight groups."""
    if signal / len(schema.features) >= FEW:
        return [axis(column) for column in schema.features]
    levels = [[axis(column, level) for level in range(1, len(column.levels))] for column in schema.features]
    return [next((one for one in reversed(found) if one.size <= 9), found[0]) for found in levels if found]
