"""What came of a search for bins, for people to read: column by column, and what it cost."""

from collections import Counter
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

from ..display import number
from ..kernel import Receipt
from ..schema import Categorical, Date, Numeric
from .finding.bins import PER_COLUMN, ROWS
from .finding.search import Search, to_search
from .outcome import Outcome

FOUND, PUBLIC, DECLARED, NOT_TRIED = "found", "public", "declared", "not searched"
ZERO = Fraction(0)
FIRST_POOL = "(pool 1)"  # as a search names it
CUT, OTHERS = " ways to cut ", " and others"  # as receipts say


class Binned(NamedTuple):
    """A numeric column with its bins, whether these were found, are public or declared, and what finding them cost."""

    column: Numeric
    how: str
    epsilon: Fraction


def bins_of(outcome: Outcome[Any]) -> list[Binned]:
    """Each numeric column of an outcome that was made after a search; [] if there was none."""
    chosen = choices_of(outcome)
    if not (outcome.searched or chosen):
        return []
    columns = [column for column in outcome.schema.features if isinstance(column, Numeric) and type(column) is not Date]
    costs: dict[str, Fraction] = {}
    for receipt in chosen:
        asked = [column.name for column in columns if _about(receipt, column, outcome)]
        costs |= {name: receipt.epsilon / len(asked) for name in asked}
    return [Binned(column, _how_cut(column, column.name in costs), costs.get(column.name, ZERO)) for column in columns]


def _how_cut(column: Numeric, asked: bool) -> str:
    """Whether the bins of a column were found, are the public ones, or were declared."""
    if column.edges is not None and asked:
        return FOUND
    return PUBLIC if column.bins == "public" else NOT_TRIED if column.searched else DECLARED


def choices_of(outcome: Outcome[Any]) -> list[Receipt]:
    """The receipts of the choices of bins."""
    return [receipt for receipt in outcome.receipts if receipt.verb == "choose_bins"]


def search_cost(outcome: Outcome[Any]) -> Fraction:
    """What the choices of bins cost together, all of them about the same rows."""
    return sum((receipt.epsilon for receipt in choices_of(outcome)), ZERO)


def in_short(outcome: Outcome[Any]) -> str:
    """A few words such as "bins of 6 columns found for epsilon 0.08 of 1"; "" if nothing was found or pooled."""
    ways = [binned.how for binned in bins_of(outcome) if binned.epsilon]
    found, kept = (_columns(ways.count(how)) for how in (FOUND, PUBLIC))
    said = [f"bins of {found} found"] * bool(found) + [f"the public ones of {kept} kept"] * bool(kept)
    if said:
        said = [f"{', '.join(said)} for epsilon {_about_so(search_cost(outcome))} of {_about_so(outcome.epsilon)}"]
    return "; ".join([*said, *_pooled(outcome)])


def _pooled(outcome: Outcome[Any]) -> list[str]:
    """A few words on the columns whose rare values were pooled by the search, and what that cost; [] if none were."""
    pools = [one.pools for one in outcome.schema.features if isinstance(one, Categorical) and one.pools]
    found = sum(next(iter(names)).startswith(FIRST_POOL) for names in pools) if outcome.searched else 0
    known = {release.receipt.number for release in outcome.known}
    asked = {one.receipt.number: one.receipt for one in outcome.searched if one.receipt.verb == "count"}
    cost = sum((receipt.epsilon for number, receipt in asked.items() if number not in known), ZERO)
    paid = f"epsilon {_about_so(cost)}" if cost else "nothing"
    return [f"rare values of {_columns(found)} pooled for {paid}"] if found else []


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count > 1)}" if count else ""


def too_few(outcome: Outcome[Any], how: Search) -> tuple[int, int]:
    """The noisy number of rows, and about how many there should be for any bins to be searched for."""
    columns, among = to_search(outcome.schema, how), len(outcome.schema.features)
    alike = max(Counter((one.bounds, one.integer, one.missing) for one in columns).values(), default=1)
    least = max(ROWS, PER_COLUMN * among, how.signal * among / alike) * outcome.schema.rows_per_person
    return int(outcome.searched[0].value.sum()), ceil(Fraction(least) / Fraction(outcome.settings["epsilon"]))


def _about(receipt: Receipt, column: Numeric, outcome: Outcome[Any]) -> bool:
    """Whether a choice was about this column: it names the first three of the columns that are cut alike."""
    text = receipt.question.partition(CUT)[2]
    if any(one.name == text for one in outcome.schema.features):  # of one column, whatever its name looks like
        return column.name == text
    if f", {column.name}, " in f", {text.removesuffix(OTHERS)}, ":
        return True
    if not text.endswith(OTHERS) or text.count(", ") < 2 or not (column.edges or column.bins == "public"):
        return False
    named = [one for one in outcome.schema.features if f", {one.name}, " in f", {text.removesuffix(OTHERS)}, "]
    alike = [one for one in named if isinstance(one, Numeric) and _cut_alike(one, column)]
    return bool(alike) or not named  # after a selection, none of those that are named may be left


def _cut_alike(one: Numeric, other: Numeric) -> bool:
    fields = {"name"}
    return one.model_dump(exclude=fields) == other.model_dump(exclude=fields)


def _about_so(epsilon: Fraction) -> str:
    return number(float(min(epsilon, Fraction(10**300))))
