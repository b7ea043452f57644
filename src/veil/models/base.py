"""PrivateEstimator and PrivateClassifier: what all estimators share. A model adds a plan and its settings."""

import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MethodType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..addresses import Address, is_address
from ..display import amount, html_table, number, readable
from ..errors import BadInput
from ..files.artefacts import plain_settings
from ..files.tables import new_file, writing
from ..kernel import Budget, Release, Source
from ..pages import Published, Reported
from ..plans.binned import in_short
from ..plans.finding.search import Search
from ..plans.finish import log_probabilities, probabilities
from ..plans.outcome import Outcome
from ..plans.rehearsal import Rehearsal, quickly
from ..plans.run import opened, rehearsing, run
from ..plans.until import SHARE, Goal, Walk, read_goal, run_until
from ..questions import Scorer
from ..schema import Schema
from ..schema.streams import Stream, stream_of
from ..synopsis.domain import declared_values
from ..verdicts import Verdict, of_answers
from ..verdicts.rows import CHECK
from ..verdicts.verdict import shown, warn_if_bad
from .calls import call_of
from .files import write_model
from .narrowed import fitting
from .rows import (
    as_table,
    feature_columns,
    has_names,
    inputs,
    public_classes,
    public_schema,
    public_words,
    training_columns,
    words_of,
)

NO_SCHEMA = (
    "private rows need a schema, which says what is public about them: write one with `veil schema new data.csv`, then "
    'schema="data.toml"; or schema="public" if the rows are no secret at all'
)

UNKEPT = "not known: the best of several tries, whose answers were not kept"
EXACT_SCORE = (
    "an exact score tells about the rows it was measured on: of public rows, take it from sklearn.metrics and predict; "
    "of private ones, pay for it with veil.private_accuracy(model, X, y, epsilon=...)"
)


class NoScore(BadInput, AttributeError):
    """Models of private rows have no `score`. An AttributeError too, so that GridSearchCV stops before fitting."""


