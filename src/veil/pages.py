"""Pages: `report(path)`, which all that is published has: one page of HTML about it, for readers who did not run it."""

import os
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from .files.tables import new_file
from .kernel import Ledger
from .plans.outcome import HasOutcome

HEIGHT = 640  # pixels of a page in a notebook


class Page(str):
    """The text of a page of HTML, which a notebook shows as the page itself."""

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self)}" sandbox style="width:100%;height:{HEIGHT}px;border:0"></iframe>'


class Reported(HasOutcome):
    """What has a report of its outcome."""

    def report(
        self, path: "str | os.PathLike[str] | None" = None, *, ledger: Any = None, force: bool = False
    ) -> "Path | Page":
        """Write one page of HTML about it, and give back its path; without a path, give back the page.

        The page stands by itself: what was asked, what it cost, what the noise does to it and what was released, made
        of released values alone, so it may be published as they may. `ledger` is a Ledger or the path of one, which
        shows what is left; a model that was fitted with one needs none. An existing file is replaced by `force` alone.
        """
        # found late: a page knows all kinds of what was published, so none of these can know the page
        page = Page(import_module("veil.report").report(self, **_balance(self, ledger)))
        if path is None:
            return page
        with new_file(path, force=force) as draft:
            draft.write_text(page, encoding="utf-8")
        return Path(path)


def _balance(made: Reported, ledger: Any) -> dict[str, Any]:
    """What is left of its ledger and the limit, if that ledger was charged for it."""
    book = getattr(made, "ledger", None) if ledger is None else ledger
    book = Ledger.open(book) if isinstance(book, (str, os.PathLike)) else book
    charged = {receipt.ledger for receipt in getattr(made, "receipts_", ())}  # none before a fit
    return {"left": book.left, "limit": book.limit} if isinstance(book, Ledger) and book.id in charged else {}
