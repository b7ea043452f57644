"""split, split_at_random: disjoint parts of the rows, each a source of its own.

A row lies in one part, by a rule that depends on that row, on public values and on a draw of its own; the others'
answers do not change with it. So all parts together cost what the dearest of them costs: see `Account`.
"""

from typing import Self

import numpy as np

from ... import wording
from ...questions import Partition
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ..asking import Asking
from ..owning import Owner
from ..table import BLOCK, Table

MOST_PARTS = 1_000_000


class Splitting(Asking):
    """The verbs that divide the rows."""

    def split(self, partition: Partition) -> tuple[Self, ...]:
        """One source for every cell, occupied or not. Together they cost what the dearest of them costs."""
        partition = Owner(self._own).partition(partition)
        refuse(partition.size > MOST_PARTS, "the partition has too many cells to split by: use a coarser one")
        group = self._account.split(question=partition.describe(), parts=partition.size)
        with quiet():
            return self._parts(group, self._table.split(self._table.cell_of_each(partition), partition.size))

    def split_at_random(self, *weights: int) -> tuple[Self, ...]:
        """Disjoint sources in these proportions: every row is drawn by itself, once, and stays where it is."""
        fitting = all(isinstance(weight, (int, np.integer)) and weight > 0 for weight in weights)
        refuse(not weights or not fitting or sum(weights) >= 2**63, wording.SPLIT_WEIGHTS)
        whole = [int(weight) for weight in weights]
        group = self._account.split(question=f"at random {' : '.join(map(str, whole))}", parts=len(whole))
        with quiet():
            ends, cells = np.cumsum(whole), np.empty(len(self._table), np.min_scalar_type(len(whole)))
            for start in range(0, len(cells), BLOCK):
                part = cells[start : start + BLOCK]
                part[:] = np.searchsorted(ends, self._noise.below(sum(whole), len(part)), side="right")
            return self._parts(group, self._table.split(cells, len(whole)))

    def _parts(self, group: str, tables: list[Table]) -> tuple[Self, ...]:
        accounts = (self._account.part(group, i) for i in range(len(tables)))
        pairs = zip(tables, accounts, strict=True)
        return tuple(type(self)(table, self._own, self._shown, a, self._noise, self._record) for table, a in pairs)
