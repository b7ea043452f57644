"""Audits of Veil's own verbs, each on a pair of tables that is as bad for it as we know. None may be caught.

Where the argument for a verb is tight, the pair attains its bound, so an audit with enough runs comes close to the
claim from below and any factor too little in the noise would show.
"""

from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..errors import BudgetRefused
from ..kernel import (
    WEIGHT_UNIT,
    Budget,
    Cellwise,
    Correct,
    Discernibility,
    Entropy,
    ExpectedCorrect,
    Gini,
    Hinge,
    Logistic,
    Loss,
    Majority,
    OpenDPNoise,
    Rows,
    Score,
    Softmax,
    Source,
    SparseCounts,
)
from ..kernel.noise import Noise
from ..questions import WHOLE, CellScores, Drawn, Grid, Linear, Partition, Predicted, grid
from ..schema import Categorical, Schema
from .harness import Case, View, discrete_laplace
from .tables import (
    AGES,
    BLUE,
    COLOURS,
    EMPTY,
    LONE,
    MARCHERS,
    NO,
    NOTHING,
    ONE,
    PEOPLE,
    PLACE,
    PLACES,
    RED,
    SCHEMA,
    TWO,
    YES,
    Row,
    asking,
    between,
    opening,
    parading,
    people,
    rows,
)

RED_ROW, BLUE_ROW = ("yes", "red", 1), ("no", "blue", 3)
MANY: dict[str, Any] = {"quick": PLACES, "deep": 20 * PLACES}
ZERO_OR_ONE = {"counts": between(0, 1)}


def ours() -> list[Case]:
    """A case for every verb of Source, on its worst pairs."""
    return [
        *_counts(),
        *_sparse_counts(),
        *_choices(),
        *_sieves(),
        *_quantiles(),
        *_minima(),
        *_parts(),
        *_people(),
        _plan(),
    ]


def _counts() -> list[Case]:
    """Cases of counts: of everything, of several partitions at once, and of rows that do not fit the schema."""
    strange, blank = rows(RED_ROW, ("maybe", "red", 1)), rows(RED_ROW, ("yes", None, None))
    by_label = asking(lambda source: source.count(WHOLE, ONE).value[0])
    by_place = parading(lambda source: source.count(PLACE, ONE).value[:PLACES, 0])
    ends = asking(lambda source: source.count(COLOURS, ONE, by_class=False).value[[0, 3], 0])
    return [
        Case("discrete Laplace", 1, (EMPTY, LONE), noisy_count, "the noise of counts", 200_000, 2_000_000),
        *([Case("OpenDP's noise", 1, (EMPTY, LONE), _opendp, "behind our count")] if find_spec("opendp") else []),
        Case("count", 1, (0, 1), by_place, "no row or one row", **MANY),
        Case("count, empty table", 1, (EMPTY, LONE), by_label, "nothing else is there", views=ZERO_OR_ONE),
        Case("count, missing value", 1, (LONE, blank), ends, "it has a cell of its own", views=ZERO_OR_ONE),
        Case("count, unknown label", 1, (LONE, strange), ends, "such a row is left out", views=ZERO_OR_ONE),
        Case("count_each", 1, (0, 1), parading(_in_shares), "shares 1 : 3, both move", **MANY, views=ZERO_OR_ONE),
    ]


def noisy_count(table: Any, noise: Noise, trials: int) -> Any:
    """One count of the table for each run; every count has noise of its own."""
    return discrete_laplace(np.full(trials, len(table["label"])), Fraction(1), noise)


def _opendp(table: Any, noise: Noise, trials: int) -> Any:
    return noisy_count(table, OpenDPNoise(), trials)


def _in_shares(source: Source) -> Any:
    parts = source.count_each([PLACE, PLACE], ONE, shares=[1, 3])
    return np.hstack([part.value[:PLACES] for part in parts])


