"""One input after the other, in a process of its own with little memory: what is wrong with each, as lines of JSON."""

import json
import os
import re
import resource
import sys
import traceback
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import process_time
from typing import Any

from readers import CANARY, NUMBER, READERS, Reader, content_of

from veil import VeilError

SPACE = 3 << 30  # bytes of addresses beside those that the libraries take
MEMORY = 400 << 20  # bytes that an input may take; all of them are small
SECONDS = 10
SECRET = re.compile(f"{CANARY}|{NUMBER}")


def main(name: str, first: int, number: int, report: Any) -> None:
    """Check so many inputs from the first on; say the number of each before and what is wrong with it after."""
    reader = READERS[name]
    reader.contents()  # made without a limit
    limit = _status("VmSize") + SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    print(json.dumps([first, "begin"]), file=report, flush=True)
    with TemporaryDirectory() as folder, TemporaryFile() as said:
        _redirect(said)
        for seed in range(first, first + number):
            print(json.dumps([seed, "begin"]), file=report, flush=True)
            wrong = problems(reader, content_of(reader, seed), Path(folder, reader.name), said)
            print(json.dumps([seed, wrong]), file=report, flush=True)


def problems(reader: Reader, content: bytes, path: Path, said: Any = None) -> str:
    """What is wrong with how a file is read: nothing, or some words."""
    for old in path.parent.iterdir():
        old.unlink()
    path.write_bytes(content)
    _forget_peak()
    before, begin = _status("VmHWM"), process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shown, wrong = _read(reader, path)
    shown += "".join(str(one.message) for one in caught) + _printed(said)
    if SECRET.search(shown):
        wrong += " shows a value of the rows"
    if _status("VmHWM") - before > MEMORY:
        wrong += " takes too much memory"
    return wrong + (" takes too long" if process_time() - begin > SECONDS else "")


def _read(reader: Reader, path: Path) -> tuple[str, str]:
    """What an error shows, and what is wrong with it if it is none of ours."""
    try:
        reader.read(path)
        return "", ""
    except VeilError as problem:
        return "".join(traceback.format_exception(problem)), ""
    except BaseException as problem:
        place = traceback.extract_tb(problem.__traceback__)[-1]
        return "".join(traceback.format_exception(problem)), f"{type(problem).__name__} in {place.name}"


def _printed(said: Any) -> str:
    """What the process has written to its two streams since it was asked last."""
    if said is None:
        return ""
    text = os.pread(said.fileno(), 1 << 20, 0)
    os.ftruncate(said.fileno(), 0)
    os.lseek(said.fileno(), 0, os.SEEK_SET)
    return text.decode("utf-8", "replace")


def _redirect(said: Any) -> None:
    sys.stdout.flush()
    for stream in (1, 2):
        os.dup2(said.fileno(), stream)


def _status(field: str) -> int:
    """Bytes that this process has, or has had at most."""
    try:
        text = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:  # another system
        return 0
    return int(re.search(rf"{field}:\s+(\d+)", text)[1]) * 1024  # type: ignore[index]


def _forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    except OSError:
        pass


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as lines:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), lines)
