"""Noise of OpenDP's, for whoever trusts that library more than ours."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..errors import BadInput
from .noise import Integers, Noise, SystemNoise


class OpenDPNoise(SystemNoise):
    """OpenDP's sampler for the noise of counts; coins, orders and gaps use the operating system's words."""

    name = "OpenDP"

    def __init__(self) -> None:
        try:
            import opendp.prelude as dp
        except ImportError:
            raise BadInput("this noise source needs OpenDP: pip install 'veil[opendp]'") from None
        dp.enable_features("contrib")
        self._dp = dp

    @property
    def own(self) -> Noise:
        return SystemNoise()  # the rounded scale below is not quite the law of `geometric` and `gaps`

    def discrete_laplace(self, epsilon: Fraction, size: int) -> Integers:
        scale = float(1 / epsilon)
        while Fraction(scale) < 1 / epsilon:  # OpenDP takes a float: round the noise up, never down
            scale = float(np.nextafter(scale, np.inf))
        space = self._dp.vector_domain(self._dp.atom_domain(T="i64")), self._dp.l1_distance(T="i64")
        mechanism = space >> self._dp.m.then_laplace(scale=scale)
        while Fraction(mechanism.map(d_in=1)) > epsilon:  # and hold it to its own account
            scale = float(np.nextafter(scale, np.inf))
            mechanism = space >> self._dp.m.then_laplace(scale=scale)
        return np.array(mechanism([0] * size), np.int64)

    def discrete_laplace_each(self, epsilons: Sequence[Fraction], sizes: Sequence[int]) -> list[Integers]:
        return [self.discrete_laplace(*pair) for pair in zip(epsilons, sizes, strict=True)]
