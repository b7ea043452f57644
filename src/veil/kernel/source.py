"""Source: the questions that can be asked of private rows. Every verb checks, charges, computes, perturbs and wraps,
in this order."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from ..errors import BadInput, LedgerProblem
from ..progress import advance
from ..questions import Axis, Binned, Drawn, Grid, Partition, Scorer
from ..schema import Numeric, Schema
from ..schema.encoding import quiet
from .budget import Budget, exact
from .checks import (
    check_candidates,
    check_cell,
    check_divisions,
    check_groups,
    check_handicaps,
    check_margin,
    check_minimise,
    check_partition,
    check_penalties,
    check_score,
    whole,
)
from .ledger import Ledger
from .losses import Loss
from .mechanisms import (
    Sieve,
    discrete_laplace_each,
    permute_and_flip,
    permute_and_flip_each,
    sieve_rates,
    sparse_threshold,
)
from .minimise import Objective, amounts, minimiser
from .noise import SMALLEST_EPSILON, Integers, make_noise
from .order import PARTS_OF_A_ROW, even_cuts, misordered_rows
from .reading import read_table
from .release import Release, SparseCounts, frozen
from .scores import Cellwise, Score
from .selecting import Selecting, sparse_level
from .table import Table

Question = TypeVar("Question", bound=Partition)
MOST_PARTS = 1_000_000
MOST_HALVINGS = 16


def open_source(rows: Any, schema: Any, ledger: Ledger, noise: Any = None, *, purpose: str = "") -> "Source":
    """Private rows behind their ledger. The rows' names and shape are checked, their values are not.

    `schema`: a Schema or the path of one. `noise`: None for the operating system's, a seed for repeatable and marked
    answers, or a source such as OpenDPNoise(). `purpose` is for the ledger's reader, such as "train naive-bayes".
    """
    schema = schema if isinstance(schema, Schema) else Schema.read(schema)
    if ledger.name != schema.name:
        raise LedgerProblem(
            f"the ledger is for {ledger.name!r}, the schema for {schema.name!r}: use its own, or correct `name` in it"
        )
    source = make_noise(noise)
    with quiet():
        table = read_table(rows, schema, source)
    return Source(table, schema, ledger.run(purpose), source)


class Source(Selecting):
    """Private rows, or a part of them, that answer questions with noise as long as the budget lasts."""

    def count(self, partition: Partition, budget: Budget, *, by_class: bool = True) -> Release[Integers]:
        """Noisy counts, cells x classes (one column without `by_class`).

        Adding a row adds one to one count, so discrete Laplace noise of scale 1/epsilon suffices (Dwork et al. 2006,
        Ghosh et al. 2009).
        """
        return self.count_each([partition], budget, by_class=by_class)[0]

    def count_each(
        self,
        partitions: Sequence[Partition],
        budget: Budget,
        *,
        shares: Sequence[float] | None = None,
        by_class: bool = True,
    ) -> tuple[Release[Integers], ...]:
        """Noisy counts of several partitions under one charge, divided in these shares (equally without any).

        Adding a row adds one to one count of every partition; the partitions' costs add up to the budget exactly.
        """
        partitions, budget = tuple(partitions), Budget(budget)  # looked at once: what is checked is what is asked
        parts = budget.split(*(shares if shares is not None else [1] * len(partitions)))
        if len(parts) != len(partitions):
            raise BadInput("give one share for each partition")
        for partition in partitions:
            check_partition(partition, self.schema)
        epsilons = [self._per_row(part) for part in parts]
        receipt = self._charge("count", "; ".join(p.describe() for p in partitions), budget)
        classes = self.schema.classes if by_class else ("",)
        with quiet():
            exact = self._table.tabulate_all(partitions, by_class)
            noisy = discrete_laplace_each(exact, epsilons, self._noise)
        answers = zip(noisy, epsilons, partitions, strict=True)
        return tuple(self._wrap(frozen(n), float(1 / e), receipt, asked, classes) for n, e, asked in answers)

    def count_sparse(
        self, grid: Grid | Drawn, budget: Budget, *, threshold: int | None = None, spurious: float = 1.0
    ) -> Release[SparseCounts]:
        """The noisy counts above a threshold, over a grid, or the leaves of a drawn tree, with any number of cells.

        The same release as `count` with every count up to the threshold blanked, drawn without visiting the empty
        cells. The default threshold lets through `spurious` empty cells on average.
        """
        check_partition(grid, self.schema, dense=False)
        epsilon, cells = self._per_row(budget := Budget(budget)), grid.size * len(self.schema.classes)
        if type(grid) not in (Grid, Drawn):
            raise BadInput("a sparse count needs a Grid or a Drawn")
        level = sparse_level(cells, epsilon, threshold, spurious)
        receipt = self._charge("count_sparse", f"{grid.describe()} above {level}", budget)
        with quiet():
            codes, counts = self._table.occupied(grid)
            kept = sparse_threshold(codes, counts, cells, level, epsilon, self._noise.own)
        value = SparseCounts(frozen(kept[0], codes.dtype), frozen(kept[1]), len(self.schema.classes), level)
        return self._wrap(value, float(1 / epsilon), receipt, grid, self.schema.classes)

    def choose(
        self, candidates: Sequence[Question], score: Score, budget: Budget, *, handicaps: Sequence[int] | None = None
    ) -> Release[Question]:
        """One of the candidates, most likely one with a high score: the winner alone, no score, no runner-up.

        Permute-and-flip with exponent epsilon / (high - low) per unit, which costs epsilon by the range lemma.
        `handicaps` are public whole numbers taken off the scores; one added row does not move them.
        """
        candidates, budget = tuple(candidates), Budget(budget)  # kept alive: what is known of an axis goes by identity
        score = check_candidates(candidates, score, self.schema)
        marks = check_handicaps(handicaps, len(candidates))
        epsilon = self._per_row(budget)
        receipt = self._charge("choose", f"one of {len(candidates)} by {type(score).__name__}", budget)
        with quiet():
            scores, rows = self._scores(candidates, score), self._rows_of(score)
            rate = epsilon / ((score.high - score.low) * rows)
            winner = permute_and_flip(scores - marks.astype(scores.dtype) * (score.unit * rows), rate, self._noise)
        scale = float((score.high - score.low) / (epsilon * score.unit))
        return self._wrap(candidates[winner], scale, receipt)

    def choose_each(
        self,
        partition: Partition,
        candidates: Sequence[Grid],
        score: Cellwise,
        budget: Budget,
        *,
        allowed: Any = None,
        handicaps: Sequence[int] | None = None,
    ) -> Release[Integers]:
        """For every cell of a partition, occupied or not, the place of the candidate by which to divide it: one axis
        that most likely has a high score among the rows of the cell.

        As if `split` by the partition and `choose` in each part: a row lies in one cell and moves the scores of that
        cell alone, so all choices together cost epsilon once. `allowed`, cells x candidates, is public, and so are
        `handicaps`, one for each candidate.
        """
        mask, score = check_divisions(partition, candidates := tuple(candidates), score, allowed, self.schema)
        marks = check_handicaps(handicaps, len(candidates))
        epsilon, axes = self._per_row(budget := Budget(budget)), [candidate.axes[0] for candidate in candidates]
        about = f"one of {len(candidates)} by {type(score).__name__} in each cell of {partition.describe()}"
        receipt = self._charge("choose_each", about, budget)
        with quiet():
            scores = np.empty(mask.shape, np.int64)
            for places, starts, counts in self._table.tabulate_within(partition, axes):
                scores[:, places] = np.add.reduceat(score.cells(counts), starts).T - marks[places] * score.unit
                advance("scoring candidates", places[-1] + 1, len(axes))
            winners = permute_and_flip_each(scores, mask, epsilon / (score.high - score.low), self._noise)
        return self._wrap(frozen(winners), float((score.high - score.low) / (epsilon * score.unit)), receipt)

    def above(self, score: Score, threshold: float, budget: Budget, *, hits: int = 1) -> Sieve:
        """A sieve: `sieve.ask(partition)` says whether the score is at or above the threshold, until `hits` times yes.

        The whole budget is charged now. Answers of no are free, and other questions may be asked in between.
        """
        score, budget = check_score(score, self.schema), Budget(budget)
        hits = whole(hits, "hits", 1, MOST_PARTS)
        level = -(-exact(threshold, "the threshold") * score.unit // 1)
        rates = sieve_rates(self._per_row(budget), score.low, score.high, hits)
        if min(rates) < SMALLEST_EPSILON:
            raise BadInput("the budget is too small for this sieve: use a larger one or fewer hits")
        self._charge("above", f"{type(score).__name__} against {threshold}, {hits} hits", budget)
        return Sieve(lambda partition: self._score(partition, score), int(level), rates, hits, self._noise)

    def _score(self, partition: Partition, score: Score) -> int:
        check_partition(partition, self.schema)
        check_cell(score, partition, self.schema)
        with quiet():
            return score(self._table.tabulate(partition))

    def quantile(
        self,
        of: str | Scorer,
        q: float | str | Fraction,
        budget: Budget,
        *,
        grid: Sequence[float] | None = None,
        label: int = -1,
    ) -> Release[float]:
        """A cut point near the q-quantile of a numeric column or of a scorer's values, one of a public grid.

        Permute-and-flip on -|b L - a n|, q = a/b, L the rows below the cut, n all rows. A row moves b L - a n by b -
        a or by -a, on either side of it; L grows along the grid, so the changes of |.| spread by at most 2 max(a, b -
        a) over the grid. For a column the grid is its bin edges, and rows with a missing value are left out.
        """
        share = exact(q, "q").limit_denominator(10**6)
        if not 0 < share < 1:
            raise BadInput("q must lie between 0 and 1")
        (partition, cuts), budget = self._ordered(of, grid, label), Budget(budget)
        epsilon = self._per_row(budget)
        receipt = self._charge("quantile", f"{share} of {partition.describe()}", budget)
        with quiet():
            counts = [int(n) for n in self._table.tabulate(partition, by_class=False).ravel()[: len(cuts) + 1]]
            a, b, rows, below = share.numerator, share.denominator, sum(counts), np.cumsum(counts[:-1])
            scores = np.array([-abs(b * int(n) - a * rows) for n in below], np.int64)
            winner = permute_and_flip(scores, epsilon / (2 * max(a, b - a)), self._noise)
        return self._wrap(float(cuts[winner]), None, receipt)

    def quantiles(
        self, of: str | Scorer, depth: int, budget: Budget, *, grid: Sequence[float] | None = None, label: int = -1
    ) -> Release[tuple[float, ...]]:
        """Up to 2^depth - 1 cut points of a public grid, in order, that divide the rows into parts of about one size.

        Medians of medians, each level of them at epsilon / depth (see `even_cuts`). What is cut is as for `quantile`.
        """
        (partition, cuts), budget = self._ordered(of, grid, label), Budget(budget)
        depth = whole(depth, "depth", 1, MOST_HALVINGS)
        epsilon = self._per_row(budget)
        receipt = self._charge("quantiles", f"{2**depth} parts of {partition.describe()}", budget)
        with quiet():
            counts = self._table.tabulate(partition, by_class=False).ravel()[: len(cuts) + 1]
            places = even_cuts(counts, depth, epsilon, self._noise)
        return self._wrap(tuple(float(cuts[place - 1]) for place in places), None, receipt)

    def misordered(
        self, of: str | Scorer, positive: int, budget: Budget, *, grid: Sequence[float] | None = None, label: int = -1
    ) -> Release[float]:
        """How far rows of a class fail to lie above those of the others: min(n1, n0) (1 - AUC), in rows, with noise.

        One row moves this by one at most, unlike the AUC itself (see `misordered_rows`), so discrete Laplace noise of
        scale 1/epsilon suffices. What is ordered is as for `quantile`; values between two cut points are tied.
        """
        (partition, cuts), budget = self._ordered(of, grid, label), Budget(budget)
        positive = whole(positive, "the positive class", 0, len(self.schema.classes) - 1)
        epsilon = self._per_row(budget)
        if epsilon / PARTS_OF_A_ROW < SMALLEST_EPSILON:
            raise BadInput("epsilon is too small: noise of more than sixteen million rows would be the only answer")
        receipt = self._charge("misordered", f"rows of class {positive} by {partition.describe()}", budget)
        with quiet():
            counts = self._table.tabulate(partition)[: len(cuts) + 1]
            rows = misordered_rows(counts[:, positive], counts.sum(axis=1) - counts[:, positive])
            noisy = rows + int(self._noise.discrete_laplace(epsilon / PARTS_OF_A_ROW, 1)[0])
        return self._wrap(noisy / PARTS_OF_A_ROW, float(1 / epsilon), receipt)

    def _ordered(self, of: Any, grid: Sequence[float] | None, label: int) -> tuple[Partition, Sequence[float]]:
        """A partition into intervals, lowest first, and the cuts between them."""
        if isinstance(of, str):
            column = self.schema.get(of)
            if not isinstance(column, Numeric) or grid is not None:
                raise BadInput("a column's quantile needs a numeric column, whose bin edges are the grid")
            groups = tuple(range(column.size))
            partition: Partition = Grid((Axis(of, groups, column.names),))
            cuts: Sequence[float] = column.cuts[1:-1]
        else:
            cuts = () if grid is None else tuple(grid)
            partition = Binned(of, cuts, label)
        check_partition(partition, self.schema)
        if len(cuts) == 0:
            raise BadInput("a quantile needs a grid of at least one cut point")
        return partition, cuts

    def minimise(
        self,
        loss: Loss,
        axes: Sequence[Grid],
        budget: Budget,
        *,
        label: int | None = None,
        offsets: Sequence[float] = (),
        margin: float = 0,
        penalty: float | Fraction | Sequence[float] = 4,
        groups: Sequence[int] | None = None,
        shares: Sequence[float] | None = None,
    ) -> Release[Integers]:
        """Weights for every group of these grids of one axis, one after the other, in units of 2^-30: weights x 1,
        large for groups whose rows are of the class `label`; with Softmax weights x classes.

        Objective perturbation with a certified minimiser (see `minimise`). `groups` says how many columns after each
        other share one noise, shaped to them; `shares` divide epsilon among the groups. A column's `penalty` over its
        group's part of epsilon is the weight of its squares; `offsets` are added to a row's scores, and the
        `margin` is taken off that of its own class, which has to lead by as much.
        """
        axes, counts = tuple(axes), [1] * len(axes) if groups is None else [*groups]
        parts = (budget := Budget(budget)).split(*(shares if shares is not None else [1] * len(counts)))
        start, ratios = check_minimise(loss, axes, label, offsets, self.schema), check_penalties(penalty, len(axes))
        lead = check_margin(margin)
        shapes = check_groups(counts, [one.size for one in axes], len(parts))
        loss = type(loss)()  # of the class alone: whoever made it may have changed it
        given = amounts(loss, [self._per_row(part) for part in parts], ratios, shapes, len(self.schema.classes))
        receipt = self._charge("minimise", f"{type(loss).__name__} on {'; '.join(a.describe() for a in axes)}", budget)
        with quiet():
            objective = Objective(self._table.blocks(axes, label), loss, given.penalties, start, lead)
            weights = minimiser(objective, given, self._noise)
        return self._wrap(frozen(weights), None, receipt)

    def split(self, partition: Partition) -> "tuple[Source, ...]":
        """One source for every cell, occupied or not. Together they cost what the dearest of them costs.

        A row lies in one part, by a rule that depends on that row and on public values; the others' answers do not
        change with it.
        """
        check_partition(partition, self.schema)
        if partition.size > MOST_PARTS:
            raise BadInput("the partition has too many cells to split by: use a coarser one")
        group = self._account.split(question=partition.describe(), parts=partition.size)
        with quiet():
            return self._parts(group, self._table.split(partition))

    def split_at_random(self, *weights: int) -> "tuple[Source, ...]":
        """Disjoint sources in these proportions: every row is drawn by itself, once, and stays where it is."""
        if not weights or not all(isinstance(w, (int, np.integer)) and w > 0 for w in weights) or sum(weights) >= 2**63:
            raise BadInput("weights must be whole numbers above zero, such as 4, 1")
        group = self._account.split(question=f"at random {' : '.join(map(str, weights))}", parts=len(weights))
        with quiet():
            return self._parts(group, self._table.split_at_random([int(w) for w in weights], self._noise))

    def _parts(self, group: str, tables: list[Table]) -> "tuple[Source, ...]":
        accounts = (self._account.part(group, i) for i in range(len(tables)))
        pairs = zip(tables, accounts, strict=True)
        return tuple(Source(table, self.schema, a, self._noise, self._record) for table, a in pairs)
