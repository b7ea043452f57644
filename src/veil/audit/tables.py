"""Small tables for audits, and sources over them that are cheap to ask many times."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernel import Budget, Ledger, Source, open_source
from ..kernel.noise import Noise
from ..questions import Axis, Grid, grid
from ..schema import Categorical, Numeric, Schema
from .harness import Runs, View

Row = tuple[Any, Any, Any]  # label, colour, age
Table = dict[str, Any]
PLENTY = 10**12  # a limit that no audit reaches: what is lost is measured against each claim
ONE, TWO = Budget(1), Budget(2)

SCHEMA = Schema(
    name="audit",
    label="label",
    column=[
        Categorical(name="label", values=("yes", "no")),
        Categorical(name="colour", values=("red", "green", "blue")),
        Numeric(name="age", bounds=(0, 4), integer=True),
    ],
)
PEOPLE = SCHEMA.model_copy(update={"person": "who", "rows_per_person": 2})

COLOURS = Grid((Axis("colour", (0, 1, 2, 3), ("red", "green", "blue", "missing")),))
RED = Grid((Axis("colour", (0, 1, 1, 1), ("red", "other")),))  # the first cell holds the red rows
BLUE = Grid((Axis("colour", (1, 1, 0, 1), ("blue", "other")),))
YES = Grid((Axis("label", (0, 1, 1), ("yes", "other")),))
NO = Grid((Axis("label", (1, 0, 1), ("no", "other")),))
YOUNG = Grid((Axis("age", (0, 0, 1, 1, 1, 1), ("0 or 1", "other")),))
AGES = Grid((Axis("age", (0, 0, 1, 1, 2, 2), ("0 or 1", "2 or 3", "4 or missing")),))
NOTHING = Grid((Axis("age", (0,) * 6, ("all",)),))  # divides no cell

PLACES = 50_000
PARADE = Schema(name="audit", column=[Numeric(name="place", bounds=(0, PLACES - 1), integer=True, bins=PLACES)])
MARCHERS = PARADE.model_copy(update={"person": "who", "rows_per_person": 2})
PLACE = grid(PARADE, "place")


def rows(*listed: Row) -> Table:
    """A table of these rows."""
    return {name: [row[i] for row in listed] for i, name in enumerate(("label", "colour", "age"))}


def people(*listed: tuple[Any, Any, Any, Any]) -> Table:
    """A table of rows that end with the person they belong to."""
    return {**rows(*(row[:3] for row in listed)), "who": [row[3] for row in listed]}


EMPTY, LONE = rows(), rows(("yes", "red", 1))


def open_table(table: Table, noise: Noise, *, limit: int = PLENTY, schema: Schema = SCHEMA) -> Source:
    """A source over this table with a ledger of its own, in memory."""
    return open_source(table, schema, Ledger(limit, schema.name), noise)


def asking(ask: Callable[[Source], Any], schema: Schema = SCHEMA) -> Runs:
    """Runs that ask one source, opened once, again and again: every answer has fresh noise."""

    def runs(table: Table, noise: Noise, trials: int) -> Any:
        source = open_table(table, noise, schema=schema)
        return stacked([ask(source) for _ in range(trials)])

    return runs


def opening(ask: Callable[[Source], Any], *, limit: int = PLENTY, schema: Schema = SCHEMA) -> Runs:
    """Runs that open the table anew each time, with a fresh ledger and fresh random choices of rows."""

    def runs(table: Table, noise: Noise, trials: int) -> Any:
        return stacked([ask(open_table(table, noise, limit=limit, schema=schema)) for _ in range(trials)])

    return runs


def parading(ask: Callable[[Source], Any], schema: Schema = PARADE) -> Runs:
    """Runs made PLACES at a time: the table holds as many copies of its rows, each in a cell of its own.

    `ask` gives back one observation for every cell. What a verb does to one cell is independent of the others, so the
    cells are independent runs on a table of one cell.
    """

    def runs(copies: int, noise: Noise, trials: int) -> Any:
        place = np.repeat(np.arange(PLACES), copies)
        table = {"place": place, "who": place}
        asked = [ask(open_table(table, noise, schema=schema)) for _ in range(-(-trials // PLACES))]
        return np.concatenate(asked)[:trials]

    return runs


def stacked(answers: list[Any]) -> Any:
    """Arrays or numbers as one array; anything else stays a list."""
    return np.array(answers) if isinstance(answers[0], (np.ndarray, float, int)) else answers


def between(low: npt.ArrayLike, high: npt.ArrayLike) -> View:
    """A view of noisy counts: beyond the true counts of both tables the ratio of two discrete Laplace laws stays the
    same, so nothing is lost."""
    return lambda counts: np.clip(counts, low, high)
