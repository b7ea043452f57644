"""Private feature selection with scikit-learn's interface: of the columns of a table, or of the words of a text."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_array, check_is_fitted

from ..display import absent
from ..errors import BadInput
from ..kernel import Budget, Source
from ..plans.finding.search import Search
from ..plans.selecting.features import Selected, feature_names, features, number
from ..plans.selecting.k_discernibility import k_discernibility
from ..plans.selecting.selection import is_free, select_above, select_best
from ..schema import Schema
from ..schema.bags import Bags
from ..schema.encoding import as_column, is_matrix, objects_of, picked
from ..verdicts import Verdict, of_selection
from .base import PrivateEstimator, is_public
from .narrowed import mark
from .rows import as_table, has_names, named, public_words, words_of

NOTHING_FOLLOWS = (
    "what is left after a selection has neither labels nor people in it: give y, or use PrivatePipeline, which also "
    "has one budget for all steps; or fit, and then transform"
)


class PrivateSelector(SelectorMixin, PrivateEstimator):
    """Base class of private feature selectors.

    `epsilon`, `schema`, `ledger` and `random_state` are as for classifiers. The schema has either one text column,
    whose words are selected, or other columns, which are selected. `fit` is charged; `transform` only leaves columns
    out: its rows are as private as before.

    After `fit`: `outcome_`, and from it `selected_` (names, the best first; in the order of the schema where nothing
    had to be chosen), `scores_` (their noisy scores, None if none were paid for), `selected_schema_` (the schema with
    the selected features alone, which need less noise), `releases_`, `searched_` (those by which bins were found) and
    `receipts_`.
    """

    task, takes_words = "select", True
    search = Search(percent=2)

    def fit_transform(self, X: Any, y: Any = None, **more: Any) -> Any:
        """Fit, and return X with the selected features alone, as a scikit-learn pipeline needs it for its next step.

        Refused if the next step could not be fitted on that, since the label or the person column would be missing.
        """
        if not is_public(self.schema) and (y is None or self._schema(X, y).person):
            raise BadInput(NOTHING_FOLLOWS)
        return super().fit_transform(X, y, **more)

    def _schema(self, X: Any, y: Any) -> Schema:
        if is_public(self.schema) and issparse(X) and self.takes_words:
            return public_words(X, y, self)
        return super()._schema(X, y)

    @property
    def selected_(self) -> npt.NDArray[Any]:
        """The names of the selected features, the best first."""
        names = feature_names(self.schema_)
        return np.array([names[place] for place in self.outcome_.made.places], object)

    @property
    def scores_(self) -> npt.NDArray[np.float64] | None:
        """The noisy scores of `selected_`, in the same order; None if none were paid for."""
        found: Selected = self.outcome_.made
        return None if found.scores is None else np.array(found.scores)

    @property
    def support_(self) -> npt.NDArray[np.bool_]:
        """A boolean mask over all features, in the order of the schema: whether each was selected."""
        return np.isin(np.arange(self.candidates(self.schema_)), self.outcome_.made.places)

    def candidates(self, schema: Schema) -> int:
        """The number of features to choose from."""
        return number(features(schema))

    @property
    def verdict_(self) -> Verdict:
        """How far the choice stands out of the noise, judged from public and released numbers alone."""
        check_is_fitted(self)
        return of_selection(self.outcome_.answers, self.schema_, len(self.selected_), len(self.support_))

    @property
    def selected_schema_(self) -> Schema:
        """The schema with the selected features alone."""
        check_is_fitted(self)
        if not self.support_.any():
            raise BadInput("no feature was selected: lower the threshold")
        places = np.flatnonzero(self.support_)
        if self.schema_.texts:
            cut = {self.schema_.texts[0].name: self.schema_.texts[0].only(places.tolist())}
            columns = [cut.get(column.name, column) for column in self.schema_.column]
        else:
            out = {name for name, kept in zip(feature_names(self.schema_), self.support_, strict=True) if not kept}
            columns = [column for column in self.schema_.column if column.name not in out]
        return self.schema_.model_copy(update={"column": tuple(columns)})

    def transform(self, X: Any) -> Any:
        """The selected columns of X, in the order of the schema; of texts, a sparse matrix of the selected words. In a
        table with names they are found by name, and others, the label among them, are ignored.

        The result is marked as a selection, so that a classifier with the full schema accepts it.
        """
        check_is_fitted(self)
        found = self._transformed(X)
        if is_public(self.schema) or not self.support_.any():
            return found
        return mark(found, self.schema_, self.selected_schema_)

    def _transformed(self, X: Any) -> Any:
        texts = self.schema_.texts
        if self.support_.any() and not self.schema_.public and has_names(X) and not self._has_texts(X):
            return self._by_name(X)
        listed = bool(texts) and not (self.schema_.public or has_names(X) or is_matrix(X))  # a list of texts
        if not listed and (not texts or self._words(X) is not X):
            return super().transform(X)
        bags: Any = self.schema_.encode(_one_column(X, texts[0].name), label=False)[texts[0].name]
        return _matrix(bags, texts[0].size)[:, self.support_]

    def _has_texts(self, X: Any) -> bool:
        return bool(self.schema_.texts) and self.schema_.texts[0].name in named(X)

    def _by_name(self, X: Any) -> Any:
        """The selected columns of a table with names: an array, or a frame if `set_output` asks for one."""
        names = self.get_feature_names_out().tolist()
        found = picked(X, names)
        if isinstance(X, Mapping):
            return np.stack([objects_of(as_column(found[name], name)) for name in names], axis=1)
        part = nw.from_native(X).select(names).to_native()
        if _get_output_config("transform", estimator=self)["dense"] != "default":
            return part
        return check_array(part, dtype=None, ensure_all_finite=False, ensure_min_samples=0)

    def _words(self, X: Any) -> Any:
        return words_of(X, self.schema_, type(self).__name__)

    def narrowed(self, X: Any) -> Any:
        """X with the columns or words of `selected_schema_`; a frame unchanged, since its columns are found by name."""
        check_is_fitted(self)
        texts = self.schema_.texts
        if has_names(X):
            whole = bool(texts) and isinstance(X, dict) and is_matrix(X.get(texts[0].name))
            return {**X, texts[0].name: X[texts[0].name][:, self.support_]} if whole else X
        if texts:
            words = self._words(X)
            return X if words is X else words[texts[0].name][:, self.support_]
        array = as_table(X, self.schema_.public, 0)
        out = {name for name, kept in zip(feature_names(self.schema_), self.support_, strict=True) if not kept}
        label = array.shape[1] == len(self.schema_.column)
        names = [column.name for column in self.schema_.column if label or column.name != self.schema_.label]
        return array[:, [name not in out for name in names]]

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of the selected features, in the order of the schema. They are looked for among `input_features`,
        if these are given and the selector was fitted on a table with names."""
        check_is_fitted(self)
        found = np.array(feature_names(self.schema_), object)[self.support_]
        if input_features is None:
            return found
        if not self.schema_.public and hasattr(self, "feature_names_in_"):
            if said := absent(found.tolist(), list(input_features), "the input features"):
                raise BadInput(said)
            return found
        return np.asarray(super().get_feature_names_out(input_features))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.target_tags.required = self.takes_words, True
        return tags


