"""Each broken twin beside what Veil does instead: the same tables, claim, views and number of runs.

The twin must be caught and ours must not, so the catch is due to the bug and not to the way it is looked for.
"""

import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BudgetRefused
from ..kernel import WEIGHT_UNIT, Budget, Discernibility, Gini, Ledger, Logistic, Rows, Source, SystemNoise, open_source
from ..kernel.noise import Noise
from ..questions import WHOLE, Binned, Linear
from ..schema import Categorical, Schema
from . import broken
from .harness import Case, Runs
from .ours import both_rooms, noisy_count, sifting, winner
from .tables import (
    AGES,
    BLUE,
    COLOURS,
    EMPTY,
    LONE,
    NO,
    ONE,
    PLACES,
    RED,
    SCHEMA,
    TWO,
    YES,
    YOUNG,
    Table,
    asking,
    between,
    open_table,
    opening,
    parading,
    rows,
)

Array = npt.NDArray[Any]
REFUSED = -99
ONE_ROW = (EMPTY, LONE)
PULL = WEIGHT_UNIT * 0.98 / 6  # a row's slope of 1 over the penalty, 4 over a part of 0.98 2/3


def pairs() -> list[Case]:
    """All twins, each followed by its counterpart."""
    return [
        *_sieves(),
        *_noises(),
        *_ledgers(),
        *_divisions(),
        *_sparse(),
        *_leaves(),
        *_pairs_of_rows(),
        *_minima(),
        *_scores(),
    ]


def pair(name: str, claim: float, tables: tuple[Any, Any], twin: Runs, ours: Runs, **more: Any) -> Iterator[Case]:
    about = (twin.__doc__ or "").partition("\n")[0].removeprefix("NOT PRIVATE: ")
    yield Case(name, claim, tables, twin, about, broken=True, **more)
    yield Case(f"ours, not {name}", claim, tables, ours, "the counterpart, same tables and runs", **more)


def _sieves() -> Iterator[Case]:
    two = asking(sifting([RED, BLUE], Rows(0), 1, 2, ONE))
    yield from pair("threshold noise only", 1, ONE_ROW, broken.threshold_noise_only, two)
    lead = {"yes to raised questions minus yes to others": lambda yes: yes[:, 0] - yes[:, 1]}
    yield from pair("no cap", 1, ONE_ROW, broken.no_cap, asking(_capped), views=lead, quick=2_400, deep=10_000)


def _capped(source: Source) -> Array:
    """How many of fifty raised questions, and of fifty others, a sieve with two hits says yes to."""
    answers = sifting([RED] * 50 + [BLUE] * 50, Rows(0), 0, 2, ONE)(source)
    return np.array([answers[:50].count("y"), answers[50:].count("y")])


def _noises() -> Iterator[Case]:
    many = {"quick": 100_000, "deep": 1_000_000}
    yield from pair("half the noise", 1, ONE_ROW, broken.half_the_noise, noisy_count, **many)
    bits = {"power of two, and whether a multiple of 2^-53": _fineness}
    yield from pair("float Laplace", 1, ONE_ROW, broken.float_laplace, noisy_count, views=bits, **many)


def _fineness(answers: Array) -> Array:
    """The size of an answer and whether its last bits are zero."""
    with np.errstate(divide="ignore"):
        size = np.clip(np.floor(np.log2(np.abs(answers))), -12, 2)
    fine = answers * 2.0**53
    return np.column_stack([size, fine == np.floor(fine)]).astype(np.int64)


def _ledgers() -> Iterator[Case]:
    shown = {"answers": between(0, 1)}
    insisting = opening(lambda source: _insist([source] * broken.DEMANDS, ONE), limit=1)
    yield from pair(
        "charged afterwards", 1, ONE_ROW, broken.charged_afterwards, insisting, quick=1_000, deep=8_000, views=shown
    )
    if hasattr(os, "fork"):
        few = {"quick": 1_000, "deep": 3_000}
        yield from pair("forked parts", 2, ONE_ROW, broken.forked_parts, _forked_source, **few, views=shown)


def _insist(sources: list[Source], budget: Budget) -> Array:
    """The noisy number of rows from each source that still answers."""
    return np.array([_count(source, budget) for source in sources])


def _count(source: Source, budget: Budget) -> int:
    try:
        return int(source.count(WHOLE, budget, by_class=False).value[0, 0])
    except BudgetRefused:
        return REFUSED


