"""Progress: how much of work whose size is public is done, for whoever looks on. Off unless it is asked for.

Candidates, columns, cases and bytes of a file are numbers that are known beforehand; rows and the steps of a solver are
not, and nobody tells about them here.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

Listener = Callable[[str, int, int | None], object]  # what is done, how many parts of it, of how many if that is known
Thing = TypeVar("Thing")
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def advance(work: str, done: int = 0, total: int | None = None) -> None:
    """Tell whoever looks on that so many parts of this work are done; without a total, that it has begun."""
    if (listener := _listener.get()) is not None:
        listener(work, done, total)


def each(things: Sequence[Thing], work: str) -> Iterator[Thing]:
    """The same things, one after the other, telling how many are done; how many there are must be public."""
    for done, thing in enumerate(things):
        advance(work, done, len(things))
        yield thing
    advance(work, len(things), len(things))


@contextmanager
def told(listener: Listener) -> Iterator[None]:
    """Whatever runs inside tells this listener about its progress."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


@contextmanager
def progress() -> Iterator[None]:
    """A progress bar for whatever runs inside, on a terminal or in a notebook: `with veil.progress(): model.fit(rows)`.

    It shows shares of public work, such as candidates scored, never a number of rows. Where nobody can see it, and
    inside another one, it does nothing.
    """
    console = Console(stderr=True)
    if _listener.get() is not None or not (console.is_terminal or console.is_jupyter):
        yield
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        with told(lambda work, done, total: bar.update(task, description=work, completed=done, total=total)):
            yield
