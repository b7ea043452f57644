"""Fuzz everything that reads a file: `python fuzz/run.py --minutes 10`. Goes on where it stopped; see fuzz/done.json.

An input is right if it is read or refused with an error of Veil, shows no value of the rows, and takes little memory
and time. An input is known by its reader and number: `python fuzz/run.py --only csv --seed 17` runs one again.
"""

import argparse
import json
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

HERE = Path(__file__).parent
DONE = HERE / "done.json"
BATCH = 400  # inputs of one process
START, PATIENCE = 900, 120  # seconds for the start of a process and for an input; the worker counts its own seconds


def batch(reader: str, first: int, number: int) -> Iterator[tuple[int, str]]:
    """The number of each input and what is wrong with it; one that ends the process or the patience ends the batch."""
    command = [sys.executable, str(HERE / "worker.py"), reader, str(first), str(number)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        at, patience = first, START
        while at < first + number:
            ready, _, _ = select.select([process.stdout], [], [], patience)
            line = process.stdout.readline() if ready else ""
            if not line:
                process.kill()
                yield at, "does not end" if not ready else "ends the process"
                return
            (seed, wrong), patience = json.loads(line), PATIENCE
            if wrong != "begin":
                yield seed, wrong
                at = seed + 1


def fuzz(readers: list[str], minutes: float, done: dict[str, Any]) -> None:
    """Run batches of every reader in turn until the time is over; `done` is kept up to date in its file."""
    end, turn = monotonic() + 60 * minutes, 0
    while monotonic() < end:
        reader = readers[turn % len(readers)]
        known = done.setdefault(reader, {"inputs": 0, "failures": {}})
        for seed, wrong in batch(reader, known["inputs"], BATCH):
            known["inputs"] = seed + 1
            if wrong:
                known["failures"][str(seed)] = wrong.strip()
                print(f"  {reader} {seed}: {wrong.strip()}", flush=True)
            if monotonic() > end:
                break
        turn += 1
        DONE.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        print(f"{reader}: {known['inputs']:,} inputs", flush=True)


def main() -> int:
    """Fuzz, and say how many inputs each reader has had and how many failed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--only", help="these readers, such as csv,model")
    options.add_argument("--seed", type=int, help="run this input alone, and show what is wrong with it")
    given = options.parse_args()
    from readers import READERS

    readers = given.only.split(",") if given.only else [*READERS]
    if given.seed is not None:
        print(next(batch(readers[0], given.seed, 1)))
        return 0
    done = json.loads(DONE.read_text(encoding="utf-8")) if DONE.exists() else {}
    fuzz(readers, given.minutes, done)
    counts = ", ".join(f"{name}: {known['inputs']:,}" for name, known in done.items())
    failures = sum(len(known["failures"]) for known in done.values())
    print(f"inputs per reader: {counts}; failures: {failures}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
