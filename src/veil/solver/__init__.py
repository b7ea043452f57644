"""Points near the minimum of a convex objective. Whatever they are, the kernel takes only one that it can certify.

Nothing here may print, log, warn or raise: it works on private rows, though no answer rests on it.
"""

from collections.abc import Iterator
from typing import Any

from . import columns, words
from .lines import Numbers


def points(objective: Any, shift: Numbers) -> Iterator[Numbers]:
    """Points, nearer and nearer to the minimum of the objective with noise, as long as somebody asks for them."""
    one_hot = hasattr(next(iter(objective.blocks())), "sizes")
    return columns.points(objective, shift) if one_hot else words.points(objective, shift)
