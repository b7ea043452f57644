"""best_of: what the best of several private attempts made, at twice the price of one, however many there were.

After Liu and Talwar 2019 and Papernot and Steinke 2022. Each attempt costs epsilon / 2, its score included; their
number K is random, P(K = k) in proportion to exp(-rate k) / k, and nobody learns it. Let F and F' be the chances that
one attempt scores at most, or less than, what the outcome o scores; f(t) = E t^K, whose derivative is in proportion to
1 / u(t), u(t) = 1 - exp(-rate) t. Of equal scores the first is taken, so o comes out with chance

    P(o) (sum over k of P(K = k) (F^k - F'^k)) / (F - F') = P(o) times the mean of f' between F' and F.

A row changes P(o), and 1 - F and 1 - F', the chances of events, by e^(epsilon/2) at most; hence u(F) and u(F'), which
are a constant plus a multiple of these, and u on the line between them, and the mean of 1/u. Together e^epsilon. An
attempt that raises ends all of them: the best possible score, seen sooner. A fixed K would cost K times epsilon / 2.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import repeat, starmap
from operator import itemgetter
from typing import Any, Self

from ... import wording
from ...progress import told
from ...schema.encoding import quiet
from ...schema.refusing import refuse
from ..budget import Budget, exact
from ..entries import ROOT
from ..ledger import Ledger
from ..noise import Noise
from ..release import Release
from .split import Splitting


class Trying(Splitting):
    """The verb that tries."""

    def best_of(
        self, attempts: Sequence[Callable[[Self], tuple[Any, int]]], budget: Budget, *, rate: Any = Fraction(1, 10)
    ) -> Release[Any]:
        """What the best of several attempts made: each a random one of these functions, which is handed these rows with
        an account of half the budget, and returns what it made and how good that is, a whole number.

        An attempt must not tell anybody anything but what it returns: all of it is lost but for the best.
        """
        attempts, budget, chance = [*attempts], Budget(budget), exact(rate, "the rate")
        refuse(not attempts or not Fraction(1, 1000) <= chance <= 10, wording.ATTEMPTS)
        self._per_row(half := Budget(budget.epsilon / 2))
        receipt = self._charge("best_of", f"a random number of attempts of {len(attempts)} kinds", budget)
        with quiet(), told(lambda *_: None):  # what lost, and how many tries there were, is in no frame that is shown
            best = max(starmap(self._tried, repeat((attempts, half), tries(chance, self._noise))), key=itemgetter(1))
        return self._wrap(best[0], None, receipt)

    def _tried(self, attempts: Sequence[Callable[[Self], tuple[Any, int]]], half: Budget) -> tuple[Any, int]:
        made, score = attempts[int(self._noise.below(len(attempts), 1)[0])](self._inside(half))
        return made, int(score)

    def _inside(self, budget: Budget) -> Self:
        """The same rows with an account of this budget alone, of which no ledger outside tells."""
        account = replace(self._account, ledger=Ledger(budget, self._account.ledger.name), path=ROOT)
        return type(self)(self._table, self._own, self._shown, account, self._noise)


def tries(rate: Fraction, noise: Noise) -> int:
    """K >= 1 with P(K = k) in proportion to exp(-rate k) / k: a geometric number, kept with chance 1/k, else drawn
    again."""
    while noise.below(found := 1 + int(noise.geometric(rate, 1)[0]), 1)[0]:
        pass
    return found
