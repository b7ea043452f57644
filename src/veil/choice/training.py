"""Training: every option is run on public databases, with the metafeatures as noisy as they will be in use."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadInput
from ..kernel import Budget
from ..plans.run import opened
from ..progress import advance
from ..schema import Schema
from .looking import finite, look
from .options import Metafeature, Option
from .traces import Traces

EPSILONS = (0.05, 0.1, 0.3, 1.0)
Measure = Callable[[Any], float | Mapping[str, float]]  # how good an answer is, the higher the better


@dataclass(frozen=True, eq=False)
class Database:
    """Public rows to train a choice on: exact results are taken from them, and nobody is charged.

    `measure` tells how good an answer about these rows is: a number, or several by name; the higher, the better.
    `family` is a kind of tables; choices are judged on families that they were not trained on.
    """

    name: str
    rows: Any
    schema: Schema
    measure: Measure
    family: str = ""

    def __post_init__(self) -> None:
        if not self.schema.public:
            raise BadInput(
                f"database {self.name!r} is not declared public: training takes exact results from rows, so its schema "
                "must say `public = true`"
            )


def train(
    options: Sequence[Option],
    metafeatures: Sequence[Metafeature],
    databases: Sequence[Database],
    *,
    epsilons: Sequence[float] = EPSILONS,
    seeds: int = 1,
) -> Traces:
    """Run every option on every database at every epsilon, and look at the metafeatures with their noise.

    Returns the traces. An option that refuses a database has no result there.
    """
    if not databases:
        raise BadInput("there is no database to train on: give at least one")
    cases = [(database, epsilon, seed) for database in databases for epsilon in epsilons for seed in range(seeds)]
    lines = [_line(options, metafeatures, *case) for case in _told(cases)]
    names = [*dict.fromkeys(name for line in lines for name in line.facts)]
    whole = [line for line in lines if {*line.facts} == {*names}]  # the others had too little budget for some facts
    measures = [*dict.fromkeys(measure for line in whole for one in line.results for measure in one)]
    if not measures:
        raise BadInput("no option could be run on any database, or no metafeature be paid for: give larger epsilons")
    return Traces(
        tuple(line.name for line in whole),
        tuple(line.family for line in whole),
        tuple(names),
        tuple(option.name for option in options),
        np.array([[line.facts[name] for name in names] for line in whole]).reshape(len(whole), -1),
        {
            measure: np.array([[one.get(measure, np.nan) for one in line.results] for line in whole])
            for measure in measures
        },
    )


class Line(NamedTuple):
    """One database at one epsilon: its facts, and for each option its results by measure, {} where it refused."""

    name: str
    family: str
    facts: dict[str, float]
    results: list[dict[str, float]]


def _line(
    options: Sequence[Option], metafeatures: Sequence[Metafeature], database: Database, epsilon: float, seed: int
) -> Line:
    """Every option runs as it would after the choice: the metafeatures are looked at and paid for, with noise."""
    budget, facts, results = Budget(epsilon), dict[str, float](), list[dict[str, float]]()
    named = f"{database.name} {epsilon:g} {seed}"  # from which the noise is drawn: no two lines have the same
    for option in options:
        source = opened(database.rows, database.schema, budget, noise=zlib.crc32(named.encode()))
        seen = look(metafeatures, source, budget)
        facts = {fact.name: fact.value for fact in seen.facts}
        refused = option.refusal(database.schema, seen.left)
        results.append({} if refused else _measured(database, option.run(source, seen.left, seen.given)))
    return Line(named, database.family or database.name, facts, results)


def _told(cases: Sequence[Any]) -> Iterator[Any]:
    """The cases one by one; listeners are told how many are done."""
    for done, case in enumerate(cases):
        advance("training the choice", done, len(cases))
        yield case


def _measured(database: Database, answer: Any) -> dict[str, float]:
    """How good an answer is, by measure. Raises BadInput if that is not a number."""
    found = database.measure(answer)
    named = found if isinstance(found, Mapping) else {"quality": found}
    return {name: finite(value, f"the measure of database {database.name!r}") for name, value in named.items()}
