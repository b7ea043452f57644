"""Outcome: what a method made, with the noisy answers that went into it and their receipts; hence its cost, and whether
the promise holds for it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Generic, TypeVar

from ..display import amount, readable
from ..kernel import Budget, Receipt, Release
from ..schema import Schema

Made = TypeVar("Made", covariant=True)
OWN_LEDGERS: set[str] = set()  # ids of the ledgers made for runs that were given none


@dataclass(frozen=True, eq=False, repr=False)
class Outcome(Generic[Made]):
    """What was `made`, the `method` that made it, its `settings` (plain values), and the answers that it was made from.

    `schema` declares what was public about the rows, with the bins that were found; `releases` are the answers in the
    order in which they were asked, `searched` those by which bins were found before (the class totals among them are
    the first of `releases` too, for the method uses them), and `receipts` the charges for all of them. `trace` tells,
    in plain values, how the method was chosen, if it was; `until` which goal a walk up levels of epsilon had, whether
    it was reached, and at which level the walk stopped (see `plans.until`).
    """

    made: Made
    method: str
    settings: Mapping[str, Any]
    schema: Schema
    releases: tuple[Release[Any], ...]
    receipts: tuple[Receipt, ...]
    searched: tuple[Release[Any], ...] = ()
    trace: Mapping[str, Any] | None = None
    until: Mapping[str, Any] | None = None

    @property
    def ex_post(self) -> Fraction:
        """What was lost by what was looked at: less than `epsilon` if finer answers were paid for and left unseen. It
        is known only afterwards, and nothing of the charge is returned."""
        return self.epsilon if self.until is None else Budget(self.until["level"]).epsilon

    @property
    def epsilon(self) -> Fraction:
        """The exact epsilon it cost: charges add up, and of disjoint parts of the rows the dearest counts."""
        return total(self.receipts)

    @property
    def known(self) -> tuple[Release[Any], ...]:
        """The answers of the search that the method used: the class totals, if there was a search."""
        before = {release.receipt.number for release in self.searched}
        return tuple(release for release in self.releases if release.receipt.number in before)

    @property
    def answers(self) -> tuple[Release[Any], ...]:
        """All answers, each once, those of the search first."""
        before = {release.receipt.number for release in self.searched}
        return (*self.searched, *(release for release in self.releases if release.receipt.number not in before))

    @property
    def left(self) -> Budget:
        """The budget that the search left to the method."""
        spent = {release.receipt.number: release.receipt.epsilon for release in self.searched}
        return Budget(Budget(self.settings["epsilon"]).epsilon - sum(spent.values()))

    @property
    def private(self) -> bool:
        """Whether the promise holds: a declared schema, and for all answers a charge and unrepeatable noise."""
        charged = bool(self.receipts) or not self.releases
        return charged and not self.schema.public and all(receipt.private for receipt in self.receipts)

    @property
    def mark(self) -> str:
        """A warning for titles: that the promise does not hold, or that no ledger adds the cost up; or ""."""
        if not self.private:
            return ", NOT private"
        return ", charged to no ledger" if any(receipt.ledger in OWN_LEDGERS for receipt in self.receipts) else ""

    def __repr__(self) -> str:
        asked = f"Outcome of {readable(self.method)} on '{readable(self.schema.name)}'"
        return f"{asked} for epsilon {amount(self.epsilon)}{self.mark}"


def total(receipts: Sequence[Receipt], path: str = "", pick: Callable[[Any], Fraction] = max) -> Fraction:
    """The epsilon of charges together: those about the same rows add up, of the parts of a split the dearest counts.

    With `pick=min` the cheapest part of each split counts instead; `path` is where to start, "" for all rows.
    """
    own = sum((receipt.epsilon for receipt in receipts if receipt.account.rstrip("/") == path), Fraction(0))
    inside = (receipt.account for receipt in receipts if receipt.account.startswith(f"{path}/"))
    splits: dict[str, list[Fraction]] = defaultdict(list)
    for part in {account[len(path) + 1 :].partition("/")[0] for account in inside} - {""}:
        splits[part.partition(".")[0]].append(total(receipts, f"{path}/{part}", pick))
    return own + sum(map(pick, splits.values()), Fraction(0))


def share_rows(trained: Sequence[Receipt], judged: Sequence[Receipt]) -> bool:
    """Whether two runs may have used the same rows: both charged one ledger, and not for disjoint parts of its rows."""
    pairs = product(_accounts(trained), _accounts(judged))
    return any(ledger == same and not _disjoint(one, other) for (ledger, one), (same, other) in pairs)


def keep_apart(trained: Sequence[Receipt], judged: Collection[tuple[str, str]]) -> bool:
    """Whether receipts show that two runs used different rows: both charged one ledger alone, always for disjoint parts
    of its rows. `judged` are the (ledger, account) of the charges of one of them."""
    pairs = [*product(_accounts(trained), judged)]
    return bool(pairs) and all(first == other and _disjoint(one, two) for (first, one), (other, two) in pairs)


def _accounts(receipts: Sequence[Receipt]) -> set[tuple[str, str]]:
    return {(receipt.ledger, receipt.account) for receipt in receipts}


def _disjoint(first: str, second: str) -> bool:
    """Whether two accounts are of different parts of one split."""
    steps = zip(first.strip("/").split("/"), second.strip("/").split("/"), strict=False)
    apart = next(((one, other) for one, other in steps if one != other), ("", ""))
    return all(apart) and apart[0].partition(".")[0] == apart[1].partition(".")[0]
