"""Where a ledger keeps its lines: one file that any number of processes may share and that only grows, or memory."""

import errno
import os
import random
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .. import wording
from ..addresses import is_address
from ..errors import LedgerProblem
from ..schema.refusing import refuse

try:
    import fcntl
except ImportError:  # not a POSIX system: ledgers live in memory there
    fcntl = None  # type: ignore[assignment]


class Place(NamedTuple):
    """How far a reader has come: the number of bytes, and the last line, which must still be there next time."""

    end: int = 0
    last: bytes = b""


class Turn:
    """One reading of a store's lines, and at most one appended line."""

    def __init__(self, store: "Store", file: BinaryIO, process: int) -> None:
        self._store, self._file, self._process, self._torn = store, file, process, 0

    def after(self, place: Place) -> tuple[list[bytes], Place]:
        """The whole lines after a place, and the place after them. What follows the last newline was never answered: an
        answer is given when its newline is on the disk."""
        self._file.seek(place.end - len(place.last))
        known, new = (data := self._file.read())[: len(place.last)], data[len(place.last) :]
        self._still(known == place.last)
        whole, newline, torn = new.rpartition(b"\n")
        self._torn = len(torn)
        if not newline:
            return [], place
        lines = [line + b"\n" for line in whole.split(b"\n")]
        return lines, Place(place.end + len(whole) + 1, lines[-1])

    def append(self, line: bytes, place: Place) -> None:
        """Append a line right after this place, which must be the end; the line is on the disk when this returns."""
        size = self._file.seek(0, os.SEEK_END)
        if self._torn and size == place.end + self._torn:  # by somebody who was killed, or whose disk was full
            size = self._file.truncate(place.end)
        self._still(size == place.end)
        # checked and written in one step: a fork comes between others
        written = self._file.write(line) if os.getpid() == self._process else 0
        refuse(os.getpid() != self._process, wording.OTHERS_CHARGE.format(self._store), LedgerProblem)
        if written != len(line):
            raise OSError(errno.ENOSPC, "a short write")
        landed = self._file.tell() == place.end + len(line)  # elsewhere if anybody wrote at the same time
        self._store.settle(self._file)
        self._file.seek(place.end)
        self._still(landed and self._file.read() == line)

    def _still(self, there: bool) -> None:
        """Refuse a file in which something is not where it was left."""
        refuse(not there, wording.CUT_SHORT.format(self._store), LedgerProblem)


class Store:
    """Lines that only grow. `turn(write=True)` excludes all other writers; why that holds is on the kernel page.

    Every turn opens the file for itself: a lock by `flock` belongs to what was opened, so that other openings of the
    file, in this process or another, neither have it nor release it.
    """

    _file: tuple[int, int] | None = None
    kind = ""  # what receipts say of it

    def __init__(self, path: Path | None, patience: float = 30) -> None:
        self.path: Path | str | None = path.absolute() if path else None
        self._patience, self._memory, self._process = patience, BytesIO(), os.getpid()
        self._busy = threading.Lock()

    @contextmanager
    def turn(self, write: bool = False) -> Iterator[Turn]:
        process = os.getpid()  # before the lock: whoever is forked while it is held shares it, and has no turn
        with _turns:
            refuse(self._busy.locked(), wording.BUSY.format(self), LedgerProblem)  # asked by a signal handler
            refuse(not self.path and self._process != os.getpid(), wording.OTHERS_MEMORY, LedgerProblem)
            with self._busy, self._explained(), self._opened(write, process) as turn:
                yield turn

    @contextmanager
    def _opened(self, write: bool, process: int) -> Iterator[Turn]:
        if not self.path:
            yield Turn(self, self._memory, process)
            return
        flags = os.O_RDWR | os.O_APPEND if write else os.O_RDONLY
        with open(str(self.path), "ab+" if write else "rb", 0, opener=lambda path, _: os.open(path, flags)) as file:
            if write:
                self._wait_for_lock(file)
            self._check_place(file)
            try:
                yield Turn(self, file, process)
            finally:
                if write and process == os.getpid():  # not in a child that a signal handler forked: it is the parent's
                    fcntl.flock(file, fcntl.LOCK_UN)

    def _wait_for_lock(self, file: BinaryIO) -> None:
        deadline, pause = time.monotonic() + self._patience, 0.0002
        while True:
            with suppress(BlockingIOError):
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            refuse(time.monotonic() > deadline, wording.LOCKED.format(self), LedgerProblem)
            time.sleep(pause * random.random())
            pause = min(pause * 1.5, 0.005)

    def _check_place(self, file: BinaryIO) -> None:
        """Refuse a file that was moved or replaced meanwhile, or has two names: charges would go where nobody looks."""
        found, named = os.fstat(file.fileno()), os.stat(str(self.path))
        own, there = (found.st_dev, found.st_ino), (named.st_dev, named.st_ino)
        self._file = self._file or own
        refuse(not own == there == self._file, wording.MOVED.format(self), LedgerProblem)
        refuse(named.st_nlink > 1, wording.SECOND_NAME.format(self), LedgerProblem)

    def settle(self, file: BinaryIO) -> None:
        """Flush what was written to the disk, and check that the path still leads to this file."""
        if self.path:
            _sync(file.fileno())
            self._check_place(file)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LedgerProblem(f"{self} {wording.DISK.get(error.errno or 0, wording.DISK_ERROR)}") from None

    def create(self, line: bytes) -> None:
        """Make the file with its first line, whole or not at all; never over an existing file."""
        path = Path(str(self.path))
        draft = path.parent / f".{path.name}.{secrets.token_hex(4)}.draft"
        try:
            with open(draft, "xb") as file:
                file.write(line)
                file.flush()
                _sync(file.fileno())
            os.link(draft, path)
            _sync_folder(path.parent)
        except FileExistsError:
            raise LedgerProblem(f"{path} exists already: choose another path, or go on with this ledger") from None
        except (OSError, ValueError):
            raise LedgerProblem(f"{path} cannot be created: check the folder, its permissions and the disk") from None
        finally:
            with suppress(OSError, ValueError):
                os.unlink(draft)

    def __str__(self) -> str:
        return f"ledger {self.path or 'in memory'}"


_turns = threading.RLock()  # of all ledgers of this process, one thread at a time: a turn is short
if hasattr(os, "register_at_fork"):  # wait for another thread's turn: a child would find the lock taken for ever
    os.register_at_fork(before=_turns.acquire, after_in_parent=_turns.release, after_in_child=_turns.release)


def _sync(descriptor: int) -> None:
    if hasattr(fcntl, "F_FULLFSYNC"):  # where fsync leaves it in the disk's own memory
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def store_at(place: str | os.PathLike[str], patience: float = 30) -> Store:
    """The store at an address of a database, or in a file."""
    if is_address(place):
        from .database import Database  # which needs a driver

        return Database(str(place), patience)
    return Store(Path(place), patience)


def _sync_folder(folder: Path) -> None:
    """Flush the folder, so that the name of a new file survives a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
