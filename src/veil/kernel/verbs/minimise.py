"""minimise: weights that minimise loss, penalty and noise: objective perturbation, private in finite arithmetic.

Every row has one value in each of p columns, or at most p words. J(w) = sum of losses + sum_j penalty_j |w_j|^2 / 2 + b
w, with noise b of rate r on every group of columns: Laplace for a column alone, shaped to their common sum for several.
For a given minimiser w the noise must have been b = -(gradient of the rest): a row moves it by its slopes in one place
of each column, and multiplies the Jacobian by no more than its curvature and the sum of 1/penalty_j allow (Chaudhuri,
Monteleoni and Sarwate 2011, for sums and added rows). The loss says which rates this leaves. Words are as p columns in
equal parts of epsilon: a row's slopes move the noise in p coordinates, and its curvature meets p penalties, whichever
these are.

Computers find no exact minimiser of real noise. The noise is drawn on a lattice, each point the middle of a cell of the
ideal noise; a point is taken only where the gradient, its error included, is provably below `TOLERANCE`, whoever found
it; so it lies within a known distance of the ideal minimiser, by strong convexity, whatever the rows. Discrete Laplace
noise in proportion to that distance on the rounded weights hides it, for a sliver of epsilon.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor, sqrt
from typing import Any

import numpy as np

from ... import wording
from ...questions import Bag, Grid
from ...schema.codes import LABEL
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ...solver import points
from ..asking import Asking
from ..budget import Budget
from ..gradients import CHUNK, TOLERANCE, Objective, OneHot, WordRows
from ..losses import LOSSES, Loss, Numbers
from ..noise import SMALLEST_EPSILON, Integers, Noise
from ..owning import Owner, whole
from ..release import Release, frozen
from ..settings import Settings, check_weights, own_label, own_margin, own_offsets, own_penalties
from ..shaped import equal_sums
from ..table import Table
from ..words import first_words

WEIGHT_UNIT = 1 << 30  # released weights are whole numbers of 1 / WEIGHT_UNIT
LARGEST = 2.0**30  # weight
LOUDEST = 2.0**33  # norm of the noise: beyond it, rounding alone would exceed the tolerance
SLIVER = Fraction(1, 50)  # of epsilon, for hiding where the solver stopped
LEAST_PENALTY = Fraction(1, 64)  # below it the solver would be too inaccurate


class Minimising(Asking):
    """The verb that learns weights."""

    def minimise(self, loss: Loss, axes: Sequence[Grid] | Bag, budget: Budget, **settings: Any) -> Release[Integers]:
        """Weights in units of 2^-30, for every group of these one-axis grids in order, or for every word: weights x 1,
        large where rows are of the class `label`; with Softmax weights x classes.

        `groups` says how many neighbouring columns share one noise, shaped to them; `shares` divide epsilon among the
        groups. A column's `penalty`, divided by its group's share of epsilon, is the weight of its squared weights (for
        words, by the share of each of the p words of a row); `offsets` are added to a row's scores, and the `margin` is
        subtracted from that of its own class, which has to lead by as much.
        """
        problem = self.check_minimise(loss, axes, budget := Budget(budget), **settings)
        about = f"{type(problem.loss).__name__} on {'; '.join(one.describe() for one in problem.of)}"
        receipt = self._charge("minimise", about, budget)
        with quiet():
            weights = minimiser(objective(self._table, problem), problem.given, self._noise)
        return self._wrap(frozen(weights), None, receipt)

    def check_minimise(self, loss: Any, axes: Any, budget: Budget, **settings: Any) -> "Problem":
        """The problem that `minimise` would solve, made of copies. Refuses what it would refuse, without a charge."""
        chosen = Settings(**settings)
        owner, words = Owner(self._own), type(axes) is Bag
        asked = (owner.bag(axes),) if words else tuple([owner.partition(one) for one in axes])
        loss, every = own_loss(loss, asked, words), len(self._own.classes)
        classes = every if loss.joint else 1
        counts = [1] * len(asked) if chosen.groups is None else [*chosen.groups]
        parts = Budget(budget).split(*(chosen.shares if chosen.shares is not None else [1] * len(counts)))
        ratios = own_penalties(chosen.penalty, len(asked))
        shapes = check_groups(counts, [one.size for one in asked], len(parts))
        check_weights(shapes, words, classes)
        epsilons = [self._per_row(part) for part in parts]
        if words:
            given = word_amounts(loss, epsilons[0], ratios[0], asked[0].size, asked[0].reach)
        else:
            given = amounts(loss, epsilons, ratios, shapes, every)
        label, offsets = own_label(chosen.label, loss, every), own_offsets(chosen.offsets, classes)
        return Problem(asked, loss, label, offsets, own_margin(chosen.margin), given)


@dataclass(frozen=True)
class Problem:
    """A minimisation: its columns or words, loss, class, offsets and margin, and the amounts of noise and penalty."""

    of: tuple[Any, ...]
    loss: Loss
    label: int | None
    offsets: Numbers
    margin: float
    given: "Amounts"


def own_loss(loss: Any, asked: tuple[Any, ...], words: bool) -> Any:
    """A copy of the loss, as `own_score` makes them. Refuses one not on the closed list, and grids of several axes."""
    names = [kind.__name__ for kind in LOSSES if not words or not kind.joint]
    refuse(type(loss) not in LOSSES or words and loss.joint, f"a loss must be one of {', '.join(names)}")
    refuse(not words and not all(type(one) is Grid and len(one.axes) == 1 for one in asked), wording.MINIMISED)
    refuse(len({one.columns for one in asked}) < len(asked), "give every column once")
    return replace(loss)  # the given one may have been changed


def check_groups(groups: list[Any], sizes: list[int], parts: int) -> list[list[int]]:
    """The column sizes of each group; `groups` are numbers of neighbouring columns."""
    counts = [whole(one, "a group", 1, len(sizes)) for one in groups]
    refuse(sum(counts) != len(sizes) or len(counts) != parts, wording.SHARES)
    return [sizes[end - count : end] for count, end in zip(counts, accumulate(counts), strict=True)]


def objective(table: Table, problem: Problem) -> Objective:
    """The exact objective of these rows. Whoever asks for blocks of them gets copies, made anew each time."""
    others = problem.loss, problem.given.penalties, problem.offsets, problem.margin
    return Objective(lambda: (rows_of(table, problem, part) for part in table.blocks(CHUNK)), len(table), *others)


def rows_of(table: Table, problem: Problem, block: Any) -> OneHot | WordRows:
    """Copies: the group of each row on every axis, or its words, and whether it is of the class (or of which)."""
    labels, numbers, of = table.column(LABEL, block), np.arange(table.classes)[:, None], problem.of
    signs = labels == numbers if problem.label is None else np.where(labels == problem.label, 1, -1)[None]
    if type(of[0]) is Bag:
        words = first_words(of[0], table.column(of[0].column, block), of[0].most)
        return WordRows(*words, signs.astype(np.float64), of[0].size, of[0].reach)
    codes = [grid.axes[0].pick(table.column(grid.columns[0], block)).astype(np.intp) for grid in of]
    return OneHot(codes, [grid.size for grid in of], signs.astype(np.float64))


@dataclass(frozen=True)
class Amounts:
    """What the budget allows: the column sizes, noise rate and lattice step of each group, the penalty of each weight,
    and the rate of the final noise, which hides where the solver stopped."""

    groups: Sequence[Sequence[int]]
    rates: Sequence[Fraction]
    lattices: Sequence[Fraction]
    penalties: Numbers
    last: Fraction


def amounts(
    loss: Loss, parts: Sequence[Fraction], ratios: Sequence[Fraction], groups: Sequence[Sequence[int]], classes: int
) -> Amounts:
    """The amounts for these shares of epsilon, one for each group of columns (given by their sizes). No penalty is
    below its column's ratio / part; what counts is the exact sum of 1/penalty of those that are used."""
    whole, sizes = sum(parts, Fraction(0)), [size for group in groups for size in group]
    each = [part * (1 - SLIVER) for part, group in zip(parts, groups, strict=True) for _ in group]
    least = [max(ratio / part, LEAST_PENALTY) for ratio, part in zip(ratios, each, strict=True)]
    used = [float(np.nextafter(float(one), np.inf)) for one in least]
    steps = [lattice(part / (2 * loss.spread)) for part in parts]
    copies = classes if loss.joint else 1
    budget = whole * (1 - SLIVER) / (1 + max(map(slack, groups, steps)) * copies / loss.spread)
    left = loss.noise_budget(budget, sum((1 / Fraction(one) for one in used), Fraction(0)), classes)
    refuse(left * 2 < whole, "less than half of the budget would be left for the noise: use a larger penalty or budget")
    rates = [left * part / whole / loss.spread for part in parts]
    penalties, moved = np.repeat(used, sizes), sqrt(sum(map(movement, groups, steps)))
    last = whole * SLIVER / distance(penalties, copies, moved)
    loudest = (len(penalties) + 64) * sqrt(len(rates) * copies) / float(min(rates))  # of the noise, or exp(-64)
    refuse(last < SMALLEST_EPSILON or loudest > LOUDEST, wording.MANY_WEIGHTS)
    return Amounts(groups, rates, steps, penalties, last)


