"""ChoiceMaker (Imola, Yang 2018): look at the metafeatures, predict every option, run the best.

The paper computes metafeatures exactly, for nothing: two tables that differ in one row may then be answered by
different algorithms, and no promise holds. Here a metafeature is public, or a question that is paid for.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..errors import BadInput
from ..kernel import Budget, Source
from ..schema import Schema
from .looking import computed, finite, look, look_at_made_up
from .nearby import Nearby, calibrated
from .options import Metafeature, Option
from .rising import Rising
from .trace import Fact, Prediction, Trace
from .traces import Traces
from .training import Database, train

PREDICTED = "predicted"  # the measure of options that have formulas alone
Goal = Mapping[str, float] | None


class ChoiceMaker:
    """A plan that chooses among plans: `choose(source, budget)` costs the whole budget, the choice included.

    Options that cannot be used on the schema are left out, and the trace says why. Metafeatures are looked at in their
    order; those with a question are paid from the budget, and one that there is too little budget for is skipped. What
    each option will be worth is predicted from the facts: by its own formula, by traces of public databases
    (`trained_on` makes them, `traces` gives them), or by the formula as corrected by traces. The best one runs with all
    that is left. The choice depends on the rows through paid answers alone. `goal` weighs the measures (None: alike).

    After a call, `trace` has the facts with their noise and price, every prediction, and the choice. A choice may also
    stand inside a plan: `pick` takes facts that the plan knows already, and gives the name of the best option.
    """

    def __init__(
        self,
        options: Sequence[Option],
        metafeatures: Sequence[Metafeature] = (),
        *,
        trained_on: Sequence[Database] | None = None,
        traces: Traces | None = None,
        nearby: Nearby | Rising | None = None,
        goal: Goal = None,
        close: float = 0.0,
    ) -> None:
        self.options, self.metafeatures, self.goal, self.close = tuple(options), tuple(metafeatures), goal, close
        self._check()
        if trained_on is not None:
            traces = train(self.options, self.metafeatures, trained_on)
        self.traces = nearby.traces if nearby is not None else traces
        self.nearby = nearby or (None if traces is None else calibrated(Nearby(traces, formulas=self._formulas())))
        self._check_known()
        self.trace: Trace | None = None

    def _check(self) -> None:
        """Raise BadInput unless there are options, and all names differ."""
        names = [*(one.name for one in self.options), *(one.name for one in self.metafeatures)]
        if not self.options:
            raise BadInput("there is nothing to choose from: give at least one option")
        if len(set(names)) < len(names):
            raise BadInput("options and metafeatures must have different names")
        if sum(one.percent for one in self.metafeatures) >= 100:
            raise BadInput("metafeatures may take less than 100 percent of the budget together")
        if not self.close >= 0:
            raise BadInput("close, by how much an earlier option may be worse than the best, must be zero or more")

    def _check_known(self) -> None:
        """Raise BadInput unless every option can be predicted by the measures of the goal: before rows are asked."""
        if self.nearby is None and len(self._formulas()) < len(self.options):
            raise BadInput("options without a formula of their own need traces: give trained_on or traces")
        known = None if self.nearby is None else self.nearby.traces
        strange = [one.name for one in self.options if known and one.name not in known.options]
        if strange:
            raise BadInput(f"the traces know no option {strange[0]!r}: train again with it")
        measures = known.measures if known else (PREDICTED,)
        if self.goal is not None and not ({*self.goal} <= {*measures} and all(map(np.isfinite, self.goal.values()))):
            raise BadInput(f"a goal has a finite weight for some of the measures, which are {', '.join(measures)}")

    def _formulas(self) -> dict[str, Any]:
        return {option.name: partial(_by_own, option) for option in self.options if option.predict is not None}

    def __call__(self, source: Source, budget: Budget) -> Any:
        """Run the option that is predicted to be the best. Returns its answer."""
        usable, left_out = self.usable(source.schema, budget)
        self._try_out(source.schema, budget, usable)
        seen = look(self.metafeatures, source, budget)
        trace = self.trace = self.decide(seen.facts, usable, left_out)
        chosen = next(option for option in usable if option.name == trace.chosen)  # not of self: threads may share it
        return chosen.run(source, seen.left, seen.given)

    def pick(self, facts: Mapping[str, float]) -> str:
        """The name of the option that is predicted to be the best, for a plan that is under way: the facts must be
        public by now, and nothing is asked or run. `trace` tells how it came about."""
        known = tuple(Fact(name, finite(value, f"fact {name!r}")) for name, value in facts.items())
        self.trace = self.decide(known, self.options, {})
        return self.trace.chosen

    def _try_out(self, schema: Schema, budget: Budget, usable: Sequence[Option]) -> None:
        """Raise BadInput if a metafeature or a formula fails on made-up rows, or gives no number: before a charge."""
        facts = look_at_made_up(self.metafeatures, schema, budget).facts
        self.predict({fact.name: fact.value for fact in facts}, usable)

    def usable(self, schema: Schema, budget: Budget) -> tuple[list[Option], dict[str, str]]:
        """The options that can be used, and why the others cannot; by public facts, before anything is charged."""
        asked = sum(one.percent for one in self.metafeatures)
        rest = budget.split(asked, 100 - asked)[1] if asked else budget
        refusals = {option.name: option.refusal(schema, rest) for option in self.options}
        usable = [option for option in self.options if not refusals[option.name]]
        left_out = {name: reason for name, reason in refusals.items() if reason}
        if not usable:
            raise BadInput(f"no option can be used on this table: {next(iter(left_out.values()))}")
        return usable, left_out

    def decide(self, facts: tuple[Fact, ...], usable: Sequence[Option], left_out: Mapping[str, str]) -> Trace:
        """The trace of the choice among usable options, from facts that are public by now."""
        values = {fact.name: fact.value for fact in facts}
        predicted = self.predict(values, usable)
        worth = {option.name: self._worth(predicted[option.name]) for option in usable}
        best = max(worth.values())
        chosen = next(name for name, value in worth.items() if value >= best - self.close)
        lines = tuple(one for option in usable for one in predicted[option.name] if not np.isnan(one.value))
        nearest = self.nearby.nearest(values) if self.nearby else ()
        far = self.nearby.far(values) if self.nearby else False
        why = f"expected to be the best of {len(usable)}" if len(usable) > 1 else "the only one that can be used"
        return Trace(facts, lines, chosen, why, left_out, nearest, far)

    def predict(self, facts: Mapping[str, float], options: Sequence[Option]) -> dict[str, list[Prediction]]:
        """For each option a prediction by every measure, with its interval."""
        if self.nearby is None:
            return {option.name: [_by_formula(option, facts)] for option in options}
        tables, places = self.nearby.predict(facts), self.nearby.traces.options
        found = dict[str, list[Prediction]]()
        for option in options:
            rows = {measure: table[places.index(option.name)] for measure, table in tables.items()}
            found[option.name] = [Prediction(option.name, m, *map(float, row)) for m, row in rows.items()]
        return found

    def _worth(self, predictions: Sequence[Prediction]) -> float:
        """The weighted sum of the measures; minus infinity if one of them is not known."""
        goal = self.goal or {one.measure: 1.0 for one in predictions}
        total = sum(goal.get(one.measure, 0.0) * one.value for one in predictions)
        return -np.inf if np.isnan(total) else total


def _by_formula(option: Option, facts: Mapping[str, float]) -> Prediction:
    value = _by_own(option, facts)
    return Prediction(option.name, PREDICTED, value, value, value)


def _by_own(option: Option, facts: Mapping[str, float]) -> float:
    """What the programmer's formula of an option gives."""
    assert option.predict is not None
    return computed(option.predict, facts, f"the predict of option {option.name!r}")
