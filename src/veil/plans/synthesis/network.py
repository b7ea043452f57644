"""Network: the columns one after the other, each with its shares given a few of those before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ...questions import Axis

Numbers = npt.NDArray[np.float64]
MOST_CELLS = 20_000_000  # of a table while an answer is computed
MOST_AXES = 32  # of a table: columns of one group make it no larger, but NumPy has an end
TOO_LARGE = "the model links too many columns for this answer: ask about fewer columns, or count in synthetic rows"
Factor = tuple[tuple[int, ...], Numbers]  # the places of its columns, and a number for each combination of them


@dataclass(frozen=True, eq=False)
class Network:
    """A model of rows: `axes` are its columns in the order in which they are drawn.

    `parents` are for each the places of the columns before it on which it depends, and `tables` the shares of its
    groups, an axis for each parent and its own last. `rows` is about how many rows there are.
    """

    axes: tuple[Axis, ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Numbers, ...]
    rows: float

    def draw(self, rows: int, chance: np.random.Generator) -> list[npt.NDArray[Any]]:
        """The group of so many rows in every column."""
        found: list[npt.NDArray[Any]] = []
        for axis, parents, table in zip(self.axes, self.parents, self.tables, strict=True):
            sums = np.cumsum(table, axis=-1).reshape(-1, axis.size)
            place = np.zeros(rows, np.int64)
            for parent in parents:
                place = place * self.axes[parent].size + found[parent]
            found.append(_picked(sums, place, chance).astype(np.min_scalar_type(axis.size)))
        return found

    def counts(self, kept: Sequence[int] = (), weights: Mapping[int, Numbers] | None = None) -> Numbers:
        """About how many rows there are, an axis for each of the columns at these places; a row counts for the product
        of the weights of its groups. All other columns are summed over, the last drawn first."""
        weights = weights or {}
        needed = self._ancestors({*kept, *weights})
        factors: list[Factor] = [((*self.parents[i], i), self._weighted(i, weights)) for i in needed]
        for place in sorted({*needed} - {*kept}, reverse=True):
            touched = [factor for factor in factors if place in factor[0]]
            factors = [factor for factor in factors if place not in factor[0]]
            factors.append(_without(place, _product(touched)))
        places, table = _product(factors or [((), np.ones(()))])
        return np.asarray(self.rows * table.transpose([places.index(one) for one in kept]))

    def _weighted(self, place: int, weights: Mapping[int, Numbers]) -> Numbers:
        return self.tables[place] * weights[place] if place in weights else self.tables[place]

    def _ancestors(self, places: set[int]) -> list[int]:
        """These places and all that they depend on, directly or not."""
        for place in sorted(range(len(self.axes)), reverse=True):
            if place in places:
                places = places | {*self.parents[place]}
        return sorted(places)


def _picked(sums: Numbers, place: npt.NDArray[np.int64], chance: np.random.Generator) -> npt.NDArray[np.int64]:
    """For each row one group, drawn by the shares in its line; `sums` are those of the shares from the first on."""
    size = sums.shape[1]
    lifted = (sums / sums[:, -1:] + np.arange(len(sums))[:, None]).ravel()
    found = np.searchsorted(lifted, place + _even(place, len(sums), chance), side="right") - place * size
    return np.asarray(np.clip(found, 0, size - 1))


def _even(place: npt.NDArray[np.int64], places: int, chance: np.random.Generator) -> Numbers:
    """For each row a number from 0 to 1, in random order but evenly spread over the rows of one place: every group then
    has about as many rows as it should, where independent draws would add their own noise to that of the tables."""
    mixed = chance.permutation(len(place))
    order = mixed[np.argsort(place[mixed], kind="stable")]
    many = np.bincount(place, minlength=places)
    rank = np.arange(len(place)) - np.repeat(np.cumsum(many) - many, many)
    found = np.empty(len(place))
    found[order] = (rank + chance.random(len(place))) / np.repeat(many, many)
    return found


def _product(factors: Sequence[Factor]) -> Factor:
    """The product of some factors, over all their columns."""
    places = tuple(sorted({place for inside, _ in factors for place in inside}))
    sizes = {place: size for inside, table in factors for place, size in zip(inside, table.shape, strict=True)}
    if prod(sizes.values()) > MOST_CELLS or len(sizes) > MOST_AXES:
        raise BadInput(TOO_LARGE)
    found = np.ones([sizes[place] for place in places])
    for inside, table in factors:
        order = np.argsort(inside)
        shape = [sizes[place] if place in inside else 1 for place in places]
        found = found * table.transpose(order).reshape(shape)
    return places, found


def _without(place: int, factor: Factor) -> Factor:
    places, table = factor
    return tuple(one for one in places if one != place), table.sum(axis=places.index(place))
