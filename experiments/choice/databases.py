"""Public databases to train choices on: real tables, many made from each, and simulated ones of known structure.

Tables belong to families, such as census tables or rule-like ones. A chooser is judged on families that it was not
trained on: tables of one family have more in common than a chooser should be given credit for.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from veil import datasets
from veil.compare.data import Data, load
from veil.schema import Categorical, Numeric, Schema

from ..bins import loosened

FAMILIES = {
    "census": ("adult", "bank_additional", "acs_national2019", "acs_ipums_binary", "br2000", "more/marketing", "fair"),
    "rules": ("nursery", "more/monk2", "more/tic_tac_toe", "more/titanic"),
    "skewed": ("more/casp", "more/compactiv", "more/page_blocks", "more/skillcraft"),
    "images": ("satellite", "more/penbased", "more/segment", "more/vehicle", "digits"),
    "sequences": ("hiv1625", "more/splice"),
    "medical": ("more/pima", "cmc", "iris", "wine", "breast_cancer"),
    "signals": ("more/twonorm", "more/grid_stability", "more/phoneme"),
    "simulated": ("additive", "rule", "interactions", "rare", "classes"),
}
FAMILY = {table: family for family, tables in FAMILIES.items() for table in tables}
TABLES = tuple(table for table in FAMILY if FAMILY[table] != "simulated")
FEWEST, MOST = 250, 40_000  # rows of a derived database


@cache
def table(name: str) -> Data:
    """A public table as it is; without its folder, those of the package are left."""
    if name in datasets.NAMES:
        return load(name)
    folder = Path(os.environ.get("VEIL_DATA") or "../shared/data")
    return load(str(folder / f"{name}.csv.gz"), published=True)  # with the schema beside it


def derived(name: str, number: int) -> Data:
    """Database `number` made from a table: other rows, columns, classes and bounds, drawn by public coins."""
    coins = np.random.default_rng([number, *name.encode()])
    if FAMILY[name] == "simulated":
        return simulated(name, coins)
    data = table(name)
    for change in (_relabelled, _merged, _narrowed, _fewer):
        data = change(data, coins)
    widened = loosened(data.schema, "ten times", public=False) if coins.random() < 0.25 else data.schema
    return Data(f"{name} {number}", widened, data.frame)


def _relabelled(data: Data, coins: np.random.Generator) -> Data:
    """A third of the time another column of categories is the label, if there is one that varies."""
    others = [column for column in data.schema.features if isinstance(column, Categorical) and column.size <= 10]
    others = [column for column in others if data.frame[column.name].value_counts(normalize=True).iloc[0] < 0.95]
    if not others or coins.random() > 1 / 3:
        return data
    chosen = others[coins.integers(len(others))]
    frame = data.frame[data.frame[chosen.name].isin(chosen.values)].reset_index(drop=True)
    return _with(data, frame, data.schema.column, chosen.name)


def _merged(data: Data, coins: np.random.Generator) -> Data:
    """Half of the time several classes become two, one or some of them against the rest."""
    classes = data.schema.classes
    if len(classes) < 3 or coins.random() > 1 / 2:
        return data
    some = coins.choice(len(classes), size=coins.integers(1, len(classes) // 2 + 1), replace=False)
    chosen = {classes[place] for place in some}
    label = str(data.schema.label)
    frame = data.frame.assign(**{label: np.where(data.frame[label].isin(chosen), "some", "rest")})
    if frame[label].value_counts().min() < 20 or frame[label].nunique() < 2:
        return data
    columns = [c if c.name != label else Categorical(name=label, values=("rest", "some")) for c in data.schema.column]
    return _with(data, frame, columns, label)


def _narrowed(data: Data, coins: np.random.Generator) -> Data:
    """Half of the time only some of the columns are kept."""
    if coins.random() > 1 / 2 or len(data.schema.features) < 3:
        return data
    most = len(data.schema.features)
    kept = coins.choice(most, size=coins.integers(max(2, most // 4), most + 1), replace=False)
    names = {data.schema.features[place].name for place in kept} | {str(data.schema.label)}
    return _with(data, data.frame, [column for column in data.schema.column if column.name in names], data.schema.label)


def _fewer(data: Data, coins: np.random.Generator) -> Data:
    """A random number of the rows, as likely a tenth as all of them, from FEWEST to MOST."""
    most = min(len(data.frame), MOST)
    rows = int(np.exp(coins.uniform(np.log(min(FEWEST, most)), np.log(most))))
    frame = data.frame.sample(rows, random_state=int(coins.integers(2**31))).reset_index(drop=True)
    return Data(data.name, data.schema, frame)


def _with(data: Data, frame: Any, columns: Any, label: Any) -> Data:
    schema = data.schema.model_copy(update={"column": tuple(columns), "label": label})
    return Data(data.name, Schema.loads(schema.to_toml()), frame[[column.name for column in columns]])


@dataclass(frozen=True)
class Shape:
    """The columns of a simulated table, as numbers between 0 and 1, rows x columns, and its public coins."""

    values: Any
    coins: np.random.Generator

    def effects(self, columns: Any, steepness: float) -> Any:
        """The sum of a smooth or a stepwise effect of each of these columns, of variance about `steepness`^2."""
        total = np.zeros(len(self.values))
        for column in columns:
            x, turn = self.values[:, column], self.coins.normal()
            total += (
                turn * (2 * x - 1) if self.coins.random() < 0.5 else turn * np.sign(x - self.coins.uniform(0.2, 0.8))
            )
        spread = total.std() or 1.0
        return steepness * (total - total.mean()) / spread


def _additive(shape: Shape) -> Any:
    some = shape.coins.choice(
        shape.values.shape[1], size=shape.coins.integers(2, shape.values.shape[1] + 1), replace=False
    )
    return _two(shape, shape.effects(some, shape.coins.uniform(0.7, 3)))


def _rare(shape: Shape) -> Any:
    some = shape.coins.choice(shape.values.shape[1], size=min(4, shape.values.shape[1]), replace=False)
    return _two(shape, shape.effects(some, shape.coins.uniform(1, 3)) - shape.coins.uniform(2, 4))


def _rule(shape: Shape) -> Any:
    """The label is whether one of a few conjunctions of conditions on columns holds, mostly."""
    holds = np.zeros(len(shape.values), bool)
    for _ in range(shape.coins.integers(1, 5)):
        some = shape.coins.choice(shape.values.shape[1], size=min(shape.coins.integers(2, 4), shape.values.shape[1]))
        holds |= np.all([shape.values[:, c] > shape.coins.uniform(0.2, 0.6) for c in some], axis=0)
    return np.where(shape.coins.random(len(holds)) < shape.coins.uniform(0, 0.15), ~holds, holds).astype(int)


def _interactions(shape: Shape) -> Any:
    """Effects of some columns, and of the product of two pairs of them."""
    pairs = shape.coins.choice(shape.values.shape[1], size=(2, 2))
    products = sum(np.sign((shape.values[:, a] - 0.5) * (shape.values[:, b] - 0.5)) for a, b in pairs)
    some = shape.coins.choice(shape.values.shape[1], size=min(3, shape.values.shape[1]), replace=False)
    return _two(shape, shape.coins.uniform(0.5, 2) * products + shape.effects(some, shape.coins.uniform(0.2, 1.5)))


def _classes(shape: Shape) -> Any:
    """Three to eight classes, each where its own effects are largest."""
    number = shape.coins.integers(3, 9)
    scores = [
        shape.effects(shape.coins.choice(shape.values.shape[1], size=min(4, shape.values.shape[1])), 2.0)
        for _ in range(number)
    ]
    return (np.array(scores) + shape.coins.gumbel(size=(number, len(shape.values)))).argmax(axis=0)


def _two(shape: Shape, odds: Any) -> Any:
    return (shape.coins.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(int)


STRUCTURES: dict[str, Callable[[Shape], Any]] = {
    "additive": _additive,
    "rule": _rule,
    "interactions": _interactions,
    "rare": _rare,
    "classes": _classes,
}


def simulated(name: str, coins: np.random.Generator) -> Data:
    """A table whose label has a known structure; some columns are numbers, some skewed, some categories."""
    rows, width = int(np.exp(coins.uniform(np.log(FEWEST), np.log(MOST)))), int(coins.integers(3, 26))
    values = coins.random((rows, width))
    labels = STRUCTURES[name](Shape(values, coins))
    kinds = coins.choice(["number", "skewed", "categories"], size=width, p=coins.dirichlet([1, 0.5, 1]))
    columns, frame = list[Any](), dict[str, Any]()
    for place, kind in enumerate(kinds):
        column, frame[f"x{place}"] = _column(f"x{place}", str(kind), values[:, place], coins)
        columns.append(column)
    number = max(int(labels.max()) + 1, 2)
    columns.append(Categorical(name="label", values=tuple(f"c{code}" for code in range(number))))
    frame["label"] = np.array([f"c{code}" for code in range(number)])[labels]
    return Data(name, Schema(name=name, label="label", column=columns), pd.DataFrame(frame))


def _column(name: str, kind: str, x: Any, coins: np.random.Generator) -> tuple[Any, Any]:
    if kind == "categories":
        size = int(coins.integers(2, 13))
        values = np.array([f"v{code}" for code in range(size)])
        return Categorical(name=name, values=tuple(values)), values[np.minimum((x * size).astype(int), size - 1)]
    if kind == "skewed":
        return Numeric(name=name, bounds=(0, 1000)), np.clip(np.exp(6 * x) - 1, 0, 1000)
    return Numeric(name=name, bounds=(0, 1)), x
