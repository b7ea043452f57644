"""Running a plan: on rows and their ledger, or on made-up ones, to see what it would ask; what a run cost."""

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from ..display import amount, readable
from ..errors import BadInput, BudgetRefused, NoLedger, warn
from ..kernel import Budget, Ledger, Receipt, Release, Source, make_noise, open_source
from ..schema import Categorical, Date, Numeric, Schema
from ..schema.calendars import PARTS
from .rehearsal import Rehearsal

GUESS = 10_000  # rows of a rehearsal whose schema does not say how many there are
MOST_ROWS = 100_000
Result = TypeVar("Result")
Plan = Callable[[Source, Budget], Result]
Releases = tuple[Release[Any], ...]
NO_LEDGER = (
    "epsilon {cost} of '{data}' is charged to no ledger, so nothing adds it to what else is asked of these rows: give "
    "ledger=, a veil.Ledger(limit, name) or the path of one made by `veil ledger create`"
)
_alone: set[str] = set()  # the ledgers of runs that were given none


def run(
    plan: Plan[Result],
    rows: Any,
    schema: Schema,
    budget: Budget,
    *,
    ledger: Any = None,
    noise: Any = None,
    purpose: str = "",
) -> tuple[Result, Releases, tuple[Receipt, ...]]:
    """What a plan makes of rows, every release it was made from, and what they cost.

    `ledger` is a Ledger or the path of one; without it, the run has a budget of its own, and warns if it is private.
    Receipts bear the `purpose`.
    """
    source = open_source(rows, schema, ledger_of(ledger, budget, schema), noise=noise, purpose=purpose)
    warn_of_no_ledger(ledger, budget, schema, noise)
    result = plan(source, budget)
    releases, receipts = source.record
    return result, tuple(releases), tuple(receipts)


def ledger_of(ledger: Any, budget: Budget, schema: Schema) -> Ledger:
    """The ledger that a parameter holds or names; without one, a ledger of this budget."""
    if isinstance(ledger, (str, os.PathLike)):
        return Ledger.open(ledger)
    if ledger is not None and not isinstance(ledger, Ledger):
        raise BadInput("ledger must be a Ledger, the path of one, or None")
    if ledger is not None:
        return ledger
    own = Ledger(budget, schema.name)
    _alone.add(own.id)
    return own


def warn_of_no_ledger(ledger: Any, budget: Budget, schema: Schema, noise: Any) -> None:
    """Warn, before anything is asked, if private rows are to be asked with private noise and no ledger was given."""
    if ledger is None and not schema.public and make_noise(noise).private:
        warn(NO_LEDGER.format(cost=amount(budget.epsilon), data=readable(schema.name)), NoLedger)


def marks(schema: Schema, receipts: Sequence[Receipt]) -> str:
    """What a title adds to the cost: that the promise does not hold, or that nobody adds the cost up."""
    if not is_private(schema, receipts):
        return ", NOT private"
    return ", charged to no ledger" if any(receipt.ledger in _alone for receipt in receipts) else ""


def share_rows(trained: Sequence[Receipt], judged: Sequence[Receipt]) -> bool:
    """Whether two runs may have asked the same rows: both charged one ledger, and not disjoint parts of its rows."""
    accounts = [{(receipt.ledger, receipt.account) for receipt in receipts} for receipts in (trained, judged)]
    pairs = [(one, other) for (book, one), (same, other) in product(*accounts) if book == same]
    return any(not _disjoint(*pair) for pair in pairs)


def _disjoint(first: str, second: str) -> bool:
    """Whether two accounts are of different parts of one split."""
    steps = zip(first.strip("/").split("/"), second.strip("/").split("/"), strict=False)
    apart = next(((one, other) for one, other in steps if one != other), ("", ""))
    return all(apart) and apart[0].partition(".")[0] == apart[1].partition(".")[0]


def check_budget(account: Ledger, budget: Budget) -> None:
    """Refuse before anything is charged what the ledger would refuse later on."""
    if account.left < budget.epsilon:
        raise BudgetRefused(
            f"epsilon {amount(budget.epsilon)} is more than the {amount(account.left)} that is left in the ledger: "
            "ask for less or stop here; nothing was charged"
        )


def try_out(plan: Plan[Any], schema: Schema, budget: Budget) -> None:
    """Refuse before anything is charged what the kernel would refuse later on: the plan, tried without rows."""
    run(plan, made_up(schema, 0), schema, budget, noise=0)


def rehearse(plan: Plan[Any], schema: Schema, budget: Budget) -> Rehearsal:
    """The answers that a run would ask for, with their noise: the plan, tried on rows that are made up.

    Nothing is opened or charged. A plan whose later questions follow from earlier answers shows one of its ways.
    """
    return Rehearsal(run(plan, made_up(schema, guessed_rows(schema)), schema, budget, noise=0)[1], schema)


def guessed_rows(schema: Schema) -> int:
    """How many rows a rehearsal makes up: as many as the schema guesses, within reason."""
    return min(GUESS if schema.rows is None else schema.rows, MOST_ROWS)


def made_up(schema: Schema, rows: int) -> dict[str, Any]:
    """Rows of a schema that tell nothing: even draws of what it declares, each by itself."""
    chance = np.random.default_rng(0)
    found: dict[str, Any] = {schema.person: np.arange(rows)} if schema.person else {}
    for column in schema.column:
        if isinstance(column, Categorical):
            found[column.name] = np.array(column.values, object)[chance.integers(len(column.values), size=rows)]
        elif isinstance(column, Date):
            found[column.name] = _made_up_dates(column, rows, chance)
        elif isinstance(column, Numeric):
            found[column.name] = chance.uniform(*column.bounds, size=rows)
        elif column.size:
            found[column.name] = _made_up_words(column, rows, chance)
        else:
            found[column.name] = np.full(rows, "")
    return found


def _made_up_dates(column: Date, rows: int, chance: np.random.Generator) -> Any:
    """Moments between the bounds, or numbers of months, weekdays or hours, as texts."""
    low, high = map(int, column.bounds)
    drawn = chance.integers(low, high + 1, size=rows)
    return drawn.astype(str).astype(object) if column.unit in PARTS else drawn.astype("M8[s]")


def _made_up_words(column: Any, rows: int, chance: np.random.Generator) -> Any:
    """A matrix in which every row has a few words."""
    few = min(column.words_per_row, column.size)
    places = np.repeat(np.arange(rows), few), chance.integers(column.size, size=rows * few)
    return csr_matrix((np.ones(rows * few, np.int8), places), shape=(rows, column.size))


def is_private(schema: Schema, receipts: Sequence[Receipt]) -> bool:
    """Whether the promise holds for what was made: a declared schema, and noise that nobody can repeat."""
    return bool(receipts) and not schema.public and all(receipt.private for receipt in receipts)


def total(receipts: Sequence[Receipt], path: str = "", pick: Callable[[Any], Fraction] = max) -> Fraction:
    """What charges cost together: those of one account add up, of the parts of a split the dearest counts.

    With `pick=min` the least that the charges on the path of a row add up to.
    """
    own = sum((receipt.epsilon for receipt in receipts if receipt.account.rstrip("/") == path), Fraction(0))
    inside = (receipt.account for receipt in receipts if receipt.account.startswith(f"{path}/"))
    splits: dict[str, list[Fraction]] = defaultdict(list)
    for part in {account[len(path) + 1 :].partition("/")[0] for account in inside} - {""}:
        splits[part.partition(".")[0]].append(total(receipts, f"{path}/{part}", pick))
    return own + sum(map(pick, splits.values()), Fraction(0))
