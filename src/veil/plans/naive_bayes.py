"""Naive Bayes (Vaidya, Shafiq, Basu, Hong, Web Intelligence 2013): count every column by class, and multiply."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..display import of_texts
from ..errors import BadInput
from ..kernel import Budget, Release, Source
from ..questions import Linear, axis
from ..schema import Categorical, Numeric, Schema
from .calibration import Numbers, calibrated, set_apart
from .finish import (
    class_prior,
    class_totals,
    column_shares,
    log_likelihoods,
    reliability,
    side_by_side,
    smooth_with_errors,
)
from .sizing import Known

LEAST_SCALE = 1e-9  # an astronomical budget has a scale that rounds to zero


def naive_bayes(
    source: Source,
    budget: Budget,
    *,
    columns: Sequence[str] | None = None,
    smoothing: float = 1.0,
    totals: Known = None,
) -> Linear:
    """Publish the counts of every column by class, as if columns were independent within a class.

    Budget: 98 % for one set of counts, divided between the columns in proportion to size^(2/3), but a quarter at most
    for one of many; and 2 % for counts of its own sums, which tell how far to trust them (see `calibrated`). The class
    totals cost nothing, since every table adds up to them; `totals` that are known already make them more exact.

    Returns a scorer: log P(class) plus, for every column, log P(code | class) times a factor for all columns. The
    factor shrinks noisy evidence, and evidence that adds up to more than it is worth, because columns depend on each
    other. `columns` names the columns to use (all without it); `smoothing` is added to every count, besides the
    pseudo-rows that its noise calls for.
    """
    features = usable(source.schema, columns, smoothing)
    to_count, to_calibrate = set_apart(source, budget, len(features))
    releases = source.count_each([*map(axis, features)], to_count, shares=shares_of(features))
    named, trust, prior = evidence(features, releases, smoothing, totals)
    if to_calibrate is None:
        return scorer_of(named, trust, prior)
    return calibrated(source, to_calibrate, named, trust, prior)


def evidence(
    features: Sequence[Categorical | Numeric], releases: Sequence[Release[Any]], smoothing: float, totals: Known = None
) -> tuple[dict[str, Numbers], float, Numbers]:
    """What noisy counts of every column by class say: log-likelihoods of its codes, how far to trust them all, and the
    share of each class."""
    sizes = [column.size for column in features]
    tables = [release.value for release in releases]
    scales = [max(release.noise_scale, LEAST_SCALE) for release in releases]

    known = [] if totals is None else [totals]
    prior = class_prior(
        *class_totals([*tables, *(one.value for one in known)], [*scales, *(one.noise_scale for one in known)])
    )
    counts, noise, levels = np.concatenate(tables), np.repeat(scales, sizes), [column.levels for column in features]
    smoothed, errors = smooth_with_errors(counts, noise, side_by_side(levels), prior, smoothing)
    logs = log_likelihoods(counts, smoothed, smoothing, sizes)

    trust, by_column = reliability([logs], [errors], prior), np.split(logs, np.cumsum(sizes)[:-1])
    return {column.name: table for column, table in zip(features, by_column, strict=True)}, trust, prior


def scorer_of(logs: Mapping[str, Numbers], trust: float, prior: Numbers) -> Linear:
    """log P(class) plus, for every column, log P(code | class) times the trust."""
    return Linear({name: trust * table for name, table in logs.items()}, np.log(prior))


def shares_of(features: Sequence[Categorical | Numeric]) -> list[int]:
    """How the budget of the counts is divided between the columns."""
    return column_shares([column.size for column in features])


def usable(schema: Schema, names: Sequence[str] | None, smoothing: float) -> list[Categorical | Numeric]:
    """The columns to count, in the order of the schema. Raises BadInput before anything is charged."""
    if schema.label is None:
        raise BadInput("naive Bayes needs a label: name the column to predict in the schema")
    if not isinstance(smoothing, (int, float, np.integer, np.floating)) or not 1e-9 <= smoothing <= 1e9:
        raise BadInput("smoothing must be a number between 1e-9 and 1e9")
    features, names = {column.name: column for column in schema.features}, named(names)
    if unknown := [name for name in ([] if names is None else names) if name not in features]:
        raise BadInput(f"column {unknown[0]!r} cannot be used: name categorical or numeric columns, not the label")
    chosen = [column for name, column in features.items() if names is None or name in names]
    if not chosen:
        raise BadInput(f"naive Bayes needs at least one column besides the label{of_texts(schema)}")
    return chosen


def named(columns: Any) -> list[str] | None:
    """The names of the columns to use, None for all; refuses what is no list of names."""
    if columns is not None and (isinstance(columns, str) or not isinstance(columns, Collection)):
        raise BadInput("columns must be a list of names, such as ['age', 'town']")
    return None if columns is None else [*columns]
