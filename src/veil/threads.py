"""Threads: how many the libraries of linear algebra may use."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Within it, products of matrices keep to one thread: of small ones, threads wait longer than they work."""
    found: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return found


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that are loaded, NumPy's among them. To look for them takes as long as counting a hundred grids."""
    return ThreadpoolController()
