"""Bag: words of a text column."""

from dataclasses import dataclass

import numpy as np

from .kinds import Described, Integers


@dataclass(frozen=True)
class Bag(Described):
    """Words of a text column, all or these: no partition, since a row can have many.

    Where they are counted, a row counts for the first `most` of those that it has, in an order of its own that is drawn
    at random once; where some of them are chosen, for all that it has.
    """

    column: str
    size: int
    most: int
    words: tuple[int, ...] | None = None

    @property
    def reach(self) -> int:
        """How many counts one row can move."""
        return min(self.most, self.size)

    @property
    def codes(self) -> Integers:
        """The code of each word, in the order of the vocabulary."""
        return np.arange(self.size) if self.words is None else np.array(self.words, np.int64)
