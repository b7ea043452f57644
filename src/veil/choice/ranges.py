"""The choice among histograms for range queries: the example of Imola and Yang 2018, with metafeatures that are paid
for; and why `--method auto` makes none."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..display import amount
from ..errors import BadInput
from ..kernel import Budget, Release, Source
from ..plans.ranges.adaptive_tree import adaptive_tree
from ..plans.ranges.boxes import random_boxes, sums_in
from ..plans.ranges.dawa import dawa
from ..plans.ranges.domain import Domain
from ..plans.ranges.measured import variance_of
from ..plans.ranges.mwem import mwem
from ..plans.ranges.spread import Spread
from ..plans.ranges.uniform_grid import blocks
from ..schema import Numeric, Schema
from .options import Facts, Metafeature, Option, Predict, Situation
from .trace import Trace
from .training import Database

Plan = Callable[[Source, Budget, Domain], Spread]
SIZES = (1_000, 10_000, 100_000)  # rows of the tables that are drawn from a public histogram
QUERIES = 1_000
LEAST = 1e-9  # error, as a share of all rows

AUTO = "auto"
WHY = "no choice is needed: no choice among the methods was found to do better"
NO_CHOICE = Trace((), (), "adaptive-tree", WHY, left_out={})


def words_of(trace: Trace) -> str:
    """What was chosen, why, and what the choice cost, in a few words."""
    return f"{trace.chosen}, {trace.why}; the choice cost epsilon {amount(trace.price)}"


def option(name: str, plan: Plan, predict: Predict | None = None) -> Option:
    """A method for histograms as an option; its answer is a Spread over the cells of the source's columns."""
    return Option(name, partial(_spread, plan), predict)


def _spread(plan: Plan, source: Source, budget: Budget) -> Spread:
    return plan(source, budget, Domain(source.schema))


def _dawa_formula(facts: Facts) -> float:
    """As the paper's programmer predicts it; deviation and density are called uniformity and sparsity there."""
    return facts["uniformity"] * (1 - facts["sparsity"])


def _mwem_formula(facts: Facts) -> float:
    return 1 - facts["sparsity"] ** 2


DAWA, MWEM = option("dawa", dawa, _dawa_formula), option("mwem", mwem, _mwem_formula)
ADAPTIVE_TREE = option("adaptive-tree", adaptive_tree)


def _count_rows(source: Source, budget: Budget) -> Release[Any]:
    domain = Domain(source.schema)
    return source.count(domain.groups(np.zeros(domain.size, np.int64)), budget, by_class=False)


def _rows(situation: Situation) -> float:
    """The noisy number of rows that lie in a cell, at least one."""
    return float(max(situation.answers["rows"].value[0, 0], 1))


def _signal(situation: Situation) -> float:
    """Rows times epsilon in powers of ten, on which errors depend more than on anything else."""
    return float(np.log10(situation.facts["rows"] * situation.epsilon))


def _count_occupied(source: Source, budget: Budget) -> Release[Any]:
    domain = Domain(source.schema)
    return source.occupied(domain.groups(np.arange(domain.size)), budget)


def _sparsity(situation: Situation) -> float:
    """The share of the cells that hold a row. (The paper's name; its text takes it for the opposite.)"""
    return float(np.clip(situation.answers["sparsity"].value / Domain(situation.schema).size, 0, 1))


def _count_blocks(source: Source, budget: Budget) -> Release[Any]:
    domain = Domain(source.schema)
    return source.count(domain.groups(_blocks(domain)), budget, by_class=False)


def _blocks(domain: Domain) -> npt.NDArray[np.int64]:
    """The block of each cell: equal blocks, about as many as the root of the number of cells."""
    return blocks(domain, max(round(domain.size ** (0.5 / len(domain.shape))), 1))


def _uniformity(situation: Situation) -> float:
    """The standard deviation of the rows in equal blocks, without that of the noise, as a share of what it is with all
    rows in one block. So 0 is even, whatever the name says, which is the paper's."""
    release = situation.answers["uniformity"]
    counts = release.value[:-1, 0].astype(np.float64)
    variance = max(float(counts.var()) - variance_of(release), 0.0)
    rows = situation.facts.get("rows", max(float(counts.sum()), 1.0))
    most = rows * np.sqrt(max(len(counts) - 1, 1)) / len(counts)
    return float(min(np.sqrt(variance) / most, 1.0))


ROWS = Metafeature("rows", _rows, _count_rows, percent=2)
SIGNAL = Metafeature("signal", _signal)
SPARSITY = Metafeature("sparsity", _sparsity, _count_occupied, percent=2)
UNIFORMITY = Metafeature("uniformity", _uniformity, _count_blocks, percent=1)


def public_histograms(shapes: Mapping[str, npt.ArrayLike], rows: Sequence[int] = SIZES) -> list[Database]:
    """Databases to train on: for each public histogram, by name, tables of so many rows drawn from it.

    A histogram is an array of counts or shares with an axis for each column. An answer is the better, the smaller its
    error over random ranges is, as a share of all rows: the measure is minus its logarithm.
    """
    found = {name: _shares(name, shape) for name, shape in shapes.items()}
    return [_database(name, shares, many) for name, shares in found.items() for many in rows]


def _shares(name: str, shape: npt.ArrayLike) -> npt.NDArray[np.float64]:
    table = np.asarray(shape, np.float64)
    if not table.ndim or not table.size or not np.isfinite(table).all() or table.min() < 0 or not table.sum():
        raise BadInput(f"histogram {name!r} must be an array of numbers, none below zero and not all of them zero")
    return np.asarray(table / table.sum())


def _database(name: str, shares: npt.NDArray[np.float64], rows: int) -> Database:
    """A table of rows drawn from a histogram, always the same for the same shape and number."""
    table = np.random.default_rng(rows).multinomial(rows, shares.ravel()).reshape(shares.shape)
    columns = [
        Numeric(name=f"x{axis}", bounds=(0, max(side - 1, 1)), integer=side > 1, bins=side)
        for axis, side in enumerate(shares.shape)
    ]
    cells = np.unravel_index(np.repeat(np.arange(table.size), table.ravel()), table.shape)
    values = {f"x{axis}": codes for axis, codes in enumerate(cells)}
    schema = Schema(name="histogram", public=True, column=columns)
    return Database(f"{name} {rows}", values, schema, partial(quality, table), family=name)


def quality(table: npt.NDArray[np.int64], answer: Spread) -> float:
    """Minus the logarithm of the error of random ranges, the root mean square as a share of all rows."""
    ranges = random_boxes(table.shape, QUERIES, seed=1)
    off = sums_in(answer.cells.reshape(table.shape), ranges) - sums_in(table, ranges)
    return -float(np.log(max(np.sqrt((off**2).mean()) / max(table.sum(), 1), LEAST)))
