"""Results in short: for each data set, method and epsilon the mean over seeds and its 95 % interval."""

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import t

from .runs import MEASURED, Row

BY = ("data", "method", "epsilon", "delta", "private")
COLUMNS = pa.schema(
    [
        *(("data", pa.string()), ("method", pa.string()), ("epsilon", pa.float64()), ("delta", pa.float64())),
        *(("private", pa.bool_()), ("runs", pa.int64()), ("failed", pa.int64())),
        *((f"{name}{part}", pa.float64()) for name in MEASURED for part in ("", "_margin")),
        ("reason", pa.string()),
    ]
)


def summary(results: pa.Table) -> pa.Table:
    """The mean of every measure, and the margin of its 95 % interval: the mean plus or minus that.

    The interval is Student's over the seeds that gave an answer. Their splits overlap, so it says how far another ten
    seeds could move the mean on this table, not on another table. `reason` is why the first failed run failed.
    """
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in results.to_pylist():
        groups[tuple(row[name] for name in BY)].append(row)
    rows = [{**dict(zip(BY, key, strict=True)), **_in_short(found)} for key, found in groups.items()]
    return pa.Table.from_pylist(rows, COLUMNS)


def _in_short(rows: list[Row]) -> Row:
    done = [row for row in rows if row["status"] == "done"]
    reasons = [row["reason"] for row in rows if row["status"] != "done"]
    short: Row = {"runs": len(done), "failed": len(reasons), "reason": next(iter(reasons), None)}
    for name in MEASURED:
        short[name], short[f"{name}_margin"] = interval([row[name] for row in done])
    return short


def interval(values: list[float]) -> tuple[float | None, float | None]:
    """The mean and half the width of its 95 % interval; None where there are too few values for one."""
    if not values:
        return None, None
    if len(values) == 1:
        return values[0], None
    margin = t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return float(np.mean(values)), float(margin)
