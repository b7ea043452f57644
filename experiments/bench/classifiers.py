"""Fitting classifiers: on Adult beside the peer of the same job, and how the time grows with rows and columns."""

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from veil import BadInput, Categorical, Numeric, Schema
from veil.compare.data import load, split
from veil.compare.methods import find
from veil.models import METHODS

from .measure import Result, seconds

PEERS = (
    ("dp-ebm", "naive-bayes", "> 20"),
    ("diffprivlib-naive-bayes", "naive-bayes", "> 20"),
    ("diffprivlib-logistic-regression", "logistic", "> 5"),
    ("diffprivlib-logistic-regression-tuned", "logistic", "> 5"),
    ("diffprivlib-tree", "tree", "> 1"),
    ("diffprivlib-forest", "forest", "> 1"),
)
GROWING = ("naive-bayes", "logistic", "svm", "tree", "forest")
SAME_WORK = {"forest": {"trees": 8}}  # by itself it plants more of them the more rows there are
TURNS, FITS = 3, 10
SEARCHED = 15  # columns whose bins are found
ROWS, FEW_ROWS, COLUMNS, FEW_COLUMNS = 1_000_000, 10_000, 32, 8


def classifiers() -> Iterator[Result]:
    yield from beside_peers()
    yield search()
    for method in GROWING:
        few, many = (taken(method, rows, FEW_COLUMNS) / rows * 1e9 for rows in (FEW_ROWS, ROWS))
        yield Result(f"fit {method}: a row of 10^6 / of 10^4", many, few, "ns", "< 1.5")
        few, many = (taken(method, 10 * FEW_ROWS, columns) / columns * 1e3 for columns in (FEW_COLUMNS, COLUMNS))
        yield Result(f"fit {method}: a column of {COLUMNS} / of {FEW_COLUMNS}", many, few, "ms", "< 1.5")


def search() -> Result:
    """Naive Bayes of a million rows with bins that are found, beside the same with public ones; by the time of all
    processors, which other work on the machine hardly changes."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{place}": draw.normal(50, 10, ROWS) for place in range(SEARCHED)})
    frame["y"] = np.where(frame.x0 + draw.normal(0, 10, ROWS) > 50, "yes", "no")
    models = []
    for bins in (None, "public"):
        columns = [Numeric(name=f"x{place}", bounds=(0, 1000), bins=bins) for place in range(SEARCHED)]
        schema = Schema(name="bench", label="y", column=[*columns, Categorical(name="y", values=("no", "yes"))])
        models.append(METHODS["naive-bayes"](epsilon=1.0, schema=schema))
    turns = [[_processor_time(model, frame) for model in models] for _ in range(TURNS + 1)][1:]
    found, public = (median(side) for side in zip(*turns, strict=True))
    return Result(f"fit naive-bayes, 10^6 x {SEARCHED}, bins found / public", found * 1e3, public * 1e3, "ms", "< 2")


def _processor_time(model: Any, frame: pd.DataFrame) -> float:
    start = time.process_time()
    model.fit(frame)
    return time.process_time() - start


def beside_peers() -> Iterator[Result]:
    """On Adult, from a pandas frame to a model, beside peers in environments of their own; both in turn.

    Each fits several times in a row, and the shortest counts: the first fit of a process, or after the other's turn,
    takes longer than those that follow, and whatever else the machine does only ever adds.
    """
    try:
        rows = split(load("adult"), 0)
        pairs = [(find(theirs), find(ours), target) for theirs, ours, target in PEERS]
    except BadInput as problem:
        print(f"Peers are not measured: {problem}")
        return
    for peer, ours, target in pairs:
        turns = [[method.run(rows, 1.0, seed, FITS)[1] * 1e3 for method in (peer, ours)] for seed in range(TURNS)]
        theirs, here = map(median, zip(*turns, strict=True))
        yield Result(f"fit on Adult, {peer.name} / {ours.name}", theirs, here, "ms", target)


def taken(method: str, rows: int, columns: int) -> float:
    """Seconds to fit so many rows and columns, half of them words, the class hidden in four of them."""
    draw = np.random.default_rng(0)
    values = tuple(f"value-{i}" for i in range(6))
    words = [Categorical(name=f"c{i}", values=values) for i in range(columns // 2)]
    numbers = [Numeric(name=f"x{i}", bounds=(0, 1)) for i in range(columns - len(words))]
    label = Categorical(name="y", values=("no", "yes"))
    codes = [draw.integers(0, len(values), rows) for _ in words]
    table: dict[str, Any] = {word.name: np.array(values)[code] for word, code in zip(words, codes, strict=True)}
    table |= {number.name: draw.random(rows) for number in numbers}
    score = codes[0] - codes[1] + 4 * table["x0"] - 4 * table["x1"] + draw.logistic(size=rows)
    frame = pd.DataFrame({**table, "y": np.where(score > 0, "yes", "no")})
    schema = Schema(name="bench", label="y", column=[*words, *numbers, label])
    model = METHODS[method](epsilon=1.0, schema=schema, **SAME_WORK.get(method, {}))
    model.fit(frame)
    return median(seconds(lambda: model.fit(frame)) for _ in range(3))
