"""Whose row it is: broken twins that make one person of several, or believe what travels with the rows, and ours.

The neighbours differ by one person. NOT PRIVATE, none of the twins: they exist to be caught by the audit.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernel.noise import Noise
from ..models.narrowed import MARK, fitting
from ..schema import Categorical, Schema
from .harness import Case, Runs, discrete_laplace
from .pairs import pair
from .tables import ONE, PARADE, PLACE, PLACES, Table, between, open_table
from .tables import people as table_of

Array = npt.NDArray[Any]
COLOURS = ("red", "blue")
PEOPLE = Schema(
    name="audit",
    label="colour",
    person="who",
    rows_per_person=2,
    column=[*PARADE.column, Categorical(name="colour", values=COLOURS)],
)
ALONE = PEOPLE.model_copy(update={"rows_per_person": 1})
NOBODYS = PEOPLE.model_copy(update={"person": None, "rows_per_person": 1})
BLANK = table_of(("yes", "blue", 1, "")), table_of(("yes", "blue", 1, ""), ("yes", "red", 1, ""))
LATIN = (
    table_of(("yes", "blue", 1, b"M\xfcller")),
    table_of(("yes", "blue", 1, b"M\xfcller"), ("yes", "red", 1, b"M\xf6ller")),
)
VISITS = table_of(("yes", "blue", 1, "a")), table_of(("yes", "blue", 1, "a"), *[("yes", "red", 1, "b")] * 3)
CRAFTED: dict[str, Any] = {
    **{"of": PEOPLE.name, "declared": PEOPLE.to_toml(), "selected": NOBODYS.to_toml()},
    **{"person": None, "words": []},
}


class Marked(dict[str, Any]):
    """Rows with attributes that travel with them, as those of a data frame do."""

    attrs: dict[str, Any]


def people() -> Iterator[Case]:
    """The twins, each followed by its counterpart."""
    once: dict[str, Any] = {"quick": PLACES, "deep": 4 * PLACES}
    one, three = ({"red and blue rows": between([0, 0], [most, 1])} for most in (1, 3))
    yield from pair("blank ids as one person", 1, BLANK, blank_ids, copies(ALONE), views=one, **once)
    yield from pair("ids decoded with losses", 1, LATIN, lossy_ids, copies(ALONE), views=one, **once)
    declared = copies(fitting(marked(VISITS[1]), PEOPLE))
    yield from pair("metadata that shrinks the unit", 1, VISITS, marked_unit, declared, views=three, **once)


def copies(schema: Schema) -> Runs:
    """Runs made PLACES at a time, on as many copies of the people, each in its own cell; a blank id stays blank.

    Returns the noisy numbers of red and of blue rows in each cell.
    """

    def runs(table: Table, noise: Noise, trials: int) -> Array:
        places = range(PLACES)
        ids = [who and who + _like(who, place) for place in places for who in table["who"]]
        rows = {"place": np.repeat(places, len(table["who"])), "colour": table["colour"] * PLACES, "who": ids}
        times = range(-(-trials // PLACES))
        asked = [open_table(rows, noise, schema=schema).count(PLACE, ONE).value[:PLACES] for _ in times]
        return np.concatenate(asked)[:trials]

    return runs


def _like(who: Any, place: int) -> Any:
    return b"%d" % place if isinstance(who, bytes) else str(place)


def marked(table: Table) -> Marked:
    """The rows with a mark that says they belong to no people."""
    rows = Marked(table)
    rows.attrs = {MARK: {**CRAFTED, "columns": [column.name for column in PEOPLE.column]}}
    return rows


def blank_ids(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: one row of each person, all rows with a blank id being one person's.

    In a CSV an id that is missing is blank. A new person without an id then displaces the row of another: two counts
    move, log((1 + e^2) / 2) = 1.43 instead of 1.
    """
    return _one_row_each(table, table["who"], noise, trials)


def lossy_ids(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: one row of each person, whose id is decoded with one character for all bytes that do not fit.

    Two people whose names differ in a letter of another encoding are then one: 1.43 instead of 1.
    """
    return _one_row_each(table, [who.decode("utf-8", "replace") for who in table["who"]], noise, trials)


def _one_row_each(table: Table, ids: Sequence[str], noise: Noise, trials: int) -> Array:
    """Noisy numbers of red and of blue rows, with one random row kept for each person."""
    rows = defaultdict[str, list[str]](list)
    for who, colour in zip(ids, table["colour"], strict=True):
        rows[who].append(colour)
    drawn = np.stack([np.array(own)[noise.below(len(own), trials)] for own in rows.values()], axis=1)
    exact = np.column_stack([(drawn == colour).sum(axis=1) for colour in COLOURS])
    return discrete_laplace(exact, Fraction(1), noise)


def marked_unit(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: the schema that travels with the rows, in place of the one that was declared.

    It says that rows are nobody's, so all rows of a person count, with the noise of one.
    """
    exact = [table["colour"].count(colour) for colour in COLOURS]
    return discrete_laplace(np.tile(exact, (trials, 1)), Fraction(1), noise)
