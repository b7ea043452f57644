"""Running a plan: on rows and their ledger, or on a table without rows, to see what it would ask; what a run cost."""

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from ..kernel.budget import Budget
from ..kernel.ledger import Ledger, Receipt
from ..kernel.release import Release
from ..kernel.source import Source, open_source
from ..schema import Schema

Result = TypeVar("Result")
Plan = Callable[[Source, Budget], Result]
Releases = tuple[Release[Any], ...]


def run(
    plan: Plan[Result], rows: Any, schema: Schema, budget: Budget, *, ledger: Any = None, noise: Any = None
) -> tuple[Result, Releases, tuple[Receipt, ...]]:
    """What a plan makes of rows, every release it was made from, and what they cost.

    `ledger` is a Ledger or the path of one; without it, the run has a budget of its own.
    """
    source = open_source(rows, schema, _ledger(ledger, budget, schema), noise=noise)
    result = plan(source, budget)
    releases, receipts = source.record
    return result, tuple(releases), tuple(receipts)


def _ledger(ledger: Any, budget: Budget, schema: Schema) -> Ledger:
    if ledger is None:
        return Ledger(budget, schema.name)
    return Ledger.open(ledger) if isinstance(ledger, (str, os.PathLike)) else ledger


def rehearse(plan: Plan[Any], schema: Schema, budget: Budget) -> Releases:
    """The answers that a run would ask for, with their noise: the plan, tried on a table without rows.

    Nothing is opened or charged. A plan whose later questions follow from earlier answers shows one of its ways.
    """
    names = [*(column.name for column in schema.column), schema.person]
    nothing: dict[str, list[Any]] = {name: [] for name in names if name}
    return run(plan, nothing, schema, budget, noise=0)[1]


def is_private(schema: Schema, receipts: Sequence[Receipt]) -> bool:
    """Whether the promise holds for what was made: a declared schema, and noise that nobody can repeat."""
    return bool(receipts) and not schema.public and all(receipt.private for receipt in receipts)


def total(receipts: Sequence[Receipt], path: str = "") -> Fraction:
    """What charges cost together: those of one account add up, of the parts of a split the dearest counts."""
    own = sum((receipt.epsilon for receipt in receipts if receipt.account.rstrip("/") == path), Fraction(0))
    inside = (receipt.account for receipt in receipts if receipt.account.startswith(f"{path}/"))
    dearest: dict[str, Fraction] = defaultdict(Fraction)
    for part in {account[len(path) + 1 :].partition("/")[0] for account in inside} - {""}:
        split = part.partition(".")[0]
        dearest[split] = max(dearest[split], total(receipts, f"{path}/{part}"))
    return own + sum(dearest.values(), Fraction(0))
