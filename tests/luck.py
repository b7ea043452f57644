"""The operating system's noise in tests: drawn by the name of the test, so that no suite fails by luck alone.

`VEIL_LUCK=2 make test` draws others: a test that fails under some of them asks for more than its noise allows. Noise
in processes that a test starts or forks stays the system's own, and so does all of it in tests marked `system_noise`.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from veil.kernel import SystemNoise

_LUCK = os.environ.get("VEIL_LUCK", "")
_of_the_system = SystemNoise.words


@contextmanager
def drawn_by(name: str) -> Iterator[None]:
    """Inside, words of the system follow from the name; then they are drawn as before."""
    seed = hashlib.sha256(f"{_LUCK}{name}".encode()).digest()
    generator, process, before = np.random.default_rng(list(seed)), os.getpid(), SystemNoise.words

    def words(self: SystemNoise, size: int) -> npt.NDArray[np.uint64]:
        if os.getpid() != process:
            return _of_the_system(self, size)
        return generator.integers(0, 2**64, size, np.uint64)

    SystemNoise.words = words  # type: ignore[method-assign]
    try:
        yield
    finally:
        SystemNoise.words = before  # type: ignore[method-assign]