def _one_column(X: Any, name: str) -> Any:
    """Texts as {name: texts}; a frame or mapping unchanged."""
    if has_names(X):
        return X
    return {name: X[:, 0] if is_matrix(X) else X}


def _matrix(bags: Bags, size: int) -> Any:
    ones = np.ones(len(bags.words), np.int8)
    return csr_matrix((ones, bags.words.astype(np.int32), bags.starts), shape=(len(bags), size))


class PrivateSelectKBest(PrivateSelector):
    """The `k` best columns or words by a score, which is one of count and difference (of words), purity, entropy, gini
    and majority. All of them, for nothing, if there are no more than k.

    `how` is "peel", "perturb", "cluster" (of words), or "auto" for the one with less noise.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> PrivateSelectKBest(k=2, epsilon=1000, schema=schema).fit(rows).get_feature_names_out().tolist()
    ['petal length (cm)', 'petal width (cm)']
    """

    method = "best"

    def __init__(
        self,
        *,
        score: str = "gini",
        k: int = 10,
        how: str = "auto",
        words_per_row: int | None = None,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.score = score
        self.k = k
        self.how = how
        self.words_per_row = words_per_row
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    def is_free(self, schema: Schema) -> bool:
        return is_free(schema, self.k)

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Selected:
        settings: dict[str, Any] = {"method": self.how, "words_per_row": self.words_per_row}
        return select_best(source, budget, score=self.score, k=self.k, **settings)


class PrivateSelectThreshold(PrivateSelector):
    """The columns or words whose score reaches a threshold, at most `at_most` of them; for scores see
    PrivateSelectKBest.

    `threshold` has no default, since scores grow with the rows: by count, difference, purity and majority they are
    numbers of rows; by gini and entropy (in bits) minus rows x impurity, so below zero.

    `how` is "peel" (peel and check), "sieve" (capped sparse vector), "perturb", "cluster" (of words), or "auto".
    """

    method = "threshold"

    def __init__(
        self,
        *,
        score: str = "gini",
        threshold: float | None = None,
        at_most: int = 10,
        how: str = "auto",
        words_per_row: int | None = None,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.score = score
        self.threshold = threshold
        self.at_most = at_most
        self.how = how
        self.words_per_row = words_per_row
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Selected:
        settings: dict[str, Any] = {"method": self.how, "words_per_row": self.words_per_row, "score": self.score}
        return select_above(source, budget, threshold=self.threshold, at_most=self.at_most, **settings)


class PrivateClusterSelect(PrivateSelector):
    """The `k` words of the clusters with the best centres: words with like noisy counts by class make a cluster."""

    method, of_words = "cluster", True

    def __init__(
        self,
        *,
        score: str = "count",
        k: int = 10,
        groups: int = 10,
        words_per_row: int | None = None,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.score = score
        self.k = k
        self.groups = groups
        self.words_per_row = words_per_row
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    def is_free(self, schema: Schema) -> bool:
        return is_free(schema, self.k)

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Selected:
        settings: dict[str, Any] = {"groups": self.groups, "words_per_row": self.words_per_row}
        return select_best(source, budget, score=self.score, k=self.k, method="cluster", **settings)


class KDiscernibilitySelect(PrivateSelector):
    """`k` columns that together tell most pairs of rows of different classes apart, one chosen after the other.

    >>> from veil import datasets
    >>> rows, schema = datasets.load("iris")
    >>> len(KDiscernibilitySelect(k=2, epsilon=1, schema=schema).fit(rows).selected_)
    2
    """

    method, takes_words = "discernibility", False

    def __init__(
        self, *, k: int = 3, epsilon: Any = 1.0, schema: Any = None, ledger: Any = None, random_state: Any = None
    ) -> None:
        self.k = k
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state

    def is_free(self, schema: Schema) -> bool:
        return bool(self.k >= number(features(schema)))

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Selected:
        return k_discernibility(source, budget, self.k)
