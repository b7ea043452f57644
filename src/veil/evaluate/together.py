"""Training and evaluation in one run, on disjoint parts of one table: the whole costs what the dearer part costs."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import BadInput
from ..kernel import Budget, Ledger, exact, open_source
from ..models import PrivateClassifier
from ..models.rows import training_columns
from ..plans.rehearsal import Rehearsal
from ..plans.run import check_budget, guessed_rows, made_up, try_out
from ..questions import Linear
from .result import Judged, class_place
from .roc import RocCurve, RocCurves, counts_of_part, curves_of
from .scores import evaluation_schema


def fit_and_evaluate(
    model: PrivateClassifier, rows: Any, *, share: Any, epsilon: Any, ledger: Ledger, positive: Any = None
) -> RocCurve | RocCurves:
    """Fit the model on some of the rows and give back its ROC curve on the others, drawn at random, a `share` of all.

    With more than two classes there is a curve for each against the others, and Hand and Till's M. Every row is drawn
    by itself, once, inside the kernel. Fitting costs the model's epsilon and the curve this one, each of its own part,
    so the ledger is charged the larger of the two.
    """
    schema, settings, part = model.schema, model.settings(), _part(share)
    judged, budget, cost = evaluation_schema(None, schema, None), Budget(model.epsilon), Budget(epsilon)
    place = class_place(positive, judged.classes)
    judge = partial(counts_of_part, labels=[place] if len(judged.classes) == 2 else range(len(judged.classes)))
    check_budget(ledger, max(budget, cost))
    try_out(partial(judge, scorer=Linear({}, np.zeros(len(judged.classes)))), schema, cost)

    columns, purpose = training_columns(rows, None, schema), f"train {model.method}, evaluate"
    source = open_source(columns, schema, ledger, noise=model.random_state, purpose=purpose)
    training, testing = source.split_at_random(part.denominator - part.numerator, part.numerator)
    scorer = model._plan(training, budget)
    fitted = source.record
    model._keep(schema, scorer, tuple(fitted.releases), tuple(fitted.receipts), settings)
    model._keep_names(rows)

    counts, cuts = judge(testing, cost, scorer=scorer)
    asked = source.record
    kept = {
        "schema_": judged,
        "releases_": tuple(asked.releases[len(fitted.releases) :]),
        "receipts_": tuple(asked.receipts[len(fitted.receipts) :]),
        "judged_": Judged.of(model),
    }
    return curves_of(counts, cuts, place, kept)


def rehearse_both(model: PrivateClassifier, *, share: Any, epsilon: Any) -> Rehearsal:
    """The answers that `fit_and_evaluate` would ask for, with their noise; nothing is opened or charged."""
    trial, schema = clone(model).set_params(random_state=0), model.schema
    ledger = Ledger(max(Budget(model.epsilon), Budget(epsilon)), schema.name)
    rows = made_up(schema, guessed_rows(schema))
    curve = fit_and_evaluate(trial, rows, share=share, epsilon=epsilon, ledger=ledger)
    return Rehearsal((*trial.releases_, *curve.releases_), schema)


def _part(share: Any) -> Fraction:
    part = exact(share, "the share").limit_denominator(1000)
    if not 0 < part < 1:
        raise BadInput("the share of test rows must lie between 0 and 1, such as 0.3")
    return part