class OfPublicRows:
    """A descriptor for methods that only models of public rows have; on others, looking one up raises NoScore."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method

    def __get__(self, model: Any, kind: Any = None) -> Any:
        if model is not None and not are_public(model):
            raise NoScore(EXACT_SCORE)
        return self.method if model is None else MethodType(self.method, model)


class PrivateEstimator(Published, BaseEstimator):
    """Base class of all estimators that are fitted on private rows under a budget: classifiers, selectors, pipelines.

    A subclass adds a plan (`_plan`, whose name is `method`) and its settings.
    """

    method: str
    task: str
    of_words = False  # whether the features are words of a text, not columns
    search: Search | None = None  # how bins are found before a fit; None: they are not

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return readable(call_of(self), N_CHAR_MAX)

    @property
    def purpose(self) -> str:
        """The purpose that the receipts of a fit bear, such as "train tree"."""
        return f"{self.task} {self.method}"

    @abstractmethod
    def _plan(self, source: Source, budget: Budget) -> Any:
        """Ask the source within the budget. Returns what is made of the answers, such as a scorer."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit on rows X and their labels y; without y, X holds the label column that the schema names.

        X may also come in batches, and be larger than memory: an Arrow data set or stream, a lazy frame of Polars or
        DuckDB; it then holds the label.

        Names and shapes are checked, values are not: a complaint about one would be an answer about it.
        """
        X = stream_of(X) or X
        schema, budget = self._schema(X, y), Budget(self.epsilon)
        columns = training_columns(X, y, schema)
        asked = {"ledger": self.ledger, "noise": self.random_state, "purpose": self.purpose}
        self.fit_source(opened(columns, schema, budget, free=self.is_free(schema), **asked), budget)
        self._finish(X, columns[str(schema.label)] if isinstance(columns, dict) else None)
        return self

    def fit_source(self, source: Source, budget: Any) -> Self:
        """Fit on rows that are open already, as a part of a larger run; it costs the whole budget, exactly.

        The source has the schema, the ledger and the noise; those of the model and its `epsilon` are not used. The
        outcome holds what this fit asked, and nothing that was asked of the source before.
        """
        return self.hold(self._run(source, Budget(budget)))

    def _run(self, source: Source, budget: Budget) -> Outcome[Any]:
        """What a fit on this source makes, with its answers and receipts."""
        settings = {**self.settings(), "epsilon": str(budget.epsilon)}
        return run(
            source, self._plan, budget, method=self.method, settings=settings, how=self.search_for(source.schema)
        )

    def hold(self, outcome: Outcome[Any]) -> Self:
        """Set `outcome_`, as after a fit or when a file is loaded; names from an earlier fit are dropped."""
        self.outcome_, self.n_features_in_ = outcome, len(outcome.schema.column) - 1
        for name in ("feature_names_in_", "file_"):  # left from an earlier fit or file
            self.__dict__.pop(name, None)
        return self

    def _finish(self, X: Any, labels: Any) -> None:
        """Keep the feature names and, if rows are public, the type of the classes; warn if little was learned."""
        keep_names(self, X)
        warn_if_bad(self.verdict_)

    def is_free(self, schema: Schema) -> bool:
        """Whether a fit on this schema would ask nothing, and so cost nothing."""
        return False

    def search_for(self, schema: Schema) -> Search | None:
        """How bins are found before a fit on this schema; None if they are not."""
        return None if schema.public or self.is_free(schema) else self.search

    def rehearse(self) -> Rehearsal:
        """The answers that a fit would ask for, with their noise, shown as a plan; nothing is opened or charged."""
        schema, budget = self._schema(None, None), Budget(self.epsilon)
        with quickly():
            outcome = self._run(rehearsing(schema, budget), budget)
            return Rehearsal(outcome.answers, schema, outcome.trace, method=self.method, epsilon=budget.epsilon)

    def _schema(self, X: Any, y: Any) -> Schema:
        if is_public(self.schema):
            return (public_words if self.of_words else public_schema)(X, y, self)
        return fitting(X, declared(self.schema))

    def settings(self) -> dict[str, Any]:
        """The parameters as plain values that a file can hold; without schema, ledger and random_state."""
        apart = ("schema", "ledger", "random_state")
        given = {name: value for name, value in self.get_params(deep=False).items() if name not in apart}
        texts = {name: repr(value) for name, value in given.items() if isinstance(value, BaseEstimator)}
        return plain_settings({**given, **texts}, self.epsilon)  # an estimator by its name: files hold no code

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name. An address of a ledger looks like one without its password."""
        found: dict[str, Any] = super().get_params(deep)
        if is_address(ledger := found["ledger"]) and not isinstance(ledger, (Address, os.PathLike)):
            found["ledger"] = Address(ledger)
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.non_deterministic = self.random_state is None
        return tags


