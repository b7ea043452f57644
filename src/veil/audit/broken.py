"""Deliberately broken twins of Veil's mechanisms. NOT PRIVATE, none of them: they exist to be caught by the audit.

Each is a few lines that look right, and most were published or shipped as private. They take a table in the audit's
own form, not a source, so no plan can ask them anything.
"""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BudgetRefused
from ..kernel import WEIGHT_UNIT, Budget, Ledger, Logistic, SystemNoise
from ..kernel.flip import permute_and_flip
from ..kernel.gradients import Objective, OneHot
from ..kernel.noise import Noise
from ..kernel.verbs.minimise import Amounts, amounts, group_noise, minimiser, solve
from .harness import discrete_laplace
from .tables import Table

Array = npt.NDArray[Any]
CODES = {"red": 0, "green": 1, "blue": 2}
DEMANDS = 4  # questions that the analyst of `charged_afterwards` asks


def raised(table: Table) -> int:
    """The number of rows of a table: what a count of all of them is without noise."""
    return len(table["label"])


def threshold_noise_only(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: private threshold testing (Stoddard, Chen and Machanavajjhala 2014).

    One noisy threshold, no noise on the queries. Two queries of different value around one threshold are told apart
    whatever the threshold's noise, so some answers are impossible on one table and likely on the other (Chen and
    Machanavajjhala 2015; Lyu, Su and Li 2017, their algorithm 5).
    """
    threshold = noise.discrete_laplace(Fraction(1), trials)
    return np.column_stack([raised(table) > threshold, threshold < 0]).astype(np.int64)


def no_cap(table: Table, noise: Noise, trials: int, each: int = 50) -> Array:
    """NOT PRIVATE: a sparse vector without a cap on the answers of yes (Lee and Clifton 2014; Stoddard et al. 2014).

    Half of epsilon 1 on the threshold, half on *each* query, however many say yes; every yes loses some more. Gives the
    number of yes among the queries that the row raises and among as many others.
    """
    rate = Fraction(1, 2)
    level = noise.discrete_laplace(rate, trials)[:, None]
    yes = [
        (value + noise.discrete_laplace(rate, trials * each).reshape(trials, each) >= level).sum(axis=1)
        for value in (raised(table), 0)
    ]
    return np.column_stack(yes)


def half_the_noise(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: noise of scale 1 / (2 epsilon), the slip of calibrating to the wrong neighbours or a wrong bound."""
    return discrete_laplace(np.full(trials, raised(table)), Fraction(2), noise)


