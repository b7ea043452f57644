"""A ledger that moves to a database: its entries are copied, and the old one is closed by a last entry of its own."""

import json
import secrets
from datetime import UTC, datetime
from typing import Any

from ..addresses import is_address
from ..errors import BadInput, LedgerProblem
from ..kernel import VERSION, Entries, Ledger, store_at

NO_FILES = "a ledger can be copied to a database alone: give an address such as postgresql://host/database"
UNFINISHED = "the old ledger is closed, but the copy may not be there yet: run the same command again to finish it"


ELSEWHERE = (
    "{} leads to another database now than the one where the copy began: one there too would be a second ledger of the "
    "same rows, so find the first"
)
SIGN = "SELECT name FROM veil_ledgers WHERE name = %s"


def copy(ledger: Ledger, address: str) -> int:
    """Copy a ledger to a new one at this address, and close it; returns the number of entries of the new one.

    The copy is written, then the old ledger is closed, and only then the copy can be seen: at no moment can both be
    charged. Whatever ends it in between, the same command finishes it: in the database where it began, which has the
    sign that the closing entry names. An address may lead elsewhere by then.
    """
    if not is_address(address):
        raise BadInput(NO_FILES)
    new: Any = store_at(address)
    again, closed = ledger.moved == new.path, False
    with ledger.turn(write=not again) as (turn, known):
        lines = turn.after(type(known.place)())[0]
        body = json.loads(lines[-1])["body"] if again else _said("close", to=new.path, sign=_signed(address))
        copied = _opened(lines if again else [*lines, known.next(body)[0]])
        try:
            with new.created(copied) as there:
                if not there.execute(SIGN, body.get("sign")):
                    raise LedgerProblem(ELSEWHERE.format(new.path))
                closed = again or bool(ledger.append(turn, known, body))
        except LedgerProblem:
            if not closed or again:
                raise
            raise LedgerProblem(UNFINISHED) from None
    return len(copied)


def _signed(address: str) -> str:
    """A sign that this database has from now on and no other, the name of a ledger without entries."""
    place: Any = store_at(address)
    place.ledger = sign = f"copy {secrets.token_hex(16)}"
    with place.created([]):
        return str(sign)


def _opened(lines: list[bytes]) -> list[bytes]:
    """The lines of a closed ledger, and one that opens it where they are copied to."""
    entries = Entries()
    for line in lines:
        entries.add(line)
    return [*lines, entries.next(_said("open"))[0]]


def _said(kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "version": VERSION, "time": datetime.now(UTC).isoformat(timespec="seconds"), **more}
