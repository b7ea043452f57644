"""Audit of automatic choices: by facts that are paid for, and the twin that reads them from the rows for nothing."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..choice import ChoiceMaker, Metafeature, Option, Situation
from ..choice.ranges import DAWA, MWEM, ROWS, SIGNAL, SPARSITY, UNIFORMITY
from ..kernel.noise import Noise
from .broken import Array
from .harness import Case
from .pairs import pair
from .ranges import CELLS, LINE, placed
from .tables import ONE, Table, open_table

# one cell in four is empty, or none: then both of the paper's formulas are 0, and the first option is taken
FULL = tuple(range(CELLS))
TABLES = placed(*FULL[:-1]), placed(*FULL)


def choices() -> Iterator[Case]:
    """The example of Imola and Yang 2018, with its own formulas."""
    which = {"which option": lambda seen: seen[:, 0], "which option, and its rows": lambda seen: np.clip(seen, 0, 4)}
    yield from pair("free metafeatures", 1, TABLES, free_metafeatures, _paid, views=which, quick=300, deep=4_000)


def free_metafeatures(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: a choice by metafeatures that are read from the private rows for nothing (Imola and Yang 2018).

    What is chosen answers with proper noise, for all of epsilon; but which option answers follows from exact facts.
    """
    counts = np.bincount(table["place"], minlength=CELLS)
    halves = counts.reshape(2, -1).sum(axis=1)
    exact = {"sparsity": np.mean(counts > 0), "uniformity": 2 * halves.std() / max(counts.sum(), 1)}
    facts = [Metafeature(name, partial(_known, float(value))) for name, value in exact.items()]
    return _answers(ChoiceMaker(_options(), facts), table, noise, trials)


def _known(value: float, situation: Situation) -> float:
    return value


def _paid(table: Table, noise: Noise, trials: int) -> Array:
    return _answers(ChoiceMaker(_options(), [ROWS, SIGNAL, SPARSITY, UNIFORMITY]), table, noise, trials)


def _options() -> list[Option]:
    """The two options, which are known to take four cells."""
    return [replace(one, check=lambda schema, budget: None) for one in (DAWA, MWEM)]


def _answers(choose: ChoiceMaker, table: Table, noise: Noise, trials: int) -> Array:
    """For each run the number of the option that was chosen, and the rows that it estimates."""
    source = open_table(table, noise, schema=LINE)
    return np.array([_answer(choose, source) for _ in range(trials)])


def _answer(choose: ChoiceMaker, source: Any) -> list[int]:
    spread = choose(source, ONE)
    assert choose.trace is not None
    return [int(choose.trace.chosen == MWEM.name), round(float(spread.cells.sum()))]
