"""AutoClassifier: the method is chosen by what is public about the rows and their noisy number."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, Self

from ..choice import ChoiceMaker, Fact, Option, Trace
from ..choice.classifiers import GOALS, METAFEATURES, OPTIONS, facts_of, known, planned
from ..choice.looking import MOST
from ..choice.trace import NAMES
from ..display import of_texts
from ..errors import BadInput
from ..kernel import Budget, Release, Source
from ..plans.checking import SHARE, count_odds
from ..plans.finding.search import recoded_as
from ..plans.linear import too_many
from ..plans.outcome import Outcome
from ..plans.run import run
from ..questions import Scorer
from ..schema import Schema
from .base import PrivateClassifier
from .blend import BlendClassifier
from .class_shares import ClassSharesClassifier
from .histograms import PrivPfCClassifier, ProjectedHistogramClassifier
from .linear import LinearSVMClassifier, LogisticRegressionClassifier
from .naive_bayes import NaiveBayesClassifier
from .sparse import SparseNaiveBayesClassifier
from .trees import DecisionTreeClassifier, RandomForestClassifier

CHOICES: dict[str, type[PrivateClassifier]] = {
    kind.method: kind
    for kind in (
        *(NaiveBayesClassifier, LogisticRegressionClassifier, LinearSVMClassifier, DecisionTreeClassifier),
        *(RandomForestClassifier, PrivPfCClassifier, ProjectedHistogramClassifier, BlendClassifier),
        ClassSharesClassifier,
    )
}

LINEAR = (LogisticRegressionClassifier.method, LinearSVMClassifier.method, BlendClassifier.method)
NO_TEXTS = "the words of a text cannot be learned from together with other columns, and are not used"
LEAST = Fraction(1, 10**6)  # epsilon of a row, for each code and class, from which no method refuses


class AutoClassifier(PrivateClassifier):
    """Classify by the method that is expected to be the best on a table like this one (Imola, Yang 2018).

    3 % of epsilon are for the class totals, which the chosen method uses too. The rest is its own, but for 3 % of it
    that check a model of weights: these alone do not show whether they tell the classes apart. What to expect of every
    method is known from public tables of as many classes, columns and rows times epsilon. `goal` is "both", "auc" or
    "accuracy", `options` the names of the methods to choose from. Texts alone are left to sparse naive Bayes; beside
    other columns they are not used.

    After `fit`, besides what all classifiers have: `chosen_`, the name of the method, `trace_`, with the facts, their
    price and every prediction, and `model_`, the model as one of that method.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> model = AutoClassifier(epsilon=1, schema=schema).fit(rows)
    >>> model.predict_proba(rows).shape
    (150, 3)
    """

    method = "auto"

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        goal: str = "both",
        options: Sequence[str] = OPTIONS,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.goal = goal
        self.options = options

    def _plan(self, source: Source, budget: Budget) -> Scorer:
        scorer: Scorer = self._run(source, budget).made
        return scorer

    def _run(self, source: Source, budget: Budget) -> Outcome[Any]:
        """Budget: 3 % for the class totals, the rest for the chosen method, which has them for nothing."""
        settings = {**self.settings(), "epsilon": str(budget.epsilon)}
        options, goal = self._choices(), self._goal()
        if source.schema.texts and not source.schema.features:
            trace = Trace((), (), SparseNaiveBayesClassifier.method, "the method for texts alone")
            outcome = SparseNaiveBayesClassifier()._run(source, budget)
        else:
            choose = ChoiceMaker(options, METAFEATURES, nearby=known(), goal=goal)
            outcome = choose(source, budget)
            assert choose.trace is not None
            left_out = {**(choose.trace.left_out or {})}
            left_out |= {SparseNaiveBayesClassifier.method: NO_TEXTS} if source.schema.texts else {}
            trace = replace(choose.trace, left_out=left_out)
        return replace(outcome, method=self.method, settings=settings, trace=trace.to_dict())

    def _goal(self) -> Any:
        if not isinstance(self.goal, str) or self.goal not in GOALS:
            raise BadInput(f"there is no goal {self.goal!r}: choose one of {', '.join(GOALS)}")
        return GOALS[self.goal]

    def _choices(self) -> list[Option]:
        """The options, each of which fits a model of its method."""
        given = () if isinstance(self.options, str) or not isinstance(self.options, Collection) else [*self.options]
        if not given or not all(isinstance(name, str) and name in CHOICES for name in given):
            raise BadInput(f"options must be a list of some of {', '.join(CHOICES)}")
        return [Option(name, partial(_fit, CHOICES[name]()), check=partial(_check, name)) for name in given]

    def hold(self, outcome: Outcome[Any]) -> Self:
        trace = None if outcome.trace is None else Trace.from_dict(outcome.trace)
        if trace is None or trace.chosen not in (*CHOICES, SparseNaiveBayesClassifier.method):
            raise BadInput("this outcome does not tell which method was chosen")
        told = [(one.option, one.measure) for one in trace.predictions]
        if len({*told}) < len(told) or not {*told} <= {*product(CHOICES, NAMES)}:
            raise BadInput("this outcome predicts other methods or measures than there are to choose from")
        return super().hold(outcome)

    @property
    def trace_(self) -> Trace:
        """How the choice came about."""
        return Trace.from_dict(self.outcome_.trace)

    @property
    def chosen_(self) -> str:
        """The name of the chosen method."""
        return self.trace_.chosen

    @property
    def model_(self) -> PrivateClassifier:
        """The fitted model as one of the chosen method, with the displays and exports that it has."""
        kind = CHOICES.get(self.chosen_, SparseNaiveBayesClassifier)
        model = kind(epsilon=self.epsilon, schema=self.schema)
        settings = {**model.settings(), "epsilon": self.settings_["epsilon"]}
        return model.hold(replace(self.outcome_, method=kind.method, settings=settings, trace=None))

    def _summary(self) -> str:
        return f"{super()._summary()}; {self.trace_.in_short()}"


def foresee(schema: Schema, rows: float, budget: Budget, goal: str = "both") -> Trace:
    """The choice to expect on so many rows of this schema, by what is declared alone: nothing is asked, and nothing is
    known of the class shares, so a fit may choose otherwise."""
    model = AutoClassifier(goal=goal)
    choose = ChoiceMaker(model._choices(), METAFEATURES, nearby=planned(schema), goal=model._goal())
    facts = facts_of(schema, rows, float(min(max(budget.epsilon, LEAST), MOST)))
    known_facts = tuple(Fact(name, value) for name, value in facts.items())
    return choose.decide(known_facts, *choose.usable(schema, budget))


def _fit(model: PrivateClassifier, source: Source, budget: Budget, totals: "Release[Any]") -> Outcome[Any]:
    """The outcome of a fit with class totals that are paid for already, beside the budget.

    Budget: all for the fit or, if its weights would not tell what they are worth, 97 %, and 3 % for counts of the rows
    of each class in intervals of the model's own odds.
    """
    linear = model.method in LINEAR
    to_fit, to_check = budget.split(100 - SHARE, SHARE) if linear else (budget, budget)
    how = model.search_for(source.schema)
    outcome = run(source, model._plan, to_fit, method=model.method, how=how, totals=totals)
    if not linear:
        return outcome
    counts = count_odds(recoded_as(source, outcome.schema), to_check, outcome.made, totals)
    return replace(outcome, releases=(*outcome.releases, counts), receipts=(*outcome.receipts, counts.receipt))


def _check(name: str, schema: Schema, budget: Budget) -> None:
    """Raise BadInput if a method cannot be fitted on such tables."""
    if not schema.features:
        raise BadInput(f"there is no column besides the label to learn from{of_texts(schema)}")
    if len(schema.classes) < 2:
        raise BadInput("there is nothing to learn from one class: the label needs two values or more")
    if name in LINEAR and too_many(schema):
        raise BadInput("the columns have too many values for a linear model")
    weights = sum(column.size for column in schema.features) * len(schema.classes)
    if name != ClassSharesClassifier.method and budget.per_row(schema.rows_per_person) < weights * LEAST:
        raise BadInput("epsilon is too small to learn anything but the class shares")