class PrivateClassifier(Reported, ClassifierMixin, PrivateEstimator):
    """A classifier that is fitted by asking private rows a few questions under a budget.

    `epsilon` is what a fit costs, exactly. `schema` is a Schema, the path of one, or "public" for rows that are no
    secret: their domain is then read from them and the model is marked as not private. `ledger` is a Ledger or the
    path of one, and every fit is charged to it; without one a fit has a budget of its own, and of private rows it warns
    (`veil.NoLedger`). `random_state` other than None makes the noise repeatable, and the model is marked as not
    private.

    `classes_` are whole numbers or truth values if the schema writes all classes so, else text.

    After `fit`: `classes_` and `outcome_`, of which `schema_` (with the bins that were found), `scorer_` (the public
    function that predicts), `releases_` (every noisy answer it was made from), `searched_` (those by which bins were
    found before), `receipts_` (what all of them cost) and `settings_` are parts. Nothing else is kept. `verdict_` says
    how much was learned in relation to the noise, and a fit that learned little says so in a LittleLearned warning.
    `fit_source` fits on rows that are open already, as a part of a larger run.
    """

    task = "train"

    def hold(self, outcome: Outcome[Any]) -> Self:
        self._keep_classes(declared_values(outcome.schema.classes))
        return super().hold(outcome)

    def _finish(self, X: Any, labels: Any) -> None:
        if is_public(self.schema):
            self._keep_classes(public_classes(self.schema_.classes, labels))
        super()._finish(X, labels)

    def _keep_classes(self, classes: npt.NDArray[Any]) -> None:
        """Set `classes_`, sorted as in scikit-learn, and the index of each among the scorer's classes."""
        self.classes_, self._order = np.unique(classes, return_index=True)

    @property
    def scorer_(self) -> Scorer:
        """The public function that predicts."""
        scorer: Scorer = self.outcome_.made
        return scorer

    @property
    def verdict_(self) -> Verdict:
        """How much was learned in relation to the noise, judged from the released answers alone."""
        check_is_fitted(self)
        chosen = [release for release in self.searched_ if release.receipt.verb == "choose_bins"]
        if any(receipt.verb == "best_of" for receipt in self.receipts_):
            return Verdict("unknown", UNKEPT, "measure it, with veil evaluate")
        found = of_answers((*chosen, *self.releases_), self.schema_)
        walked = self.outcome_.until is not None  # which was given the epsilon that it asked for
        return replace(found, advice="") if walked and CHECK not in found.advice else found

    def fit_until(self, X: Any, y: Any = None, *, goal: Any, at_most: Any, share: Any = SHARE) -> Self:
        """Fit with the least epsilon, of seven levels up to `at_most`, at which a goal such as "auc=0.85" or
        "accuracy=0.8" is met on a `share` of the rows, drawn at random and kept apart. Naive Bayes alone can.

        All of `at_most` is charged, whether or not the goal is reached, and nothing of it is returned; of the model
        that comes back, `outcome_.ex_post` says what the answers that were looked at lost, and `outcome_.until` where
        the walk ended. The models are made without a search for bins and without calibration.
        """
        X = stream_of(X) or X
        schema, budget = self._schema(X, y), Budget(at_most)
        aim, columns = self.aim(goal, schema), training_columns(X, y, schema)
        asked = {"ledger": self.ledger, "noise": self.random_state, "purpose": f"{self.purpose} until {aim}"}
        self.hold(self._until(opened(columns, schema, budget, **asked), aim, budget, share, self._walk))
        self._finish(X, columns[str(schema.label)] if isinstance(columns, dict) else None)
        return self

    def rehearse_until(self, *, goal: Any, at_most: Any, share: Any = SHARE) -> Rehearsal:
        """The answers that the last level of `fit_until` would give, with their noise; nothing is opened or charged."""
        schema, budget = self._schema(None, None), Budget(at_most)
        aim, walk = self.aim(goal, schema), partial(self._walk, to_the_end=True)
        answers = self._until(rehearsing(schema, budget), aim, budget, share, walk).answers
        return Rehearsal(answers, schema, method=self.method)

    def aim(self, goal: Any, schema: Schema) -> Goal:
        """The goal that a text names; refuses it if this method cannot be fitted until it is met."""
        if type(self)._walk is PrivateClassifier._walk:
            said = f"{self.method} cannot be fitted until a goal is met: use naive-bayes, whose answers are all counts"
            raise BadInput(said)
        return read_goal(goal, schema)

    def _until(self, source: Source, goal: Goal, budget: Budget, share: Any, walk: Callable[..., Walk]) -> Outcome[Any]:
        settings = {**self.settings(), "epsilon": str(budget.epsilon)}
        return run_until(source, walk, goal, budget, share, method=self.method, settings=settings)

    def _walk(self, training: Source, judging: Source, goal: Goal, at_most: Budget, to_the_end: bool = False) -> Walk:
        """Walk up levels of epsilon until a model meets the goal on the judging rows."""
        raise NotImplementedError

    def class_scores(self, X: Any) -> npt.NDArray[np.int64]:
        """Integer scores, rows x classes in the order of `classes_`, from which probabilities are computed. Rows may
        come in batches."""
        check_is_fitted(self)
        if (stream := stream_of(X)) is not None:
            names = inputs(self.schema_, {}, person=False)
            empty: dict[str, Any] = {name: [] for name in names}
            return np.concatenate([self.class_scores(rows) for rows in chain([empty], stream.frames(names))])
        codes: Any = self.schema_.encode(feature_columns(X, self.schema_, type(self).__name__), label=False)
        return self.scorer_.scores(codes)[:, self._order]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row. Columns are found by name; others, the label among them, are ignored."""
        scores = self.class_scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class, in the order of `classes_`."""
        return probabilities(self.class_scores(X))

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The logarithm of the probability of each class, in the order of `classes_`."""
        return log_probabilities(self.class_scores(X))

    @OfPublicRows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows predicted right; only models of public rows have it.

        An exact score tells about the rows it was measured on, and nobody would be charged for it.
        """
        check_is_fitted(self)
        return float(super().score(X, y, sample_weight))

    def save(self, path: "str | os.PathLike[str]", *, force: bool = False) -> None:
        """Write the model to a file that holds data only; `veil.load_model` reads it back."""
        check_is_fitted(self)
        with new_file(path, force=force) as draft, writing(path):
            write_model(draft, self.outcome_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.of_words
        tags.classifier_tags.poor_score = self.of_words  # of numbers, only whether they are above zero is used
        return tags

    def _summary(self) -> str:
        name, outcome = f"{type(self).__name__} of '{readable(self.schema_.name)}'", self.outcome_
        return f"{name} for epsilon {amount(outcome.epsilon)}{outcome.mark}{shown(self.verdict_)}{_bins(outcome)}"

    def _html_repr(self) -> str:
        """scikit-learn's diagram and, for a fitted model, a table of its answers and their noise."""
        diagram = str(super()._html_repr())
        if not hasattr(self, "outcome_"):
            return diagram
        rows = [(release.receipt.verb, _asked(release), *_noise(release)) for release in self.outcome_.answers]
        header = ["answer", "about", "noise scale", "95 % within"]
        all_in = ".searched_ and .releases_" if self.searched_ else ".releases_"
        return diagram + html_table(self._summary(), header, rows, all_in=all_in)


def keep_names(model: Any, X: Any) -> None:
    """Set `n_features_in_` and, if X has column names, `feature_names_in_`."""
    X = dict.fromkeys(X.types, ()) if isinstance(X, Stream) else X
    schema, words = model.schema_, words_of(X, model.schema_)
    matrix = words is not X and isinstance(words, dict)
    table = X if matrix else as_table(words, schema.public, 0)
    names = list(schema.texts[0].names) if matrix else inputs(schema, table, person=False)
    model.n_features_in_ = len(names)  # an array has text columns too
    vars(model).pop("feature_names_in_", None)
    if not issparse(table) and has_names(table):
        known = names if matrix else [column.name for column in (*schema.features, *schema.texts)]
        model.feature_names_in_ = np.array(known, object)


def is_public(schema: Any) -> bool:
    return isinstance(schema, str) and schema == "public"


def are_public(model: Any) -> bool:
    """Whether a model's rows are declared public: those of its last fit or, before any, of its `schema` parameter."""
    if hasattr(model, "schema_"):
        return bool(model.schema_.public)
    try:
        return is_public(model.schema) or declared(model.schema).public
    except BadInput:
        return False  # a fit would say why


def declared(schema: Any) -> Schema:
    """The Schema that a parameter is, or read from the path that it is."""
    if isinstance(schema, Schema):
        return schema
    if schema is None:
        raise BadInput(NO_SCHEMA)
    if not isinstance(schema, (str, os.PathLike)):
        raise BadInput('schema must be a Schema, the path of one, or "public"')
    return Schema.read(schema)


def _bins(outcome: Outcome[Any]) -> str:
    """ "; bins of 6 columns found for epsilon 0.08 of 1", or "" if there was no search."""
    return f"; {said}" if (said := in_short(outcome)) else ""


def _asked(release: "Release[Any]") -> str:
    return release.question.describe() if release.question is not None else release.receipt.question


def _noise(release: "Release[Any]") -> tuple[str, str]:
    if release.scale is None or not release.receipt.verb.startswith("count"):
        return ("", "")
    return number(release.scale), str(release.error())
