"""What codes and groups stand for: typed values, spans of numbers, and the spread of rows within a group."""

import re
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..questions import Axis
from ..schema import Categorical, Date, Numeric
from ..schema.calendars import PARTS
from ..schema.forms import MONTHS
from ..schema.moments import DAY

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


def dates(column: Date, numbers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Numbers of a date column as it declares them: text in its format, days or moments, or names such as weekdays."""
    if column.unit in PARTS:
        return declared_values(PARTS[column.unit])[numbers - int(column.cuts[0])]
    days = all(cut % DAY == 0 for cut in column.cuts)
    moments = numbers.astype("M8[s]").astype("M8[D]" if days else "M8[s]")
    if column.format is None:
        return moments
    distinct, places = np.unique(moments.astype("M8[s]"), return_inverse=True)
    texts = [re.sub("%.", partial(_piece, moment=moment), column.format) for moment in distinct.tolist()]
    return np.array(texts, object)[places]


def _piece(directive: re.Match[str], moment: datetime) -> str:
    """One directive of a date format, written for a moment."""
    two = {"%m": moment.month, "%d": moment.day, "%H": moment.hour, "%M": moment.minute, "%S": moment.second}
    two |= {"%y": moment.year % 100, "%I": (moment.hour + 11) % 12 + 1}
    words = {"%Y": f"{moment.year:04}", "%b": MONTHS[moment.month - 1][:3], "%p": "AM" if moment.hour < 12 else "PM"}
    words |= {"%z": "+0000", "%%": "%"}
    return words[directive[0]] if directive[0] in words else f"{two[directive[0]]:02}"


def spans(column: Numeric) -> tuple[Numbers, Numbers]:
    """The lower and upper end of each bin; for integers the upper end is excluded."""
    ends = np.array(column.cuts)
    if column.integer:
        ends[-1] = column.bounds[1] + 1
    return np.array(column.cuts[:-1]), ends[1:]


def spread(axis: Axis, column: Categorical | Numeric) -> Numbers:
    """For each code of an axis, its share of the rows of its group: the same for all codes of a group.

    A code for missing values has none, unless the group holds nothing else.
    """
    groups, known = np.array(axis.groups), np.ones(column.size)
    if column.missing is None:
        known[-1] = 0
    known[np.bincount(groups, known)[groups] == 0] = 1
    return np.asarray(known / np.bincount(groups, known)[groups])
