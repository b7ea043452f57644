"""The words of rows: which of a bag's words each row has, and exact counts of them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..questions import Bag
from ..schema.codes import LABEL
from .noise import Integers
from .table import WORD_ROWS, Table


def word_counts(table: Table, bag: Bag, most: int | None, classes: int) -> Integers:
    """Exact counts, words x classes; a row counts for the first `most` of the bag's words that it has, or for all. A
    row adds one to at most `most` counts: the bag's reach, if that is given."""
    counts = np.zeros(bag.size * classes, np.int64)
    for part in table.blocks(WORD_ROWS):
        places, holders = first_words(bag, table.column(bag.column, part), most)
        labels = table.column(LABEL, part)[holders].astype(np.intp) if classes > 1 else 0
        counts += np.bincount(places * np.intp(classes) + labels, minlength=len(counts))
    return counts.reshape(-1, classes)


def word_tables(table: Table, bag: Bag) -> Integers:
    """Exact counts of the rows with and without each word, words x 2 x classes. All words of a row count."""
    having = word_counts(table, bag, None, table.classes)
    totals = np.bincount(table.column(LABEL).astype(np.intp, copy=False), minlength=table.classes)[: table.classes]
    return np.stack([having, totals - having], axis=1)


def first_words(bag: Bag, rows: Any, most: int | None) -> tuple[npt.NDArray[Any], Integers]:
    """For every word of a row that is in the bag, its index there and its row; of every row the first `most`. The words
    of a row are in an order that was drawn at random when the table was read."""
    place = np.full(int(bag.codes[-1]) + 2, -1, np.int32)  # the last stands for all words beyond
    place[bag.codes] = np.arange(bag.size)
    places, holders = place.take(rows.words, mode="clip"), rows.rows  # in words' own type the last may not exist
    asked = np.flatnonzero(places >= 0)
    places, holders = places[asked], holders[asked]
    if most is None:
        return places, holders
    kept = np.arange(len(holders)) - np.searchsorted(holders, holders) < most
    return places[kept], holders[kept]
