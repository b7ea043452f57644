"""Marks: the newest entry of each ledger that this user charged on this machine; what shows an old copy to be old.

A mark is the number and the hash of one entry, nothing else, in a folder of the user's own. Marks are a second line of
defence: where they cannot be kept, a ledger works without them.
"""

import hashlib
import os
import re
from contextlib import suppress
from typing import IO, Any

OWN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # no link that others made, no pipe to wait for
MARK = re.compile(rb"([0-9]{18}) ([0-9a-f]{64})\n")
Mark = tuple[int, str]


def place(ledger: str) -> str:
    """The file for the mark of a ledger, by its id: in $VEIL_STATE, else where the system keeps such things."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    folder = os.environ.get("VEIL_STATE") or os.path.join(home, "veil")
    return os.path.join(folder, hashlib.sha256(ledger.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def read(ledger: str) -> Mark | None:
    """The mark of a ledger, if there is one."""
    with suppress(OSError, ValueError), _open(place(ledger), "rb", os.O_RDONLY) as file:
        if found := MARK.fullmatch(file.read(100)):
            return int(found[1]), found[2].decode()
    return None


def write(ledger: str, mark: Mark) -> None:
    """Keep a mark: always as many bytes, in one write, so that a kill leaves the old one or the new one. What somebody
    put behind it is cut off: a mark that cannot be read is none."""
    with suppress(OSError, ValueError):
        if not os.path.exists(path := place(ledger)):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with _open(path, "wb", os.O_WRONLY | os.O_CREAT) as file:
            file.write(f"{mark[0]:018} {mark[1]}\n".encode())
            file.truncate()


def _open(path: str, mode: str, flags: int) -> IO[Any]:
    return open(path, mode, 0, opener=lambda path, _: os.open(path, flags | OWN, 0o600))
