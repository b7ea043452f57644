"""Audit of every method for histograms, end to end, on a line and on a square: all counts that a row is in, and what
else its path through the plan showed; and a twin that must be caught."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..kernel import Budget, Release
from ..kernel.noise import Noise
from ..plans.ranges.domain import Domain
from ..plans.ranges.quadtree import quadtree
from ..schema import Numeric, Schema
from ..synopsis import HISTOGRAMS
from .harness import Case, View
from .histograms import Plan, Undivided
from .pairs import pair
from .tables import TWO, Table, open_table

LINE = Schema(name="audit", column=[Numeric(name="x", bounds=(0, 15), integer=True, bins=16)])
SQUARE = Schema(name="audit", column=[Numeric(name=name, bounds=(0, 7), integer=True, bins=8) for name in ("x", "y")])
ROW = 5  # in every column, of the row that one of the tables has
CROWD = [0, 0, 0, 1, 1, 2, 7, 7] * 3  # in every column, of the others
TRIALS: dict[str, Any] = {"quick": 700, "deep": 10_000}
VIEWS: dict[str, View] = {
    "counts of the row's groups, weighed by what they cost": lambda seen: [round(2 * run[0]) / 2 for run in seen],
    "the first and the last of them": lambda seen: [tuple(np.clip(run[1:3], -1, 2)) for run in seen],
    "how many there are, and what else was answered": lambda seen: [run[3:] for run in seen],
}


def published() -> Iterator[Case]:
    """Every method on a line and on a square, and a tree that pays for every level with all of epsilon."""
    for words, schema in (("line", LINE), ("square", SQUARE)):
        without = {column.name: [*CROWD] for column in schema.column}
        tables = without, {name: [*places, ROW] for name, places in without.items()}
        for name, plan in HISTOGRAMS.items():
            runs = _Runs(plan, schema)
            yield Case(
                f"{name} of a {words}", 2, tables, runs, "end to end, all that the row is in", views=VIEWS, **TRIALS
            )
        if schema is SQUARE:
            twin, ours = _Runs(_undivided, schema), _Runs(quadtree, schema)
            yield from pair("undivided quadtree", 2, tables, twin, ours, views=VIEWS, **TRIALS)


class _Runs:
    """Runs of a plan, each on rows that are opened anew."""

    def __init__(self, plan: Plan, schema: Schema) -> None:
        self.plan, self.schema = plan, schema
        self.domain, self.__doc__ = Domain(schema), plan.__doc__
        self.row = {"": np.zeros(1, np.uint8), **{column.name: np.array([ROW]) for column in schema.column}}

    def __call__(self, table: Table, noise: Noise, trials: int) -> Any:
        return [self._seen(table, noise) for _ in range(trials)]

    def _seen(self, table: Table, noise: Noise) -> tuple[Any, ...]:
        """The counts of the row's groups: their sum weighed by epsilon, the first, the last, how many; and the other
        answers, which are places where runs begin or ranges that were chosen."""
        source = open_table(table, noise, schema=self.schema)
        self.plan(source, TWO, self.domain)
        releases = source.record.releases
        counts = [self._of_row(release) for release in releases if np.ndim(release.value) == 2]
        others = [tuple(np.ravel(release.value).tolist()) for release in releases if np.ndim(release.value) < 2]
        inside = [pair for pair in counts if pair]
        weighed = sum(count * epsilon for count, epsilon in inside)
        return weighed, inside[0][0], inside[-1][0], len(counts), len(inside), *others[:1]

    def _of_row(self, release: Release[Any]) -> tuple[int, float] | None:
        """The noisy count of the group that the row lies in, and its epsilon; None if it lies in none of them."""
        group = int(release.question.cells(self.row)[0])
        return None if group == release.question.size - 1 else (int(release.value[group, 0]), 1 / release.noise_scale)


def _undivided(source: Any, budget: Budget, domain: Domain) -> Any:
    """NOT PRIVATE: a quadtree with all of epsilon for every level."""
    return quadtree(Undivided(source), budget, domain)  # type: ignore[arg-type]
