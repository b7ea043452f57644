"""Predictions that do not fall as rows times epsilon grow.

More epsilon does not make a method worse. But other public databases are near where it is larger, and their labels may
be harder to predict: a mean over those near by then falls. What is said is the nearest to these means that never falls
(isotonic regression: Barlow, Bartholomew, Bremner and Brunk 1972), over the same table at all sizes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .nearby import Nearby, Numbers
from .traces import Traces


@dataclass(frozen=True, eq=False)
class Rising:
    """Predictions for one table at any epsilon: as those of `nearby`, but means and ends of intervals never fall.

    `path` has the facts of the table at several sizes, in the order of the fact `along`; between them the predictions
    are on straight lines, beyond them they stay as they are.
    """

    nearby: Nearby
    path: Sequence[Mapping[str, float]]
    along: str = "signal"

    @property
    def traces(self) -> Traces:
        return self.nearby.traces

    @cached_property
    def places(self) -> Numbers:
        """Where on the path predictions are made."""
        return np.array([facts[self.along] for facts in self.path])

    @cached_property
    def curves(self) -> dict[str, Numbers]:
        """For each measure an array of places x options x (mean, low, high), none of which falls."""
        said = [self.nearby.predict(facts) for facts in self.path]
        return {measure: never_falling(np.array([one[measure] for one in said])) for measure in self.traces.measures}

    def predict(self, facts: Mapping[str, float]) -> dict[str, Numbers]:
        """For each measure an array of options x (mean, low, high), for the table of the path with these facts."""
        place = float(np.interp(facts[self.along], self.places, np.arange(len(self.places))))
        lower = min(int(place), max(len(self.places) - 2, 0))
        upper = min(lower + 1, len(self.places) - 1)
        share = place - lower
        return {name: (1 - share) * curve[lower] + share * curve[upper] for name, curve in self.curves.items()}

    def nearest(self, facts: Mapping[str, float], number: int = 3) -> tuple[str, ...]:
        """The names of the databases that are most like this one."""
        return self.nearby.nearest(facts, number)

    def far(self, facts: Mapping[str, float]) -> bool:
        """Whether no database is near."""
        return self.nearby.far(facts)


def never_falling(values: Numbers) -> Numbers:
    """The nearest values, by their squares, that do not fall along the first axis; NaN where one of them is unknown.

    The value at a place is the largest, over all starts up to it, of the least mean from there to an end beyond it.
    """
    number = len(values)
    sums = np.concatenate([np.zeros_like(values[:1]), values.cumsum(axis=0)])
    found = np.full_like(values, -np.inf)
    for start in range(number):
        lengths = np.arange(1, number - start + 1).reshape(-1, *[1] * (values.ndim - 1))
        means = (sums[start + 1 :] - sums[start]) / lengths
        least = np.minimum.accumulate(means[::-1])[::-1]
        found[start:] = np.maximum(found[start:], least)
    return found
