"""Odds: how far the score of a class lies above those of all others together, in whole numbers."""

from dataclasses import dataclass

import numpy as np

from ..questions import UNIT, Codes, Integers, Scorer

SHIFT = 10  # bits of a score that are too fine for a sum of probabilities
STEPS = UNIT >> SHIFT
ONE = 1 << 30
SHARES = np.floor(np.exp(-np.arange(22 * STEPS) / STEPS) * ONE).astype(np.int64)  # of the highest; the last is none
SUMS = np.floor(np.exp(np.arange(1, 16 * STEPS) / STEPS) * ONE).astype(np.int64)  # where the logarithm rises by a step


@dataclass(frozen=True, eq=False)
class Odds:
    """The log-odds of one class against all others, of a scorer whose scores are the logarithms of its probabilities.

    The odds of a row follow from its own scores by whole numbers and two constant tables, so no other row can sway
    their last bit. Between two classes they are the difference of the scores.
    """

    scorer: Scorer
    label: int

    @property
    def columns(self) -> tuple[str, ...]:
        return self.scorer.columns

    @property
    def classes(self) -> int:
        return 1

    def scores(self, codes: Codes) -> Integers:
        scores = self.scorer.scores(codes)
        others = np.delete(scores, self.label, axis=1)
        best = others.max(axis=1, keepdims=True)
        below = np.minimum((best - others) >> SHIFT, len(SHARES) - 1)
        steps = np.searchsorted(SUMS, SHARES[below].sum(axis=1, keepdims=True), side="right")
        return np.asarray(scores[:, [self.label]] - best - (steps << SHIFT))

    def describe(self) -> str:
        return f"class {self.label} by {self.scorer.describe()}"
