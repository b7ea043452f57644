"""count_gradually: the same counts several times, each time with less noise, for what the last time costs alone.

After Koufogiannis, Han and Pappas 2015, for whole numbers. Let Z(a) be discrete Laplace noise, P(Z = z) in proportion
to a^|z|; its characteristic function is (1-a)^2 / (1 + a^2 - 2 a cos w). Take the noise of the finest level, and for
each coarser one keep the noise of the next finer level with probability p, else add fresh noise of the coarser level.
With a > b, a = exp(-x) of the coarser and b = exp(-y) of the finer level, and p = b (1-a)^2 / (a (1-b)^2),

    Z(b) + (0 with probability p, else Z(a))   has the law of   Z(a),

for p + (1-p) (1-a)^2 / (1 + a^2 - 2 a cos w) = (1-a)^2 (1 + b^2 - 2 b cos w) / ((1-b)^2 (1 + a^2 - 2 a cos w)): compare
the terms with and without cos w. So every level by itself has exactly its noise. And coarser levels are made of the
finer one's *answer* and of draws that depend on no row: levels 1 to t together cost what level t costs alone. Which
level is the last one looked at may follow from those before, whatever they show: the whole is reserved when opened.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ... import wording
from ...questions import Bag, Partition
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ..budget import Budget
from ..noise import SMALLEST_EPSILON, Integers, Noise
from ..owning import Owner
from ..release import Release, frozen
from .count import Counting, Shares, counts_of_each

MOST_LEVELS = 64


class Refining(Counting):
    """The verb that counts with less and less noise."""

    def count_gradually(
        self, questions: Sequence[Partition | Bag], levels: Sequence[Budget], *, shares: Shares = None
    ) -> Iterator[tuple[Release[Integers], ...]]:
        """Noisy counts of several questions, cells or words x classes, at rising levels of epsilon, one level for each
        `next`. The last level is charged now, whether or not it is ever looked at; each is divided in these shares."""
        questions, levels = [*map(Owner(self._own), questions)], [*map(Budget, levels)]
        many = not 1 <= len(levels) <= MOST_LEVELS
        refuse(many or any(fine <= coarse for coarse, fine in pairwise(levels)), wording.RISING.format(MOST_LEVELS))
        rates = [self._rates(level, questions, shares) for level in levels]
        rising = [*zip(*rates, strict=True)]  # of each question
        refuse(not all(_drawable(*pair) for one in rising for pair in pairwise(one)), wording.UNEVEN)
        said = f"{len(levels)} levels of {'; '.join(asked.describe() for asked in questions)}"
        receipt = self._charge("count_gradually", said, levels[-1])
        with quiet():
            exact = counts_of_each(self._table, questions)
            noisy = [added(*pair, self._noise.own) for pair in zip(exact, rising, strict=True)]
        return (
            tuple(
                self._wrap(counts, float(1 / rate), receipt, asked, self._own.classes)
                for counts, rate, asked in zip(*level, questions, strict=True)
            )
            for level in zip(zip(*noisy, strict=True), rates, strict=True)
        )

    def looked_at(self, level: Budget, reserved: Budget) -> None:
        """Put on the ledger, for its readers, that of what was reserved no level above this one was looked at."""
        amounts = {"reserved": str(Budget(reserved).epsilon), "ex_post": str(Budget(level).epsilon)}
        with (on := self._account).ledger.turn(write=True) as (turn, known):
            on.ledger.append(turn, known, {"kind": "ex-post", "account": on.path, "run": on.run, **amounts})


def added(counts: Integers, rates: Sequence[Fraction], noise: Noise) -> list[Integers]:
    """The counts with the noise of each level."""
    return [frozen(counts + path.reshape(counts.shape)) for path in noise_path(rates, counts.size, noise)]


def noise_path(rates: Sequence[Fraction], size: int, noise: Noise) -> list[Integers]:
    """Discrete Laplace noise at each of these rising rates, drawn backwards from the last (see above)."""
    path = [noise.discrete_laplace(rates[-1], size)]
    for fine, coarse in pairwise(rates[::-1]):
        fresh = noise.discrete_laplace(coarse, size)
        path.append(path[-1] + np.where(kept(coarse, fine, size, noise), 0, fresh))
    return path[::-1]


def kept(coarse: Fraction, fine: Fraction, size: int, noise: Noise) -> npt.NDArray[np.bool_]:
    """Independent coins, true with probability p = exp(x - y) ((1 - exp(-x)) / (1 - exp(-y)))^2, x coarse and y fine.

    A geometric number G with P(G >= k) = exp(-k y/n) is below m, counted modulo n, with the probability of each of the
    two equal factors if x/y = m/n: its remainder r has probability in proportion to exp(-r y/n).
    """
    part = coarse / fine
    low = noise.geometric(fine / part.denominator, 2 * size) % part.denominator < part.numerator
    return noise.flips(np.ones(size, np.int64), fine - coarse) & low[:size] & low[size:]


def _drawable(coarse: Fraction, fine: Fraction) -> bool:
    """Whether the coins above can be drawn."""
    part = (coarse / fine).denominator
    return part < 2**31 and fine / part >= SMALLEST_EPSILON