def _forked_source(table: Table, noise: Noise, trials: int) -> Array:
    """Runs, each with a ledger in a file, in which a child and its parent both ask the red part, for which the blue one
    has paid."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        red = []
        for i in range(trials):
            ledger = Ledger.create(Path(folder) / f"{i}.ledger", 2, SCHEMA.name)
            parts = open_source(table, SCHEMA, ledger, SystemNoise()).split(COLOURS)
            _count(parts[2], TWO)
            red.append(parts[0])
        return np.column_stack(broken.in_child_then_here(lambda: _insist(red, TWO)))


def _divisions() -> Iterator[Case]:
    listed = [("yes", "red", 0), ("yes", "red", 1), ("yes", "red", 2), ("yes", "blue", 3), ("yes", "red", 4)]
    tables = rows(*listed), rows(("yes", "blue", 4), *listed)
    counts = {"counts": between([1, 0, 1, 0, 1, 0], [2, 1, 2, 1, 1, 1])}
    by_age = asking(
        lambda source: np.concatenate([part.count(RED, ONE, by_class=False).value[:, 0] for part in source.split(AGES)])
    )
    yield from pair("split by position", 1, tables, broken.split_by_position, by_age, quick=1_000, views=counts)
    once = {"quick": PLACES, "deep": 20 * PLACES, "views": {"counts": between(0, 1)}}
    yield from pair("membership redrawn", 1, (0, 1), broken.membership_redrawn, parading(both_rooms), **once)
    three = [("yes", "red", 1)] * 3
    tables = rows(*three), rows(*three, ("yes", "blue", 1))
    counts = {"counts": between([2, 0], [3, 1])}
    whole = asking(lambda source: source.count(RED, ONE, by_class=False).value[:, 0])
    yield from pair("capped by subsampling", 1, tables, broken.capped_by_subsampling, whole, quick=3_000, views=counts)


def _sparse() -> Iterator[Case]:
    tables = LONE, rows(("yes", "red", 1), ("yes", "blue", 1))
    listing = asking(lambda source: _listed(source, source.count_sparse(COLOURS, ONE, threshold=0).value.codes))
    yield from pair("occupied cells first", 1, tables, broken.occupied_first, listing)


def _listed(source: Source, codes: Array) -> tuple[int, ...]:
    """The cells with label yes, in the order in which they are published."""
    classes = len(source.schema.classes)
    return tuple(int(code) // classes for code in codes if code % classes == 0)


def _leaves() -> Iterator[Case]:
    tables = LONE, rows(*[("yes", "red", 1)] * 2)
    label = asking(lambda source: int(source.choose([YES, NO], Rows(0), ONE).value is NO))
    yield from pair("smooth leaf", 1, tables, broken.smooth_leaf, label, quick=4_000)

    tables = LONE, rows(("yes", "red", 1), ("no", "blue", 3))
    large = {"size in sixteens, and the choice": lambda seen: np.clip(seen[:, 0] // 16, -1, 3) * 2 + seen[:, 1]}
    yield from pair("noisy size", 1, tables, broken.noisy_size, asking(_size_and_cut), quick=4_000, views=large)

    others = [("yes", "blue", 1)] * 9
    tables = rows(*others), rows(*others, ("yes", "red", 1))
    counts = {"counts": between(0, 6)}  # as often as the row may be in the sample
    whole = asking(lambda source: source.count(RED, TWO, by_class=False).value[0, 0])
    yield from pair("bootstrap leaf", 2, tables, broken.bootstrap_leaf, whole, quick=16_000, views=counts)


def _size_and_cut(source: Source) -> Array:
    """The noisy size for a tenth of epsilon and, for the rest, whether all rows stay together."""
    to_size, to_choose = ONE.split(1, 9)
    size = source.count(WHOLE, to_size, by_class=False).value[0, 0]
    return np.array([size, source.choose([WHOLE, COLOURS], Gini(), to_choose).value is WHOLE])


def _pairs_of_rows() -> Iterator[Case]:
    crowd = [("yes", "red", 1)] * 50
    choice = asking(partial(winner, [WHOLE, COLOURS], Discernibility()))
    tables = rows(*crowd), rows(*crowd, ("no", "blue", 3))
    yield from pair("fixed denominator", 1, tables, broken.fixed_denominator, choice)


def _minima() -> Iterator[Case]:
    def ask(source: Source) -> Array:
        return np.asarray(source.minimise(Logistic(), [RED, YOUNG, YES], TWO, label=0, offsets=[-30.0]).value[::2, 0])

    views = {"quarters of the row's pull": lambda seen: np.clip(4 * seen.min(axis=1) // PULL, 0, 4)}
    few: dict[str, Any] = {"quick": 1_600, "deep": 10_000, "views": views}
    yield from pair("undivided minimum", 2, ONE_ROW, broken.undivided_minimum, asking(ask), **few)
    few["views"] = {"quarters of the row's pull": lambda seen: np.clip(4 * seen.min(axis=1) // (3 * PULL), -4, 4)}
    yield from pair("centred minimum", 2, ONE_ROW, broken.centred_minimum, asking(_sums_together), **few)


def _sums_together(source: Source) -> Array:
    """The sum of the weights of each of three columns whose noise is drawn together."""
    found = source.minimise(Logistic(), [RED, YOUNG, YES], TWO, label=0, offsets=[-30.0], groups=[3]).value
    return np.asarray(found.reshape(3, 2).sum(axis=1))


def _scores() -> Iterator[Case]:
    rounding = broken.find_rounding()
    if rounding is None:
        return
    before, after = (rounding.exact(rounding.others + more) for more in (0, 1))
    near = {"counts": between(np.minimum(before, after), np.maximum(before, after))}
    yield from pair("float scores", 1, (0, 1), broken.float_scores, _whole_scores(rounding), views=near, quick=1_000)


def _whole_scores(rounding: broken.Rounding) -> Runs:
    """Counts of the same rows by the same weights and edge, scored in whole numbers."""
    names = [f"x{i}" for i in range(len(rounding.row))]
    schema = Schema(name="audit", column=[Categorical(name=name, values=("as it is",)) for name in names])
    terms = rounding.row * rounding.weights
    score = Linear({name: [[term], [0]] for name, term in zip(names, terms, strict=True)}, [0])
    bins = Binned(score, [rounding.edge])

    def runs(more: int, noise: Noise, trials: int) -> Array:
        table = {name: ["as it is"] * (rounding.others + more) for name in names}
        source = open_table(table, noise, schema=schema)
        return np.array([source.count(bins, ONE).value[:, 0] for _ in range(trials)])

    return runs
