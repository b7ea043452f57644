"""publish: from private rows to a synopsis; and reading a synopsis from a file."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..choice.ranges import AUTO, NO_CHOICE
from ..display import readable
from ..errors import BadInput
from ..files.artefacts import other_kind, plain_settings, read
from ..files.parts import insist
from ..kernel import Budget, Release, Source
from ..plans.finding.search import Search
from ..plans.histograms.diffgen import diffgen
from ..plans.histograms.privpfc import privpfc
from ..plans.histograms.projected_histogram import projected_histogram
from ..plans.outcome import Outcome
from ..plans.rehearsal import Rehearsal
from ..plans.run import opened, rehearse, run, try_out
from ..plans.synthesis.marginals import marginals
from ..plans.synthesis.privbayes import privbayes
from ..schema import Schema, Text
from ..verdicts.verdict import warn_if_bad
from .histogram.files import checked
from .histogram.publishing import DEFAULT, HISTOGRAMS, find_histogram, histogram_schema
from .histogram.table import Histogram
from .synthetic import SyntheticTable, checked_synthetic
from .table import Synopsis

PUBLISHERS: dict[str, Callable[..., Any]] = {
    "privpfc": privpfc,
    "projected": projected_histogram,
    "diffgen": diffgen,
}
SEARCH = Search(even=16, each=256)  # of a SyntheticTable: within a bin, numbers are drawn evenly
SYNTHESISERS: dict[str, Callable[..., Any]] = {"marginals": marginals, "privbayes": privbayes}


def publish(
    rows: Any,
    schema: Any,
    *,
    epsilon: Any,
    columns: Sequence[str] | int | None = None,
    method: str | None = None,
    resolution: int | None = None,
    ledger: Any = None,
    random_state: Any = None,
    keep: Sequence[str] | None = None,
    **settings: Any,
) -> Synopsis | Histogram | SyntheticTable:
    """Publish a noisy table of rows; it costs epsilon, exactly.

    With `method` one of SYNTHESISERS, a SyntheticTable of all columns but free text; `focus` names the column whose
    relations are served first, by default the label (None: no column). `keep` names the columns that are published, or
    of which a method that holds only a few chooses; the label is always among them.

    With `columns`, one to six of them, a Histogram over these, for range queries and maps; no label is needed, and the
    label may be among them. `method` is one of HISTOGRAMS, or "auto", which takes the one that is best without a
    choice, at no cost; `resolution` is the number of bins of a numeric column that declares none. Without names of
    columns, a Synopsis for classification over columns that the method chooses: one of PUBLISHERS, `settings` are its
    own (of `projected` also a number as `columns`), and the schema names the label.

    `schema` is a Schema or the path of one. `ledger` is a Ledger or the path of one; without it, the run has a budget
    of its own, and of private rows it warns (`veil.NoLedger`). `random_state` other than None makes the noise
    repeatable, and the result is marked as not private. If it is little but noise, a LittleLearned warning says so.
    """
    schema, budget = schema if isinstance(schema, Schema) else Schema.read(schema), Budget(epsilon)
    if isinstance(columns, int):  # how many columns the method shall choose
        columns, settings = None, {**settings, "columns": columns}
    if columns is None and resolution is not None:
        raise BadInput("resolution is for a histogram: name its columns with columns=[...]")
    columns = [*columns] if isinstance(columns, Iterator) else columns
    settings = settings if columns is None else {**settings, "columns": columns, "resolution": resolution}
    settings = settings if keep is None else {**settings, "keep": [keep] if isinstance(keep, str) else [*keep]}
    automatic = columns is not None and method == AUTO
    method = settled(method, columns)
    public, plan = asked(schema, method, **settings)
    of_all = columns is None and method in SYNTHESISERS
    if columns is not None or of_all:
        try_out(plan, public, budget)  # what it refuses is refused before a charge
    charged = {"ledger": ledger, "noise": random_state, "purpose": f"publish {method}"}
    source = opened(rows, public, budget, **charged)
    used = {**settings, **(_said(schema, public, settings) if of_all else {})}
    how = SEARCH if of_all else None
    outcome: Any = run(source, plan, budget, method=method, settings=plain_settings(used, epsilon), how=how)
    outcome = replace(outcome, trace=NO_CHOICE.to_dict()) if automatic else outcome
    made = SyntheticTable(outcome) if of_all else Synopsis(outcome) if columns is None else Histogram(outcome)
    warn_if_bad(made.verdict_)
    return made


def rehearse_publish(schema: Schema, epsilon: Any, method: str, **settings: Any) -> Rehearsal:
    """The answers that `publish` would ask for, with their noise; nothing is opened or charged."""
    public, plan = asked(schema, method, **settings)
    how = SEARCH if method in SYNTHESISERS and settings.get("columns") is None else None
    return rehearse(plan, public, Budget(epsilon), how, method)


def settled(method: str | None, columns: Any) -> str:
    """The method to use: the one that is named, the default if none is, and for a histogram by `auto` the one that is
    best without a choice."""
    if columns is None:
        return method or "privpfc"
    return NO_CHOICE.chosen if method == AUTO else method or DEFAULT


def asked(
    schema: Schema, method: str, columns: Sequence[str] | int | None = None, keep: Any = None, **settings: Any
) -> tuple[Schema, Callable[..., Any]]:
    """What is public about the rows, as the method needs it, and the plan of the method."""
    if keep is not None and not (columns is None or isinstance(columns, int)):
        raise BadInput("columns are those of a histogram: name them there, without keep")
    schema = schema if keep is None else _only(schema, keep, settings.get("focus"))
    if columns is None and method in SYNTHESISERS:
        return _synthetic_plan(schema, method, **settings)
    if "focus" in settings:
        raise BadInput("focus (--for) is for a synthetic table of all columns: method marginals or privbayes")
    if isinstance(columns, int) and method != "projected":
        raise BadInput(
            "columns must be the names of the columns of a histogram; a number of them is for projected alone"
        )
    if isinstance(columns, int):
        settings["columns"] = columns
    elif columns is not None:
        public = histogram_schema(schema, columns, settings.pop("resolution", None))
        return public, find_histogram(method, public, **settings)
    if schema.label is None:
        raise BadInput(
            "a table for classification needs a label: name the column to predict in the schema; or publish a "
            "histogram of a few columns, which needs none: columns=['age', 'income'], or --columns age,income; or a "
            "synthetic table of all columns: method='marginals', or --method marginals"
        )
    return schema, find_plan(method, **settings)


def _only(schema: Schema, keep: Sequence[str], focus: Any) -> Schema:
    """The schema with these columns, the label and the one in focus alone; refuses names that it does not have."""
    names = {schema.get(name).name for name in keep} | {schema.label, focus}
    return schema.model_copy(update={"column": tuple(column for column in schema.column if column.name in names)})


def _synthetic_plan(schema: Schema, method: str, **settings: Any) -> tuple[Schema, Callable[..., Any]]:
    """All columns but free text, none of them the label, and the plan with the column in focus."""
    found = tuple(column for column in schema.column if not isinstance(column, Text))
    if not found:
        raise BadInput("a synthetic table needs a column of numbers, dates or categories")
    focus = settings.pop("focus", schema.label)
    if focus is not None and focus not in [column.name for column in found]:
        known = ", ".join(readable(column.name) for column in found)
        raise BadInput(f"there is no column {readable(focus)!r} to serve first: choose one of {known}")
    if settings:
        raise BadInput(f"{method} takes focus and keep, not {', '.join(sorted(settings))}")
    public = schema.model_copy(update={"column": found, "label": None})
    return public, lambda source, budget, **known: SYNTHESISERS[method](source, budget, focus=focus, **known)


def _said(declared: Schema, public: Schema, settings: dict[str, Any]) -> dict[str, Any]:
    """The column in focus, and the columns that are left out since they are free text."""
    texts = [column.name for column in declared.column if isinstance(column, Text)]
    focus = settings.get("focus", declared.label)
    return {"focus": focus, **({"left_out": texts} if texts else {})}


def find_plan(method: str, **settings: Any) -> Callable[[Source, Budget], Release[Any]]:
    """The plan of this method, with its settings filled in."""
    if method not in PUBLISHERS:
        more = f"; with columns, one of {', '.join((AUTO, *HISTOGRAMS))}"
        known = ", ".join((*PUBLISHERS, *SYNTHESISERS))
        raise BadInput(f"there is no method {method!r}: choose one of {known}{more}")
    return lambda source, budget: PUBLISHERS[method](source, budget, **settings).table


def load_synopsis(path: str | os.PathLike[str]) -> Synopsis | Histogram | SyntheticTable:
    """The synopsis, histogram or synthetic table in a file that `save` or `veil publish` wrote; safe to use on files
    from strangers."""
    if (kind := other_kind(path, "synopsis")) == "histogram":
        return read(path, "histogram", checked)
    if kind == "synthetic":
        return read(path, "synthetic", checked_synthetic)
    return read(path, "synopsis", _checked)


def _checked(held: Outcome[Any]) -> Synopsis:
    """The synopsis in a file, which names its table by the index among the releases."""
    insist(type(held.made) is int and 0 <= held.made < len(held.releases))
    return Synopsis(replace(held, made=held.releases[held.made]))
