"""Everything Veil raises on purpose. Messages name columns, files and parameters, never values or numbers of rows."""


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
