"""Gathering the codes of a column into groups that stand out of the noise, and into fewer for tables of two columns."""

import numpy as np
import numpy.typing as npt

from ...questions import Axis
from ...schema import Categorical, Numeric
from ..finish import Numbers

Groups = npt.NDArray[np.int64]
SURE = 3  # times as many rows as a group needs: missing values that are noise alone would be in no real row


def grouped(column: Categorical | Numeric, counts: Numbers, least: float) -> Axis:
    """The column with codes of fewer than `least` noisy rows gathered: neighbouring bins of numbers, all rare
    categories. Too few missing values to be told from none go to the largest group, which draws none of them."""
    known = column.size - (column.missing is None)
    labels = (_neighbours if isinstance(column, Numeric) else _rare)(counts[:known], least)
    if column.missing is None:
        largest = int(np.argmax(np.bincount(labels, np.maximum(counts[:known], 0))))
        labels = np.append(labels, labels.max() + 1 if counts[known] >= SURE * least else largest)
    return named(column, labels)


def named(column: Categorical | Numeric, labels: Groups) -> Axis:
    """The axis of a column with the group of each code, numbered in the order of their first codes."""
    order = {label: place for place, label in enumerate(dict.fromkeys(labels.tolist()))}
    groups = tuple(order[label] for label in labels.tolist())
    members: list[list[int]] = [[] for _ in order]
    for code, group in enumerate(groups):
        members[group].append(code)
    return Axis(column.name, groups, tuple(map(column.group_name, members)))


def coarser(ordered: bool, mass: Numbers, size: int) -> Groups:
    """The number of a larger group for each group, of which at most `size` are left: runs of about equal mass if they
    are in order, else all but the largest are one."""
    if len(mass) <= size:
        return np.arange(len(mass))
    if not ordered:
        kept = np.sort(np.argsort(-mass, kind="stable")[: size - 1])
        labels = np.full(len(mass), size - 1)
        labels[kept] = np.arange(len(kept))
        return labels
    weights = np.maximum(mass, mass.sum() * 1e-9) + 1e-9
    middles = (np.cumsum(weights) - weights / 2) / weights.sum()
    return np.unique(np.minimum((middles * size).astype(np.int64), size - 1), return_inverse=True)[1].astype(np.int64)


def joined(fine: Axis, labels: Groups) -> Axis:
    """The axis whose groups are gathered further."""
    return Axis(fine.column, tuple(labels[list(fine.groups)].tolist()), _names(fine, labels))


def _names(fine: Axis, labels: Groups) -> tuple[str, ...]:
    members = [[fine.names[place] for place in np.flatnonzero(labels == one)] for one in range(labels.max() + 1)]
    return tuple(one[0] if len(one) == 1 else f"{one[0]} ... {one[-1]}" for one in members)


def _neighbours(counts: Numbers, least: float) -> Groups:
    """Each bin with enough rows by itself; of those between, runs from left to right, each as long as it takes to have
    enough. What is left of them is a group too: next to a large bin, it would be drawn as often as that."""
    labels, label, held = np.zeros(len(counts), np.int64), 0, 0.0
    for place, count in enumerate(counts):
        before = place > 0 and (held >= least or count >= least)
        label, held = (label + 1, 0.0) if before else (label, held)
        labels[place], held = label, held + count
    return labels


def _rare(counts: Numbers, least: float) -> Groups:
    """Each frequent category by itself, all others as one."""
    often = counts >= least
    return np.where(often, np.arange(len(counts)), len(counts)).astype(np.int64)
