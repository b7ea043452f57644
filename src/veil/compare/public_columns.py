"""How many columns a projected histogram needs, told by public rows of the same kind (Vinterbo 2012, MDA)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..kernel import whole
from ..plans.histograms.projected_histogram import cut_into
from ..plans.histograms.projection import LEFT_OUT, bins_for, columns_for
from ..schema import Schema

Blocks = npt.NDArray[np.int64]


def columns_by_mda(public_rows: Any, schema: Schema, *, left_out: float = LEFT_OUT, bins: int | None = None) -> int:
    """The number of columns after which a greedy choice on PUBLIC rows, never on private ones, leaves at most this
    share of the pairs of rows undiscerned that all columns together tell apart: a `columns` for
    `ProjectedHistogramClassifier`. Nothing is charged, and nothing protects these rows.

    Pairs are of rows of different classes. Numbers are cut into `bins` (None: as the paper's rules would).

    >>> from veil import datasets
    >>> columns_by_mda(*datasets.load("iris"))
    2
    """
    if schema.label is None or not schema.features:
        raise BadInput("the schema needs a label, and columns besides it")
    if not isinstance(left_out, (int, float)) or not 0 <= left_out < 1:
        raise BadInput("left_out, a share of pairs, must be a number from 0 up to, not including, 1")
    codes: Any = schema.encode(public_rows)
    labels = np.asarray(codes[schema.label], np.int64)
    features, rows = schema.features, max(len(labels), 1)
    bins = bins_for(rows, columns_for(len(features), rows)) if bins is None else whole(bins, "bins", 1, 2**16 - 1)
    axes = [np.asarray(cut_into(column, bins).cells(codes), np.int64) for column in features]
    return _greedy(axes, labels, left_out)


def _greedy(axes: list[Blocks], labels: Blocks, left_out: float) -> int:
    """The columns that are needed, each the one that leaves the fewest pairs undiscerned beside those before it."""
    together = nothing = np.zeros(len(labels), np.int64)
    for column in axes:
        together = refined(together, column)
    least, most = undiscerned(together, labels), undiscerned(nothing, labels)
    blocks, unused, chosen = nothing, axes, 0
    while len(unused) and undiscerned(blocks, labels) - least > left_out * (most - least):
        finer = [refined(blocks, column) for column in unused]
        best = int(np.argmin([undiscerned(one, labels) for one in finer]))
        blocks, unused, chosen = finer[best], [*unused[:best], *unused[best + 1 :]], chosen + 1
    return max(chosen, 1)


def refined(blocks: Blocks, column: Blocks) -> Blocks:
    """The blocks of rows that are in one block, and alike in a column."""
    return np.asarray(np.unique(blocks * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1])


def undiscerned(blocks: Blocks, labels: Blocks) -> int:
    """The ordered pairs of rows in the same block but in different classes."""
    rows = np.unique(blocks, return_counts=True)[1].astype(object)
    same = np.unique(blocks * (int(labels.max(initial=0)) + 1) + labels, return_counts=True)[1].astype(object)
    return int((rows**2).sum() - (same**2).sum())
