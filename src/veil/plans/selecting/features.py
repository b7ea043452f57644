"""What the selection plans share: the candidates of a schema, the scores by name, and the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...display import of_texts
from ...errors import BadInput
from ...kernel import Budget, Difference, Entropy, Gini, Majority, Owner, Purity, Rows, Source
from ...questions import WHOLE, Bag, Grid, axis, bag
from ...schema import Schema
from ..finish import column_shares

FEATURE_SCORES: dict[str, Any] = {
    "count": Rows,
    "difference": Difference,
    "purity": Purity,
    "entropy": Entropy,
    "gini": Gini,
    "majority": Majority,
}
OF_WORDS = ("count", "difference")  # scores defined for words alone
TOTALS = 5  # percent of the budget for class totals, which tell how many rows are without a word
Candidates = Bag | list[Grid]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Selected:
    """The selected features as indices among the candidates, best first, and their noisy scores if paid for."""

    places: tuple[int, ...]
    scores: tuple[float, ...] | None = None


def features(schema: Schema, words_per_row: int | None = None) -> Candidates:
    """The candidates: the words of the text column or, in a schema without one, all columns but the label."""
    if schema.label is None:
        raise BadInput("selection needs a label: name the column to predict in the schema")
    if schema.texts and schema.features:
        raise BadInput("the schema has words and other columns: leave one kind out, selection compares like with like")
    if schema.texts:
        words = bag(schema, most=words_per_row)
        Owner(schema)(words)  # refuses before anything is charged
        return words
    if not schema.features:
        raise BadInput(
            f"there is nothing to select: declare columns, or a text column with words or buckets{of_texts(schema)}"
        )
    return [axis(column) for column in schema.features]


def feature_names(schema: Schema) -> tuple[str, ...]:
    """The names of the candidates, in their order."""
    return tuple(schema.texts[0].names) if schema.texts else tuple(column.name for column in schema.features)


def number(candidates: Candidates) -> int:
    """The number of candidates."""
    return candidates.size if isinstance(candidates, Bag) else len(candidates)


def score_of(name: Any, candidates: Candidates) -> Any:
    """The score with this name. Raises BadInput if there is none that fits the candidates."""
    known = [*FEATURE_SCORES] if isinstance(candidates, Bag) else [one for one in FEATURE_SCORES if one not in OF_WORDS]
    if name not in known:
        raise BadInput(f"score must be one of {', '.join(known)}" + "; counts need a text column" * (name in OF_WORDS))
    return FEATURE_SCORES[name]()


def noisy_scores(source: Source, budget: Budget, candidates: Candidates, score: Any) -> npt.NDArray[np.float64]:
    """The score of every candidate, from noisy counts.

    Budget: all of it for counts, by class unless the score needs only the number of rows. For words, 5 % go to the
    class totals if the score also needs the rows without a word.
    """
    if not isinstance(candidates, Bag):
        sizes = [one.size for one in candidates]
        tables = source.count_each(candidates, budget, shares=column_shares(sizes))
        return np.asarray(np.array([score(np.maximum(table.value, 0)) for table in tables]) / score.unit)
    if type(score) is Rows:
        return source.count(candidates, budget, by_class=False).value[:, 0] / 1.0
    if type(score) is Difference:
        return score.each(source.count(candidates, budget).value[:, None]) / 1.0
    to_total, to_count = budget.split(TOTALS, 100 - TOTALS)
    totals = np.maximum(source.count(WHOLE, to_total).value, 0)
    return np.asarray(score.each(with_and_without(source.count(candidates, to_count).value, totals)) / score.unit)


def with_and_without(counts: Counts, totals: Counts) -> Counts:
    """The rows with and without each word, words x 2 x classes, clipped at zero."""
    having = np.clip(counts, 0, totals)
    return np.stack([having, totals - having], axis=1)


def highest(scores: Sequence[float] | npt.NDArray[Any], count: int, threshold: float | None = None) -> Selected:
    """The candidates with the highest scores, at most `count`, and none below the threshold if one is given."""
    values = np.asarray(scores, np.float64)
    order = np.argsort(-values, kind="stable")[:count]
    order = order if threshold is None else order[values[order] >= threshold]
    return Selected(tuple(order.tolist()), tuple(values[order].tolist()))
