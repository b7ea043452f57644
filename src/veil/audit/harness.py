"""Run a mechanism many times on two neighbouring tables and look for the event that tells them apart best.

Differential privacy promises that no event is more than exp(epsilon) times as likely on one table as on the other. An
audit searches for an event that breaks the promise: on the first half of the runs it picks one event for each
direction, on the other half, which had no part in the choice, it bounds the two probabilities (Clopper and Pearson
1934; the method follows Ding et al. 2018 and Jagielski, Ullman and Oprea 2020).

What comes back is a *lower* bound on the epsilon that is really lost. A bound above the claim shows a violation, up to
the stated confidence. A bound below it shows nothing more than that: this search, on this pair of tables, with this
many runs, found none. An audit is never a proof of privacy; what it could have seen is reported beside what it saw.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import chain
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from ..kernel.noise import Noise

Counts = npt.NDArray[np.int64]
Observations = Any  # trials numbers, trials x numbers, or a list of hashable outcomes
Runs = Callable[[Any, Noise, int], Observations]  # (rows, noise, trials): one observation for each trial
View = Callable[[Observations], Observations]
MOST_EVENTS = 200  # of each kind: more would hardly find better ones
SIDES = 4  # two directions, two probabilities each: all four bounds hold together with the stated confidence


def as_it_is(observations: Observations) -> Observations:
    return observations


@dataclass(frozen=True)
class Case:
    """A mechanism, what it claims to lose at most, and two tables that differ by one row (or one person).

    `views` are functions of the observations by their name in words; events are searched for in each of them.
    """

    name: str
    claim: float
    tables: tuple[Any, Any]
    runs: Runs
    about: str = ""
    quick: int = 1_500
    deep: int = 20_000
    views: Mapping[str, View] = field(default_factory=lambda: {"": as_it_is})
    broken: bool = False


@dataclass(frozen=True)
class Finding:
    """A lower bound on the epsilon that one case really loses, and how much the audit could have seen.

    `ceiling` is the largest bound that this many runs can give: no loss above it can be seen. `at_claim` is the bound
    that a mechanism which loses exactly its claim on the event found would have got; the nearer to the claim, the
    smaller the excess that would have shown.
    """

    name: str
    claim: float
    bound: float
    event: str
    trials: int
    confidence: float
    ceiling: float
    at_claim: float
    broken: bool = False
    about: str = ""

    @property
    def caught(self) -> bool:
        """Whether more than the claim is lost, up to the confidence."""
        return self.bound > self.claim

    @property
    def as_expected(self) -> bool:
        """Whether a broken twin was caught, or one of ours was not."""
        return self.caught == self.broken

    @property
    def power(self) -> str:
        """What this audit could have seen, in words."""
        return f"at most {self.ceiling:.2f}; a loss of exactly {self.claim:g} would have shown {self.at_claim:.2f}"


def discrete_laplace(exact: Counts, epsilon: Fraction, noise: Noise) -> Counts:
    """Whole numbers with discrete Laplace noise: enough if one row moves them by one in all."""
    return exact + noise.discrete_laplace(epsilon, exact.size).reshape(exact.shape)


def repeat(run: Callable[[Any, Noise], Any]) -> Runs:
    """Runs that call `run` once for each trial."""
    return lambda rows, noise, trials: [run(rows, noise) for _ in range(trials)]


def examine(case: Case, noise: Noise, trials: int, error: float = 0.001) -> Finding:
    """The finding of one case: `trials` runs on each table, wrong with probability `error` at most."""
    answers = [case.runs(rows, noise, trials) for rows in case.tables]
    families = list(chain.from_iterable(_families(name, *map(see, answers)) for name, see in case.views.items()))
    each, judged = error / SIDES, trials - trials // 2
    best: tuple[float, float, str] = (-1.0, 0.0, "")
    for more, fewer in ((0, 1), (1, 0)):
        hits, others, words = _best_event(families, more, fewer, trials, each)
        bound = float(lower_bound(hits, others, judged, each))
        best = max(best, (bound, _bound_at(case.claim, others / judged, judged, each), f"{words}, {WITH[more]}"))
    ceiling = float(lower_bound(judged, 0, judged, each))
    return Finding(
        case.name, case.claim, best[0], best[2], trials, 1 - error, ceiling, best[1], case.broken, case.about
    )


WITH = {0: "likelier without the row", 1: "likelier with the row"}


def lower_bound(hits: Any, others: Any, trials: int, error: float) -> Any:
    """log(p / q) at least (0 if nothing is shown), p and q the chances behind `hits` and `others` in `trials` runs.

    Clopper-Pearson: p is above the `error` quantile of Beta(hits, trials - hits + 1), q below the 1 - `error` quantile
    of Beta(others + 1, trials - others), each except with probability `error`, for every number of runs.
    """
    hits, others = np.asarray(hits, np.float64), np.asarray(others, np.float64)
    low = np.where(hits > 0, beta.ppf(error, np.maximum(hits, 1e-9), trials - hits + 1), 0.0)
    high = np.where(others < trials, beta.isf(error, others + 1, np.maximum(trials - others, 1e-9)), 1.0)
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(low / high), 0.0)


def _bound_at(claim: float, other: float, trials: int, error: float) -> float:
    """The bound of a mechanism at its claim, for an event of chance `other` on the table where it is rarer."""
    most = min(exp(claim) * other, 1 - exp(-claim) * (1 - other))
    return float(lower_bound(most * trials, other * trials, trials, error))


@dataclass(frozen=True)
class _Family:
    """Events of one kind: `hits[table, 0 or 1, event]` counts them in the pick and the judge batch."""

    hits: Counts
    words: Callable[[int], str]


def _best_event(families: Sequence[_Family], more: int, fewer: int, trials: int, error: float) -> tuple[int, int, str]:
    """How often the event that looks best in the pick batch came up in the judge batch, and its name."""
    pick = trials // 2 - trials // 4
    best, chosen = -1.0, (0, 0, "no event")
    for family in families:
        bounds = lower_bound(family.hits[more, 0], family.hits[fewer, 0], pick, error)
        if bounds.size and (top := float(bounds.max())) > best:
            i = int(np.argmax(bounds))
            best, chosen = top, (int(family.hits[more, 1, i]), int(family.hits[fewer, 1, i]), family.words(i))
    return chosen


def _families(view: str, without: Observations, having: Observations) -> Iterator[_Family]:
    """Single outcomes, thresholds, and unions of outcomes by their likelihood ratio in the first quarter of runs."""
    outcomes, tallies = _tally(without, having)
    seen = tallies[:, 0].sum(axis=0)
    name = f"{view}: " if view else ""

    def prefixes(order: Counts, words: Callable[[int], str]) -> _Family:
        """Events that hold the first outcomes in an order, cut only where the first quarter saw something."""
        ends = _thinned(np.flatnonzero(seen[order] > 0))
        return _Family(np.cumsum(tallies[:, 1:, order], axis=2)[:, :, ends], lambda i: name + words(int(ends[i])))

    common = np.argsort(-seen, kind="stable")[:MOST_EVENTS]
    common = common[seen[common] > 0]
    yield _Family(tallies[:, 1:, common], lambda i: name + _show(outcomes[common[i]]))
    if isinstance(outcomes, np.ndarray) and outcomes.ndim == 1:
        up = np.arange(len(outcomes))
        yield prefixes(up, lambda end: f"at most {outcomes[end]}")
        yield prefixes(up[::-1], lambda end: f"at least {outcomes[::-1][end]}")
    known = np.flatnonzero(seen > 0)
    odds = np.log((tallies[0, 0, known] + 0.5) / (tallies[1, 0, known] + 0.5))
    for ranked in (known[np.argsort(odds, kind="stable")], known[np.argsort(-odds, kind="stable")]):
        yield prefixes(ranked, partial(_union, outcomes, ranked))


def _tally(without: Observations, having: Observations) -> tuple[Any, Counts]:
    """The distinct outcomes, sorted if they are numbers, and how often each came up: table x batch x outcome.

    The batches are a quarter to rank events, a quarter to pick one, and a half to judge it.
    """
    outcomes, codes = _distinct(without, having)
    trials = len(without)
    edges = [0, trials // 4, trials // 2, trials]
    tallies = np.empty((2, 3, len(outcomes)), np.int64)
    for table, batch in np.ndindex(2, 3):
        part = codes[table * trials :][edges[batch] : edges[batch + 1]]
        tallies[table, batch] = np.bincount(part, minlength=len(outcomes))
    return outcomes, tallies


def _distinct(without: Observations, having: Observations) -> tuple[Any, Counts]:
    """All outcomes that came up, and the index of each run's outcome, the runs of both tables in one row."""
    if isinstance(without, np.ndarray):
        both = np.concatenate([without, having])
        outcomes, codes = np.unique(both, axis=0 if both.ndim > 1 else None, return_inverse=True)
        return outcomes, codes.reshape(-1)
    numbering: dict[Any, int] = {}
    codes = np.array([numbering.setdefault(outcome, len(numbering)) for outcome in chain(without, having)])
    return list(numbering), codes


def _thinned(ends: Counts) -> Counts:
    """At most MOST_EVENTS of these indices, evenly spaced."""
    if len(ends) <= MOST_EVENTS:
        return ends
    return ends[np.linspace(0, len(ends) - 1, MOST_EVENTS).astype(np.int64)]


def _show(outcome: Any) -> str:
    return str(outcome.tolist() if isinstance(outcome, (np.ndarray, np.generic)) else outcome)


def _union(outcomes: Any, ranked: Counts, end: int) -> str:
    members = ranked[: end + 1]
    shown = " or ".join(_show(outcomes[i]) for i in members[:3])
    return shown if len(members) <= 3 else f"one of {len(members)} outcomes such as {shown}"
