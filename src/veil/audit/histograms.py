"""Audit of histograms: every count that a row is in, on its path through the plan; and twins that must be caught."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..kernel import Budget, Release
from ..kernel.noise import Noise
from ..plans.ranges.adaptive_tree import counted
from ..plans.ranges.domain import Domain
from ..schema import Numeric, Schema
from .harness import Case, Runs, View
from .pairs import pair
from .tables import TWO, Table, open_table

CELLS = 256
LINE = Schema(name="audit", column=[Numeric(name="place", bounds=(0, CELLS - 1), integer=True, bins=CELLS)])
DOMAIN = Domain(LINE)
PLACE = 200  # of the row that one of the tables has
CODE = {"": np.zeros(1, np.uint8), "place": np.array([PLACE], np.uint16)}
Plan = Callable[[Any, Budget, Domain], Any]
VIEWS: dict[str, View] = {
    "counts of the row's nodes": lambda seen: np.clip(seen[:, 1:4], -1, 2),
    "all of them, weighed by what they cost": lambda seen: np.round(2 * seen[:, 0]) / 2,
    "number of counts, and the last": lambda seen: [tuple(run) for run in np.clip(seen[:, [4, 3]], -1, 5)],
}


def histograms() -> Iterator[Case]:
    """The adaptive tree where the row's node stops and where it goes on, and twins that pay for every stage with all of
    epsilon."""
    crowd = [*range(0, 32)] * 3
    for words, others in {"stops": crowd, "goes on": [*crowd, *[PLACE] * 30]}.items():
        tables = {"place": others}, {"place": [*others, PLACE]}
        runs: dict[str, Any] = {"quick": 700, "deep": 10_000, "views": VIEWS}
        yield from pair(f"undivided tree, row {words}", 2, tables, _asking(_undivided), _asking(counted), **runs)


def _asking(plan: Plan) -> Runs:
    """Runs of a plan, each on rows that are opened anew."""

    def runs(table: Table, noise: Noise, trials: int) -> Any:
        return np.array([_seen(plan, table, noise) for _ in range(trials)])

    runs.__doc__ = plan.__doc__
    return runs


def _seen(plan: Plan, table: Table, noise: Noise) -> list[float]:
    """The counts of the row's nodes: their sum weighed by epsilon, the first, second and last, and how many."""
    source = open_table(table, noise, schema=LINE)
    plan(source, TWO, DOMAIN)
    found = [pair for release in source.record.releases if (pair := _of_row(release))]
    counts = [count for count, _ in found]
    weighed = sum(count * epsilon for count, epsilon in found)
    return [weighed, counts[0], counts[min(1, len(counts) - 1)], counts[-1], len(counts)]


def _of_row(release: Release[Any]) -> tuple[int, float] | None:
    """The noisy count of the node that the row lies in, and its epsilon; None if that node was not counted."""
    group = int(release.question.cells(CODE)[0])
    return None if group == release.question.size - 1 else (int(release.value[group, 0]), 1 / release.noise_scale)


class Undivided:
    """NOT PRIVATE: a source that counts with all of epsilon, whatever the plan wants to spend."""

    def __init__(self, source: Any) -> None:
        self._source, self.per_row = source, source.per_row

    def count(self, question: Any, budget: Budget, by_class: bool = True) -> Release[Any]:
        release: Release[Any] = self._source.count(question, TWO, by_class=by_class)
        return release

    def count_each(self, questions: Any, budget: Budget, **how: Any) -> list[Release[Any]]:
        return [self.count(question, budget, by_class=False) for question in questions]

    def split(self, question: Any) -> tuple["Undivided", ...]:
        return tuple(Undivided(part) for part in self._source.split(question))


def _undivided(source: Any, budget: Budget, domain: Domain) -> Any:
    """NOT PRIVATE: the adaptive tree with all of epsilon for every stage."""
    return counted(Undivided(source), budget, domain)  # type: ignore[arg-type]
