"""Where a ledger keeps its lines in PostgreSQL, so that processes on many machines may share it.

A charge is one transaction. A process keeps its connection, and no other one uses it: a forked child makes its own.
What the server says is never repeated: it may quote an address.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, LiteralString
from weakref import finalize

from .. import wording
from ..addresses import parts
from ..errors import LedgerProblem
from ..schema.refusing import refuse
from .store import Place, Store, Turn

try:
    import psycopg
    from psycopg.pq import TransactionStatus
except ImportError:
    raise LedgerProblem(wording.NO_DRIVER) from None

LAYOUT = """
CREATE TABLE veil_ledgers (name text PRIMARY KEY);
CREATE TABLE veil_entries (ledger text NOT NULL REFERENCES veil_ledgers, number bigint NOT NULL, line text NOT NULL,
    PRIMARY KEY (ledger, number));
CREATE FUNCTION veil_only_grows() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''a ledger only grows''; END';
CREATE TRIGGER veil_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON veil_ledgers EXECUTE FUNCTION veil_only_grows();
CREATE TRIGGER veil_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON veil_entries EXECUTE FUNCTION veil_only_grows();
"""
BEGIN = """
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL synchronous_commit = on;
SET LOCAL lock_timeout = {0};
SET LOCAL idle_in_transaction_session_timeout = {0};
"""  # READ COMMITTED: what is read after the lock was waited for is what is there then
GUARD, LOCK = (f"SELECT name FROM veil_ledgers WHERE name = %s{end}" for end in ("", " FOR UPDATE"))
# as bytes, whatever is there
LINES = "SELECT number, convert_to(line, 'SQL_ASCII') FROM veil_entries WHERE ledger = %s AND number >= %s ORDER BY 1"
APPEND = "INSERT INTO veil_entries (ledger, number, line) VALUES (%s, %s, %s) RETURNING convert_to(line, 'SQL_ASCII')"
SAID = {
    "42P01": wording.NO_SUCH,
    "42501": wording.NO_RIGHTS,
    "55P03": wording.LOCKED,
    "25006": wording.READ_ONLY,
    "23505": wording.COLLISION,
    "53100": wording.SERVER_FULL,
}
IDLE = TransactionStatus.IDLE
Connections = dict[int, psycopg.Connection[Any]]  # by process
# a server that is gone is noticed within a minute, and whoever stands between does not forget an idle connection
OURS = {"client_encoding": "UTF8", "tcp_user_timeout": 60_000, "keepalives_idle": 30, "keepalives_interval": 10}


class Transaction(Turn):
    """One reading of a ledger's lines, and at most one appended line. A place is a number of lines, and the last."""

    def __init__(self, store: "Database", connection: psycopg.Connection[Any], process: int) -> None:
        self._store: Database = store
        self._connection, self._process = connection, process

    def after(self, place: Place) -> tuple[list[bytes], Place]:
        """The lines after a place, and the place after them."""
        first = max(place.end, 1)
        rows = self.execute(LINES, self._store.ledger, first)
        self._still([number for number, _ in rows] == [*range(first, first + len(rows))])
        lines = [(line or b"") + b"\n" for _, line in rows]
        self._still(not place.end or lines[:1] == [place.last])
        new = lines[1:] if place.end else lines
        return new, Place(place.end + len(new), [place.last, *new][-1])

    def append(self, line: bytes, place: Place) -> None:
        """Append a line right after this place, which must be the end; it is committed when this returns."""
        bare = line.rstrip(b"\n")
        self._still(self.execute(APPEND, self._store.ledger, place.end + 1, bare.decode()) == [(bare,)])
        self._check_process()
        self._store.commit(self._connection, wording.UNSURE)
        self._check_process()

    def execute(self, query: LiteralString, *given: Any) -> list[Any]:
        """What the server gives back."""
        self._check_process()
        return self._connection.execute(query, given).fetchall()

    def _check_process(self) -> None:
        """Refuse in a child that was forked by a signal handler: the transaction is its parent's."""
        refuse(os.getpid() != self._process, wording.OTHERS_CHARGE.format(self._store), LedgerProblem)


