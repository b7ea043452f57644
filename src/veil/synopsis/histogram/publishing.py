"""What a histogram of a few columns is made of: the public cells, and the methods that count them."""

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

from ...display import readable
from ...errors import BadInput
from ...kernel import Budget, Source
from ...plans.ranges.adaptive_grid import adaptive_grid
from ...plans.ranges.adaptive_tree import adaptive_tree
from ...plans.ranges.ahp import ahp
from ...plans.ranges.dawa import dawa
from ...plans.ranges.domain import Domain
from ...plans.ranges.hierarchy import hierarchy
from ...plans.ranges.identity import identity
from ...plans.ranges.mwem import mwem
from ...plans.ranges.quadtree import quadtree
from ...plans.ranges.spread import Spread
from ...plans.ranges.uniform import uniform
from ...plans.ranges.uniform_grid import uniform_grid
from ...schema import Categorical, Schema, Text

HISTOGRAMS: dict[str, Callable[..., Spread]] = {
    "adaptive-tree": adaptive_tree,
    "adaptive-grid": adaptive_grid,
    "uniform-grid": uniform_grid,
    "hierarchy": hierarchy,
    "quadtree": quadtree,
    "dawa": dawa,
    "mwem": mwem,
    "ahp": ahp,
    "identity": identity,
    "uniform": uniform,
}
DEFAULT = "adaptive-tree"
MOST_CELLS = 1 << 20
MOST_COLUMNS = 6
RESOLUTION = {1: 4096, 2: 256, 3: 64, 4: 32, 5: 16, 6: 8}  # bins of a numeric column, by the number of columns
FINEST = 1 << 15  # bins of one column


def find_histogram(method: str, public: Schema, **settings: Any) -> Callable[[Source, Budget], Spread]:
    """The plan of this method over the cells of the schema."""
    if method not in HISTOGRAMS:
        raise BadInput(f"there is no method {method!r} for histograms: choose auto or one of {', '.join(HISTOGRAMS)}")
    domain = Domain(public)
    return lambda source, budget: HISTOGRAMS[method](source, budget, domain, **settings)


def histogram_schema(schema: Schema, columns: Sequence[str], resolution: int | None = None) -> Schema:
    """The schema of these columns alone, without a label, cut into fine public cells.

    A numeric column without declared bins or edges gets `resolution` bins; without that, 4,096 if it is alone, and
    fewer with more columns. Refuses more cells than are counted one by one.
    """
    names = [columns] if isinstance(columns, str) else list(columns) if isinstance(columns, Iterable) else []
    if (
        not all(isinstance(name, str) for name in names)
        or not 1 <= len(names) <= MOST_COLUMNS
        or len(set(names)) < len(names)
    ):
        raise BadInput(f"name one to {MOST_COLUMNS} columns for a histogram, each once")
    if resolution is not None and (type(resolution) is not int or not 2 <= resolution <= FINEST):
        raise BadInput(f"resolution, the bins of a numeric column, must be a whole number from 2 to {FINEST:,}")
    bins = resolution or RESOLUTION[len(names)]
    found = tuple(_cut(schema.get(name), bins, resolution is not None) for name in names)
    cells = [column.size - (column.missing is None) for column in found]
    if prod(cells) > MOST_CELLS:
        shape = " x ".join(f"{readable(name)} {size:,}" for name, size in zip(names, cells, strict=True))
        raise BadInput(
            f"{shape} are {prod(cells):,} cells, and a histogram has at most {MOST_CELLS:,}: name fewer columns, or a "
            "smaller resolution"
        )
    return schema.model_copy(update={"column": found, "label": None})


def _cut(column: Any, bins: int, asked: bool) -> Any:
    """The column with this many bins, if the schema declares none or these are `asked` for."""
    if isinstance(column, Text):
        raise BadInput(
            f"column {readable(column.name)!r} is free text: a histogram is over numbers, dates or categories"
        )
    if isinstance(column, Categorical) or not asked and isinstance(column.bins, int):
        return column
    fields: dict[str, Any] = column.model_dump(exclude_none=True)
    if column.edges is not None or fields.get("unit") is not None:
        return column
    return type(column)(**{**fields, "bins": bins})
