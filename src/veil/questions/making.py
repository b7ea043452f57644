"""Making grids and bags from a schema."""

from collections.abc import Sequence
from typing import Any

from ..errors import BadInput
from ..schema import Categorical, Numeric, Schema, Text
from .grids import Axis, Grid
from .kinds import Partition, Scorer
from .scorers import Binned
from .words import Bag


def axis(column: Categorical | Numeric, level: int = -1) -> Grid:
    """The grid of one column at a level of its hierarchy, from 0 (one group) to -1 (every code its own)."""
    return _grouped(column, column.levels[level])


def runs(column: Numeric, count: int) -> Grid:
    """The grid of a numeric column with its bins merged into at most `count` runs; missing values stay apart."""
    bins = len(column.cuts) - 1
    groups = [code * min(count, bins) // bins for code in range(bins)]
    return _grouped(column, tuple(groups if column.missing is not None else [*groups, groups[-1] + 1]))


def _grouped(column: Categorical | Numeric, groups: tuple[int, ...]) -> Grid:
    members: list[list[int]] = [[] for _ in range(max(groups) + 1)]
    for code, group in enumerate(groups):
        members[group].append(code)
    return Grid((Axis(column.name, groups, tuple(map(column.group_name, members))),))


def grid(schema: Schema, *columns: str) -> Grid:
    """The finest grid over these columns."""
    return Grid(sum((axis(_encoded(schema, name)).axes for name in columns), ()))


def _encoded(schema: Schema, name: str) -> Categorical | Numeric:
    column = schema.get(name)
    if not isinstance(column, (Categorical, Numeric)):
        raise BadInput(f"column {name!r} is free text: no grid can hold it")
    return column


def intervals(
    schema: Schema, of: str | Scorer, grid: Sequence[float] | None, label: int
) -> tuple[Partition, tuple[float, ...]]:
    """Intervals of a numeric column, its bins, or of a scorer's values, between the cut points of a grid; and these."""
    if isinstance(of, str):
        column: Any = schema.get(of)
        if not isinstance(column, Numeric) or grid is not None:
            raise BadInput("a column's quantile needs a numeric column, whose bin edges are the grid")
        cuts = tuple(column.cuts[1:-1])
        asked: Partition = Grid((Axis(of, tuple(range(column.size)), column.names),))
    else:
        cuts = () if grid is None else tuple(grid)
        asked = Binned(of, cuts, label)
    if not cuts:
        raise BadInput("a quantile needs a grid of at least one cut point")
    return asked, cuts


def bag(schema: Schema, column: str | None = None, *, words: Sequence[int] | None = None, most: Any = None) -> Bag:
    """The words of a text column (the only one, if none is named) as a question: all, or those with these codes.

    At most `most` words of a row count; without it, as many as the schema says.
    """
    names = [text.name for text in schema.texts]
    if column is None and len(names) != 1:
        raise BadInput("the schema must have one text column with words or buckets: name the one that is meant")
    text = schema.get(names[0] if column is None else column)
    if not isinstance(text, Text) or not text.size:
        raise BadInput(f"column {text.name!r} has no words: declare it as text, with words or buckets")
    if most is not None and (type(most) is not int or not 1 <= most <= 2**12):
        raise BadInput("the words of a row that count must be a whole number from 1 to 4096")
    chosen = None if words is None else tuple(sorted({int(word) for word in words}))
    return Bag(text.name, text.size if chosen is None else len(chosen), most or text.words_per_row, chosen)
