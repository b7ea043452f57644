"""Questions that may be asked of private rows: partitions, words, and scorers built from released values."""

from .drawn import Drawn, PathScores
from .grids import WHOLE, Axis, Grid
from .grouped import Grouped
from .kinds import Encoded, Integers, Partition, Scorer
from .making import axis, bag, grid, runs
from .odds import Odds
from .scorers import Binned, CellScores, Linear, Predicted, Sum, fixed_point
from .trees import Tree
from .words import Bag

# fmt: off
__all__ = [
    "Axis", "Bag", "Binned", "CellScores", "Drawn", "Encoded", "Grid", "Grouped", "Integers", "Linear", "Odds",
    "Partition", "PathScores", "Predicted", "Scorer", "Sum", "Tree", "WHOLE", "axis", "bag", "fixed_point",
    "grid", "runs",
]
# fmt: on
