"""publish: from private rows to a synopsis; and reading a synopsis from a file."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..errors import BadInput
from ..files.artefacts import plain_settings, read
from ..files.parts import insist
from ..kernel import Budget, Release, Source
from ..plans.histograms.grids import Histogram
from ..plans.histograms.privpfc import privpfc
from ..plans.histograms.projected_histogram import projected_histogram
from ..plans.outcome import Outcome
from ..plans.rehearsal import Rehearsal
from ..plans.run import opened, rehearse, run
from ..schema import Schema
from ..verdicts.verdict import warn_if_bad
from .table import Synopsis

Publisher = Callable[..., Histogram]
PUBLISHERS: dict[str, Publisher] = {"privpfc": privpfc, "projected": projected_histogram}


def publish(
    rows: Any,
    schema: Any,
    *,
    epsilon: Any,
    method: str = "privpfc",
    ledger: Any = None,
    random_state: Any = None,
    **settings: Any,
) -> Synopsis:
    """Publish a noisy table of rows for classification; it costs epsilon, exactly.

    `schema` is a Schema or the path of one, and names the label. `method` is one of PUBLISHERS, `settings` are its own.
    `ledger` is a Ledger or the path of one; without it, the run has a budget of its own, and of private rows it warns
    (`veil.NoLedger`). `random_state` other than None makes the noise repeatable, and the synopsis is marked as not
    private. If the table is little but noise, a LittleLearned warning says so.
    """
    schema = _labelled(schema if isinstance(schema, Schema) else Schema.read(schema))
    plan, kept = find_plan(method, **settings), plain_settings(settings, epsilon)
    asked = {"ledger": ledger, "noise": random_state, "purpose": f"publish {method}"}
    source = opened(rows, schema, budget := Budget(epsilon), **asked)
    synopsis = Synopsis(run(source, plan, budget, method=method, settings=kept))
    warn_if_bad(synopsis.verdict_)
    return synopsis


def rehearse_publish(schema: Schema, epsilon: Any, method: str, **settings: Any) -> Rehearsal:
    """The answers that `publish` would ask for, with their noise; nothing is opened or charged."""
    return rehearse(find_plan(method, **settings), _labelled(schema), Budget(epsilon))


def _labelled(schema: Schema) -> Schema:
    if schema.label is None:
        raise BadInput("a table for classification needs a label: name the column to predict in the schema")
    return schema


def find_plan(method: str, **settings: Any) -> Callable[[Source, Budget], Release[Any]]:
    """The plan of this method, with its settings filled in."""
    if method not in PUBLISHERS:
        raise BadInput(f"there is no method {method!r}: choose one of {', '.join(PUBLISHERS)}")
    return lambda source, budget: PUBLISHERS[method](source, budget, **settings).table


def load_synopsis(path: str | os.PathLike[str]) -> Synopsis:
    """The synopsis in a file that `save` or `veil publish` wrote; safe to use on files from strangers."""
    return read(path, "synopsis", _checked)


def _checked(held: Outcome[Any]) -> Synopsis:
    """The synopsis in a file, which names its table by the index among the releases."""
    insist(type(held.made) is int and 0 <= held.made < len(held.releases))
    return Synopsis(replace(held, made=held.releases[held.made]))
