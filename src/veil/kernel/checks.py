"""What a question must be before it is charged: of a known kind, about declared columns, of the right sizes.

Everything here is public. A question that passes cannot fail on a row afterwards, so no error depends on one.
"""

from typing import Any

import numpy as np

from ..columns import Categorical, Numeric
from ..errors import BadInput
from ..questions import Axis, Binned, CellScores, Grid, Linear, Predicted, Tree
from ..schema import Schema
from .scores import Correct, Entropy, Gini, Majority, Rows

DENSE_LIMIT = 200_000_000  # counts in one dense answer
SCORES = (Correct, Entropy, Gini, Majority, Rows)


def check_partition(partition: Any, schema: Schema, *, dense: bool = True) -> None:
    """Refuse a partition that is not one of the four kinds or does not fit the schema."""
    if type(partition) is Grid and type(partition.axes) is tuple:
        for axis in partition.axes:
            _check_axis(axis, schema)
    elif type(partition) is Tree and type(partition.branches) is tuple:
        for part in (partition.cut, *partition.branches):
            check_partition(part, schema, dense=dense)
    elif type(partition) in (Binned, Predicted):
        _check_scorer(partition.scorer, schema)
        if type(partition) is Binned:
            check_whole(partition.label, "the binned label", -partition.scorer.classes, partition.scorer.classes - 1)
    else:
        raise BadInput("a partition must be a Grid, Tree, Binned or Predicted")
    if dense and partition.size * len(schema.classes) > DENSE_LIMIT:
        raise BadInput(
            f"{partition.describe()} has too many cells to count one by one: use count_sparse or fewer columns"
        )


def _column(name: str, schema: Schema) -> Categorical | Numeric:
    column = schema.get(name)
    if not isinstance(column, (Categorical, Numeric)):
        raise BadInput(f"column {name!r} is free text: no partition can use it")
    return column


def _check_axis(axis: Axis, schema: Schema) -> None:
    if type(axis) is not Axis or type(axis.groups) is not tuple:
        raise BadInput("a grid must be made of axes, as axis(column) makes them")
    if len(axis.groups) != _column(axis.column, schema).size:
        raise BadInput(f"the axis of column {axis.column!r} must give a group to each of its codes")
    if set(axis.groups) != set(range(len(axis.names))):
        raise BadInput(f"the axis of column {axis.column!r} must number its groups from 0 and name each")


def _check_scorer(scorer: Any, schema: Schema) -> None:
    if type(scorer) is CellScores:
        check_partition(scorer.partition, schema)
        scorer.table  # noqa: B018 - raises if its shape does not fit the partition
    elif type(scorer) is Linear:
        scorer.start  # noqa: B018 - raises if it is not one number for each class
        for name, table in scorer.tables.items():
            if table.shape != (_column(name, schema).size, scorer.classes):
                raise BadInput(f"the weights of column {name!r} must be a table of its codes by the classes")
    else:
        raise BadInput("a scorer must be CellScores or Linear")


def check_score(score: Any) -> None:
    """Refuse a score that is not on the closed list."""
    if type(score) not in SCORES:
        raise BadInput(f"a score must be one of {', '.join(kind.__name__ for kind in SCORES)}")


def check_cell(score: Any, partition: Any, schema: Schema) -> None:
    """Refuse a score about a cell or a class that the partition does not have."""
    if type(score) is Rows:
        check_whole(score.cell, "the score's cell", 0, partition.size - 1)
        check_whole(0 if score.label is None else score.label, "the score's class", 0, len(schema.classes) - 1)


def check_whole(value: Any, what: str, low: int, high: int | None = None) -> None:
    """Refuse what is not a whole number in this range; a fraction could pass a comparison and fail on a row."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < low:
        raise BadInput(f"{what} must be a whole number, at least {low}")
    if high is not None and value > high:
        raise BadInput(f"{what} must be at most {high}")
