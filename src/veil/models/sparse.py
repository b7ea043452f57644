"""Private classifiers of rows of words: texts, or matrices of zeros and ones."""

from typing import Any

from ..kernel import Budget, Source
from ..plans.sparse_logistic import sparse_logistic
from ..plans.sparse_naive_bayes import sparse_naive_bayes
from ..questions import Scorer
from .base import PrivateClassifier
from .linear import LinearClassifier


class SparseNaiveBayesClassifier(PrivateClassifier):
    """Classify texts, or rows of a sparse matrix, by noisy counts of their words by class.

    The schema has one text column with words or buckets. `words_per_row` is the number of words that a row counts for,
    at most (None: as the schema says): with fewer there is less noise. `rules` is "veil", or "paper" for Bernoulli
    naive Bayes as in the textbook.

    >>> from veil import Categorical, Schema, Text
    >>> public = Text(name="text", words=("free", "prize", "meeting"), words_per_row=2)
    >>> schema = Schema(name="mail", label="kind", column=[public, Categorical(name="kind", values=("ham", "spam"))])
    >>> mail = {"text": ["free prize", "the meeting"] * 500, "kind": ["spam", "ham"] * 500}
    >>> model = SparseNaiveBayesClassifier(epsilon=1, schema=schema).fit(mail)
    >>> print(*model.predict({"text": ["a free prize", "meeting at noon"]}))
    spam ham
    """

    method, of_words = "sparse-naive-bayes", True

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        words_per_row: int | None = None,
        rules: str = "veil",
        smoothing: float = 1.0,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.words_per_row = words_per_row
        self.rules = rules
        self.smoothing = smoothing

    def _plan(self, source: Source, budget: Budget) -> Scorer:
        settings: dict[str, Any] = {"rules": self.rules, "smoothing": self.smoothing}
        return sparse_naive_bayes(source, budget, words_per_row=self.words_per_row, **settings)


class SparseLogisticRegressionClassifier(LinearClassifier):
    """Classify texts, or rows of a sparse matrix, by weights of their words; of at most some thousand words.

    `penalty` times the words of a row that count, divided by epsilon, is the weight of the L2 penalty.
    """

    method, of_words = "sparse-logistic", True

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        schema: Any = None,
        ledger: Any = None,
        random_state: Any = None,
        words_per_row: int | None = None,
        penalty: float = 4.0,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.random_state = random_state
        self.words_per_row = words_per_row
        self.penalty = penalty

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return sparse_logistic(source, budget, words_per_row=self.words_per_row, penalty=self.penalty)
