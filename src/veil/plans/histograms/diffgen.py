"""DiffGen (Mohammed, Chen, Fung and Yu, KDD 2011): generalise every column to "any", then specialise step by step."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from ...display import of_texts
from ...errors import BadInput
from ...kernel import Budget, Cellwise, Entropy, Majority, Source, whole
from ...questions import Axis, Grid
from ...schema import Categorical, Numeric
from ...schema.columns import MISSING
from ..sizing import Known, sized
from .grids import Counted, level_axes
from .privpfc import CELLS_PER_ROW, MOST_CELLS

CRITERIA: dict[str, Cellwise] = {"majority": Majority(), "entropy": Entropy()}
STEPS = 10  # h of the paper
FINEST = 64  # most runs of bins between which a column of numbers is cut
Columns = Sequence[Categorical | Numeric]
Cut = tuple[Axis, ...]  # for each column the general values that stand for its codes
Value = tuple[int, ...]  # the codes that a general value stands for


def diffgen(
    source: Source,
    budget: Budget,
    *,
    steps: int = STEPS,
    criterion: str = "majority",
    most_cells: int = MOST_CELLS,
    totals: Known = None,
) -> Counted:
    """Specialise one general value after the other, each chosen privately, then publish class counts.

    Budget: 3 % for the class totals, which bound the cells, unless they are known; of the rest, one half is divided
    equally between the `steps` choices, and the other is for the counts. Steps that find nothing to specialise leave
    their part to the counts.

    All rows share one cut, so the counts are those of a grid, of at most `most_cells` cells. A choice is by the
    `criterion` for the whole table that would follow: "majority", rows of the largest class of their cell, or
    "entropy". Returns the counts and the class totals.
    """
    steps, most_cells = _checked(source, steps, criterion, most_cells)
    size, rest = sized(source, budget, totals)
    to_choose, to_count = rest.each(2)
    fits = min(most_cells, _cells_for(source, to_count, float(size.value.sum())))
    columns, unspent = source.schema.features, [*to_choose.each(steps)]
    cut, levels = anything(columns), [*map(usable_levels, columns)]
    while unspent and (candidates := [c for c in specialised(columns, levels, cut) if grid_of(c).size <= fits]):
        grids = [*map(grid_of, candidates)]
        won = source.choose(grids, CRITERIA[criterion], unspent.pop()).value
        cut = candidates[grids.index(won)]
    left = to_count.epsilon + sum(part.epsilon for part in unspent)
    return Counted(source.count(grid_of(cut), Budget(left)), size)


def anything(columns: Columns) -> Cut:
    """The cut in which every column has a single value, which stands for all its codes."""
    return tuple(_axis(column, (tuple(range(column.size)),)) for column in columns)


def usable_levels(column: Categorical | Numeric) -> list[Axis]:
    """The levels of a column's hierarchy, from coarse to fine; of numbers the finest that has not too many runs."""
    levels = level_axes(column)
    return [one for one in levels if one.size <= FINEST][-1:] if isinstance(column, Numeric) else levels


def specialised(columns: Columns, levels: Sequence[list[Axis]], cut: Cut) -> Iterator[Cut]:
    """Every cut with one value of one column specialised."""
    for place, (column, axis) in enumerate(zip(columns, cut, strict=True)):
        values = _values(axis)
        for number, value in enumerate(values):
            for parts in _parts(column, levels[place], value):
                finer = _axis(column, (*values[:number], *parts, *values[number + 1 :]))
                yield (*cut[:place], finer, *cut[place + 1 :])


def _parts(column: Categorical | Numeric, levels: list[Axis], value: Value) -> Iterator[tuple[Value, ...]]:
    """The ways to specialise a value: a group of a taxonomy into the groups below it, an interval of numbers into two,
    at each edge between bins. A single category or bin has none."""
    ways = [parts for level in levels if len(parts := _values(level, value)) > 1][:1]
    if isinstance(column, Numeric):
        edges = ((runs, edge) for runs in ways for edge in range(1, len(runs)))
        ways = [(_joined(runs[:edge]), _joined(runs[edge:])) for runs, edge in edges]
    yield from ways


def _joined(values: tuple[Value, ...]) -> Value:
    return tuple(sorted(sum(values, ())))


def _values(axis: Axis, within: Value | None = None) -> tuple[Value, ...]:
    """The codes of each group of an axis, of those in `within`; no group without any."""
    groups: dict[int, list[int]] = {}
    for code in range(len(axis.groups)) if within is None else within:
        groups.setdefault(axis.groups[code], []).append(code)
    return tuple(tuple(groups[group]) for group in sorted(groups))


def grid_of(cut: Cut) -> Grid:
    """The cells of a cut; a column of one general value has no part in it."""
    return Grid(tuple(axis for axis in cut if axis.size > 1))


def _axis(column: Categorical | Numeric, values: tuple[Value, ...]) -> Axis:
    group = {code: number for number, value in enumerate(values) for code in value}
    names = tuple(_name(column, value) for value in values)
    return Axis(column.name, tuple(group[code] for code in range(column.size)), names)


def _name(column: Categorical | Numeric, value: Value) -> str:
    """The name of a general value; the extra code for missing values, if there is one, comes last."""
    inside = value if column.missing is not None or value[-1] < column.size - 1 else value[:-1]
    return column.group_name(inside) + ("" if len(inside) == len(value) else f" or {MISSING}")


def _cells_for(source: Source, budget: Budget, rows: float) -> float:
    """The cells that so many rows can fill, at least two."""
    return max(2.0, CELLS_PER_ROW * rows * float(min(source.per_row(budget), Fraction(10**6))))


def _checked(source: Source, steps: Any, criterion: Any, most_cells: Any) -> tuple[int, int]:
    """The settings as integers. Raises BadInput before anything is charged."""
    if not source.schema.features:
        raise BadInput(f"there is no column besides the label to publish{of_texts(source.schema, True)}")
    if criterion not in CRITERIA:
        raise BadInput(f"criterion must be one of {', '.join(CRITERIA)}")
    return whole(steps, "steps", 1, 1000), whole(most_cells, "most_cells", 1, 10**6)
