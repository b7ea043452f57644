"""The runs of a comparison: each in a process of its own, several at a time, and every result kept as it comes.

A seed is a split of the rows and the noise of the fit, so that a row of the table can be made again. The data are
public and nothing is protected here: seeded noise is for evaluation only.
"""

import math
import multiprocessing
import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from threadpoolctl import threadpool_limits

from ..errors import BadInput
from ..files.tables import new_file
from ..results import COLUMNS, KEY, MEASURED, Row, read_results
from .data import Data, Split, load, shortened, split
from .measures import measures
from .methods import Impossible, Method, find

PATIENCE = 30 * 60  # seconds that a run may take
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Task:
    """One fit to be measured; `divide(data, seed)` makes the split, of which `rows` are trained on, or all of them."""

    data: Data
    method: Method
    epsilon: float
    seed: int
    divide: Callable[[Data, int], Split] = split
    rows: int | None = None

    @property
    def row(self) -> Row:
        """The columns of its row that are known before it has run."""
        method = self.method
        known = {"data": self.data.name, "method": method.name, "epsilon": self.epsilon, "delta": method.delta}
        when = {"version": method.version or None, "date": datetime.now(UTC).date().isoformat()}
        return {**known, "seed": self.seed, "private": method.private, "rows": self.rows, **when}

    @property
    def key(self) -> tuple[Any, ...]:
        return _key(self.row)


def compare(
    methods: Sequence[str] = ("naive-bayes", "ceiling", "majority"),
    data: Sequence[str] = ("fair",),
    epsilons: Sequence[float] = (0.05, 0.1, 0.2, 0.5, 1),
    seeds: int = 10,
    *,
    rows: Sequence[int | None] = (None,),
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress = lambda name, done, total: None,
) -> pa.Table:
    """A row for every data set, method, epsilon and seed; methods that are not private run once a seed, at infinity.

    `auc` is the area under the ROC curve (of several classes: each against the rest, weighted), `m` is Hand and Till's,
    `seconds` is what the fit took on one thread from a pandas frame on, and `peak_memory` is the most MB that its
    process held, libraries included. A run that gave no answer has the status "failed" and a reason. `rows` are numbers
    of rows to train on, drawn from the training rows of the split, each in turn; None stands for all of them.

    Runs that the Parquet file `out` holds already are not repeated, and every new one is written to it at once. `jobs`
    of them go on at a time, as many as there are processors without it; `progress` gets a name, how many are done and
    how many there are.
    """
    plan = _plan(methods, data, epsilons, seeds, rows)
    return carry_out(plan, lambda todo: _results(todo, jobs or os.cpu_count() or 1), out, progress)


def carry_out(
    plan: Sequence[Task],
    work: Callable[[list[Task]], Generator[Row, None, None]],
    out: str | os.PathLike[str] | None,
    progress: Progress,
) -> pa.Table:
    """The results of all tasks, in the order of the plan: from the file `out` if it has them, else made by `work`."""
    rows = _held(out)
    held = {_key(row) for row in rows}
    todo = [task for task in plan if task.key not in held]
    with closing(work(todo)) as results:
        for done, row in enumerate(results, len(plan) - len(todo) + 1):
            rows.append(row)
            _keep(rows, out)
            progress(f"{row['data']} {row['method']}", done, len(plan))
    found = {_key(row): row for row in rows}
    return pa.Table.from_pylist([found[task.key] for task in plan], COLUMNS)


def _plan(
    methods: Sequence[str], data: Sequence[str], epsilons: Sequence[float], seeds: int, rows: Sequence[int | None]
) -> list[Task]:
    """All tasks, seed by seed; raises if any of them cannot run."""
    if not methods or not data or not epsilons or seeds < 1:
        raise BadInput("a comparison needs at least one method, one data set, one epsilon and one seed")
    if not all(0 < epsilon < math.inf for epsilon in epsilons):
        raise BadInput("every epsilon must be a finite number above zero")
    if not rows or not all(size is None or size >= 1 for size in rows):
        raise BadInput("numbers of rows must be above zero")
    found = [find(name) for name in dict.fromkeys(methods)]
    budgets = sorted(set(map(float, epsilons)))
    return [
        Task(loaded, method, epsilon, seed, rows=size)
        for loaded in map(load, dict.fromkeys(data))
        for size in dict.fromkeys(rows)
        for seed in range(seeds)
        for method in found
        for epsilon in (budgets if method.private else [math.inf])
    ]


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


