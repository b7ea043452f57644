"""Spelling: one text for all values that mean the same, whichever type a reader gave a column."""

import re
from decimal import Decimal
from unicodedata import normalize

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?0*[0-9]{1,3})?")
MIDNIGHT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]00:00:00(?:\.0*)?")
TRUTH = {"true": "True", "false": "False"}
BLANK = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\0\u200b\ufeff"


def spelling(text: str) -> str:
    """One text for all that mean the same: stripped, numbers written out in full (1 for 1.0, 01 and 1e0), True and
    False in one case, midnight as the day alone, and letters composed (NFC)."""
    text = text.strip(BLANK)
    if not text.isascii():
        return normalize("NFC", text)
    if text[:1].isalpha():
        return TRUTH.get(text.lower(), text) if len(text) < 6 else text
    if text.isdigit() and text[0] != "0":  # most numbers
        return text
    if NUMBER.fullmatch(text):
        return written_out(Decimal(text))
    day = MIDNIGHT.fullmatch(text)
    return day[1] if day else text


def written_out(number: Decimal) -> str:
    """A number with all its digits and no redundant zero; exact, unlike floating-point formatting."""
    text = format(number, "f") if number else "0"
    return text.rstrip("0").rstrip(".") if "." in text else text
