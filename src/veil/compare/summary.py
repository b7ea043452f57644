"""Results in short: for each data set, method and epsilon the mean over seeds and its 95 % interval."""

import pyarrow as pa

from ..results import MEASURED, Row, by_key, interval

BY = ("data", "method", "epsilon", "delta", "private", "rows")
COLUMNS = pa.schema(
    [
        *(("data", pa.string()), ("method", pa.string()), ("epsilon", pa.float64()), ("delta", pa.float64())),
        *(("private", pa.bool_()), ("rows", pa.int64()), ("runs", pa.int64()), ("failed", pa.int64())),
        *((f"{name}{part}", pa.float64()) for name in MEASURED for part in ("", "_margin")),
        ("reason", pa.string()),
    ]
)


def summary(results: pa.Table) -> pa.Table:
    """The mean of every measure, and the margin of its 95 % interval: the mean plus or minus that.

    The interval is Student's over the seeds that gave an answer. Their splits overlap, so it says how far another ten
    seeds could move the mean on this table, not on another table. `reason` is why the first failed run failed.
    """
    groups = by_key(results.to_pylist(), BY)
    rows = [{**dict(zip(BY, key, strict=True)), **_in_short(found)} for key, found in groups.items()]
    return pa.Table.from_pylist(rows, COLUMNS)


def _in_short(rows: list[Row]) -> Row:
    done = [row for row in rows if row["status"] == "done"]
    reasons = [row["reason"] for row in rows if row["status"] != "done"]
    short: Row = {"runs": len(done), "failed": len(reasons), "reason": next(iter(reasons), None)}
    for name in MEASURED:
        short[name], short[f"{name}_margin"] = interval([row[name] for row in done])
    return short