def lattice(rate: Fraction) -> Fraction:
    """The lattice step for noise of at least this rate: the finest power of two for which the sampler is exact."""
    step = SMALLEST_EPSILON / rate
    return Fraction(1 << (ceil(step) - 1).bit_length(), 1 << max(floor(1 / step).bit_length() - 1, 0))


def slack(group: Sequence[int], step: Fraction) -> Fraction:
    """Sensitivity that rounding to the lattice adds to a group's noise, for each class; 0 for a single column."""
    return (2 * max(group) - 1) * step if len(group) > 1 else Fraction(0)


def movement(group: Sequence[int], step: Fraction) -> float:
    """The squared distance between ideal noise and the middle of its lattice cell, at most."""
    size = sum(one**2 + one for one in group) if len(group) > 1 else group[0]
    return size * float(step) ** 2 / 4


def group_noise(group: Sequence[int], rate: Fraction, step: Fraction, noise: Noise) -> Numbers:
    """Lattice noise for columns of these sizes together; for a single one the midpoints of the lattice cells into which
    ideal Laplace noise of this rate falls."""
    if len(group) > 1:
        return np.asarray(equal_sums(group, rate * step, noise) * float(step))
    middles = (noise.geometric(rate * step, group[0]) + 0.5) * float(step)
    return np.asarray(np.where(noise.below(2, group[0]), middles, -middles))


