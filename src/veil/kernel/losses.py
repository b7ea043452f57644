"""The closed list of convex losses for `minimise`, as functions of a margin; slope and curvature carry the guarantee.

A row of the positive class has the loss l(m), any other row l(-m), m the sum of the weights of its values. The slope
lies in [-1, 0].
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log1p
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
ROUNDING = 2.0**-46  # what the computed slopes may be off by; NumPy's exponential is a thousand times better


class Loss(Protocol):
    """A convex loss; `noise_rate` is how much of epsilon is left for the noise."""

    def slope(self, margins: Numbers) -> Numbers: ...

    def curve(self, margins: Numbers) -> Numbers: ...

    def value(self, margins: Numbers) -> Numbers: ...

    def noise_rate(self, epsilon: Fraction, reach: Fraction) -> Fraction: ...


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-m)).

    With u = |slope| the curvature is u(1-u): they are not large together. A row costs at most rate u + log(1 + u(1-u)
    reach), concave in u with slope rate - reach at u = 1; so for reach <= epsilon it is largest there, and the whole
    epsilon is left for the noise.
    """

    def slope(self, margins: Numbers) -> Numbers:
        return np.asarray(-1 / (1 + np.exp(margins)))

    def curve(self, margins: Numbers) -> Numbers:
        slope = self.slope(margins)
        return np.asarray(-slope * (1 + slope))

    def value(self, margins: Numbers) -> Numbers:
        return np.asarray(np.logaddexp(0, -margins))

    def noise_rate(self, epsilon: Fraction, reach: Fraction) -> Fraction:
        return epsilon if reach <= epsilon else Fraction(0)


@dataclass(frozen=True)
class Hinge:
    """The hinge 1 - m below 1 - h, 0 above 1 + h, and a parabola in between (Chapelle 2007), h = 1/2.

    Slope 1 and curvature 1/(2h) = 1 can come together: the change of the determinant is paid for, log(1 + reach).
    """

    def slope(self, margins: Numbers) -> Numbers:
        return np.asarray(-np.clip(1.5 - margins, 0, 1))

    def curve(self, margins: Numbers) -> Numbers:
        return np.asarray((np.abs(1 - margins) < 0.5).astype(np.float64))

    def value(self, margins: Numbers) -> Numbers:
        return np.asarray(np.where(margins < 0.5, 1 - margins, np.maximum(1.5 - margins, 0) ** 2 / 2))

    def noise_rate(self, epsilon: Fraction, reach: Fraction) -> Fraction:
        return epsilon - Fraction(ceil(log1p(float(reach)) * 2**40) + 1, 2**40)


LOSSES: tuple[Any, ...] = (Logistic, Hinge)