def _sparse_counts() -> list[Case]:
    """Cases of sparse counts: neither which cells are released, nor how many, nor their order may tell."""
    small = asking(lambda source: _set(source.count_sparse(COLOURS, TWO, threshold=0).value))
    huge = Schema(
        name="audit", column=[Categorical(name=f"c{i}", values=tuple(map(str, range(99)))) for i in range(10)]
    )
    cells = grid(huge, *(column.name for column in huge.column))
    large = asking(lambda source: _set(source.count_sparse(cells, ONE, threshold=45).value), huge)
    few, more = ({column.name: ["0"] * n for column in huge.column} for n in (45, 46))
    of_first = {"count of the row's cell": partial(_count_of, cell=0)}
    leaves = Drawn((*COLOURS.axes, *AGES.axes), (False, True), 2, 7)
    codes: dict[str, Any] = SCHEMA.encode(rows(BLUE_ROW), label=False)
    leaf = int(leaves.cells(codes)[0])
    tree = asking(lambda source: _set(source.count_sparse(leaves, TWO, threshold=0).value))
    of_leaf: dict[str, View] = {"leaves": _cells, "count of the row's leaf": partial(_count_of, cell=2 * leaf + 1)}
    views: dict[str, View] = {"cells": _cells, "count of the row's cell": partial(_count_of, cell=5), "all": list}
    return [
        Case("count_sparse", 1, (0, 1), parading(_sparse_places), "no row or one row", **MANY),
        Case("count_sparse, the set", 2, (LONE, rows(RED_ROW, BLUE_ROW)), small, "cells and counts", views=views),
        Case("count_sparse, empty table", 2, (EMPTY, LONE), small, "no cell occupied, or one", views=of_first),
        Case("count_sparse, 10^20 cells", 1, (few, more), large, "exact jumps", 400, 5_000, views=of_first),
        Case("count_sparse, drawn tree", 2, (LONE, rows(RED_ROW, BLUE_ROW)), tree, "leaves and counts", views=of_leaf),
    ]


def _sparse_places(source: Source) -> Any:
    value = source.count_sparse(PLACE, ONE, threshold=1).value
    dense = np.zeros(PLACE.size, np.int64)
    dense[value.codes] = value.counts
    return dense[:PLACES]


def _set(value: SparseCounts) -> tuple[Any, ...]:
    return tuple(zip(value.codes.tolist(), value.counts.tolist(), strict=True))


def _cells(seen: list[Any]) -> list[Any]:
    return [tuple(cell for cell, _ in published) for published in seen]


def _count_of(seen: list[Any], cell: int) -> Any:
    return np.array([dict(published).get(cell, 0) for published in seen])


def _choices() -> list[Case]:
    """Cases of choices: candidates tie until a row raises one by the score's whole range, the other not at all."""
    first, second = (Predicted(Linear({}, constant)) for constant in ([1, 0], [0, 1]))
    crowd = [("yes", "red", 1)] * 50
    two_crowds = [*crowd[:11], *[BLUE_ROW] * 5]  # a lead at which a row moves the score most, in one cell and in two
    return [
        _choice("Rows", Rows(0), [YES, NO], [], ("no", "red", 1)),
        _choice("Majority", Majority(), [WHOLE, COLOURS], [RED_ROW], BLUE_ROW),
        _choice("Correct", Correct(), [first, second], [], RED_ROW),
        _choice("Gini", Gini(), [WHOLE, COLOURS], crowd, BLUE_ROW),
        _choice("Entropy", Entropy(most=16), [WHOLE, COLOURS], crowd, BLUE_ROW),
        _choice("ExpectedCorrect", ExpectedCorrect(0.5), [WHOLE, COLOURS], two_crowds, BLUE_ROW, handicaps=[0, 5]),
        _choice("Discernibility", Discernibility(), [WHOLE, COLOURS], crowd, BLUE_ROW),
        *_divisions(crowd),
    ]


def _divisions(crowd: list[Row]) -> list[Case]:
    """Cases of choices in every cell at once: the row's cell as in `_choices`, and cells without the row."""
    green = [("no", "green", 3)] * 5
    candidates = [NOTHING, AGES]
    return [
        _division("Majority", Majority(), candidates, [RED_ROW, *green], ("no", "red", 3)),
        _division("Gini", Gini(), candidates, [*crowd, *green], ("no", "red", 3)),
        _division("Entropy", Entropy(most=16), candidates, [*crowd, *green], ("no", "red", 3)),
    ]


def _division(name: str, score: Cellwise, candidates: list[Grid], others: list[Row], row: Row) -> Case:
    ask = asking(lambda source: source.choose_each(COLOURS, candidates, score, ONE).value)
    return Case(f"choose_each by {name}", 1, (rows(*others), rows(*others, row)), ask, "a winner for every cell")


