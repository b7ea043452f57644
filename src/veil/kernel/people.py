"""People: whose row it is, and which of a person's rows count. Whoever shares a spelling is one person."""

from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from ..schema.encoding import in_blocks, of_each, plain, text_or_none
from ..schema.spelling import spelling
from .noise import Noise

NAMING = (str, int, np.integer, float, np.floating, np.bool_, Decimal, date, time, timedelta, UUID)
NOBODY = {None, "", "?", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaT", "None", "n/a", "null"}
ENDLESS = {"nan", "inf", "infinity"}  # in any case and with any sign: what readers take for floats that are no numbers


def keep_per_person(people: Any, most: int, noise: Noise) -> npt.NDArray[np.bool_]:
    """A mask of at most `most` rows of each person, those with the smallest random keys; no rows without a person.

    Which rows of a person stay depends on that person's rows alone, so adding a person adds at most `most` rows.
    Whose row it is depends on that row's id alone (`person_id`), and people are numbered across blocks.
    """
    number_of = dict[str, int]()

    def number(value: Any) -> int:
        known = person_id(value)
        return -1 if known is None else number_of.setdefault(known, len(number_of))

    numbers = in_blocks(people, lambda block: of_each(block, number, -1, np.int64), np.int64)
    order = np.lexsort((noise.words(len(numbers)), numbers))
    ranked = numbers[order]
    rank = np.arange(len(ranked)) - np.searchsorted(ranked, ranked, side="left")
    keep = np.empty(len(ranked), np.bool_)
    keep[order] = (rank < most) & (ranked >= 0)
    return keep


def person_id(value: Any) -> str | None:
    """The text that all rows of a person share, None for nobody; it follows from the value alone.

    Nobody: what is missing or blank, what a reader takes for missing, objects without a text of their own (two with the
    same content may be written in two ways), and floats from 2^53 on, for which several whole numbers may stand.
    """
    try:
        value = plain(value)
        if type(value) is int or type(value) is float and abs(value) < 2**53 and value.is_integer():
            return str(int(value))  # the quick way to the same
        vague = isinstance(value, (float, np.floating)) and not -(2**53) < float(value) < 2**53
        named = isinstance(value, NAMING) and not vague
        text = value if type(value) is str else text_or_none(value) if named else None
        known = None if text is None else spelling(text)
    except Exception:
        return None
    return None if known in NOBODY or known.lstrip("+-").lower() in ENDLESS else known  # type: ignore[union-attr]
