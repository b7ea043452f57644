"""PrivateClassifier: what all private classifiers share; a model adds a plan and its settings."""

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..display import amount, html_table, number
from ..errors import BadInput
from ..files import new_file
from ..kernel.budget import Budget
from ..kernel.ledger import Ledger, Receipt
from ..kernel.release import Release
from ..kernel.source import Source, open_source
from ..plans.finish import probabilities
from ..questions import Scorer
from ..schema import Schema
from .files import write_model
from .rows import as_table, classes_like, feature_columns, named, public_schema, training_columns

NO_SCHEMA = (
    "private rows need a schema, which says what is public about them: write one with `veil schema new data.csv`, then "
    'schema="data.toml"; or schema="public" if the rows are no secret at all'
)


class PrivateClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted by asking private rows a few questions under a budget.

    `epsilon` is what a fit costs, exactly. `schema` is a Schema, the path of one, or "public" for rows that are no
    secret: their domain is then read from them and the model is marked as not private. `ledger` is a Ledger or the
    path of one, and every fit is charged to it; without one a fit has a budget of its own. `random_state` other than
    None makes the noise repeatable, and the model is marked as not private.

    After `fit`: `classes_`, `schema_`, `scorer_` (the public function that predicts), `releases_` (every noisy answer
    it was made from) and `receipts_` (what they cost). Nothing else is kept.
    """

    method: str

    def _plan(self, source: Source, budget: Budget) -> Scorer:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> "PrivateClassifier":
        """Fit on rows X and their labels y; without y, X holds the label column that the schema names.

        Names and shapes are checked, values are not: a complaint about one would be an answer about it.
        """
        schema, budget = self._schema(X, y), Budget(self.epsilon)
        columns = training_columns(X, y, schema)
        source = open_source(columns, schema, self._ledger(budget, schema), noise=self.random_state)
        scorer = self._plan(source, budget)
        self._keep(schema, classes_like(schema.classes, columns[str(schema.label)]), scorer, source.releases)
        self._keep_names(X)
        return self

    def rehearse(self) -> "tuple[Release[Any], ...]":
        """The answers that a fit would ask for, with their noise: the plan, tried on a table without rows.

        Nothing is opened or charged. A plan whose later questions follow from earlier answers shows one of its ways.
        """
        schema, budget = self._schema(None, None), Budget(self.epsilon)
        nothing: dict[str, list[Any]] = {name: [] for name in [*(c.name for c in schema.column), schema.person] if name}
        source = open_source(nothing, schema, Ledger(budget, schema.name), noise=0)
        self._plan(source, budget)
        return source.releases

    def _schema(self, X: Any, y: Any) -> Schema:
        if isinstance(self.schema, Schema):
            return self.schema
        if self.schema is None:
            raise BadInput(NO_SCHEMA)
        if isinstance(self.schema, str) and self.schema == "public":
            return public_schema(X, y, self)
        return Schema.read(self.schema)

    def _ledger(self, budget: Budget, schema: Schema) -> Ledger:
        if self.ledger is None:
            return Ledger(budget, schema.name)
        return Ledger.open(self.ledger) if isinstance(self.ledger, (str, os.PathLike)) else self.ledger

    def _keep(self, schema: Schema, classes: Any, scorer: Scorer, releases: "tuple[Release[Any], ...]") -> None:
        self.schema_, self.scorer_, self.releases_ = schema, scorer, releases
        self.classes_, self._order = np.unique(classes, return_index=True)
        self.n_features_in_ = len(schema.column) - 1

    def _keep_names(self, X: Any) -> None:
        """`feature_names_in_` for a table that has names, as scikit-learn has it."""
        vars(self).pop("feature_names_in_", None)
        if named(as_table(X)):
            self.feature_names_in_ = np.array([column.name for column in self.schema_.features], object)

    @property
    def receipts_(self) -> tuple[Receipt, ...]:
        """What the fit cost, one receipt for each charge."""
        check_is_fitted(self)
        return tuple({release.receipt.number: release.receipt for release in self.releases_}.values())

    @property
    def private_(self) -> bool:
        """Whether the promise holds: a declared schema, and noise that nobody can repeat."""
        return all(receipt.private for receipt in self.receipts_)

    def _scores(self, X: Any) -> npt.NDArray[np.int64]:
        check_is_fitted(self)
        codes = self.schema_.encode(feature_columns(X, self.schema_, type(self).__name__), label=False)
        return self.scorer_.scores(codes)[:, self._order]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row. Columns are found by name; others, the label among them, are ignored."""
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class, in the order of `classes_`."""
        return probabilities(self._scores(X))

    def save(self, path: "str | os.PathLike[str]", *, force: bool = False) -> None:
        """Write the model to a file that holds data only; `veil.load_model` reads it back."""
        check_is_fitted(self)
        with new_file(path, force=force) as draft:
            write_model(draft, self)

    def settings(self) -> dict[str, Any]:
        """The parameters that shaped the model, without the schema, the ledger and the noise."""
        apart = ("schema", "ledger", "random_state")
        return {name: value for name, value in self.get_params(deep=False).items() if name not in apart}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.non_deterministic = self.random_state is None
        return tags

    def _summary(self) -> str:
        spent = sum(receipt.epsilon for receipt in self.receipts_)
        mark = "" if self.private_ else ", NOT private"
        return f"{type(self).__name__} of '{self.schema_.name}' for epsilon {amount(spent)}{mark}"

    def _html_repr(self) -> str:
        """scikit-learn's diagram; of a fitted model also what it cost."""
        diagram = str(super()._html_repr())
        if not hasattr(self, "releases_"):
            return diagram
        rows = [(release.receipt.verb, _asked(release), *_noise(release)) for release in self.releases_]
        return diagram + html_table(self._summary(), ["answer", "about", "noise scale", "95 % within"], rows)


def _asked(release: "Release[Any]") -> str:
    return release.question.describe() if release.question is not None else release.receipt.question


def _noise(release: "Release[Any]") -> tuple[str, str]:
    if release.scale is None or not release.receipt.verb.startswith("count"):
        return ("", "")
    return number(release.scale), str(release.error())
