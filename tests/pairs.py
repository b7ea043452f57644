"""Pairs of rows that a partition leaves undiscerned, counted in the plain way."""

from typing import Any

import numpy as np


def undiscerned(blocks: Any, labels: Any) -> int:
    """The number of ordered pairs of rows that are in the same block but in different classes."""
    rows = np.unique(blocks, return_counts=True)[1]
    same = np.unique(blocks * (int(labels.max(initial=0)) + 1) + labels, return_counts=True)[1]
    return int((rows**2).sum() - (same**2).sum())