def _held(out: str | os.PathLike[str] | None) -> list[Row]:
    """The results in a file; [] if there is no file yet."""
    if out is None or not Path(out).exists():
        return []
    return list(read_results(out).to_pylist())


def _keep(rows: list[Row], out: str | os.PathLike[str] | None) -> None:
    """Write all results, whole or not at all."""
    if out is not None:
        with new_file(out, force=True) as draft:
            pyarrow.parquet.write_table(pa.Table.from_pylist(rows, COLUMNS), draft)


class _Running:
    """A task in a process and process group of its own, so that it can be ended with all that it started."""

    def __init__(self, task: Task, context: Any, scratch: str) -> None:
        self.task, self.deadline = task, time.monotonic() + PATIENCE
        self.answer, sender = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(task, sender, scratch), daemon=True)
        self.process.start()
        sender.close()

    def result(self) -> Row | None:
        """The row of the table, None while the task is running within its time."""
        if self.answer.poll():
            try:
                row: Row = self.answer.recv()
                return row
            except EOFError:
                self.process.join()
                return _failure(self.task, f"the process ended with exit code {self.process.exitcode}")
        late = time.monotonic() > self.deadline
        return _failure(self.task, f"no answer in {PATIENCE / 60:.0f} minutes") if late else None

    def end(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # it may not have its group yet, or may be gone
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.answer.close()


def _results(todo: list[Task], jobs: int) -> Generator[Row, None, None]:
    """The rows of all tasks in the order in which they end; if the caller stops early, running tasks are ended."""
    context = multiprocessing.get_context("forkserver")  # a plain fork would copy threads' locks
    context.set_forkserver_preload(["__main__", "pandas", __name__])
    waiting, running = iter(todo), list[_Running]()
    with TemporaryDirectory(prefix="veil-") as scratch:
        try:
            while running := running + [
                _Running(task, context, scratch) for task in islice(waiting, jobs - len(running))
            ]:
                wait([each.answer for each in running], timeout=1)
                for each in list(running):
                    if (row := each.result()) is not None:
                        running.remove(each)
                        each.end()
                        yield row
        finally:
            for each in running:
                each.end()


def _work(task: Task, sender: Connection, scratch: str) -> None:
    """Run a task, ignoring Ctrl-C: the parent process ends it, and removes what it wrote."""
    os.setsid()
    tempfile.tempdir = scratch
    sender.send(next(one_by_one([task])))


def one_by_one(todo: Sequence[Task]) -> Generator[Row, None, None]:
    """The rows of tasks that run in this process, on one thread."""
    for task in todo:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            row = result_of(task)
        yield row


def result_of(task: Task) -> Row:
    """The row of the table for a task, run here and now."""
    try:
        parts = shortened(task.divide(task.data, task.seed), task.rows, task.seed)
        probabilities, seconds, memory = task.method.run(parts, task.epsilon, task.seed)
        if probabilities.shape != (len(parts.truth), len(parts.schema.classes)) or not np.isfinite(probabilities).all():
            return _failure(task, "the probabilities are not finite, or not one for each row and class")
    except Impossible as error:
        return _failure(task, str(error))
    except Exception as error:  # whatever goes wrong in a method is a result
        return _failure(task, f"{type(error).__name__}: {error}")
    measured = {**measures(parts.truth, probabilities), "seconds": seconds, "peak_memory": memory}
    return {**task.row, **measured, "status": "done", "reason": None}


def _failure(task: Task, reason: str) -> Row:
    unknown: Mapping[str, None] = dict.fromkeys(MEASURED)
    return {**task.row, **unknown, "status": "failed", "reason": " ".join(reason.split())}
