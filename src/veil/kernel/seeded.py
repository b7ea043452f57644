"""Seeded: repeatable noise. No promise is made of it: what it perturbs is marked as not private wherever it goes."""

import threading

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from .noise import Noise


class SeededNoise(Noise):
    """Repeatable noise for tests and experiments. Whoever knows the seed can take the noise off: not private."""

    name = "seeded"

    def __init__(self, seed: int | np.random.Generator) -> None:
        try:
            self._generator, self._lock = np.random.default_rng(seed), threading.Lock()
        except (TypeError, ValueError):
            said = "a seed must be a whole number from 0 on, or a NumPy generator; None for private noise"
            raise BadInput(said) from None

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        with self._lock:
            return self._generator.integers(0, 2**64, size, np.uint64)
