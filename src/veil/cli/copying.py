"""A ledger that moves to a database: its entries are copied, and the old one is closed by a last entry of its own."""

from datetime import UTC, datetime
from typing import Any

from ..addresses import is_address
from ..errors import BadInput, LedgerProblem
from ..kernel import VERSION, Entries, Ledger, store_at

NO_FILES = "a ledger can be copied to a database alone: give an address such as postgresql://host/database"
UNFINISHED = "the old ledger is closed, but the copy may not be there yet: run the same command again to finish it"


def copy(ledger: Ledger, address: str) -> int:
    """Copy a ledger to a new one at this address, and close it; returns the number of entries of the new one.

    The copy is written, then the old ledger is closed, and only then the copy can be seen: at no moment can both be
    charged. Whatever ends it in between, the same command finishes it.
    """
    if not is_address(address):
        raise BadInput(NO_FILES)
    new: Any = store_at(address)
    again, closed = ledger.moved == new.path, False
    with ledger.turn(write=not again) as (turn, known):
        lines, body = turn.after(type(known.place)())[0], _said("close", to=new.path)
        copied = _opened(lines if again else [*lines, known.next(body)[0]])
        try:
            with new.created(copied):
                closed = again or bool(ledger.append(turn, known, body))
        except LedgerProblem:
            if not closed or again:
                raise
            raise LedgerProblem(UNFINISHED) from None
    return len(copied)


def _opened(lines: list[bytes]) -> list[bytes]:
    """The lines of a closed ledger, and one that opens it where they are copied to."""
    entries = Entries()
    for line in lines:
        entries.add(line)
    return [*lines, entries.next(_said("open"))[0]]


def _said(kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "version": VERSION, "time": datetime.now(UTC).isoformat(timespec="seconds"), **more}
