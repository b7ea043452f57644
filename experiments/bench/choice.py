"""Automatic choice: what it adds to a fit, and how long `veil plan` takes from a cold start, in CPU time."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from veil import datasets
from veil.choice.classifiers import facts_of, known

from .measure import Result

ALLOWED = 50.0  # ms that a choice may add to a fit
ANSWER = 1.5  # s that `veil plan` may take


def choice() -> Iterator[Result]:
    """Reading the traces and choosing, the first time and after; and the command that shows what to expect."""
    rows, schema = datasets.load("fair")
    facts = facts_of(schema, len(rows), 1.0)
    first = _cpu(lambda: (known.cache_clear(), _choose(facts)))
    yield Result("choose a classifier, the first time / 50 ms", 1e3 * first, ALLOWED, "ms", "< 1")
    again = min(_cpu(lambda: _choose(facts)) for _ in range(10))
    yield Result("choose a classifier again / 50 ms", 1e3 * again, ALLOWED, "ms", "< 1")
    yield Result("veil plan, CPU from a cold start / 1.5 s", _plan(schema), ANSWER, "s", "< 1")


def _choose(facts: dict[str, float]) -> Any:
    """What a fit does to choose, once the facts are known."""
    return known().predict(facts), known().nearest(facts), known().far(facts)


def _cpu(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _plan(schema: Any) -> float:
    """The CPU seconds of a process that answers `veil plan`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fair.toml")
        path.write_text(schema.to_toml(), encoding="utf-8")
        command = [sys.executable, "-c", "from veil.cli import main; main()", "plan", "--schema", str(path), "--json"]
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    for result in choice():
        print(f"{result.name}: {result.ours:.2f} {result.unit}")
