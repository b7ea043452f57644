"""Model files: the parts that all published files have, and the scorer."""

import os
from typing import Any

from ..choice.trace import Trace
from ..files.artefacts import make_parts, read, write_parts
from ..files.parts import insist
from ..kernel import Owner
from ..plans.outcome import Outcome
from ..questions import Predicted, Scorer
from ..verdicts import of_answers


def write_model(path: str | os.PathLike[str], outcome: Outcome[Scorer]) -> None:
    """Write the outcome of a fit to a file."""
    write_parts(path, make_parts("model", outcome))


def read_model(path: str | os.PathLike[str]) -> Outcome[Scorer]:
    """Read the outcome of a fit from a file; every part is checked."""
    return read(path, "model", _checked)


def _checked(held: Outcome[Any]) -> Outcome[Scorer]:
    scorer, schema = held.made, held.schema
    Owner(schema)(Predicted(scorer))
    features = {column.name for column in (*schema.features, *schema.texts)}
    insist(scorer.classes == len(schema.classes) and features.issuperset(scorer.columns))
    insist(held.trace is None or bool(Trace.from_dict(held.trace)))
    of_answers(held.releases, schema)  # raises for answers that do not fit together
    return held