def _choice(name: str, score: Score, candidates: list[Partition], others: list[Row], row: Row, **more: Any) -> Case:
    ask = asking(partial(winner, candidates, score, **more))
    return Case(f"choose by {name}", 1, (rows(*others), rows(*others, row)), ask, "the winner alone")


def winner(candidates: list[Partition], score: Score, source: Source, **more: Any) -> int:
    """The index of the candidate that is chosen for epsilon 1."""
    chosen = source.choose(candidates, score, ONE, **more).value
    return next(i for i, candidate in enumerate(candidates) if candidate is chosen)


def _sieves() -> list[Case]:
    """Cases of sieves: "no" to questions that the row raises pins the threshold's noise, while the others say "yes"."""
    one, two = (
        asking(sifting([RED] * 3 + [BLUE] * 5, Rows(0), 1, 1)),
        asking(sifting([RED] * 4 + [BLUE] * 4, Rows(0), 1, 2)),
    )
    return [
        Case("above, one hit", 2, (EMPTY, LONE), one, "3 raised, then 5 not"),
        Case("above, two hits", 2, (EMPTY, LONE), two, "4 raised, then 4 not"),
        Case("above, falling score", 2, *_falling(), "the row makes cells less pure"),
    ]


def _falling() -> tuple[Any, Any]:
    crowd = [("yes", "red", 1)] * 20
    asks = [WHOLE] * 4 + [COLOURS] * 4
    return (rows(*crowd), rows(*crowd, BLUE_ROW)), asking(sifting(asks, Gini(), -1, 1))


def sifting(asks: list[Grid], score: Score, threshold: float, hits: int, budget: Budget = TWO) -> Any:
    """The answers of one sieve to these questions, up to its refusal."""

    def ask(source: Source) -> str:
        sieve, answers = source.above(score, threshold, budget, hits=hits), ""
        for partition in asks:
            try:
                answers += "y" if sieve.ask(partition) else "n"
            except BudgetRefused:
                return answers + "."
        return answers

    return ask


def _quantiles() -> list[Case]:
    """Cases of quantiles: the row moves some cut points nearer to the quantile and others away, by the whole spread."""
    scorer = CellScores(grid(SCHEMA, "age"), np.arange(6.0)[:, None])
    column = asking(lambda source: source.quantile("age", "2/3", TWO).value)
    scores = asking(lambda source: source.quantile(scorer, "1/2", TWO, grid=[1, 2, 3, 4]).value)
    levels = asking(lambda source: source.quantiles("age", 2, TWO).value)
    return [
        Case("quantile of a column", 2, _of_age(4, 2, 2, 2, 3, 3), column, "q = 2/3"),
        Case("quantile of scores", 2, _of_age(2, 0, 0, 0, 1, 1, 2, 2), scores, "the median"),
        Case("quantiles", 2, _of_age(2, 0, 0, 0, 1, 1, 2, 2), levels, "medians of medians"),
        Case("misordered", 1, *_misordered(), "one row more of the larger class"),
        Case("quantile, missing value", 2, _of_age(None, 2, 2, 2, 3, 3), column, "such a row is left out"),
    ]


def _misordered() -> tuple[Any, Any]:
    """Two tables: a positive below both negatives is added where there was none, a whole misordered row."""
    negatives = [("no", "red", 3)] * 2
    ask = asking(lambda source: int(np.clip(2 * source.misordered("age", 0, ONE).value, -1, 4)))
    return (rows(*negatives), rows(*negatives, ("yes", "red", 0))), ask


def _of_age(last: int | None, *ages: int) -> tuple[Any, Any]:
    others = [("yes", "red", age) for age in ages]
    return rows(*others), rows(*others, ("yes", "red", last))


def _minima() -> list[Case]:
    """Cases of minimise: a row on the wrong side of the offsets has slope 1, and moves one weight of each column."""
    few: dict[str, Any] = {"about": "weights that it can pull", "quick": 400, "deep": 10_000}
    return [
        Case("minimise by Logistic", 1, (EMPTY, LONE), asking(partial(pulled, Logistic())), **few),
        Case("minimise by Hinge", 1, (EMPTY, LONE), asking(partial(pulled, Hinge())), **few),
        Case("minimise by Softmax", 1, (EMPTY, LONE), asking(partial(pulled, Softmax())), **few),
        Case("minimise, together", 1, (EMPTY, LONE), asking(partial(pulled, Logistic(), groups=[2])), **few),
        Case("minimise with a margin", 1, (EMPTY, LONE), asking(partial(pulled, Logistic(), margin=30)), **few),
        Case("minimise by Softmax, together", 1, (EMPTY, LONE), asking(partial(pulled, Softmax(), groups=[2])), **few),
    ]


