"""Progress of work whose size is public, for listeners. Off unless it is asked for.

Candidates, columns, cases and bytes of a file are numbers that are known beforehand; numbers of rows and the steps of a
solver are not, and are never reported here.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Listener = Callable[[str, int, int | None], object]  # what is done, how many parts of it, of how many if that is known
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def advance(work: str, done: int = 0, total: int | None = None) -> None:
    """Tell listeners that `done` of `total` parts of this work are done; without a total, that it has begun."""
    if (listener := _listener.get()) is not None:
        listener(work, done, total)


@contextmanager
def told(listener: Listener) -> Iterator[None]:
    """Call this listener with the progress of everything inside."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


class Line:
    """One line of a progress bar, about the work reported last."""

    def __init__(self, bar: "Progress") -> None:
        self.bar, self.work = bar, ""
        self.task: TaskID | None = None

    def __call__(self, work: str, done: int, total: int | None) -> None:
        if self.task is None or work != self.work:
            self.clear()
            self.work, self.task = work, self.bar.add_task(work, total=total)
        self.bar.update(self.task, completed=done, total=total)

    def clear(self) -> None:
        """Remove the line until there is more to report."""
        if self.task is not None:
            self.bar.remove_task(self.task)
        self.task = None


@contextmanager
def progress() -> Iterator[None]:
    """A progress bar for whatever runs inside, on a terminal or in a notebook: `with veil.progress(): model.fit(rows)`.

    It shows shares of public work, such as candidates scored, never a number of rows. Where nobody can see it, and
    inside another one, it does nothing.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if _listener.get() is not None or not (console.is_terminal or console.is_jupyter):
        yield
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar, told(Line(bar)):
        yield
