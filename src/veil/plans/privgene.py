"""PrivGene (Zhang, Xiao, Yang, Zhang and Winslett, SIGMOD 2013): a linear classifier by selection of the fittest."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..display import of_texts
from ..errors import BadInput
from ..kernel import Budget, Correct, Source, whole
from ..questions import Linear, Predicted
from ..schema import Categorical, Numeric, Schema
from .checking import SHARE, count_odds
from .class_shares import class_shares
from .finish import LEAST_SHARE, Numbers, class_prior
from .rehearsal import drawn
from .sizing import Known, sized

Genes = npt.NDArray[np.int64]  # vectors x genes x classes but the first
POPULATION, SURVIVORS = 100, 2
ROWS_A_CHOICE = 500  # rows times epsilon for each survivor of each round: with fewer, noise chooses
ROUNDS = 2, 10
UNIT, MOST = 8, 16  # weights are whole numbers of eighths, at most two in size
MOST_WORK = 1 << 22  # genes of a population
FEW = 8  # vectors that stand for all of a population in a rehearsal
SEED = 2013  # vectors are bred by public coins, the same for everyone


def privgene(
    source: Source,
    budget: Budget,
    *,
    rounds: int | None = None,
    population: int = POPULATION,
    survivors: int = SURVIVORS,
    totals: Known = None,
) -> Linear:
    """Breed vectors of weights from those that predict most rows rightly, chosen privately in every round.

    Budget: 3 % for the class totals, unless they are known, and 3 % of the rest for class counts in intervals of the
    model's own odds, for the verdict. What is left is divided equally between the `rounds` (None: growing with rows
    times epsilon), and within a round between the `survivors` of its `population`; the last round has one.

    Returns a scorer: the logarithms of the class shares, a weight for each category and, for a number, a weight times
    its place between the bounds.
    """
    rounds, population, survivors = _checked(source.schema, rounds, population, survivors)
    if len(source.schema.classes) < 2:
        return class_shares(source, budget, totals=totals)
    size, rest = sized(source, budget, totals)
    prior = class_prior(size.value[0].astype(np.float64), np.sqrt(2) * max(size.noise_scale, 1e-9))
    rounds = rounds or _rounds(source, rest, float(size.value.sum()), survivors)
    to_choose, to_check = rest.split(100 - SHARE, SHARE)
    traits, coins = traits_of(source.schema), np.random.default_rng(SEED)
    vectors = first_vectors(len(prior), traits, population, coins)
    for number, part in enumerate(to_choose.each(rounds)):
        few = drawn(population, max(FEW, survivors))  # in a rehearsal they stand for all
        asked = [Predicted(scorer_of(vector, traits, prior)) for vector in vectors[:few]]
        last = number == rounds - 1
        fittest = source.choose_best(asked, Correct(), part, count=1 if last else survivors).value
        vectors = vectors[fittest] if last else bred(vectors[fittest], population, coins)
    made = scorer_of(vectors[0], traits, prior)
    count_odds(source, to_check, made, size)
    return made


def traits_of(schema: Schema) -> dict[str, Numbers]:
    """For each column a matrix, codes x genes: one gene for each declared category, or one for the place of a number
    between the bounds, from -1 to 1. Missing values have none."""
    return {column.name: _traits(column) for column in schema.features}


def _traits(column: Categorical | Numeric) -> Numbers:
    if isinstance(column, Categorical):
        return np.eye(column.size, len(column.declared))
    bins = len(column.cuts) - 1
    places = (2 * np.arange(bins) + 1) / bins - 1
    return np.concatenate([places, np.zeros(column.size - bins)])[:, None]


def first_vectors(classes: int, traits: dict[str, Numbers], population: int, coins: np.random.Generator) -> Genes:
    """The first population: a vector of zeros, which predicts the largest class, and random ones."""
    genes = sum(trait.shape[1] for trait in traits.values()) + 1
    vectors = coins.integers(-MOST, MOST + 1, (population, genes, classes - 1))
    vectors[0] = 0
    return vectors


def bred(parents: Genes, population: int, coins: np.random.Generator) -> Genes:
    """The next population: the parents, and children that have the first genes of one parent, the others of another,
    and one of them changed by chance."""
    count, genes, others = parents.shape
    one, other = parents[coins.integers(0, count, (2, population - count))]
    crossing = coins.integers(0, genes + 1, population - count)
    children = np.where((np.arange(genes) < crossing[:, None])[..., None], one, other)
    place, label = coins.integers(0, genes, len(children)), coins.integers(0, others, len(children))
    children[np.arange(len(children)), place, label] += coins.integers(-MOST, MOST + 1, len(children))
    return np.concatenate([parents, np.clip(children, -MOST, MOST)])


def scorer_of(vector: Genes, traits: dict[str, Numbers], prior: Numbers) -> Linear:
    """The scorer of one vector; its last gene is a constant, and the first class has weights of zero."""
    weights = np.concatenate([np.zeros((len(vector), 1)), vector / UNIT], axis=1)
    ends = np.cumsum([0, *(trait.shape[1] for trait in traits.values())])
    tables = {name: traits[name] @ weights[ends[place] : ends[place + 1]] for place, name in enumerate(traits)}
    return Linear(tables, np.log(np.maximum(prior, LEAST_SHARE)) + weights[-1])


def _rounds(source: Source, budget: Budget, rows: float, survivors: int) -> int:
    signal = rows * float(min(source.per_row(budget), Fraction(10**6)))
    return int(np.clip(round(signal / (ROWS_A_CHOICE * survivors)), *ROUNDS))


def _checked(schema: Schema, rounds: Any, population: Any, survivors: Any) -> tuple[int | None, int, int]:
    """The settings as integers. Raises BadInput before anything is charged."""
    if not schema.features:
        raise BadInput(f"there is no column besides the label to learn from{of_texts(schema)}")
    population = whole(population, "population", 2, 10_000)
    if population * len(schema.classes) * sum(column.size for column in schema.features) > MOST_WORK:
        raise BadInput("the columns have too many values for so large a population: use fewer bins or values")
    survivors = whole(survivors, "survivors", 1, population)
    return None if rounds is None else whole(rounds, "rounds", 1, 1000), population, survivors
