"""The closed list of convex losses for `minimise`; the guarantee rests on gradient and curvature not both being large.

Scores and slopes (their derivatives) are classes x rows, or 1 x rows for one class against the rest, as is `truth`.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log1p
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
ROUNDING = 2.0**-46  # error of computed slopes for exact scores, at most; sixty times that of NumPy's exponential
MOST_CLASSES = 50


class Loss(Protocol):
    """A convex loss of a row's scores: `spread` is the largest L1 norm of its slopes (derivatives by the scores),
    `bend` the Lipschitz constant of a slope."""

    joint: bool
    spread: int
    bend: float

    def slopes(self, scores: Numbers, truth: Numbers) -> Numbers:
        """The derivative of the loss by each score."""

    def noise_budget(self, epsilon: Fraction, reach: Fraction, classes: int) -> Fraction:
        """The part of epsilon that is left for the noise, at `spread` times its rate; 0 if no proof is known. `reach`
        is the sum of 1/penalty over the weights that a row has for one class."""


def log_cost(times: int, growth: Fraction) -> Fraction:
    """times log(1 + growth), rounded up."""
    return Fraction(ceil(times * log1p(float(growth)) * 2**40) + 1, 2**40)


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-m)), m the score of a row of the class, minus the score of any other row.

    With u = |slope| the curvature is u(1-u): they are not large together. A row costs at most budget u + log(1 +
    u(1-u) reach), concave in u with slope budget - reach at u = 1; so for reach <= budget it is largest there, and the
    whole epsilon is left for the noise.
    """

    joint = False
    spread = 1
    bend = 0.25

    def slopes(self, scores: Numbers, truth: Numbers) -> Numbers:
        return np.asarray(-truth / (1 + np.exp(truth * scores)))

    def noise_budget(self, epsilon: Fraction, reach: Fraction, classes: int) -> Fraction:
        return epsilon if reach <= epsilon else Fraction(0)


@dataclass(frozen=True)
class Hinge:
    """The hinge 1 - m below 1/2, 0 above 3/2, and a parabola in between (Chapelle 2007); m as for Logistic. Slope 1 and
    curvature 1 can come together: the change of the determinant is paid for, log(1 + reach)."""

    joint = False
    spread = 1
    bend = 1.0

    def slopes(self, scores: Numbers, truth: Numbers) -> Numbers:
        return np.asarray(-truth * np.clip(1.5 - truth * scores, 0, 1))

    def noise_budget(self, epsilon: Fraction, reach: Fraction, classes: int) -> Fraction:
        return epsilon - log_cost(1, reach)


@dataclass(frozen=True)
class Softmax:
    """Minus the logarithm of the true class's share, exp(score) over the sum of all K.

    With u = 1 - the true class's share, slopes add up to 2u, and the curvature matrix has rank K-1 and trace at most
    t(u) = 2u - u^2 K/(K-1), so a row costs at most budget u + (K-1) log(1 + t(u) reach / (K-1)). This is concave in u,
    and largest at u = 1 if budget >= 2 reach / (K-1); there t = (K-2)/(K-1).
    """

    joint = True
    spread = 2
    bend = 0.5

    def slopes(self, scores: Numbers, truth: Numbers) -> Numbers:
        odds = np.exp(scores - scores.max(axis=0, initial=-np.inf))
        return np.asarray(odds / odds.sum(axis=0) - truth)

    def noise_budget(self, epsilon: Fraction, reach: Fraction, classes: int) -> Fraction:
        left = epsilon - log_cost(classes - 1, reach * (classes - 2) / (classes - 1) ** 2)
        return left if left * (classes - 1) >= 2 * reach else Fraction(0)


LOSSES: tuple[Any, ...] = (Logistic, Hinge, Softmax)
