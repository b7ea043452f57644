"""Reports that lie beside models: the receipts and the evaluation that their pages hold as data. Nothing else of such a
page is used, for anybody may have written it."""

import re
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import VeilError
from ..files.parts import read_json
from ..files.witnesses import read_witnesses

END = "\n</script>"
BLOCK = re.compile(rf'<script type="application/json" id="(receipts|evaluation)">\n(.*?){END}', re.DOTALL)
MOST_BYTES = 1 << 24
MOST_RECEIPTS = 100_000
MOST_LETTERS = 300  # of a name


class Judgement(NamedTuple):
    """What an evaluation says: of which model, by the hash of its last receipt, a number with its interval, and the
    (ledger, part of its rows) of every charge for it."""

    hash: str
    file: str
    measure: str
    value: float
    low: float
    high: float
    accounts: frozenset[tuple[str, str]] = frozenset()


def blocks_of(path: Path) -> dict[str, Any]:
    """The blocks of data in a page, by name; {} for any other file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return {}
        page = path.read_text(encoding="utf-8")
        page = page[: page.rfind(END) + len(END)]  # beginnings without an end would each be looked through to the last
        found = {name: read_json(text.encode()) for name, text in BLOCK.findall(page)}
    except (OSError, ValueError, RecursionError):
        return {}
    return found


def evaluation_of(path: Path) -> Judgement | None:
    """The evaluation in a report; None if it is none."""
    blocks = blocks_of(path)
    found: Any = blocks.get("evaluation")
    try:
        numbers = [float(found[name]) for name in ("value", "low", "high")]
        words = [found[name] for name in ("hash", "file", "measure")]
    except (KeyError, TypeError, ValueError):
        return None
    if not all(isinstance(word, str) and len(word) <= MOST_LETTERS for word in words) or not all(
        map(isfinite, numbers)
    ):
        return None
    return Judgement(*words, *numbers)._replace(accounts=_accounts_in(blocks.get("receipts")))


def _accounts_in(receipts: Any) -> frozenset[tuple[str, str]]:
    """The (ledger, part of its rows) of each receipt of a page; none if one of them does not say."""
    try:
        pairs = [(one["ledger"], one["account"]) for one in receipts[:MOST_RECEIPTS]]
    except (KeyError, TypeError):
        return frozenset()
    sound = all(isinstance(word, str) and len(word) <= MOST_LETTERS for pair in pairs for word in pair)
    return frozenset(pairs if sound else ())


def receipts_of(path: Path) -> list[dict[str, Any]]:
    """The receipts in a report, in a published file or in JSON; [] if there are none."""
    if path.suffix == ".html":
        found = blocks_of(path).get("receipts")
        listed = found if isinstance(found, list) else []
    else:
        try:
            listed = read_witnesses(path)
        except VeilError:
            return []
    sound = [one for one in listed[:MOST_RECEIPTS] if isinstance(one, dict) and {"ledger", "number", "hash"} <= {*one}]
    return sound if len(sound) == len(listed) else []
