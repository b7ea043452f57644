"""Odds: the log-odds of a class against all others, in integers."""

from dataclasses import dataclass

import numpy as np

from .kinds import Described, Encoded, Integers, Scorer
from .scorers import UNIT

SHIFT = 10  # bits of a score that are too fine for a sum of probabilities
STEPS = UNIT >> SHIFT
ONE = 1 << 30
SHARES = np.floor(np.exp(-np.arange(22 * STEPS) / STEPS) * ONE).astype(np.int64)  # of the highest; the last is none
SUMS = np.floor(np.exp(np.arange(1, 16 * STEPS) / STEPS) * ONE).astype(np.int64)  # where the logarithm rises by a step


@dataclass(frozen=True, eq=False)
class Odds(Described):
    """The log-odds of one class against all others by a scorer's scores; of two classes, their difference."""

    scorer: Scorer
    label: int

    @property
    def classes(self) -> int:
        return 1

    def scores(self, codes: Encoded) -> Integers:
        return odds_of(self.scorer.scores(codes), self.label)


def odds_of(scores: Integers, label: int) -> Integers:
    """The log-odds of a class against all others, rows x 1, from scores that are logarithms of probabilities. They are
    computed in integers, with two constant tables, from each row's own scores: no other row changes a bit."""
    others = np.delete(scores, label, axis=1)
    best = others.max(axis=1, keepdims=True)
    below = np.clip((best - others) >> SHIFT, 0, len(SHARES) - 1)  # sums of huge weights may have overflowed
    steps = np.searchsorted(SUMS, SHARES[below].sum(axis=1, keepdims=True), side="right")
    return np.asarray(scores[:, [label]] - best - (steps << SHIFT))