def charged_afterwards(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: the answer first, then the charge; the analyst keeps what the ledger refuses to pay for.

    A crash between the two does the same. (State and budget channels: Haeberlen, Pierce and Narayan 2011.)
    """
    return np.array([_keep_answering(table, noise) for _ in range(trials)])


def _keep_answering(table: Table, noise: Noise) -> list[int]:
    ledger, answers = Ledger(1, "audit"), []
    for _ in range(DEMANDS):
        answers.append(int(raised(table) + noise.discrete_laplace(Fraction(1), 1)[0]))
        try:
            ledger.account.charge(Budget(1), verb="count", question="", noise="", private=False)
        except BudgetRefused:
            pass  # too late
    return answers


def split_by_position(table: Table, noise: Noise, trials: int, parts: int = 3) -> Array:
    """NOT PRIVATE: disjoint parts by the row's place in the file, index // (n / parts), each for the whole budget.

    A row inserted at the front shifts every row behind it, and one row over each boundary between parts. A public
    library grows its forest's trees on such parts.
    """
    red = np.array([colour == "red" for colour in table["colour"]])
    part = (np.arange(len(red)) // (len(red) / parts)).astype(np.int64)
    exact = np.bincount(2 * part + ~red, minlength=2 * parts)
    return discrete_laplace(np.tile(exact, (trials, 1)), Fraction(1), noise)


def float_laplace(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: textbook Laplace noise in double precision (Mironov 2012).

    Near a noise of -1 doubles are multiples of 2^-53, near 0 they are finer: a small answer tells by its last bits
    whether it is 0 + noise or 1 - 1 + noise.
    """
    uniform = ((noise.words(trials) >> np.uint64(11)) + np.uint64(1)) * 2.0**-53
    sign = np.where(noise.words(trials) >> np.uint64(63), 1.0, -1.0)
    noisy: Array = raised(table) + sign * np.log(uniform)
    return noisy


def smooth_leaf(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: a leaf's label by the exponential mechanism with smooth sensitivity (Fletcher and Islam 2017).

    The exponent is epsilon u / (2 S), S = exp(-j epsilon), j the lead of the majority. An exponent that depends on the
    rows has no bound: at epsilon 1 the step from a lead of 1 to 2 loses 2.1, from 3 to 4 it loses 17.3. Gives whether
    the minority was returned.
    """
    return (noise.words(trials) * 2.0**-64 < minority(raised(table))).astype(np.int64)


def minority(lead: int, epsilon: float = 1.0) -> float:
    """The chance that `smooth_leaf` returns the rarer of two labels."""
    return 1 / (1 + exp(epsilon * exp(lead * epsilon) / 2))


def noisy_size(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: a cut chosen by Gini impurity over the size of the node, with a noisy size for the sensitivity.

    As shipped in a public tree learner. One row moves the quotient by 2 over the true size; a noisy size that comes out
    large makes the exponent large, and nothing bounds the loss. A tenth of epsilon 1 for the size, the rest for the
    choice. Gives the noisy size, and whether all rows stay together instead of being divided by colour.
    """
    sizes = raised(table) + noise.discrete_laplace(Fraction(1, 10), trials)
    yes = sum(label == "yes" for label in table["label"])
    lead = 2 * yes * (raised(table) - yes) / raised(table) ** 2  # in these tables, one class to a colour
    together = np.exp(-0.9 * lead * np.maximum(sizes, 1) / 2) / 2  # permute-and-flip of two candidates
    return np.column_stack([sizes, noise.words(trials) * 2.0**-64 < together]).astype(np.int64)


def bootstrap_leaf(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: a tree of a forest on a bootstrap sample, with the noise of a row that is counted once.

    As many rows as there are, drawn with replacement (Patil and Singh 2014): a row is in the sample 0, 1, 2, ... times,
    and moves a count by that. At epsilon the loss goes up to e^epsilon - 1, at epsilon 2 it is 6.4. Gives the noisy
    count of red rows in the sample, at epsilon 2.
    """
    red = np.array([colour == "red" for colour in table["colour"]], np.int64)
    drawn = red[noise.below(len(red), trials * len(red))].reshape(trials, len(red))
    return discrete_laplace(drawn.sum(axis=1), Fraction(2), noise)


def fixed_denominator(table: Table, noise: Noise, trials: int, rows: int = 10) -> Array:
    """NOT PRIVATE: discernible pairs divided by a guess of the number of rows, "at most ten", instead of by it.

    The choice of columns for projected histograms (Vinterbo 2012) as if the number of rows were public: beyond the
    guess, one more row counts for more than its share. Chooses between one cell for all and one for each colour.
    """
    labels, colours = table["label"], table["colour"]
    pairs = sum(
        a != b and c != d for a, c in zip(labels, colours, strict=True) for b, d in zip(labels, colours, strict=True)
    )
    scores = np.array([0, pairs])
    return np.array([permute_and_flip(scores, Fraction(1, 2 * rows), noise) for _ in range(trials)])


def undivided_minimum(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: objective perturbation whose noise has the rate of the whole budget on the weights of each column.

    A row has a weight in every column, so it moves as many coordinates of the noise as there are columns; it looks
    right to whoever bounds the largest of a row's values instead of their sum. Gives the weights of red, of ages up to
    1 and of yes, the other values of each column being alike.
    """
    given = amounts(Logistic(), [Fraction(2, 3)] * 3, [Fraction(4)] * 3, [[2]] * 3, 2)
    whole = replace(given, rates=[3 * rate for rate in given.rates])
    objective = _pulling(table, given)
    return np.array([minimiser(objective, whole, noise)[::2, 0] for _ in range(trials)])


def _pulling(table: Table, given: Amounts) -> Objective:
    """Losses of rows on the wrong side of the offset: red, ages up to 1 and yes against other values."""
    likes: dict[str, list[Any]] = {"colour": ["red"], "age": [0, 1], "label": ["yes"]}
    codes = [np.array([value not in like for value in table[name]], np.intp) for name, like in likes.items()]
    truth = np.array([[1.0 if label == "yes" else -1.0 for label in table["label"]]])
    rows = OneHot(codes, [2] * 3, truth)
    return Objective(lambda: [rows], truth.shape[1], Logistic(), given.penalties, np.array([[-30.0]]))


def centred_minimum(table: Table, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: noise of several columns together, with a sum of zero in each of them instead of one common sum.

    It looks right to whoever thinks that only differences of weights matter; but a row adds its slope to the sum of
    every column's gradient, so the weights' sum tells whether it is there. Gives the sums of the three columns.
    """
    given = amounts(Logistic(), [Fraction(2)], [Fraction(4)] * 3, [[2] * 3], 2)
    objective, drawn = _pulling(table, given), []
    for _ in range(trials):
        shift = group_noise(given.groups[0], given.rates[0], given.lattices[0], noise).reshape(3, 2)
        weights = solve(objective, (shift - shift.mean(axis=1, keepdims=True)).reshape(1, -1))[0]
        last = noise.discrete_laplace(given.last, 6)
        drawn.append((np.rint(weights * WEIGHT_UNIT).astype(np.int64) + last).reshape(3, 2).sum(axis=1))
    return np.array(drawn)


def membership_redrawn(table: int, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: two random halves at epsilon 1 each, the halves drawn again for every question.

    A row can then be in the half that is asked both times: two counts lose 2 log((1 + e) / 2) = 1.24 instead of 1. So
    does an engine that rescans its source and promises no order of the rows.
    """
    member = noise.below(2, 2 * trials).reshape(trials, 2)
    return discrete_laplace(table * member, Fraction(1), noise)


def capped_by_subsampling(table: Table, noise: Noise, trials: int, most: int = 3) -> Array:
    """NOT PRIVATE: at most three rows, a uniform sample of a longer table, then a count at epsilon 1.

    An added row displaces another, so two counts move: log(1/4 + 3/4 e^2) = 1.756 instead of 1. No cap on the number
    of rows moves by one row only.
    """
    red = np.array([colour == "red" for colour in table["colour"]], np.int64)
    exact = np.tile([red.sum(), len(red) - red.sum()], (trials, 1))
    if len(red) > most:
        left_out = red[noise.below(len(red), trials)]  # enough for one row too many
        exact -= np.column_stack([left_out, 1 - left_out])
    return discrete_laplace(exact, Fraction(1), noise)


def occupied_first(table: Table, noise: Noise, trials: int) -> list[tuple[int, ...]]:
    """NOT PRIVATE: a sparse count that lists the occupied cells before the empty ones that passed the threshold.

    Every count has proper noise, but their order, like a second array or a hash table's layout, marks the real cells.
    """
    exact = np.bincount([CODES[colour] for colour in table["colour"]], minlength=4)
    order = [*np.flatnonzero(exact), *np.flatnonzero(exact == 0)]
    kept = discrete_laplace(np.tile(exact, (trials, 1)), Fraction(1), noise) > 0
    return [tuple(int(cell) for cell in order if row[cell]) for row in kept]


@dataclass
class PartsInMemory:
    """NOT PRIVATE: what disjoint parts have spent, remembered by the process. After a fork there are two memories, and
    each believes that the dearest part is already paid for."""

    ledger: Ledger
    spent: dict[str, int]

    def charge(self, part: str, cost: int) -> None:
        rise = self.spent.get(part, 0) + cost - max(self.spent.values(), default=0)
        if rise > 0:
            self.ledger.account.charge(Budget(rise), verb="count", question=part, noise="", private=False)
        self.spent[part] = self.spent.get(part, 0) + cost


def forked_parts(table: Table, noise: Noise, trials: int, cost: int = 2) -> Array:
    """NOT PRIVATE: parent and forked child each ask the red part, which the blue one has paid for: see PartsInMemory.

    The fork is real; each process uses the operating system's noise, since a seeded generator would be copied too.
    Gives the child's and the parent's answer of every run; the ledger has charged `cost` for both.
    """
    parts = [PartsInMemory(Ledger(cost, "audit"), {}) for _ in range(trials)]
    for part in parts:
        part.charge("blue", cost)

    def answers() -> Array:
        for part in parts:
            part.charge("red", cost)
        return discrete_laplace(np.full(trials, raised(table)), Fraction(cost), SystemNoise())

    return np.column_stack(in_child_then_here(answers))


def in_child_then_here(answers: Callable[[], Array]) -> tuple[Array, Array]:
    """What a function returns in a forked child, and afterwards in this process."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about threads, which the child does not use
        child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(np.asarray(answers(), np.int64).tobytes())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = np.frombuffer(pipe.read(), np.int64)
    os.waitpid(child, 0)
    return told, answers()


@dataclass(frozen=True)
class Rounding:
    """Equal rows whose floating-point scores change when one more is added: `others` rows lie below the edge on one of
    the tables and not on the other."""

    way: str
    row: Array
    weights: Array
    others: int
    edge: float

    def exact(self, rows: int) -> list[int]:
        """The number of `rows` equal rows that score below the edge, and of those that do not."""
        below = int((WAYS[self.way](np.tile(self.row, (rows, 1)), self.weights) < self.edge).sum())
        return [below, rows - below]


WAYS: dict[str, Callable[[Array, Array], Array]] = {
    "a matrix product": lambda x, w: x @ w,
    "a matrix product of columns": lambda x, w: np.asfortranarray(x) @ w,
    "a matrix product in single precision": lambda x, w: x.astype(np.float32) @ w.astype(np.float32),
    "a sum over columns": lambda x, w: (np.asfortranarray(x) * w).sum(axis=1),
}


@lru_cache(maxsize=1)
def find_rounding() -> Rounding | None:
    """The worst case this machine's arithmetic offers, by search; None if it offers none."""
    generator = np.random.default_rng(0)
    found: list[tuple[int, Rounding]] = []
    for way in WAYS:
        for size in (5, 8, 12, 16, 20) * 10:
            row, weights = generator.normal(size=(2, size))
            found += [_rounding(way, row, weights, others) for others in range(1, 17)]
        if (best := max(found, key=lambda pair: pair[0]))[0] > 3:
            return best[1]
    return best[1] if best[0] > 1 else None


def _rounding(way: str, row: Array, weights: Array, others: int) -> tuple[int, Rounding]:
    """How far one more row moves the two counts in all, with the edge on one of the scores."""
    scores = [float(WAYS[way](np.tile(row, (n, 1)), weights)[0]) for n in (others, others + 1)]
    case = Rounding(way, row, weights, others, max(scores))
    before, after = case.exact(others), case.exact(others + 1)
    return sum(abs(x - y) for x, y in zip(before, after, strict=True)), case


def float_scores(table: int, noise: Noise, trials: int) -> Array:
    """NOT PRIVATE: rows binned by a score that is a floating-point matrix product.

    The last bit of a row's score depends on how many other rows there are, since the library computes rows in blocks.
    With an edge on that bit, one added row moves several to another cell (sums in finite arithmetic: Casacuberta et al.
    2022).
    """
    rounding = find_rounding()
    assert rounding is not None
    return discrete_laplace(np.tile(rounding.exact(rounding.others + table), (trials, 1)), Fraction(1), noise)
