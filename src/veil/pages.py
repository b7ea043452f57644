"""What everything published shares: its outcome, its verdict, and a report in HTML for readers who did not run it."""

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
    """The HTML text of a page; a notebook shows it as the page itself."""

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self)}" sandbox style="width:100%;height:{HEIGHT}px;border:0"></iframe>'


class Published(ABC):
    """Base class of everything made from noisy answers: `outcome_` holds it all, and its parts have attributes here.

    Before a fit there is no outcome, and none of these attributes.
    """

    outcome_: Outcome[Any]

    @property
    def schema_(self) -> Schema:
        """The schema, which declared what was public about the rows; with the bins that were found, if any were."""
        return self.outcome_.schema

    @property
    def releases_(self) -> tuple[Release[Any], ...]:
        """Every noisy answer that it was made from, in the order in which they were asked."""
        return self.outcome_.releases

    @property
    def searched_(self) -> tuple[Release[Any], ...]:
        """The noisy answers by which bins were found before, the class totals first; () if there was no search."""
        return self.outcome_.searched

    @property
    def receipts_(self) -> tuple[Receipt, ...]:
        """The receipts of the charges for all these answers, in `releases_` and in `searched_`."""
        return self.outcome_.receipts

    @property
    def settings_(self) -> dict[str, Any]:
        """The settings that it was made with, as plain values."""
        return dict(self.outcome_.settings)

    @property
    def private_(self) -> bool:
        """Whether the promise holds: the schema was declared, and the noise is such that nobody can repeat it."""
        return self.outcome_.private

    @property
    @abstractmethod
    def verdict_(self) -> Verdict:
        """How good it is in relation to its noise, judged from released and declared values alone."""


class Reported(Published):
    """Base class of everything that has a report."""

    def report(
        self, path: "str | os.PathLike[str] | None" = None, *, ledger: Any = None, force: bool = False
    ) -> "Path | Page":
        """Write a report, one page of HTML, and return its path; without a path, return the page.

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
    """{"left": ..., "limit": ...} of the ledger that was charged for it; {} if that is not known."""
    ledger = getattr(made, "ledger", None) if ledger is None else ledger
    ledger = Ledger.open(ledger) if isinstance(ledger, (str, os.PathLike)) else ledger
    charged = {receipt.ledger for receipt in getattr(made, "receipts_", ())}  # none before a fit
    if not isinstance(ledger, Ledger) or ledger.id not in charged:
        return {}
    return {"left": ledger.left, "limit": ledger.limit}