def pulled(loss: Loss, source: Source, groups: Any = None, margin: float = 0) -> int:
    """How many of the row's two weights moved at least as far as the row can move them."""
    offsets, label = ([-15.0, 15.0], None) if loss.joint else ([-30.0 + margin], 0)
    part, penalty = (0.49, 4) if groups is None else (0.98, 8)
    settings: dict[str, Any] = {"label": label, "offsets": offsets, "penalty": penalty, "groups": groups}
    weights = source.minimise(loss, [COLOURS, AGES], ONE, margin=margin, **settings).value
    found = weights[[0, COLOURS.size], 0] / WEIGHT_UNIT
    return int((found >= part / penalty).sum())  # a slope of 1 over the penalty


def _parts() -> list[Case]:
    """Cases of disjoint parts, asked in an order that depends on the answers, within one limit."""
    adaptive, nested = opening(_interleaved, limit=2), opening(_nested, limit=2)
    return [
        Case("split, adaptive analyst", 2, (EMPTY, LONE), adaptive, "limit 2, refusals seen", 600, 6_000),
        Case("split_at_random", 1, (0, 1), parading(both_rooms), "each room asked once", **MANY, views=ZERO_OR_ONE),
        Case("split of a random room", 2, (EMPTY, LONE), nested, "parts of parts", 600, 6_000),
    ]


def _interleaved(source: Source) -> tuple[Any, ...]:
    """Ask the part that looks occupied, then the other, until the ledger refuses; returns the answers."""
    red, _, blue, _ = source.split(COLOURS)
    seen = [_ask(red, ONE)]
    order = (red, blue, blue, red) if seen[0] == 1 else (blue, red, red, blue)
    return (*seen, *(_ask(part, ONE) for part in order))


def _nested(source: Source) -> tuple[Any, ...]:
    room, other = source.split_at_random(3, 1)
    red, _, blue, _ = room.split(COLOURS)
    return _ask(red, ONE), _ask(other, TWO), _ask(room, ONE), _ask(blue, TWO), _ask(red, ONE)


def _ask(part: Source, budget: Budget) -> int:
    """Whether the noisy number of rows is above zero (1 or 0); -1 for a refusal."""
    try:
        return int(part.count(WHOLE, budget, by_class=False).value[0, 0] > 0)
    except BudgetRefused:
        return -1


def both_rooms(source: Source) -> Any:
    """The noisy count of every place in each of two random halves, one column a half."""
    return np.hstack([room.count(PLACE, ONE).value[:PLACES] for room in source.split_at_random(1, 1)])


def _people() -> list[Case]:
    """Cases of neighbours that differ by a person with five rows, of which two are kept."""
    other = ("no", "green", 2, "ann")
    spread = people(other, *[("yes", colour, 1, "bob") for colour in ("red", "red", "blue", "blue", "blue")])
    total = parading(lambda source: source.count(PLACE, ONE).value[:PLACES, 0], MARCHERS)
    parts = opening(lambda source: np.array([_ask(part, TWO) for part in source.split(COLOURS)]), schema=PEOPLE)
    return [
        Case("rows_per_person", 1, (0, 5), total, "five rows in one cell", **MANY),
        Case("rows_per_person, parts", 2, (people(other), spread), parts, "rows in two parts", 600, 6_000),
    ]


def _plan() -> Case:
    """A whole plan: choose a grid, split by it, count in the parts, with a sieve open all the while."""
    return Case("a whole plan", 2, (EMPTY, LONE), opening(_several_steps, limit=2), "four verbs", 600, 6_000)


def _several_steps(source: Source) -> tuple[Any, ...]:
    to_sift, to_choose, to_count = TWO.split(2, 3, 5)
    sieve = source.above(Rows(0), 1, to_sift)
    before = sieve.ask(RED)
    chosen = source.choose([RED, BLUE], Rows(0), to_choose).value
    answers = [_ask(part, to_count) for part in source.split(chosen)]
    return before, before or sieve.ask(BLUE), chosen is RED, *answers, _ask(source, to_count)
