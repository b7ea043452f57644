"""People: whose row it is, and which of a person's rows count. Whoever shares a spelling is one person."""

import re
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..schema.encoding import BLOCK, TEXT, arrow_of, in_blocks, is_text, objects_of, of_each, plain, text_or_none
from ..schema.spelling import BLANK, NUMBER, spelling
from .noise import Noise

NO_ONE, RANKED, MIX = -1, 1 << 21, np.int64(0x9E3779B97F4A7C1)  # RANKED: rows at a time; MIX: any large odd number
WHOLE, SHORT = re.compile("[1-9][0-9]{0,17}"), re.compile("[A-Za-z][0-9A-Za-z]{4,6}[0-9]")  # each is its own spelling
LONG = re.compile("[0-9A-Za-z][!-~]{8,255}")  # and so is each of these that is not
NAMING = (str, int, np.integer, float, np.floating, np.bool_, Decimal, date, UUID)
MOMENT, LARGE = re.compile("[0-9]{4}(-[0-9]{2}){2}[T ][0-9]+:"), re.compile(r"[0-9]+\.?[0-9]*[eE]\+?0*[1-9][0-9]{1,2}")
RESPELT, SHORTER = re.compile(f"{NUMBER.pattern}|{MOMENT.pattern}.*"), (pa.float16(), pa.float32())
NOBODY = {"", "?", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaT", "None", "n/a", "null"}
ENDLESS = {"nan", "inf", "infinity"}  # in any case and with any sign: what readers take for floats that are no numbers


def numbers_of(people: Any, number_of: dict[str, int]) -> npt.NDArray[Any]:
    """The number of the person of each row, `NO_ONE` for nobody, by its id alone (`person_id`): a whole number itself,
    that of a short text's letters, or the next below zero in `number_of`, the same in all blocks and batches."""

    def number(value: Any) -> int:
        known = person_id(value) or ""
        short = SHORT.fullmatch(known) and int.from_bytes(known.ljust(8, "!").encode())
        return (int(known) if WHOLE.fullmatch(known) else short) or number_of.setdefault(known, NO_ONE - len(number_of))

    def numbers(block: Any) -> npt.NDArray[Any]:
        with suppress(Exception):  # the quick ways to the same
            array = arrow_of(block)
            array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
            block = objects_of(array.to_numpy(zero_copy_only=False)) if array.type in SHORTER else block
            texts: Any = is_text(array.type, (*TEXT, pa.types.is_integer)) and array.cast(pa.string())
            if pc.all(matches(texts, WHOLE), skip_nulls=False).as_py():
                return np.asarray(texts.cast(pa.int64()))
            if pc.all(matches(texts, SHORT), skip_nulls=False).as_py():
                return np.frombuffer(pc.ascii_rpad(texts, 8, "!").buffers()[2], ">i8", len(texts)).astype(np.int64)
            found = texts.dictionary_encode()
            as_spelt = pc.and_not(matches(found.dictionary, LONG), matches(found.dictionary, RESPELT))
            each = zip(found.dictionary.to_pylist(), as_spelt.to_pylist(), strict=True)
            own = [number_of.setdefault(text, NO_ONE - len(number_of)) if same else number(text) for text, same in each]
            return np.asarray(np.take(np.array([*own, NO_ONE]), found.indices.fill_null(-1)))
        return of_each(block, number, NO_ONE, np.int64)

    number_of.setdefault("", NO_ONE)
    return in_blocks(people, numbers, np.int64)


def matches(texts: Any, pattern: re.Pattern[str]) -> Any:
    """Which texts are of this form, as a whole."""
    return pc.match_substring_regex(texts, f"^(?:{pattern.pattern})$")


def keep_per_person(numbers: npt.NDArray[Any], most: int, noise: Noise) -> npt.NDArray[np.bool_]:
    """A mask of at most `most` rows of each person, the first ones in a random order; no rows without a person.

    Which rows of a person stay depends on that person's rows alone, so adding a person adds at most `most` rows; people
    are ranked in parts, which takes less memory."""
    keep, starts = np.zeros(len(numbers), np.bool_), range(0, len(numbers) or 1, BLOCK)
    for part in range(parts := 1 << (len(numbers) // RANKED).bit_length()):
        rows = [np.flatnonzero((numbers[at : at + BLOCK] * MIX >> 40 & parts - 1) == part) + at for at in starts]
        order = (own := np.concatenate(rows))[noise.permutation(len(own))]
        order = order[np.argsort(numbers[order], kind="stable")]
        ranked, place = numbers[order], np.arange(len(order))
        first = np.maximum.accumulate(place * (np.diff(ranked, prepend=NO_ONE) != 0))
        keep[order[(place - first < most) & (ranked != NO_ONE)]] = True
    return keep


def person_id(one: Any) -> str | None:
    """The text that all rows of a person share, None for nobody; it follows from the value alone.

    Nobody: what is missing or blank, or taken for that by a reader, floats for which several numbers may stand, moments
    and other objects without a text of their own (two with the same content may be written in two ways).
    """
    try:
        with suppress(ValueError, AttributeError):  # an id of 16 odd bytes; others in its block may have made it a text
            one = one if (one := plain(one)).isprintable() else UUID(bytes=one.encode(errors="surrogateescape"))
        vague = isinstance(one, (float, np.floating)) and not abs(float(one)) < min(2 / np.finfo(one).eps, 2**53)
        text = (isinstance(one, NAMING) and not vague and text_or_none(one)) or ""
        known = "" if LARGE.fullmatch(text.strip(BLANK)) else spelling(text)
    except Exception:
        return None
    return None if known in NOBODY or known.lstrip("+-").lower() in ENDLESS or MOMENT.match(known) else known
