"""How a measurement is taken and kept."""

import gc
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Result:
    """One measurement; `target` is what the ratio should stay under (or over, if it starts with >)."""

    name: str
    ours: float
    reference: float
    unit: str
    target: str

    @property
    def ratio(self) -> float:
        return self.ours / self.reference

    @property
    def met(self) -> bool:
        bound = float(self.target.lstrip("<> "))
        return self.ratio > bound if self.target.startswith(">") else self.ratio < bound


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(name: str, ours: Callable[[], Any], reference: Callable[[], Any], target: str, rounds: int = 15) -> Result:
    """Both sides in turn, `rounds` times; the medians of each."""
    ours(), reference()
    gc.collect()
    pairs = [(seconds(ours), seconds(reference)) for _ in range(rounds)]
    return Result(name, median(a for a, _ in pairs) * 1e3, median(b for _, b in pairs) * 1e3, "ms", target)


def in_its_own_process(file: str, what: str) -> list[float]:
    """The numbers that a module of this folder prints when it is run with this flag: peak memory is that of a
    process."""
    module = f"{__package__}.{Path(file).stem}"
    done = subprocess.run([sys.executable, "-m", module, what], check=True, capture_output=True, text=True)
    return [float(number) for number in done.stdout.split()]


def start_over() -> float:
    """Let the high-water mark of this process start anew; the MB that it holds now."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return resident("VmRSS")


def resident(name: str) -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return float(line.split()[1]) * 1024 / 1e6
