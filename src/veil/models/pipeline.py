"""PrivatePipeline: selectors and a classifier after them, under one budget and one ledger."""

import os
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Bunch, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..display import amount, html_table, text_table
from ..errors import BadInput
from ..files.artefacts import plain_settings
from ..kernel import Budget, Source
from ..pages import Page, Reported
from ..plans.finding.search import recoded_as
from ..plans.narrow import Narrow
from ..plans.outcome import Outcome
from ..plans.rehearsal import quickly
from ..plans.run import try_out
from ..schema import Schema
from ..verdicts import Verdict
from ..verdicts.verdict import warn_if_bad
from .base import OfPublicRows, PrivateClassifier, PrivateEstimator, is_public, keep_names
from .rows import public_words
from .selectors import PrivateSelector


class PrivatePipeline(Reported, ClassifierMixin, PrivateEstimator):
    """Selectors, and a classifier last, that share a budget: `shares` of epsilon, one for each step.

    Every step is fitted with its part of epsilon on what the steps before it selected. Their own `epsilon`, `schema`,
    `ledger` and `random_state` are not used; those of the pipeline are. A selector that has nothing to leave out costs
    nothing, and its part goes to the others; whatever happens, a fit costs epsilon exactly.

    Steps can have names, as in scikit-learn: `("nb", NaiveBayesClassifier())`, else those of their classes are used,
    for `set_params(nb__smoothing=2)`, `pipeline["nb"]` and `named_steps`.

    After `fit`: `steps_` (the fitted steps), `costs_` (the epsilon of each) and `outcome_`, with `schema_` (of the
    selected features), `releases_`, `searched_` and `receipts_` of all steps.

    >>> from veil import NaiveBayesClassifier, PrivateSelectKBest, datasets
    >>> rows, schema = datasets.load("iris")
    >>> steps = [PrivateSelectKBest(k=2), NaiveBayesClassifier()]
    >>> model = PrivatePipeline(steps, epsilon=1, shares=(2, 8), schema=schema).fit(rows)
    >>> [str(cost) for cost in model.costs_]
    ['1/5', '4/5']
    """

    method, task = "pipeline", "train"

    def __init__(
        self,
        steps: Sequence[Any],
        *,
        epsilon: Any = 1.0,
        shares: Sequence[Any] | None = None,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.steps = steps
        self.epsilon = epsilon
        self.shares = shares
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    @property
    def purpose(self) -> str:
        return ", ".join(step.purpose for step in self._checked())

    def _plan(self, source: Source, budget: Budget) -> list[Any]:
        """Fit the steps one after the other, each on what the selectors before it kept. Returns the fitted steps."""
        steps, fitted, left = self._checked(), list[Any](), budget
        shares = self._shares(steps)
        for step in steps[1:]:
            _check_later(step, source.schema, budget)
        for place, step in enumerate(steps):
            part, left = self._part(steps[place:], shares[place:], source.schema, left)
            given = {"schema": source.schema, "ledger": self.ledger, "random_state": self.random_state}
            fitted.append(clone(step).set_params(epsilon=part.epsilon, **given).fit_source(source, part))
            if isinstance(step, PrivateSelector):
                binned = recoded_as(source, fitted[-1].schema_)  # so that bins are found once
                narrow: Any = Narrow(binned, fitted[-1].selected_schema_)
                source = narrow
        return fitted

    def hold(self, outcome: Outcome[Any]) -> Self:
        first, last = outcome.made[0], outcome.made[-1]
        releases = tuple(release for step in outcome.made for release in step.releases_)  # in each step's vocabulary
        searched = tuple(release for step in outcome.made for release in step.outcome_.searched)
        super().hold(replace(outcome, schema=last.schema_, releases=releases, searched=searched))
        self.classes_, self.n_features_in_ = last.classes_, first.n_features_in_
        return self

    @property
    def steps_(self) -> list[Any]:
        """The fitted steps."""
        steps: list[Any] = self.outcome_.made
        return steps

    def _finish(self, X: Any, labels: Any) -> None:
        """Keep feature names and warn of a bad fit, for every step with the columns that reach it."""
        for step in self.steps_:
            keep_names(step, X)
            warn_if_bad(step.verdict_)
            X = step.narrowed(X) if isinstance(step, PrivateSelector) else X
        for name in {"n_features_in_", "feature_names_in_"} & {*vars(self.steps_[0])}:
            setattr(self, name, getattr(self.steps_[0], name))

    def settings(self) -> dict[str, Any]:
        """The class names of the steps and the epsilon of all, as plain values for a file."""
        return plain_settings({"steps": ", ".join(type(step).__name__ for step in self._checked())}, self.epsilon)

    def save(self, path: "str | os.PathLike[str]", *, force: bool = False) -> None:
        """Write the fitted classifier to a file, with the receipts of all steps.

        `veil.load_model` reads it back as a classifier of the selected columns. It holds the noisy answers of the
        classifier; those of the selectors are not kept, only the schema that came of them.
        """
        self._published().save(path, force=force)

    def report(self, path: Any = None, *, ledger: Any = None, force: bool = False) -> "Path | Page":
        """The report of the classifier, with the cost of all steps; see `PrivateClassifier.report`."""
        last = self._published()
        last.hold(replace(last.outcome_, settings={**self.settings_, **last.settings_}))
        return last.report(path, ledger=ledger, force=force)

    def _published(self) -> PrivateClassifier:
        """A copy of the fitted classifier that has the receipts of all steps."""
        check_is_fitted(self)
        last: PrivateClassifier = copy(self.steps_[-1])
        return last.hold(replace(last.outcome_, receipts=self.receipts_))

    @property
    def named_steps(self) -> Bunch:
        """The steps by name; the fitted ones after a fit."""
        names, steps = zip(*_named(self.steps), strict=True)
        return Bunch(**dict(zip(names, getattr(self, "steps_", steps), strict=True)))

    def __getitem__(self, place: Any) -> Any:
        """A step by its name or index, or a list of steps for a slice."""
        return self.named_steps[place] if isinstance(place, str) else [*self.named_steps.values()][place]

    def __len__(self) -> int:
        return len(self.steps)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings; with `deep` also the steps by name, and theirs as `name__setting`."""
        found = dict(super().get_params(deep=False))
        for name, step in _named(self.steps) if deep else ():
            found[name] = step
            inside = step.get_params() if isinstance(step, BaseEstimator) else {}
            found |= {f"{name}__{setting}": value for setting, value in inside.items()}
        return found

    def set_params(self, **given: Any) -> "PrivatePipeline":
        """Change settings, those of steps as `name__setting`, or replace a step by its name."""
        self.steps = given.pop("steps", self.steps)
        named = dict(_named(self.steps))
        if others := {name: given.pop(name) for name in named if name in given}:
            self.steps = [*{**named, **others}.items()]
        super().set_params(**given)
        return self

    def _checked(self) -> list[Any]:
        """The steps without their names. Raises BadInput if a step is not Veil's, or names clash."""
        names, steps = [name for name, _ in _named(self.steps)], [step for _, step in _named(self.steps)]
        texts = all(isinstance(name, str) and "__" not in name for name in names)
        if len(set(names)) < len(names) or not texts or set(names) & set(self.get_params(deep=False)):
            raise BadInput("names of steps must be texts without __, all different, and not those of other settings")
        selectors = all(isinstance(step, PrivateSelector) for step in steps[:-1])
        if not steps or not selectors or not isinstance(steps[-1], PrivateClassifier):
            raise BadInput("a private pipeline has selectors and then a classifier, all of Veil: others look at rows")
        return steps

    def _schema(self, X: Any, y: Any) -> Schema:
        words = any(step.of_words for step in self._checked()) or issparse(X)
        return public_words(X, y, self) if is_public(self.schema) and words else super()._schema(X, y)

    def _shares(self, steps: list[Any]) -> list[Any]:
        """The shares of the steps, if they are some."""
        shares = [1] * len(steps) if self.shares is None else list(self.shares)
        if len(shares) != len(steps):
            raise BadInput("give one share for each step")
        Budget(1).split(*shares)  # complains about shares that are none
        return shares

    def _part(self, steps: list[Any], shares: list[Any], schema: Schema, left: Budget) -> tuple[Budget, Budget]:
        """The budget of the next step, and the budget that remains for the steps after it.

        A step that needs no answer, since a selector has nothing left to leave out, gives its share to the later ones;
        the last step always has a budget.
        """
        free = [step.is_free(schema) for step in steps]
        paid = [share for share, nothing in zip(shares, free, strict=True) if not nothing]
        if free[0] or len(paid) == 1:
            return left, left
        part = left.split(*paid)[0]
        return part, Budget(left.epsilon - part.epsilon)

    @property
    def costs_(self) -> tuple[Fraction, ...]:
        """The epsilon that each step cost."""
        return tuple(step.outcome_.epsilon for step in self.steps_)

    @property
    def verdict_(self) -> Verdict:
        """How much the classifier learned in relation to its noise, judged from the released answers alone."""
        check_is_fitted(self)
        found: Verdict = self.steps_[-1].verdict_
        return found

    def _last(self, X: Any) -> tuple[Any, Any]:
        """The fitted classifier, and X reduced to the columns or words that it takes."""
        check_is_fitted(self)
        for step in self.steps_[:-1]:
            X = step.narrowed(X)
        return self.steps_[-1], X

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        last, X = self._last(X)
        return np.asarray(last.predict(X))

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class, in the order of `classes_`."""
        last, X = self._last(X)
        return np.asarray(last.predict_proba(X))

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The logarithm of the probability of each class, in the order of `classes_`."""
        last, X = self._last(X)
        return np.asarray(last.predict_log_proba(X))

    @available_if(lambda self: hasattr(self[-1], "decision_function"))
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The margin of each class, or of the second of two; only if the classifier is a linear model."""
        last, X = self._last(X)
        return np.asarray(last.decision_function(X))

    @OfPublicRows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows predicted right; only models of public rows have it."""
        last, X = self._last(X)
        return float(last.score(X, y, sample_weight))

    def summary(self) -> str:
        """What each step asked and what it cost, as a table."""
        check_is_fitted(self)
        return text_table(*self._costs())

    def _costs(self) -> tuple[str, list[str], list[tuple[str, ...]]]:
        rows: list[tuple[str, ...]] = [
            (type(step).__name__, amount(cost), "; ".join(f"{r.verb} {r.question}" for r in step.receipts_))
            for step, cost in zip(self.steps_, self.costs_, strict=True)
        ]
        title = f"PrivatePipeline for epsilon {amount(sum(self.costs_, Fraction(0)))}{self.outcome_.mark}"
        return title, ["step", "epsilon", "asked"], rows

    def _html_repr(self) -> str:
        """scikit-learn's diagram and, for a fitted pipeline, a table of what each step cost."""
        return str(super()._html_repr()) + (html_table(*self._costs()) if hasattr(self, "outcome_") else "")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _check_later(step: Any, schema: Schema, budget: Budget) -> None:
    """Raise BadInput, before the first step is paid, if a later one could be fitted neither on all columns nor on the
    smallest alone: whatever is selected, it would refuse. Of words there may be too many before a selection."""
    if schema.texts or not schema.features:
        return
    least = min(schema.features, key=lambda column: column.size)
    alone = tuple(column for column in schema.column if column is least or column.name == schema.label)
    plan = clone(step).set_params(schema=schema, epsilon=budget.epsilon)._run
    with quickly():
        try:
            try_out(plan, schema.model_copy(update={"column": alone}), budget)
        except BadInput:
            try_out(plan, schema, budget)


def _named(steps: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The steps as (name, step): their own names, or those of their classes, numbered if there are two of a class."""
    kinds = Counter(type(step).__name__.lower() for step in steps)
    seen, found = Counter[str](), list[tuple[Any, Any]]()
    for step in steps:
        kind = type(step).__name__.lower()
        seen[kind] += 1
        found.append(step if isinstance(step, tuple) else (f"{kind}-{seen[kind]}" if kinds[kind] > 1 else kind, step))
    return found
