"""Logistic regression (Chaudhuri, Monteleoni, Sarwate 2011) for rows of few words, as `minimise` has it."""

from collections.abc import Sequence

import numpy as np

from ..errors import BadInput
from ..kernel import WEIGHT_UNIT, Budget, Logistic, Source
from ..questions import WHOLE, Linear, bag
from .finish import class_prior
from .selecting.features import TOTALS


def sparse_logistic(
    source: Source,
    budget: Budget,
    *,
    words: Sequence[int] | None = None,
    words_per_row: int | None = None,
    penalty: float = 4.0,
) -> Linear:
    """Weights for words, by objective perturbation; of more than two classes, each against the others.

    Budget: 5 % for the class totals, whose odds are the constant; the rest for the weights, equally between the classes
    (of two, all of it for one). The noise goes by min(r, words), r the words that a row counts for.

    Returns a scorer: the constant and the weights of the row's words. `words` are codes of the vocabulary.
    """
    schema, classes = source.schema, len(source.schema.classes)
    if schema.label is None or len(schema.texts) != 1 or classes < 2:
        raise BadInput("the schema must have one text column with words and a label, of more than one class")
    asked = bag(schema, words=words, most=words_per_row)
    to_total, to_learn = budget.split(TOTALS, 100 - TOTALS)
    learned = [1] if classes == 2 else range(classes)
    parts = to_learn.each(len(learned))
    source.check_minimise(Logistic(), asked, parts[0], label=0, penalty=penalty)  # before the totals are charged

    totals = source.count(WHOLE, to_total)
    prior = class_prior(totals.value[0].astype(np.float64), totals.deviation)
    start, weights = np.zeros(classes), np.zeros((schema.texts[0].size, classes))
    for label, part in zip(learned, parts, strict=True):
        start[label] = np.clip(np.log(prior[label] / (1 - prior[label])), -30, 30)
        offsets = [float(start[label])]
        found = source.minimise(Logistic(), asked, part, label=label, offsets=offsets, penalty=penalty)
        weights[asked.codes, label] = found.value[:, 0] / WEIGHT_UNIT
    return Linear({asked.column: weights}, start)
