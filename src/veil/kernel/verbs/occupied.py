"""occupied: how many cells of a partition hold a row, with noise.

Adding a row raises the number of cells that hold one by one if its cell was empty, else by nothing, whatever the other
rows and classes are: discrete Laplace noise of scale 1 / epsilon suffices, as for a count (Dwork et al. 2006).
"""

import numpy as np

from ...questions import Partition
from ...schema.encoding import quiet
from ..budget import Budget
from ..owning import Owner
from ..release import Release
from .count import Counting


class Occupying(Counting):
    """The verbs that count, rows or cells."""

    def occupied(self, partition: Partition, budget: Budget) -> Release[int]:
        """The noisy number of cells that hold a row of any class; noise may bring it below 0, or above all cells."""
        partition, budget = Owner(self._own).partition(partition), Budget(budget)
        epsilon = self._per_row(budget)
        receipt = self._charge("occupied", partition.describe(), budget)
        with quiet():
            cells = np.count_nonzero(self._table.tabulate(partition, by_class=False))
            noisy = int(cells) + int(self._noise.discrete_laplace(epsilon, 1)[0])
        return self._wrap(noisy, float(1 / epsilon), receipt)
