"""Where a ledger keeps its entries: a SQLite file that any number of processes may share, or memory."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import LedgerProblem

LAYOUT = """
PRAGMA application_id = 1449486668;
CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE accounts (path TEXT PRIMARY KEY, spent TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER entries_are_final BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
"""
ADVICE = {
    "SQLITE_BUSY": "is locked by another program: close it, or try again",
    "SQLITE_LOCKED": "is locked by another program: close it, or try again",
    "SQLITE_READONLY": "cannot be written: ask its owner for write permission to the file and its folder",
    "SQLITE_FULL": "cannot grow, the disk is full: free some space and ask again; nothing was answered",
    "SQLITE_IOERR": "cannot be written, the disk reports an error: check it and ask again; nothing was answered",
    "SQLITE_CANTOPEN": "cannot be opened: check the path and the permissions of the file and its folder",
    "SQLITE_NOTADB": "is not a ledger: check the path, or restore the file from a backup",
}
DAMAGED = "is damaged: restore it from a backup and run `veil ledger verify` against your latest receipts"

_abandoned: list[sqlite3.Connection] = []  # a forked child must not close its parent's connection


class Store:
    """A place for entries and amounts; `write` is one transaction at a time, `read` one consistent view."""

    def __init__(self, path: Path | None, patience: float = 30) -> None:
        self.path, self._patience = path, patience
        self._process, self._lock = os.getpid(), threading.RLock()
        self._connection = self._connect()

    def _connect(self) -> sqlite3.Connection:
        with self._explained():
            if self.path is None:
                connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                connection.executescript(LAYOUT)
                return connection
            address = f"{self.path.absolute().as_uri()}?mode=rw"
            connection = sqlite3.connect(
                address, self._patience, isolation_level=None, check_same_thread=False, uri=True
            )
            connection.execute("PRAGMA synchronous = FULL")
            return connection

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        self._follow_forks()
        with self._lock, self._explained():
            self._connection.execute(begin)
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _follow_forks(self) -> None:
        if self._process == os.getpid():
            return
        if self.path is None:
            raise LedgerProblem(
                "this ledger lives in the memory of another process, which would not see what is spent here: "
                "keep it in a file with Ledger.create(path, ...)"
            )
        _abandoned.append(self._connection)
        self._process, self._lock, self._connection = os.getpid(), threading.RLock(), self._connect()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None) or ""
            reason = next((text for prefix, text in ADVICE.items() if name.startswith(prefix)), DAMAGED)
            raise LedgerProblem(f"ledger {self.path or 'in memory'} {reason}") from None


def create_file(path: Path, fill: str) -> None:
    """Make a new ledger file from SQL, whole or not at all; never over an existing file."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.draft")
    try:
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {LAYOUT} {fill}")
        finally:
            connection.close()
        os.link(draft, path)
    except FileExistsError:
        raise LedgerProblem(f"{path} exists already: choose another path, or open it") from None
    except (OSError, sqlite3.Error):
        raise LedgerProblem(
            f"{path} cannot be created: check the folder, its permissions and the disk"
        ) from None
    finally:
        for suffix in ("", "-wal", "-shm"):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)
