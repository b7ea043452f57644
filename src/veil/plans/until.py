"""Accuracy first (Ligett, Neel, Roth, Waggoner and Wu 2017): the least epsilon at which a model is good enough.

A walk up levels of epsilon: at each the model is made anew from the same counts with less noise, and rows that were
kept apart say whether it meets the goal. It ends at the first that does.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, log
from typing import Any

import numpy as np

from ..display import amount, whole_rows
from ..errors import BadInput, LedgerProblem
from ..kernel import Budget, OrderedBeyond, Receipt, Release, RightBeyond, Source, exact
from ..questions import Binned, Linear, Odds, Partition, Predicted, axis
from ..schema import Schema
from .naive_bayes import evidence, scorer_of, shares_of, usable
from .outcome import Outcome, total
from .run import try_out

STEPS = tuple(Fraction(*step) for step in ((1, 8), (5, 28), (1, 4), (5, 14), (1, 2), (5, 7), (1, 1)))  # about sqrt 2
EDGES = tuple(float(edge) for edge in 4 * np.sinh(np.linspace(-3, 3, 255)))  # of log-odds; rows between two are tied
SHARE = "0.3"  # of the rows, to judge by
MISSED = 0.05  # how often a model may be stopped at that misses the goal by more than the slack
MEASURES = ("auc", "accuracy")
WRITTEN = re.compile(r"(auc|accuracy)=[0-9./]{1,20}")
BLIND_FROM = 0.25  # of the rows of a test by which noise may move it, from which on it says next to nothing
BLIND = (
    "The test on the rows kept apart was mostly noise, so that it says next to nothing whether the goal is met: take "
    "more rows, a larger --at-most (in Python at_most=), or fewer columns and --epsilon instead of a goal."
)
GOAL = "a goal must be written as auc=0.85 or accuracy=0.8, with a number between 0 and 1"


@dataclass(frozen=True)
class Goal:
    """What is to be reached: at least so large an AUC or accuracy, on rows that are kept apart."""

    measure: str
    least: Fraction

    def __str__(self) -> str:
        return f"{self.measure}={amount(self.least)}"

    @property
    def score(self) -> RightBeyond | OrderedBeyond:
        """By how many rows a model is above the goal."""
        return OrderedBeyond(self.least) if self.measure == "auc" else RightBeyond(self.least)

    def question(self, scorer: Linear) -> Partition:
        """The partition of which the score is asked for."""
        return Binned(Odds(scorer, 1), EDGES) if self.measure == "auc" else Predicted(scorer)

    def slack(self, epsilon: float) -> float:
        """By how many rows a model that is stopped at may miss the goal, but for one walk in twenty.

        The sieve says yes where score + query noise >= threshold noise. Of noise with scale s, P(Z > t) <= exp(-t/s) /
        2; so with probability 1 - MISSED neither is the threshold's below -s1 log(1/MISSED), nor any of the queries'
        above s2 log(levels/MISSED). For an AUC this counts rows of the smaller class, for an accuracy all rows.
        """
        score = self.score
        reach, spread = max(-score.low, score.high) / score.unit, (score.high - score.low) / score.unit
        share = 1 / (1 + (spread / reach) ** (2 / 3))
        threshold, query = reach / (share * epsilon), spread / ((1 - share) * epsilon)
        return float(threshold * log(1 / MISSED) + query * log(len(STEPS) / MISSED))


def read_goal(text: Any, schema: Schema) -> Goal:
    """The goal that a text such as "auc=0.85" names; refuses what this label cannot be judged by."""
    measure, equals, number = str(text).partition("=")
    if measure.strip() not in MEASURES or not equals:
        raise BadInput(GOAL)
    goal = Goal(measure.strip(), exact(number.strip(), "the goal").limit_denominator(1000))
    if not 0 < goal.least < 1:
        raise BadInput(GOAL)
    if goal.measure == "auc" and len(schema.classes) != 2:
        raise BadInput("an AUC needs a label with two classes: give a goal such as accuracy=0.8")
    return goal


def levels_of(at_most: Budget) -> list[Budget]:
    """The levels of a walk: from an eighth of the most, by steps of about the square root of two."""
    return [Budget(at_most.epsilon * step) for step in STEPS]


@dataclass(frozen=True)
class Walk:
    """Where a walk ended: its last model, the answers that this was made from, and whether it met the goal."""

    scorer: Linear
    releases: tuple[Release[Any], ...]
    level: Budget
    reached: bool


def naive_bayes_until(
    training: Source,
    judging: Source,
    goal: Goal,
    at_most: Budget,
    *,
    columns: Any = None,
    smoothing: float = 1.0,
    to_the_end: bool = False,
) -> Walk:
    """Naive Bayes from counts with less and less noise, up to the first level at which the model meets the goal.

    Budget: of the training rows all, for counts at `levels_of` it (`count_gradually`); of the judging rows the first
    level, for a sieve that says whether a model is good enough, as often as it is asked. The two hold different rows,
    so the dearer is the cost of both: all of `at_most`, wherever the walk ends. What was looked at tells no more than
    the level at which it ended, since the sieve never cost more than that.

    The models are those of `naive_bayes` without its search for bins and its calibration. Rehearsals go `to_the_end`.
    """
    features, levels = usable(training.schema, columns, smoothing), levels_of(at_most)
    sieve = judging.above(goal.score, 0, levels[0])
    steps = training.count_gradually([*map(axis, features)], levels, shares=shares_of(features))
    for level, releases in zip(levels, steps, strict=True):
        scorer = scorer_of(*evidence(features, releases, smoothing))
        if not to_the_end and sieve.ask(goal.question(scorer)):
            return Walk(scorer, releases, level, True)
    return Walk(scorer, releases, level, False)


def run_until(
    source: Source,
    walk: Callable[..., Walk],
    goal: Goal,
    at_most: Budget,
    share: Any,
    *,
    method: str = "",
    settings: Mapping[str, Any] | None = None,
) -> Outcome[Linear]:
    """Take a walk on a random part of the rows, judged by a `share` of them. Returns its Outcome, with the answers of
    the level at which it ended and the receipts of both parts."""
    part = exact(share, "the share").limit_denominator(1000)
    if not 0 < part < 1:
        raise BadInput("the share of rows to judge by must lie between 0 and 1, such as 0.3")
    try_out(lambda empty, most: walk(*empty.split_at_random(1, 1), goal, most), source.schema, at_most)
    before = len(source.record.receipts)
    training, judging = source.split_at_random(part.denominator - part.numerator, part.numerator)
    end = walk(training, judging, goal, at_most)
    with suppress(LedgerProblem):  # a note for readers: without it, what was paid for is there all the same
        source.looked_at(end.level, at_most)
    told = told_of(end, goal, at_most, part, float(judging.per_row(levels_of(at_most)[0])))
    receipts = tuple(training.record.receipts[before:])
    return Outcome(end.scorer, method, settings or {}, source.schema, end.releases, receipts, until=told)


def told_of(walk: Walk, goal: Goal, at_most: Budget, share: Fraction, per_row: float) -> dict[str, Any]:
    """A walk in plain values, for files."""
    return {
        "goal": str(goal),
        "reached": walk.reached,
        "level": str(walk.level.epsilon),
        "at_most": str(at_most.epsilon),
        "share": str(share),
        "slack": goal.slack(per_row),
    }


def checked_until(until: Any, receipts: Sequence[Receipt]) -> bool:
    """Whether these plain values can be those of a walk with these receipts."""
    names = ("goal", "reached", "level", "at_most", "share", "slack")
    if not isinstance(until, dict) or {*until} != {*names} or type(until["reached"]) is not bool:
        return False
    texts = [until[name] for name in ("goal", "level", "at_most", "share")]
    fits = all(isinstance(text, str) for text in texts) and isinstance(until["slack"], float)
    return (
        fits
        and isfinite(until["slack"])
        and WRITTEN.fullmatch(until["goal"]) is not None
        and 0 < exact(until["goal"].partition("=")[2], "the goal") <= 1
        and 0 < exact(until["share"], "the share") < 1
        and 0 < Budget(until["level"]).epsilon <= Budget(until["at_most"]).epsilon == total(receipts)
    )


def judging_rows(outcome: Outcome[Any]) -> float:
    """About how many rows a walk was judged by, of the smaller class for an AUC: from the counts of the others."""
    until: Mapping[str, Any] = outcome.until or {}
    share, classes = Fraction(until["share"]), [np.sum(release.value, axis=0) for release in outcome.releases]
    rows = np.median(classes, axis=0)
    trained = rows.min() if until["goal"].startswith("auc") else rows.sum()
    return max(float(trained), 0.0) * float(share / (1 - share))


def in_words(outcome: Outcome[Any]) -> list[str]:
    """What a walk came to, and what its test is worth, in two or three sentences."""
    until: Mapping[str, Any] = outcome.until or {}
    level, at_most = (Budget(until[name]).epsilon for name in ("level", "at_most"))
    blind = until["slack"] > BLIND_FROM * (tested := judging_rows(outcome))
    met = "was passed, as noise alone could have done" if blind else "was reached"
    met = met if until["reached"] else "was NOT reached, and the model is that of the last level"
    smaller = " of the smaller class" if until["goal"].startswith("auc") else ""
    kept = f"on a share of {until['share']} of the rows, kept apart"
    noise = "passed a model that misses" if until["reached"] else "held back a model that exceeds"
    return [
        *([BLIND] if blind else []),
        f"The goal {until['goal']} {met}, at epsilon {amount(level)} of at most {amount(at_most)}, {kept}; noise may "
        f"have {noise} it by {whole_rows(until['slack'])}{smaller} (95 %), "
        f"of about {whole_rows(tested)} in the test.",
        f"Ex-post, what was looked at lost epsilon {amount(level)}; all of {amount(at_most)} was reserved before, and "
        "stays charged.",
    ]