class Database(Store):
    """Lines in a table that only grows. Who appends has locked the ledger's row in another table, and no two lines have
    one number; why that suffices is on the kernel page."""

    kind = "PostgreSQL"

    def __init__(self, address: str, patience: float = 30) -> None:
        super().__init__(None, patience)
        found = parts(address)
        if not found:
            raise LedgerProblem(wording.NO_ADDRESS)
        self._address, self.ledger, self.path = found
        self._ours: Any = {**OURS, "connect_timeout": max(round(patience), 2)}
        self._connections: Connections = {}
        finalize(self, _end, self._connections)

    @contextmanager
    def _opened(self, write: bool, process: int) -> Iterator[Turn]:
        with self._connected(process, write) as connection:
            turn = Transaction(self, connection, process)
            found = turn.execute(LOCK if write else GUARD, self.ledger)
            refuse(len(found) != 1, wording.NO_SUCH.format(self), LedgerProblem)
            yield turn

    @contextmanager
    def _connected(self, process: int, write: bool) -> Iterator[psycopg.Connection[Any]]:
        """A connection, in a transaction if something is to be written; what is not committed then did not happen."""
        begin = BEGIN.format(max(round(self._patience * 1000), 1)).encode() if write else b"SELECT"
        connection = self._working(process, begin)
        try:
            yield connection
        finally:
            if connection.pgconn.transaction_status != IDLE:  # refused, interrupted, or lost
                _end(self._connections)

    def _working(self, process: int, begin: bytes) -> psycopg.Connection[Any]:
        """The connection of this process if it still works, else a new one, on which this was executed."""
        if last := self._connections.get(process):
            with suppress(psycopg.Error):  # the server may have been started again; nothing was asked yet
                last.execute(begin)
                return last
            _end(self._connections)
        self._connections[process] = new = psycopg.connect(self._address, autocommit=True, **self._ours)
        new.execute(begin)
        return new

    def commit(self, connection: psycopg.Connection[Any], unsure: str) -> None:
        """End the transaction; what was written is on the server's disk when this returns, and nowhere else is that
        sure: a server that is lost meanwhile may have it, or not."""
        try:
            done = connection.execute("COMMIT").statusmessage
        except psycopg.Error:
            done = None
        refuse(done != "COMMIT", unsure.format(self), LedgerProblem)

    def create(self, line: bytes) -> None:
        """Make it, with its first line."""
        with self.created([line]):
            pass

    @contextmanager
    def created(self, lines: Sequence[bytes]) -> Iterator[Transaction]:
        """Make a new ledger of these lines, whole or not at all, when the body is done; never over an existing one."""
        with self._explained(), self._connected(os.getpid(), write=True) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(1447381324)")  # the layout is made by one at a time
            if connection.execute("SELECT to_regclass('veil_entries')").fetchone() == (None,):
                connection.execute(LAYOUT)
            new = connection.execute("INSERT INTO veil_ledgers VALUES (%s) ON CONFLICT DO NOTHING", (self.ledger,))
            refuse(new.rowcount != 1, wording.EXISTS.format(self), LedgerProblem)
            turn = [(self.ledger, number, line.decode().rstrip("\n")) for number, line in enumerate(lines, 1)]
            connection.cursor().executemany(APPEND, turn)
            yield Transaction(self, connection, os.getpid())
            self.commit(connection, wording.UNSURE_MADE)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            state = error.sqlstate or ""
            odd = wording.OTHER_TABLES if state[:2] in ("22", "23", "42", "P0") else wording.UNREACHABLE
            raise LedgerProblem(SAID.get(state, odd).format(self)) from None


def _end(connections: Connections) -> None:
    """Close the connection of this process, and leave those of its parents alone: to say goodbye would end them."""
    if own := connections.pop(os.getpid(), None):
        own.close()
