"""What Veil raises or warns of. Messages name columns, files, parameters, never values or numbers of rows."""

import sys
import warnings


class VeilError(Exception):
    """Something went wrong; the message says what to do next."""

    exit_code = 1


class BadInput(VeilError, ValueError):
    """A name, a parameter, a declared type or a file is not usable."""

    exit_code = 2


class LedgerProblem(BadInput):
    """A ledger file cannot be used: missing, locked, damaged, read-only, or another data set's."""


class BudgetRefused(VeilError):
    """The budget does not cover the question; nothing was answered and nothing was charged."""

    exit_code = 3


class LittleLearned(UserWarning):
    """A result that says little more than noise would; its message follows from released values alone."""


class NoLedger(UserWarning):
    """Private rows were asked and no ledger was charged: nothing adds this cost to what else is asked of them."""


class SameRows(UserWarning):
    """By its receipts, a model was trained on the rows that now judge it, or may have been: the figures flatter it."""


_told: set[tuple[type[UserWarning], str, int]] = set()


def warn(message: str, kind: type[UserWarning]) -> None:
    """Warn at the line, outside Veil, that called; once for each, unless whoever runs it asks for more or less.

    Python does so by itself, but forgets what it told whenever filters change, as they do while rows are read.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "veil":
        frame, level = frame.f_back, level + 1
    place = kind, frame.f_code.co_filename, frame.f_lineno
    action = next((action for action, _, category, *_ in warnings.filters if issubclass(kind, category)), "default")
    if action != "default" or place not in _told:
        _told.add(place)
        warnings.warn(message, kind, stacklevel=level)
