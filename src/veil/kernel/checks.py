"""What a question must be before it is charged: of a known kind, about declared columns, of the right sizes.

Everything here is public. A question that passes cannot fail on a row afterwards, so no error depends on one.
"""

from typing import Any

from ..errors import BadInput
from ..questions import Axis, Binned, CellScores, Grid, Linear, Predicted, Tree
from ..schema import Categorical, Numeric, Schema
from .scores import Correct, Entropy, Gini, Majority, Rows

DENSE_LIMIT = 200_000_000  # counts in one dense answer
SCORES = (Correct, Entropy, Gini, Majority, Rows)


def check_partition(partition: Any, schema: Schema, *, dense: bool = True) -> None:
    """Refuse a partition that is not one of the four kinds or does not fit the schema."""
    if type(partition) is Grid:
        for axis in partition.axes:
            _check_axis(axis, schema)
    elif type(partition) is Tree:
        for part in (partition.cut, *partition.branches):
            check_partition(part, schema, dense=dense)
    elif type(partition) in (Binned, Predicted):
        _check_scorer(partition.scorer, schema)
        if type(partition) is Binned and not -partition.scorer.classes <= partition.label < partition.scorer.classes:
            raise BadInput("the binned label is not one of the scorer's classes")
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
    if len(axis.groups) != _column(axis.column, schema).size:
        raise BadInput(f"the axis of column {axis.column!r} must give a group to each of its codes")
    if set(axis.groups) != set(range(len(axis.names))):
        raise BadInput(f"the axis of column {axis.column!r} must number its groups from 0 and name each")


def _check_scorer(scorer: Any, schema: Schema) -> None:
    if type(scorer) is CellScores:
        check_partition(scorer.partition, schema)
        scorer.table  # noqa: B018 - raises if its shape does not fit the partition
    elif type(scorer) is Linear:
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
        inside = score.label is None or 0 <= score.label < len(schema.classes)
        if not inside or not 0 <= score.cell < partition.size:
            raise BadInput("the score asks about a cell or a class that the partition does not have")
