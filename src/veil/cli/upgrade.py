"""Ledgers of earlier versions, which were SQLite databases, rewritten as lines. The hash chain stays the same."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from ..errors import LedgerProblem
from ..files.tables import new_file
from ..kernel import Entries, line_of

ENTRIES = "SELECT number, hash, body FROM entries ORDER BY number"
OLD = b"SQLite format 3\0"


def upgrade(path: Path) -> int:
    """Rewrite a ledger file in place; returns the number of entries.

    Nobody can charge the old file meanwhile; processes that still have it open find that it was replaced. A damaged
    ledger is left alone.
    """
    path = path.resolve()
    with suppress(OSError), open(path, "rb") as file:
        if file.read(len(OLD)) != OLD:
            raise LedgerProblem(f"{path} is not a ledger of an earlier version: there is nothing to upgrade")
    before = _file_at(path)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)) as old:
            old.execute("BEGIN EXCLUSIVE")
            if _file_at(path) != before:  # by another upgrade, which was quicker; that ledger may be charged by now
                raise LedgerProblem(f"{path} was replaced meanwhile: look whether it is upgraded already")
            lines = [line_of(*row) for row in old.execute(ENTRIES)]
            _check(lines)
            _replace(path, lines)
    except (sqlite3.Error, UnicodeError):
        raise LedgerProblem(f"{path} cannot be read: close all that use it, or restore it from a backup") from None
    for beside in ("-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{beside}")
    return len(lines)


def _file_at(path: Path) -> tuple[int, int]:
    """Device and inode of a file; refuses one with a second name, which would stay behind and could be charged."""
    try:
        found = os.stat(path)
    except OSError:
        raise LedgerProblem(f"{path} cannot be read: check the path") from None
    if found.st_nlink > 1:
        raise LedgerProblem(f"{path} has a second name, which would stay as it is: remove that hard link")
    return found.st_dev, found.st_ino


def _check(lines: list[bytes]) -> None:
    entries = Entries()
    for line in lines:
        entries.add(line)
    if not lines:
        raise LedgerProblem("the ledger has lost its first entry: restore it from a backup")


def _replace(path: Path, lines: list[bytes]) -> None:
    with new_file(path, force=True) as draft, open(draft, "wb") as file:
        file.write(b"".join(lines))
        os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
        file.flush()
        os.fsync(file.fileno())
