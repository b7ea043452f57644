"""Training and evaluation in one run, on disjoint parts of one table: the whole costs what the dearer part costs."""

from typing import Any

from ..errors import BadInput
from ..kernel.budget import Budget, exact
from ..kernel.ledger import Ledger
from ..kernel.source import open_source
from ..models import PrivateClassifier
from ..models.rows import training_columns
from .result import class_place
from .roc import RocCurve, curve_of_part, one_curve
from .scores import evaluation_schema


def fit_and_evaluate(
    model: PrivateClassifier, rows: Any, *, share: Any, epsilon: Any, ledger: Ledger, positive: Any = None
) -> RocCurve:
    """Fit the model on some of the rows and give back its ROC curve on the others, drawn at random, a `share` of all.

    Every row is drawn by itself, once, inside the kernel. Fitting costs the model's epsilon and the curve this one,
    each of its own part, so the ledger is charged the larger of the two.
    """
    schema, part = model.schema, exact(share, "the share").limit_denominator(1000)
    if not 0 < part < 1:
        raise BadInput("the share of test rows must lie between 0 and 1, such as 0.3")
    if len(schema.classes) != 2:
        raise BadInput("training and evaluating in one run needs two classes: use `veil evaluate` on other rows")
    place, settings, cost = class_place(positive, schema.classes), model.settings(), Budget(epsilon)
    source = open_source(training_columns(rows, None, schema), schema, ledger, noise=model.random_state)
    training, testing = source.split_at_random(part.denominator - part.numerator, part.numerator)
    scorer = model._plan(training, Budget(model.epsilon))
    fitted = source.record
    model._keep(schema, scorer, tuple(fitted.releases), tuple(fitted.receipts), settings)
    model._keep_names(rows)

    counts, cuts = curve_of_part(testing, cost, scorer, place)
    asked = source.record
    kept = {
        "schema_": evaluation_schema(None, schema, None),
        "releases_": tuple(asked.releases[len(fitted.releases) :]),
        "receipts_": tuple(asked.receipts[len(fitted.receipts) :]),
    }
    names = (schema.classes[1 - place], schema.classes[place])
    return one_curve(counts, cuts, 1, (0,), names, kept)
