"""Groups of the cells of a grid, numbered as whoever asks likes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .grids import Grid
from .kinds import Described, Encoded


@dataclass(frozen=True, eq=False)
class Grouped(Described):
    """The cells of a grid gathered into `size` groups: `numbers[cell]` is the group. A row lies in one cell, so in one
    group."""

    grid: Grid
    numbers: npt.NDArray[Any]
    size: int
    reach = 1

    def cells(self, codes: Encoded) -> npt.NDArray[Any]:
        return np.take(self.numbers, self.grid.cells(codes))
