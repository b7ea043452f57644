"""Which thresholds and counts make the best private ROC curve? Writes experiments/results/roc-defaults.parquet.

Run by `python -m experiments.pages.roc_defaults`. Made-up rows and seeded noise: median areas between exact and
private curves.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from veil import Budget, Ledger, open_source
from veil.evaluate.intervals import falling_shares
from veil.evaluate.scores import score_table
from veil.plans.roc import code_scorer, roc_counts

from .. import RESULTS
from ..papers.priroc import area_between, exact_curve
from .auc_coverage import two_bells

KEPT = RESULTS / "roc-defaults.parquet"
SETTINGS: dict[str, dict[str, Any]] = {
    "even, 16": {"thresholds": "even", "parts": 16},
    "even, 64": {"thresholds": "even", "parts": 64, "counts": "plain"},
    "even, 256, tree": {"thresholds": "even", "parts": 256},
    "quantiles, 16": {"parts": 16},
    "quantiles, 64": {"parts": 64, "counts": "plain"},
    "quantiles, plain": {"counts": "plain"},
    "quantiles (default)": {},
}
ROWS, EPSILONS, RUNS = (500, 5_000, 50_000, 1_000_000), (0.1, 0.3, 1), 21
POINTS = 4000  # of an exact curve, as many as tell


def measure() -> Iterator[dict[str, Any]]:
    """A row for every kind of score, number of rows, epsilon and setting."""
    for kind in ("even", "crowded"):
        for rows in ROWS:
            scores, truth = two_bells(rows)
            scores = scores if kind == "even" else scores / 50
            exact = exact_curve(scores, truth)
            some = np.unique(np.linspace(0, len(exact[0]) - 1, POINTS).astype(int))
            exact = exact[0][some], exact[1][some]
            table = score_table(scores, None, truth, None, (False, True))
            source = open_source(table.rows, table.schema, Ledger(10**9, "evaluation"), noise=5)
            scale = code_scorer("score", len(table.cuts) + 1)
            for epsilon in EPSILONS:
                for name, settings in SETTINGS.items():
                    found = [roc_counts(source, Budget(epsilon), *scale, **settings) for _ in range(RUNS)]
                    curves = [tuple(falling_shares(c.possible([k])) for k in (0, 1)) for c in found]
                    area = float(np.median([area_between(exact, curve) for curve in curves]))
                    yield {"scores": kind, "rows": rows, "epsilon": float(epsilon), "setting": name, "area": area}


def page() -> str:
    """The table of the reproduction's page."""
    rows = pyarrow.parquet.read_table(KEPT).to_pylist()
    lines = [f"| scores | rows | epsilon | {' | '.join(SETTINGS)} |", "|" + " --- |" * (3 + len(SETTINGS))]
    for key in dict.fromkeys((row["scores"], row["rows"], row["epsilon"]) for row in rows):
        areas = {row["setting"]: row["area"] for row in rows if (row["scores"], row["rows"], row["epsilon"]) == key}
        shown = [f"**{a:.4f}**" if a == min(areas.values()) else f"{a:.4f}" for a in map(areas.get, SETTINGS)]
        lines.append(f"| {key[0]} | {key[1]:,} | {key[2]:g} | {' | '.join(shown)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    pyarrow.parquet.write_table(pa.Table.from_pylist(list(measure())), KEPT)
    print(page())