def distance(penalties: Numbers, classes: int, moved: float) -> int:
    """The sensitivity of the rounded weights: how many units (L1 norm) two can be apart with the same ideal minimiser.
    Each is within (tolerance + the lattice's effect on the gradient) / least penalty of it; rounding adds one each."""
    size = len(penalties) * classes
    radius = (TOLERANCE + sqrt(classes) * moved) / float(penalties.min())
    return ceil(2 * radius * sqrt(size) * WEIGHT_UNIT * (1 + 1e-9)) + size


def word_amounts(loss: Loss, epsilon: Fraction, ratio: Fraction, size: int, most: int) -> Amounts:
    """The amounts for rows with at most `most` of `size` words: those of as many columns with equal shares. All parts
    have one rate and one lattice, so the noise of all words is drawn in one go."""
    pieces = [len(piece) for piece in np.array_split(np.arange(size), most)]
    given = amounts(loss, [epsilon / most] * most, [ratio] * most, [[piece] for piece in pieces], 2)
    return replace(given, groups=[[size]], rates=given.rates[:1], lattices=given.lattices[:1])


def minimiser(objective: Objective, given: Amounts, noise: Noise) -> Integers:
    """Weights x classes in units of 2^-30: the minimiser with lattice noise, rounded, plus discrete Laplace noise."""
    several = range(len(objective.offsets))
    drawn = [
        [group_noise(group, rate, step, noise) for _ in several]
        for group, rate, step in zip(given.groups, given.rates, given.lattices, strict=True)
    ]
    within = np.clip(solve(objective, np.hstack(drawn)).T, -LARGEST, LARGEST)  # moves no two points apart
    rounded = np.rint(within * WEIGHT_UNIT).astype(np.int64)
    return rounded + noise.discrete_laplace(given.last, rounded.size).reshape(rounded.shape)


def solve(objective: Objective, shift: Numbers) -> Numbers:
    """A point whose gradient is certainly short. Who proposes points need not be trusted: what they get are copies."""
    proposed = (np.array(point, np.float64) for point in points(deepcopy(objective), shift.copy()))
    fitting = (point for point in proposed if point.shape == shift.shape)
    return next(point for point in fitting if objective.certainly_short(point, objective.gradient(point, shift), shift))
