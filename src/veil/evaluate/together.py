"""Training and evaluation in one run, on disjoint parts of one table: the whole costs what the dearer part costs."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import BadInput
from ..kernel import Budget, Ledger, exact
from ..models import PrivateClassifier
from ..models.base import keep_names
from ..models.rows import training_columns
from ..plans.finding.search import recoded_as
from ..plans.rehearsal import Rehearsal, quickly
from ..plans.run import guessed_rows, made_up, opened, run, try_out
from ..questions import Linear
from ..schema.streams import stream_of
from .result import Judged, class_place
from .roc import RocCurve, RocCurves, counts_of_part, curves_of
from .scores import evaluation_schema


def fit_and_evaluate(
    model: PrivateClassifier, rows: Any, *, share: Any, epsilon: Any, ledger: Ledger, positive: Any = None
) -> RocCurve | RocCurves:
    """Fit the model on a random part of the rows and return its ROC curve on the others, a `share` of all.

    With more than two classes there is a one-vs-rest curve for each, and Hand and Till's M. Every row is assigned at
    random, independently, inside the kernel. Fitting costs the model's epsilon and the curve this `epsilon`; the parts
    are disjoint, so the ledger is charged the larger of the two.
    """
    schema, part, budget, cost = model.schema, _part(share), Budget(model.epsilon), Budget(epsilon)
    judged = evaluation_schema(None, schema, None)
    place = class_place(positive, judged.classes)
    judge = partial(counts_of_part, labels=[place] if len(judged.classes) == 2 else range(len(judged.classes)))
    try_out(partial(judge, scorer=Linear({}, np.zeros(len(judged.classes)))), schema, cost)

    rows = stream_of(rows) or rows
    columns, purpose = training_columns(rows, None, schema), f"{model.purpose}, evaluate"
    asked = {"ledger": ledger, "noise": model.random_state, "purpose": purpose}
    source = opened(columns, schema, max(budget, cost), **asked)
    training, testing = source.split_at_random(part.denominator - part.numerator, part.numerator)
    keep_names(model.fit_source(training, budget), rows)
    judging = recoded_as(testing, model.schema_)  # with the bins that were found for the model
    outcome = run(judging, partial(judge, scorer=model.scorer_), cost, method="roc")
    return curves_of(*outcome.made, place, {"outcome_": replace(outcome, schema=judged), "judged_": Judged.of(model)})


def rehearse_both(model: PrivateClassifier, *, share: Any, epsilon: Any) -> Rehearsal:
    """The answers that `fit_and_evaluate` would ask for, with their noise; nothing is opened or charged."""
    trial, schema = clone(model).set_params(random_state=0), model.schema
    ledger = Ledger(max(Budget(model.epsilon), Budget(epsilon)), schema.name)
    rows = made_up(schema, guessed_rows(schema))
    with quickly():
        curve = fit_and_evaluate(trial, rows, share=share, epsilon=epsilon, ledger=ledger)
        answers, trace = (*trial.outcome_.answers, *curve.releases_), trial.outcome_.trace
        return Rehearsal(answers, schema, trace, method=model.method, epsilon=Budget(model.epsilon).epsilon)


def _part(share: Any) -> Fraction:
    part = exact(share, "the share").limit_denominator(1000)
    if not 0 < part < 1:
        raise BadInput("the share of test rows must lie between 0 and 1, such as 0.3")
    return part
