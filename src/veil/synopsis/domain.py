"""What codes and groups of codes stand for: typed values, spans of numbers, and how the rows of a group spread."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from ..columns import Categorical, Numeric
from ..questions import Axis

WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")  # as Python writes it, and as NumPy's integers can hold it
TRUTH = {"True": True, "False": False}
Numbers = npt.NDArray[np.float64]


def declared_values(names: tuple[str, ...]) -> npt.NDArray[Any]:
    """Categories as values: whole numbers or truth values if all of them are written so, else text.

    It depends on the schema alone. The type that values have in a data frame may tell about the rows: one missing
    value makes integers floats.
    """
    if all(map(WHOLE.fullmatch, names)):
        return np.array([int(name) for name in names])
    if set(names) == set(TRUTH):
        return np.array([TRUTH[name] for name in names])
    return np.array(names, object)


def spans(column: Numeric) -> tuple[Numbers, Numbers]:
    """Where each bin starts and ends; of integers, up to the first that is not in it."""
    ends = np.array(column.cuts)
    if column.integer:
        ends[-1] = column.bounds[1] + 1
    return np.array(column.cuts[:-1]), ends[1:]


def spread(axis: Axis, column: Categorical | Numeric) -> Numbers:
    """The share of a group's rows that each code stands for: the same for all of them, whatever the group is.

    Missing values have none, unless the group holds nothing else.
    """
    groups, known = np.array(axis.groups), np.ones(column.size)
    if column.missing is None:
        known[-1] = 0
    known[np.bincount(groups, known)[groups] == 0] = 1
    return np.asarray(known / np.bincount(groups, known)[groups])
