"""Finding pools for columns of many categories, such as diagnoses or towns, so that they do not starve the others.

Values with enough rows to be told apart from noise stand alone. All others are pooled, those that seem to have about
the same classes together, and above them there are groups of alike values for methods that can afford only a few.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...kernel import Budget, Source
from ...questions import axis
from ...schema import Categorical

MANY = 100  # values that a column needs for pools
SCARCE = 1  # rows times epsilon for each value, divided by the columns; with fewer, values are pooled
SHARES = 0.25, 1.0  # of a column's part of epsilon, least and most, for finding its pools
AT_MOST = Fraction(1, 2)  # of epsilon for all pools together, so that the plan has something to ask with
PLENTY = 2000  # rows times epsilon, divided by the columns, from which on it is the most
SPURIOUS = 5  # values that stand alone by noise: about so many, and nearly twice with two classes
LARGEST = 0.25  # share of the rows: if even such a value would not stand out, nothing is asked
POOLS, HALVINGS = 4, 5
Numbers = npt.NDArray[np.float64]


class Ranked(NamedTuple):
    """Names with about how many rows they have and how their classes differ from those of all rows, a number each."""

    names: Sequence[str]
    rows: Numbers
    lean: Numbers


def candidates(columns: Sequence[Any]) -> list[Categorical]:
    """The columns that may be pooled: of many categories, for which neither groups nor pools are declared."""
    declared = [column for column in columns if isinstance(column, Categorical) and len(column.values) >= MANY]
    return [column for column in declared if column.groups is None and column.pools is None]


def find_pools(
    source: Source, budget: Budget, rows: float, columns: Sequence[Any], most: int
) -> tuple[list[Categorical], Fraction]:
    """The columns that are worth it with pools, to be recoded, and the epsilon that this cost.

    `rows` is their noisy number, and `columns` are all those between which a plan divides the budget. Budget: for each
    column with too many values for its rows, or with more than `most` of them, a quarter to all of an equal part, the
    more the more rows there are, and at most half of all for all of them. If no value could stand out, all are pooled,
    and nothing is spent.
    """
    signal = rows * float(min(source.per_row(budget), Fraction(10**9))) / max(len(columns), 1)
    scarce = [one for one in candidates(columns) if len(one.values) > min(signal / SCARCE, most)]
    share = Fraction(float(np.clip((max(signal, 0) / PLENTY) ** 0.5, *SHARES))).limit_denominator(1000)
    level = LARGEST * signal * float(share)  # rows of the largest value in units of the noise
    hopeless = [column for column in scarce if level < _height(len(column.values), len(source.schema.classes))]
    asked = [column for column in scarce if column not in hopeless]
    found = [_with_pools(column, [column.values]) for column in hopeless]
    if not asked:
        return found, Fraction(0)
    part = Budget(budget.epsilon * min(share * len(asked) / len(columns), AT_MOST))
    releases = source.count_each([axis(column) for column in asked], part)
    return [*found, *(pooled(*one, most) for one in zip(asked, releases, strict=True))], part.epsilon


def at_most(column: Categorical, most: int) -> Categorical:
    """The column with as many codes as it may have after a search that lets `most` values stand alone."""
    rest = column.values[most:]
    return _with_pools(column, [part for start in range(POOLS) if (part := rest[start::POOLS])])


def pooled(column: Categorical, release: Any, most: int) -> Categorical:
    """The column with pools and groups that follow from noisy counts of its values by class; `most` stand alone."""
    counts = np.asarray(release.value[: len(column.values)], np.float64)
    scale = max(release.noise_scale, 1e-9)
    ranked = _ranked(column.values, counts, scale)
    heavy = ranked.rows > scale * _height(*counts.shape)
    heavy[np.argsort(-ranked.rows, kind="stable")[most:]] = False
    light = np.flatnonzero(~heavy)
    light = light[np.argsort(ranked.lean[light], kind="stable")]
    parts = [np.sort(part) for part in np.array_split(light, POOLS) if len(part)]
    new = _with_pools(column, [[column.values[place] for place in part] for part in parts])
    together = np.vstack([counts[heavy], *(counts[part].sum(axis=0) for part in parts)])
    many = np.concatenate([np.ones(heavy.sum()), [len(part) for part in parts]])
    codes = _ranked(new.declared, together, scale * np.sqrt(many))
    return Categorical(**{**new.model_dump(), "groups": _halved(codes)})


def _height(values: int, classes: int) -> float:
    """How many noise scales a count has to reach, summed over the classes, to pass: about SPURIOUS empty ones do."""
    return log(max(values / (2 * SPURIOUS), 1)) + classes - 1


def _ranked(names: Sequence[str], counts: Numbers, scale: Any) -> Ranked:
    """The categories with their rows and a rank score: categories with similar class shares have similar scores.

    The score is the distance of a category's class shares from those of all rows, along the direction in which
    categories differ most (a leading singular vector); distances within the noise are shrunk to zero.
    """
    rows = counts.sum(axis=1)
    totals = np.maximum(counts.sum(axis=0), 1)
    apart = counts - np.outer(rows, totals / totals.sum())
    heaviest = np.argsort(-rows, kind="stable")[: max(3, len(rows) // 20)]
    direction = np.linalg.svd(apart[heaviest], full_matrices=False)[2][0]
    return Ranked(names, rows, (apart @ direction) / (np.maximum(rows, 0) + 2 * scale))


def _with_pools(column: Categorical, parts: Sequence[Sequence[str]]) -> Categorical:
    """The column with these values in one pool each, whose names are no value's."""
    marks = "'" * max((len(value) for value in column.values if value.startswith("(pool")), default=0)
    pools = {f"(pool {place}){marks}": tuple(part) for place, part in enumerate(parts, 1)}
    return Categorical(**{**column.model_dump(), "pools": pools or None})


def _halved(ranked: Ranked) -> Any:
    """Nested groups of names: in their order cut where about half of the rows are on either side, and so on."""
    order = np.argsort(ranked.lean, kind="stable")
    found = _cut([(ranked.names[place], max(float(ranked.rows[place]), 1.0)) for place in order], HALVINGS, "")
    return found if isinstance(found, dict) else None


def _cut(names: list[tuple[str, float]], times: int, mark: str) -> Any:
    if times == 0 or len(names) < 2:
        return tuple(name for name, _ in names)
    below = np.cumsum([rows for _, rows in names])
    place = 1 + int(np.abs(below[:-1] - below[-1] / 2).argmin())
    parts = zip("12", (names[:place], names[place:]), strict=True)
    return {f"(group {mark}{half})": _cut(part, times - 1, f"{mark}{half}.") for half, part in parts}
