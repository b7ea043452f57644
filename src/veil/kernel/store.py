"""Where a ledger keeps its entries: a SQLite file that any number of processes may share, or memory."""

import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from weakref import WeakSet

from ..errors import LedgerProblem

MARK = 1449486668
LAYOUT = f"""
PRAGMA application_id = {MARK};
CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE accounts (path TEXT PRIMARY KEY, spent TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
CREATE TRIGGER entries_are_final BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END;
"""
DURABLE = "PRAGMA synchronous = EXTRA; PRAGMA fullfsync = ON;"  # EXTRA: also where a file is not in WAL mode
INSERT = "INSERT INTO entries VALUES (?, ?, ?)"
BUSY = "is locked by another program: close it, or try again"
STRANGER = "is not a ledger: check the path, or restore the file from a backup"
ADVICE = {
    "SQLITE_BUSY": BUSY,
    "SQLITE_LOCKED": BUSY,
    "SQLITE_PROTOCOL": BUSY,
    "SQLITE_READONLY": "cannot be written: ask its owner for write permission to the file and its folder",
    "SQLITE_FULL": "cannot grow, the disk is full: free some space and ask again; nothing was answered",
    "SQLITE_IOERR": "cannot be written, the disk reports an error: check it and ask again; nothing was answered",
    "SQLITE_CANTOPEN": "cannot be opened: check the path and the permissions of the file and its folder",
    "SQLITE_NOTADB": STRANGER,
}
DAMAGED = "is damaged: restore it from a backup and run `veil ledger verify` against your latest receipts"


class Store:
    """A place for entries and amounts; `write` is one transaction at a time, `read` one consistent view.

    No connection crosses a fork. SQLite remembers a process's locks in its memory: a child would believe in locks that
    only its parent holds, and go on writing to a journal that others have deleted.
    """

    _connection: sqlite3.Connection | None = None
    _file: tuple[int, int] | None = None

    def __init__(self, path: Path | None, patience: float = 30) -> None:
        self.path = path.absolute() if path else None
        self._patience, self._process, self._lock = patience, os.getpid(), threading.RLock()
        with _forking:
            _stores.add(self)

    def _connect(self) -> sqlite3.Connection:
        address = f"{self.path.as_uri()}?mode=rw" if self.path else "file::memory:"
        return sqlite3.connect(address, timeout=self._patience, isolation_level=None, check_same_thread=False, uri=True)

    def _open(self) -> sqlite3.Connection:
        connection = self._connect()
        try:
            connection.executescript(DURABLE if self.path else LAYOUT)
            if connection.execute("PRAGMA application_id").fetchone()[0] != MARK:
                raise LedgerProblem(f"{self} {STRANGER}")
            self._file = self._file or _identity(self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def read(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("BEGIN")

    def write(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("BEGIN IMMEDIATE")

    def check(self) -> None:
        """Raise LedgerProblem unless SQLite finds its own structures sound."""
        with self.read() as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                raise LedgerProblem(f"{self} {DAMAGED}")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, self._explained():
            connection = self._here()
            try:
                connection.execute(begin)
                self._check_place()
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _here(self) -> sqlite3.Connection:
        """This process's connection, idle."""
        if self._connection is None:
            self._process, self._connection = os.getpid(), self._open()
        if self._process != os.getpid():
            raise LedgerProblem(
                "this ledger lives in the memory of another process, which would not see what is spent here: "
                "keep it in a file with Ledger.create(path, ...)"
            )
        if self._connection.in_transaction:  # asked by a signal handler in the middle of a charge
            raise LedgerProblem(f"{self} is in the middle of a charge: ask again when it is done")
        return self._connection

    def _check_place(self) -> None:
        """A file moved or replaced under its connection would be charged where nobody looks."""
        if _identity(self.path) != self._file:
            raise LedgerProblem(f"{self} was moved or replaced while it was open: open it again")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:  # UnicodeError: SQLite quotes a damaged name
            name = getattr(error, "sqlite_errorname", None) or ""
            reason = next((text for prefix, text in ADVICE.items() if name.startswith(prefix)), DAMAGED)
            raise LedgerProblem(f"{self} {reason}") from None

    def close(self) -> None:
        """Let go of the file; the next transaction opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def __str__(self) -> str:
        return f"ledger {self.path or 'in memory'}"


_forking = threading.RLock()
_stores: WeakSet[Store] = WeakSet()
_paused: list[Store] = []


def _before_fork() -> None:
    """Let transactions end, and leave nothing of SQLite's to the child; both sides connect again when they need to."""
    _forking.acquire()
    for store in _stores:
        store._lock.acquire()
        _paused.append(store)
        if store.path:
            store.close()


def _after_fork() -> None:
    while _paused:
        _paused.pop()._lock.release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def _identity(path: Path | None) -> tuple[int, int]:
    """Which file this is, whatever its name; a second name would have a journal of its own."""
    if path is None:
        return 0, 0
    try:
        found = os.stat(path)
    except OSError:
        raise LedgerProblem(f"ledger {path} is gone: put it back, or open it where it is now") from None
    if found.st_nlink > 1:
        raise LedgerProblem(f"ledger {path} has a second name, where other charges may be: remove that hard link")
    return found.st_dev, found.st_ino


def create_file(path: Path, first: tuple[int, str, str]) -> None:
    """Make a new ledger file with its first entry, whole or not at all; never over an existing file."""
    for left in (f"{path}-wal", f"{path}-journal"):
        if os.path.lexists(left):  # SQLite would play it back into the new file
            raise LedgerProblem(f"{left} belongs to a ledger that was at {path}: restore that, or choose another path")
    draft = f"{path.parent / f'.{path.name}.{secrets.token_hex(4)}'}.draft"
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.executescript(f"PRAGMA journal_mode = WAL; {DURABLE} {LAYOUT}")
            connection.execute(INSERT, first)
        os.link(draft, path)
    except FileExistsError:
        raise LedgerProblem(f"{path} exists already: choose another path, or go on with this ledger") from None
    except (OSError, ValueError, sqlite3.Error):
        raise LedgerProblem(f"{path} cannot be created: check the folder, its permissions and the disk") from None
    finally:
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError, ValueError):
                os.unlink(draft + suffix)
