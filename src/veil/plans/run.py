"""Running a plan on private rows and their ledger, or on made-up rows, to show what it would ask."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix

from ..display import amount, readable
from ..errors import BadInput, BudgetRefused, NoLedger, warn
from ..kernel import Budget, Ledger, Release, Source, make_noise, open_source
from ..questions import WHOLE, Bag
from ..schema import Categorical, Date, Numeric, Schema
from ..schema.calendars import PARTS
from .finding.search import Found, Search, search, to_pool, to_search, widest
from .outcome import OWN_LEDGERS, Outcome
from .rehearsal import Rehearsal, aside, quickly
from .sizing import Known

GUESS = 10_000  # rows of a rehearsal whose schema does not say how many there are
MOST_ROWS = 100_000
Result = TypeVar("Result")
Plan = Callable[..., Result]  # of a source, a budget and, by name, answers that are known already
Given = Mapping[str, Any] | None
NO_LEDGER = (
    "epsilon {cost} of '{data}' is charged to no ledger, so nothing adds it to what else is asked of these rows: give "
    "ledger=, a veil.Ledger(limit, name) or the path of one made by `veil ledger create`"
)


def opened(
    rows: Any,
    schema: Schema,
    budget: Budget,
    *,
    ledger: Any = None,
    noise: Any = None,
    purpose: str = "",
    free: bool = False,
) -> Source:
    """An open source over the rows; nothing is charged yet. Refuses if the ledger cannot pay the budget, unless what
    follows is `free`.

    `ledger` is a Ledger or the path of one; without it, the rows have this budget alone, and a warning says so if they
    are private. Receipts bear the `purpose`.
    """
    charged = ledger_of(ledger, budget, schema)
    source = open_source(rows, schema, charged, noise=noise, purpose=purpose)
    if not free:
        check_budget(charged, budget)
    if ledger is None and not schema.public and make_noise(noise).private:
        warn(NO_LEDGER.format(cost=amount(budget.epsilon), data=readable(schema.name)), NoLedger)
    return source


def run(
    source: Source,
    plan: Plan[Result],
    budget: Budget,
    *,
    method: str = "",
    settings: Given = None,
    how: Search | None = None,
    totals: Known = None,
) -> Outcome[Result]:
    """Run a plan on an open source, with `how` after a search for bins. Returns its Outcome, with the releases and
    receipts of this run alone, and of the class `totals` if they were paid for before, beside this budget."""
    before = () if totals is None else (totals,)
    start, found = source.record, Found(source, budget, {} if totals is None else {"totals": totals})
    if how is not None and (to_search(source.schema, how) or to_pool(source.schema, how)):
        try_out(plan, widest(source.schema, how), budget)  # what it refuses is refused before the search is charged
        found = search(source, budget, how, totals)
    asked = len(source.record.releases) - len(start.releases)
    made = plan(found.source, found.budget, **found.known)
    end = found.source.record
    releases, receipts = end.releases[len(start.releases) :], end.receipts[len(start.receipts) :]
    paid = (*(release.receipt for release in before), *receipts)
    kept = (*found.known.values(), *releases[asked:])
    return Outcome(made, method, settings or {}, found.source.schema, kept, paid, (*before, *releases[:asked]))


def ledger_of(ledger: Any, budget: Budget, schema: Schema) -> Ledger:
    """The ledger that a parameter is or names by its path; without one, a new one in memory with this budget."""
    if isinstance(ledger, (str, os.PathLike)):
        return Ledger.open(ledger)
    if ledger is not None and not isinstance(ledger, Ledger):
        raise BadInput("ledger must be a Ledger, the path of one, or None")
    if ledger is not None:
        return ledger
    own = Ledger(budget, schema.name)
    OWN_LEDGERS.add(own.id)
    return own


def check_budget(ledger: Ledger, budget: Budget) -> None:
    """Raise BudgetRefused if less than the budget is left in the ledger, before anything is charged."""
    if ledger.left < budget.epsilon:
        raise BudgetRefused(
            f"epsilon {amount(budget.epsilon)} is more than the {amount(ledger.left)} that is left in the ledger: "
            "ask for less or stop here; nothing was charged"
        )


def try_out(plan: Plan[Any], schema: Schema, budget: Budget) -> None:
    """Run the plan on a table without rows, so that the kernel refuses before anything is charged. It has a ledger that
    is remembered nowhere: how many there were would tell how often `best_of` tried."""
    with aside():
        plan(Unsolved(made_up_source(schema, budget, 0)), budget)


class Unsolved:
    """A source without rows that refuses what a source would; weights are checked and charged, but not solved for,
    which without rows would take a quarter of a fit."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def minimise(self, loss: Any, axes: Any, budget: Budget, **settings: Any) -> Release[Any]:
        """Weights of zero, at the price of true ones."""
        self._source.check_minimise(loss, axes, budget, **settings)
        paid = self._source.count(WHOLE, budget)
        sizes = axes.size if isinstance(axes, Bag) else sum(one.size for one in axes)
        return replace(paid, value=np.zeros((sizes, len(self.schema.classes) if loss.joint else 1), np.int64))


def made_up_source(schema: Schema, budget: Budget, rows: int) -> Source:
    """So many made-up rows, with a ledger that is remembered nowhere, as in `try_out`."""
    return opened(made_up(schema, rows), schema, budget, noise=0, ledger=Ledger(budget, schema.name))


def rehearse(plan: Plan[Any], schema: Schema, budget: Budget, how: Search | None = None, method: str = "") -> Rehearsal:
    """The answers that a plan would ask for, with their noise, from a run on made-up rows; nothing is charged.

    Where later questions depend on earlier answers, as in a tree, these are one example of what it may ask.
    """
    with quickly():
        return Rehearsal(run(rehearsing(schema, budget), plan, budget, how=how).answers, schema, method=method)


def rehearsing(schema: Schema, budget: Budget) -> Source:
    """Made-up rows, as many as the schema guesses, open for a rehearsal."""
    return opened(made_up(schema, guessed_rows(schema)), schema, budget, noise=0)


def guessed_rows(schema: Schema) -> int:
    """How many rows a rehearsal makes up: the number that the schema guesses, or GUESS; at most MOST_ROWS."""
    return min(GUESS if schema.rows is None else schema.rows, MOST_ROWS)


def made_up(schema: Schema, rows: int) -> dict[str, Any]:
    """Made-up rows as {column: values}, drawn uniformly and independently from what the schema declares."""
    chance = np.random.default_rng(0)
    found: dict[str, Any] = {schema.person: np.arange(rows)} if schema.person else {}
    for column in schema.column:
        if isinstance(column, Categorical):
            codes = chance.integers(len(column.values), size=rows)
            found[column.name] = pa.chunked_array([pa.array(column.values, pa.string()).take(pa.array(codes))])
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
    """Uniform random moments between the bounds; for a recurring part, such as the weekday, its number as text."""
    low, high = map(int, column.bounds)
    drawn = chance.integers(low, high + 1, size=rows)
    return drawn.astype(str).astype(object) if column.unit in PARTS else drawn.astype("M8[s]")


def _made_up_words(column: Any, rows: int, chance: np.random.Generator) -> Any:
    """A sparse matrix, rows x words, in which every row has a few random words."""
    few = min(column.words_per_row, column.size)
    places = np.repeat(np.arange(rows), few), chance.integers(column.size, size=rows * few)
    return csr_matrix((np.ones(rows * few, np.int8), places), shape=(rows, column.size))
