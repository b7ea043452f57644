"""Model files: what all published files hold, and the scorer."""

import os
from typing import Any

from ..files.artefacts import insist, make_parts, read, write_parts
from ..kernel import own
from ..questions import Predicted
from ..verdicts import of_answers


def write_model(path: str | os.PathLike[str], model: Any) -> None:
    """Write a fitted model."""
    write_parts(path, model_parts(model))


def model_parts(model: Any) -> dict[str, bytes]:
    """Everything a model file holds, by name."""
    return make_parts("model", model, scorer=model.scorer_)


def read_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file holds: method, settings, schema, scorer, releases and receipts; checked part by part."""
    return read(path, "model", _checked)


def _checked(held: dict[str, Any]) -> dict[str, Any]:
    scorer, schema = held["scorer"], held["schema"]
    own(Predicted(scorer), schema)
    features = {column.name for column in (*schema.features, *schema.texts)}
    insist(scorer.classes == len(schema.classes) and features.issuperset(scorer.columns))
    of_answers(held["releases"], schema)  # of answers that do not go together, nothing can be said
    return held
