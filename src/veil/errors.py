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


class NoLedger(UserWarning):
    """Private rows were asked and no ledger was charged: nothing adds this cost to what else is asked of them."""


class SameRows(UserWarning):
    """By its receipts, a model was trained on the rows that now judge it, or may have been: the figures flatter it."""


def warn(message: str, kind: type[UserWarning]) -> None:
    """Warn at the line, outside Veil, that called: so Python tells each of them once."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "veil":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
