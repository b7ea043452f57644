"""A model that agrees with noisy tables of few columns: a forest of columns, each linked with one hub besides.

Of all models that agree with the tables, it is the one of largest entropy, so that it says nothing that they do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from ..finish import Numbers
from .grouping import Groups

STEPS = 400  # of the minimisation, at most
LEAST = 0.1  # rows of a group that has none, so that no share is zero
EXACT = 1e-9  # the change of the objective, relative to it, at which it ends


class Measured(NamedTuple):
    """A noisy table: the places of its columns, how their groups are gathered in it, its counts and their scale."""

    columns: tuple[int, ...]
    groups: tuple[Groups, ...]
    counts: Numbers
    scale: Numbers  # of each count


class Fitted(NamedTuple):
    """The shares of a fitted forest: of the hub, of each column by hub, and of each with its parent by hub."""

    hub: Numbers
    nodes: dict[int, Numbers]
    given: dict[int, Numbers]  # hub x parent x column, or hub x column for a root: adds up to 1 over the column
    pairs: dict[int, Numbers]  # hub x column x parent


@dataclass(frozen=True)
class Forest:
    """The shape of a model: the number of groups of each column, the hub (None: none), and the links of columns."""

    sizes: tuple[int, ...]
    hub: int | None
    edges: tuple[tuple[int, int], ...]

    @cached_property
    def order(self) -> list[tuple[int, int | None]]:
        """Every column but the hub after its parent, and the parent, None for a root."""
        near: dict[int, list[int]] = {place: [] for place in range(len(self.sizes)) if place != self.hub}
        for one, other in self.edges:
            near[one].append(other)
            near[other].append(one)
        found: dict[int, int | None] = {}
        for root in near:
            waiting: list[tuple[int, int | None]] = [] if root in found else [(root, None)]
            while waiting:
                place, parent = waiting.pop()
                found[place] = parent
                waiting += [(child, place) for child in near[place] if child != parent]
        return list(found.items())

    @property
    def width(self) -> int:
        """The number of groups of the hub."""
        return 1 if self.hub is None else self.sizes[self.hub]


def fit(forest: Forest, tables: Sequence[Measured], rows: float, doubt: float, alone: Sequence[Numbers]) -> Fitted:
    """The model that balances agreement with all tables, by their noise, against entropy.

    It maximises entropy x rows x doubt - sum of (expected - noisy count)^2 / (2 variance), the entropy relative to
    independent columns with the shares that each has `alone`. The dual has a number for each noisy count, and is smooth
    and convex; these are divided by about the root of its curvature.
    """
    rows, parts = max(rows, 1.0), [_Part(forest, table) for table in tables]
    floors = [np.maximum(shares, LEAST / rows) for shares in alone]
    logs = [np.log(shares / shares.sum()) for shares in floors]
    counts = np.concatenate([table.counts.ravel() for table in tables])
    scale = np.concatenate([table.scale.ravel() for table in tables])
    variance = 2 * doubt * np.maximum(scale, 1e-3) ** 2
    unit = 1 / np.sqrt(np.maximum(counts, scale) + variance + 1)

    def theta(given: Numbers) -> list[Numbers]:
        ends = np.cumsum([table.counts.size for table in tables])[:-1]
        pieces = np.split(given * unit, ends)
        return [piece.reshape(table.counts.shape) for piece, table in zip(pieces, tables, strict=True)]

    def objective(given: Numbers) -> tuple[float, Numbers]:
        fitted, normaliser = calibrated(forest, parts, theta(given), logs)
        found, numbers = np.concatenate([part.marginal(fitted).ravel() for part in parts]), given * unit
        value = rows * normaliser + float((variance / 2 * numbers**2 - numbers * counts).sum())
        return value / rows, (rows * found - counts + variance * numbers) * unit / rows

    options = {"maxiter": STEPS, "ftol": EXACT, "maxcor": 20}
    best = minimize(objective, np.zeros(len(counts)), jac=True, method="L-BFGS-B", options=options).x
    return calibrated(forest, parts, theta(best), logs)[0]


class _Part:
    """Where the numbers of a table enter a forest, and where its expected shares are found."""

    def __init__(self, forest: Forest, table: Measured) -> None:
        onehot = {
            place: np.eye(int(groups.max()) + 1)[groups]
            for place, groups in zip(table.columns, table.groups, strict=True)
        }
        others = [place for place in table.columns if place != forest.hub]
        self.with_hub, parent = forest.hub in table.columns, dict(forest.order)
        if len(others) == 2 and parent[others[0]] != others[1]:  # in a pair, the child comes first
            others.reverse()
        self.others = tuple(others)
        self.maps = [onehot[place] for place in others]
        wanted = ([forest.hub] if self.with_hub else []) + others
        self.transpose = [table.columns.index(place) for place in wanted]

    def spread(self, theta: Numbers) -> Numbers:
        """The table as numbers for every combination of groups of the forest, the hub first."""
        found = theta.transpose(self.transpose)
        found = found if self.with_hub else found[None]
        if len(self.maps) == 1:
            return found @ self.maps[0].T
        if len(self.maps) == 2:
            return self.maps[0] @ found @ self.maps[1].T
        return found

    def marginal(self, fitted: Fitted) -> Numbers:
        """The expected shares of the table's cells."""
        if not self.others:
            found = fitted.hub
        elif len(self.others) == 1:
            found = fitted.nodes[self.others[0]] @ self.maps[0]
        else:
            found = self.maps[0].T @ fitted.pairs[self.others[0]] @ self.maps[1]
        found = found if self.with_hub else found.sum(axis=0)
        return np.asarray(found.transpose(np.argsort(self.transpose)))


def calibrated(
    forest: Forest, parts: Sequence[_Part], theta: Sequence[Numbers], logs: Sequence[Numbers]
) -> tuple[Fitted, float]:
    """The shares of the forest with these numbers, and the logarithm of what they were divided by."""
    hub = np.zeros(1) if forest.hub is None else logs[forest.hub]
    nodes = {place: np.repeat(logs[place][None], forest.width, axis=0) for place, _ in forest.order}
    links: dict[int, Numbers] = {}
    for part, one in zip(parts, theta, strict=True):
        table = part.spread(one)
        if not part.others:
            hub = hub + table
        elif len(part.others) == 1:
            nodes[part.others[0]] = nodes[part.others[0]] + table
        else:
            links[part.others[0]] = links.get(part.others[0], 0.0) + table
    given: dict[int, Numbers] = {}
    for place, parent in reversed(forest.order):
        table = nodes[place][:, None, :]
        if parent is not None:
            table = table + np.swapaxes(links[place], 1, 2)
        top = table.max(axis=2, keepdims=True)
        odds = np.exp(table - top)
        sums = odds.sum(axis=2, keepdims=True)
        given[place] = odds / sums
        message = (np.log(sums) + top)[:, :, 0]
        if parent is None:
            hub = hub + message[:, 0]
        else:
            nodes[parent] = nodes[parent] + message
    normaliser = float(logsumexp(hub))
    shares = np.exp(hub - normaliser)
    return _downwards(forest, shares, given), normaliser


def _downwards(forest: Forest, hub: Numbers, given: dict[int, Numbers]) -> Fitted:
    nodes, pairs = dict[int, Numbers](), dict[int, Numbers]()
    for place, parent in forest.order:
        before = hub[:, None] if parent is None else nodes[parent]
        both = given[place] * before[:, :, None]
        nodes[place] = both.sum(axis=1)
        if parent is not None:
            pairs[place] = np.swapaxes(both, 1, 2)
    return Fitted(hub, nodes, given, pairs)
