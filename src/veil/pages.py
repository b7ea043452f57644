"""Whatever is published: its outcome, what it is worth, and a page of HTML about it for readers who did not run it."""

import os
from abc import ABC, abstractmethod
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from .files.tables import new_file
from .kernel import Ledger, Receipt, Release
from .plans.outcome import Outcome
from .schema import Schema
from .verdicts import Verdict

HEIGHT = 640  # pixels of a page in a notebook


class Page(str):
    """The text of a page of HTML, which a notebook shows as the page itself."""

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self)}" sandbox style="width:100%;height:{HEIGHT}px;border:0"></iframe>'


class Published(ABC):
    """Whatever was made of noisy answers: `outcome_` says how, and its parts can be read by names of their own.

    Before a fit there is no outcome, and none of them.
    """

    outcome_: Outcome[Any]

    @property
    def schema_(self) -> Schema:
        """What was public about the rows."""
        return self.outcome_.schema

    @property
    def releases_(self) -> tuple[Release[Any], ...]:
        """Every noisy answer that it was made from, in their order."""
        return self.outcome_.releases

    @property
    def receipts_(self) -> tuple[Receipt, ...]:
        """What the answers were charged."""
        return self.outcome_.receipts

    @property
    def settings_(self) -> dict[str, Any]:
        """The settings that it was made with, as plain values."""
        return dict(self.outcome_.settings)

    @property
    def private_(self) -> bool:
        """Whether the promise holds: a declared schema, and noise that nobody can repeat."""
        return self.outcome_.private

    @property
    @abstractmethod
    def verdict_(self) -> Verdict:
        """What it is worth beside its noise, from what was released and declared alone."""


class Reported(Published):
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
